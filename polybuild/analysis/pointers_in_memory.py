"""Pointers in memory that lead to arrays (``p->a``, a pointer of the file), which the model takes as fixed.

A write through another pointer, or through the very one, may change such a pointer where C lets it: one to
characters may lead to anything. So they are compared with what a region writes, as its parameters are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pycparser import c_ast

from polybuild.analysis.footprints import Footprint
from polybuild.c.symbols import StorageClass, Symbol
from polybuild.c.syntax_tree import key, structure_of
from polybuild.c.synthetic import Displaced, PointerCast
from polybuild.c.types import PointerType, Type
from polybuild.c.typing import type_of
from polybuild.scop.model import Array, Provenance, Scop
from polybuild.source.model import Region


def pointers_in_memory(scop: Scop, region: Region) -> list[Footprint]:
    """The pointers that lead to the arrays of ``scop``, as far as others may lead to them."""
    found: dict[object, Footprint] = {}
    for array in scop.arrays:
        if array.provenance.by_pointer and not array.local:
            for each in _pointers(array.expression, region):
                found.setdefault(key(each.array.expression), each)
    return list(found.values())


def _pointers(expression: c_ast.Node, region: Region) -> Iterator[Footprint]:
    """The pointers on the way to ``expression``, itself among them."""
    symbols = region.visible.symbols
    node: c_ast.Node | None = expression
    if isinstance(node, Displaced):
        yield from _numbers(node.right, region)
        node = node.left
    if isinstance(node, PointerCast):
        node = node.expr
    while isinstance(node, c_ast.ID | c_ast.StructRef | c_ast.ArrayRef | c_ast.UnaryOp):
        if isinstance(node, c_ast.ID | c_ast.StructRef) and is_reachable(node, symbols):
            kind = type_of(node, dict(symbols), region.visible)
            if isinstance(kind, PointerType):
                yield Footprint(_object(node, kind, region), (), (), written=False)
        if isinstance(node, c_ast.ID):
            return
        node = node.expr if isinstance(node, c_ast.UnaryOp) else node.name


def _numbers(displacement: c_ast.Node, region: Region) -> Iterator[Footprint]:
    """The objects in memory that ``displacement`` adds up."""
    pending, symbols = [displacement], region.visible.symbols
    while pending:
        node = pending.pop()
        if isinstance(node, c_ast.BinaryOp):
            pending += [node.left, node.right]
        elif not isinstance(node, c_ast.Constant) and is_reachable(node, symbols):
            kind = type_of(node, dict(symbols), region.visible)
            yield Footprint(_object(node, kind, region), (), (), written=False)


def is_reachable(expression: c_ast.Node, symbols: Mapping[str, Symbol]) -> bool:
    """Whether a pointer can lead to the object ``expression``."""
    root = structure_of(expression)
    if isinstance(root, c_ast.ID):
        symbol = symbols.get(root.name)
        return symbol is not None and (symbol.address_taken or symbol.storage.is_static)
    if isinstance(root, c_ast.UnaryOp):  # or it is a negative number
        return bool(root.op == "*")
    return isinstance(root, c_ast.StructRef | c_ast.ArrayRef)


def _path(node: c_ast.Node) -> str:
    """The names that ``node`` is reached by."""
    if isinstance(node, c_ast.ID):
        return str(node.name)
    inner = node.expr if isinstance(node, c_ast.UnaryOp) else node.name
    return f"{_path(inner)}_{node.field.name}" if isinstance(node, c_ast.StructRef) else _path(inner)


def _object(node: c_ast.Node, kind: Type, region: Region) -> Array:
    return Array(
        name=f"{_path(node)} itself",
        expression=node,
        element=kind,
        extents=(),
        provenance=Provenance(
            StorageClass.GLOBAL, by_pointer=not isinstance(structure_of(node), c_ast.ID), address_taken=True
        ),
        location=region.begin,
    )
