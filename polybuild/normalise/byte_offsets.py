"""Pointers that are moved by bytes before they are cast: moved by elements after it.

::

    (float *)(data + y * step)  ->  (float *)data + y * (step / 4)    and before it: never(step % 4)

So pictures are laid out whose rows have some bytes at their ends, and what libraries have behind ``void *``.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from functools import reduce

from pycparser import c_ast

from polybuild.c.declarations import evaluate, size_of
from polybuild.c.syntax_tree import key, mapped, walk
from polybuild.c.synthetic import Quotient, never, number
from polybuild.c.types import ArrayType, IntegerType, PointerType, RecordType, Type, VoidType
from polybuild.c.typing import type_of
from polybuild.diagnostics import Unsupported
from polybuild.normalise.names import Names, member_path, resolve
from polybuild.source.model import Region

_REASON = '"what pointers are moved by must be whole elements"'


def with_byte_offsets(region: Region) -> Region:
    """``region`` where pointers are cast first, and moved then; itself if there are none to be."""
    if not any(_is_moved(each) for one in region.statements for each in walk(one)):
        return region
    try:
        moves = _Moves(region, resolve(region))
    except Unsupported:
        return region  # the model says what is wrong
    statements = tuple(moves.rewritten(each) for each in region.statements)
    if not moves.found:
        return region
    return dataclasses.replace(region, statements=(*moves.tests.values(), *statements))


def uncast(pointer: c_ast.Node) -> c_ast.Node:
    """``pointer`` without casts to other pointers around it."""
    while isinstance(pointer, c_ast.Cast) and isinstance(pointer.to_type.type, c_ast.PtrDecl):
        pointer = pointer.expr
    return pointer


def _is_moved(node: c_ast.Node) -> bool:
    """Whether ``node`` is a cast of something that a pointer is added to."""
    return uncast(node) is not node and _moved(uncast(node)) is not None


def _moved(pointer: c_ast.Node) -> tuple[c_ast.Node, c_ast.Node, str] | None:
    """What ``pointer`` is moved from, by what, and how, ``+`` or ``-``; None if it is not moved."""
    if isinstance(pointer, c_ast.BinaryOp) and pointer.op in {"+", "-"}:
        return pointer.left, pointer.right, str(pointer.op)
    if isinstance(pointer, c_ast.UnaryOp) and pointer.op == "&" and isinstance(pointer.expr, c_ast.ArrayRef):
        return pointer.expr.name, pointer.expr.subscript, "+"
    return None


class _Moves:
    """The rewriting of one region; ``tests`` are what must never hold, ``found`` says whether any moved."""

    def __init__(self, region: Region, names: Names) -> None:
        self._region = region
        self._names = names
        self._counters = frozenset(names.iterators.values())
        self.tests: dict[object, c_ast.Node] = {}
        self.found = False

    def rewritten(self, node: c_ast.Node) -> c_ast.Node:
        """``node`` with its pointers moved after their casts."""
        new = self._cast_first(node) if _is_moved(node) else None
        if new is not None:
            self.found = True
            return new
        new = mapped(node, self.rewritten)
        if isinstance(new, c_ast.ArrayRef) and self.found:
            while (move := _moved(new.name)) is not None:  # the element that far from what is cast
                base, by, op = move
                place = c_ast.BinaryOp(op, new.subscript, by, node.coord)
                new = c_ast.ArrayRef(base, place, node.coord)
        return new

    def _cast_first(self, cast: c_ast.Cast) -> c_ast.Node | None:
        """``cast`` of a moved pointer with the pointer cast first; None where that is not to be said."""
        kind = self._region.visible.scope.resolve(cast.to_type)
        size = self._size(kind.target) if isinstance(kind, PointerType) else None
        offset: c_ast.Node | None = None
        pointer = uncast(cast)
        while (move := _moved(pointer)) is not None:
            base, by, op = move
            source = self._type(base)
            unit = self._size(source.target) if isinstance(source, PointerType) else None
            if size is None or unit is None or not self._is_wide(by):
                return None
            elements = self._divided(c_ast.BinaryOp("*", by, number(unit), by.coord), size)
            if elements is None:
                return None
            first = c_ast.UnaryOp("-", elements, by.coord) if op == "-" else elements
            offset = first if offset is None else c_ast.BinaryOp("+", first, offset, by.coord)
            pointer = uncast(base)
        return c_ast.BinaryOp("+", c_ast.Cast(cast.to_type, pointer, cast.coord), offset, cast.coord)

    def _size(self, kind: Type) -> int | None:
        """The bytes of what a pointer leads to; None where they are not known."""
        if isinstance(kind, VoidType):
            return 1
        if not isinstance(kind, RecordType):
            return size_of(kind, self._region.visible.scope)
        fields = [each.type for each in kind.fields or () if kind.kind == "struct" and each.bits is None]
        sizes = {size_of(_number(each), self._region.visible.scope) for each in fields}
        if len(fields) < len(kind.fields or ()) or len(sizes) != 1:
            return None  # there may be something between numbers of several sizes
        whole = [size_of(each, self._region.visible.scope) for each in fields]
        return sum(each for each in whole if each is not None) if None not in whole else None

    def _type(self, node: c_ast.Node) -> Type:
        symbols = {each.name: each.type for each in self._names.variables_in(node)}
        return type_of(node, symbols, self._region.visible)

    def _is_wide(self, offset: c_ast.Node) -> bool:
        """Whether an ``offset`` does not wrap before it is added: it is signed, or as wide as pointers."""
        kind = self._type(offset)
        pointer = 8 * self._region.visible.scope.data_model.pointer_size
        return isinstance(kind, IntegerType) and (kind.signed or kind.width >= pointer)

    def _divided(self, node: c_ast.Node, by: int) -> c_ast.Node | None:
        """``node / by`` where that is a whole number, or a test says so; None where it may be none."""
        while isinstance(node, c_ast.Cast) and self._widens(node):
            node = node.expr
        value = evaluate(node, self._region.visible.scope)
        if by == 1 and value is None:
            return node
        if value is not None:
            return None if value % by else number(value // by)
        if isinstance(node, c_ast.BinaryOp) and node.op in {"+", "-"}:
            left, right = self._divided(node.left, by), self._divided(node.right, by)
            both = left is not None and right is not None
            return c_ast.BinaryOp(node.op, left, right, node.coord) if both else None
        if isinstance(node, c_ast.BinaryOp) and node.op == "*":
            return self._product(node, by)
        return self._quotient(node, by) if self._is_fixed(node) else None

    def _product(self, node: c_ast.BinaryOp, by: int) -> c_ast.Node | None:
        """The same of a product: numbers take what part they can, one of the other factors takes the rest."""
        values = [(each, evaluate(each, self._region.visible.scope)) for each in self._factors(node)]
        factors = [each for each, value in values if value is None]
        times = math.prod(value for _, value in values if value is not None)
        common = math.gcd(times, by)
        times, by = times // common, by // common
        if by > 1:
            found = ((place, self._divided(each, by)) for place, each in enumerate(factors))
            place, divided = next(((at, part) for at, part in found if part is not None), (0, None))
            if divided is None:
                return None
            factors[place] = divided
        scaled = [number(times)] if times != 1 or not factors else []
        return reduce(lambda one, other: c_ast.BinaryOp("*", one, other, node.coord), [*factors, *scaled])

    def _factors(self, node: c_ast.Node) -> Iterator[c_ast.Node]:
        while isinstance(node, c_ast.Cast) and self._widens(node):
            node = node.expr
        if isinstance(node, c_ast.BinaryOp) and node.op == "*":
            yield from self._factors(node.left)
            yield from self._factors(node.right)
        else:
            yield node

    def _quotient(self, fixed: c_ast.Node, by: int) -> c_ast.Node:
        """``fixed / by``, and the test that this is a whole number."""
        rest = c_ast.BinaryOp("%", fixed, number(by), fixed.coord)
        test = c_ast.BinaryOp("!=", rest, number(0), fixed.coord)
        self.tests.setdefault(key(test), never(test, _REASON))
        return Quotient("/", fixed, number(by), fixed.coord)

    def _widens(self, cast: c_ast.Cast) -> bool:
        """Whether ``cast`` is to a type that has all values of the number that it converts."""
        to, source = self._type(cast), self._type(cast.expr)
        if not isinstance(to, IntegerType) or not isinstance(source, IntegerType):
            return False
        return source.signed and to.signed and to.width >= source.width

    def _is_fixed(self, factor: c_ast.Node) -> bool:
        """Whether ``factor`` is a variable or a member that the region does not change."""
        root, members = member_path(factor)
        if root is None or not isinstance(factor, c_ast.ID | c_ast.StructRef):
            return False
        if any(not isinstance(each, c_ast.ID | c_ast.StructRef) for each in walk(factor)):
            return False
        variable = self._names.variables.get(root)
        changed = self._names.written | self._counters
        known = variable is not None and not variable.local and variable not in changed
        return known and (variable, members) not in self._names.written_members


def _number(kind: Type) -> Type:
    """What an array, of arrays maybe, has for elements."""
    while isinstance(kind, ArrayType):
        kind = kind.element
    return kind
