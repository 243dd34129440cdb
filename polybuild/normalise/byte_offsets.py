"""Pointers that are moved by bytes before they are cast: moved by elements after it.

::

    (float *)(data + y * step)  ->  (float *)data + y * (step / 4)

So pictures are laid out whose rows have some bytes at their ends, arrays of Python, and what libraries have
behind ``void *``.
"""

from __future__ import annotations

import dataclasses

from pycparser import c_ast

from polybuild.c.syntax_tree import mapped, walk
from polybuild.c.types import PointerType
from polybuild.diagnostics import Unsupported
from polybuild.normalise.names import Names, resolve
from polybuild.normalise.whole_elements import WholeElements
from polybuild.source.model import Region


def with_byte_offsets(region: Region) -> Region:
    """``region`` where pointers are cast first, and moved then; itself if there are none to be."""
    if not any(_is_moved(each) for one in region.statements for each in walk(one)):
        return region
    try:
        moves = _Moves(region, resolve(region))
    except Unsupported:
        return region  # the model says what is wrong
    statements = tuple(moves.rewritten(each) for each in region.statements)
    return dataclasses.replace(region, statements=statements) if moves.found else region


def uncast(pointer: c_ast.Node) -> c_ast.Node:
    """``pointer`` without casts to other pointers around it."""
    while isinstance(pointer, c_ast.Cast) and isinstance(pointer.to_type.type, c_ast.PtrDecl):
        pointer = pointer.expr
    return pointer


def _is_moved(node: c_ast.Node) -> bool:
    """Whether ``node`` is a cast of something that a pointer is added to."""
    return uncast(node) is not node and moved(uncast(node)) is not None


def moved(pointer: c_ast.Node) -> tuple[c_ast.Node, c_ast.Node, str] | None:
    """What ``pointer`` is moved from, by what, and how, ``+`` or ``-``; None if it is not moved."""
    if isinstance(pointer, c_ast.BinaryOp) and pointer.op in {"+", "-"}:
        return pointer.left, pointer.right, str(pointer.op)
    if isinstance(pointer, c_ast.UnaryOp) and pointer.op == "&" and isinstance(pointer.expr, c_ast.ArrayRef):
        return pointer.expr.name, pointer.expr.subscript, "+"
    return None


class _Moves:
    """The rewriting of one region; ``found`` says whether any pointer was moved."""

    def __init__(self, region: Region, names: Names) -> None:
        self._region = region
        self._elements = WholeElements(region, names)
        self.found = False

    def rewritten(self, node: c_ast.Node) -> c_ast.Node:
        """``node`` with its pointers moved after their casts."""
        new = self._cast_first(node) if _is_moved(node) else None
        if new is not None:
            self.found = True
            return new
        new = mapped(node, self.rewritten)
        if isinstance(new, c_ast.ArrayRef) and self.found:
            while (move := moved(new.name)) is not None:  # the element that far from what is cast
                base, by, op = move
                place = c_ast.BinaryOp(op, new.subscript, by, node.coord)
                new = c_ast.ArrayRef(base, place, node.coord)
        return new

    def _cast_first(self, cast: c_ast.Cast) -> c_ast.Node | None:
        """``cast`` of a moved pointer with the pointer cast first; None where that is not to be said."""
        kind = self._region.visible.scope.resolve(cast.to_type)
        size = self._elements.size(kind.target) if isinstance(kind, PointerType) else None
        move = None if size is None else unmoved(uncast(cast), size, self._elements)
        if move is None:
            return None
        pointer, offset = move
        return c_ast.BinaryOp("+", c_ast.Cast(cast.to_type, pointer, cast.coord), offset, cast.coord)


def unmoved(
    pointer: c_ast.Node, size: int, elements: WholeElements
) -> tuple[c_ast.Node, c_ast.Node | None] | None:
    """What ``pointer`` is moved from, casts aside, and how far: by so many elements of ``size`` bytes.

    None where that may be no whole number; no number where it is not moved.
    """
    offset: c_ast.Node | None = None
    while (move := moved(pointer)) is not None:
        base, by, op = move
        source = elements.type(base)
        unit = elements.size(source.target) if isinstance(source, PointerType) else None
        whole = None if unit is None else elements.moved_by(by, unit, size)
        if whole is None:
            return None
        first = c_ast.UnaryOp("-", whole, by.coord) if op == "-" else whole
        offset = first if offset is None else c_ast.BinaryOp("+", first, offset, by.coord)
        pointer = uncast(base)
    return pointer, offset
