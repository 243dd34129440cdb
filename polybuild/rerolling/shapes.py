"""What a statement computes, apart from what it touches: two statements of one shape may be copies.

The shape of ``s += a[k + 1] * 2`` is ``[] += [] * 2``. A private variable, or an element of a private
array that is always the same one, is a *cell*: copies may have cells of their own (``s0``, ``s1``).
"""

from __future__ import annotations

from collections.abc import Hashable

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.dependences import may_be_private
from polybuild.c.literals import integer_value
from polybuild.scop.model import Access, Scop, Statement
from polybuild.values import dataclass

_SIGNS = {"+": 1, "-": -1}

Cell = tuple[str, tuple[int, ...]]
"""A private array, and which element of it."""


@dataclass(frozen=True, slots=True)
class ShapedAccess:
    """An access of a body; ``cell`` is given where every instance touches that cell."""

    access: Access
    cell: Cell | None


@dataclass(frozen=True, slots=True)
class Shape:
    """What is equal in all copies of a statement, ``key``, and what may differ.

    Of copies, ``operands`` and ``counters`` correspond one by one. ``counters`` are values
    that the body computes with: a dimension, and the constant that is added to it.
    """

    key: Hashable
    operands: tuple[ShapedAccess, ...]
    counters: tuple[tuple[int, int], ...]

    @property
    def is_private(self) -> bool:
        """Whether nothing but cells is touched."""
        return not self.counters and all(each.cell is not None for each in self.operands)


def shape_of(
    statement: Statement, live_out: frozenset[str], subscripted: frozenset[str] = frozenset()
) -> Shape:
    """The shape of ``statement``; ``live_out`` names variables that are read after the region.

    ``subscripted`` names arrays whose elements are no cells.
    """
    reader = _ShapeReader(statement, live_out, subscripted)
    key = reader.key(statement.body)
    others = tuple(each for each in statement.accesses if not each.exact)
    operands = (*reader.operands, *(ShapedAccess(each, None) for each in others))
    names = tuple((each.kind, each.array.name) for each in others)
    return Shape((key, names), operands, tuple(reader.counters))


def shapes_of(scop: Scop, live_out: frozenset[str]) -> dict[str, Shape]:
    """The shapes of the statements that may be copies, by their names."""
    subscripted = subscripted_arrays(scop, live_out)
    return {each.name: shape_of(each, live_out, subscripted) for each in scop.statements if not each.dynamic}


def subscripted_arrays(scop: Scop, live_out: frozenset[str]) -> frozenset[str]:
    """The private arrays that a statement touches at more than one place: their elements are no cells."""
    private = (
        access
        for statement in scop.statements
        for access in statement.accesses
        if not access.array.is_scalar and may_be_private(access.array, live_out)
    )
    return frozenset(each.array.name for each in private if _place(each) is None)


def _place(access: Access) -> tuple[int, ...] | None:
    """The subscripts of the one element that is touched; None if there are several."""
    elements = access.relation.range()
    values = [elements.plain_get_val_if_fixed(isl.dim_type.set, each) for each in range(elements.n_dim())]
    return tuple(each.to_python() for each in values) if all(each.is_int() for each in values) else None


class _ShapeReader:
    """One walk over a body, which collects what differs from copy to copy."""

    def __init__(self, statement: Statement, live_out: frozenset[str], subscripted: frozenset[str]) -> None:
        self._subscripted = subscripted
        self._live_out = live_out
        self._statement = statement
        self._iterators = {each.name: position for position, each in enumerate(statement.iterators)}
        self._accesses: dict[int, list[Access]] = {}
        for each in statement.accesses:
            if each.exact:
                self._accesses.setdefault(id(each.node), []).append(each)
        self.operands: list[ShapedAccess] = []
        self.counters: list[tuple[int, int]] = []

    def key(self, node: c_ast.Node) -> Hashable:
        """What is equal for nodes of one shape."""
        found = self._accesses.get(id(node))
        if found is not None:
            return "access", tuple(self._operand(each) for each in found)
        counter = self._counter(node)
        if counter is not None:
            self.counters.append(counter)
            return "counter", self._statement.iterators[counter[0]].type
        attributes = tuple(str(getattr(node, name)) for name in node.attr_names)
        children = tuple((name, self.key(child)) for name, child in node.children())
        return type(node).__name__, attributes, children

    def _operand(self, access: Access) -> Hashable:
        cell = self._cell(access)
        self.operands.append(ShapedAccess(access, cell))
        array = access.array
        return access.kind, array.element, "".join(array.suffixes), None if cell is not None else array.name

    def _cell(self, access: Access) -> Cell | None:
        if access.array.name in self._subscripted or not may_be_private(access.array, self._live_out):
            return None
        place = () if access.array.is_scalar else _place(access)
        return None if place is None else (access.array.name, place)

    def _counter(self, node: c_ast.Node) -> tuple[int, int] | None:
        """The counter and the constant that ``node`` is the sum of."""
        if isinstance(node, c_ast.ID) and node.name in self._iterators:
            return self._iterators[node.name], 0
        if isinstance(node, c_ast.BinaryOp) and node.op in _SIGNS and isinstance(node.left, c_ast.ID):
            position = self._iterators.get(node.left.name)
            if position is not None and isinstance(node.right, c_ast.Constant) and node.right.type == "int":
                value = integer_value(node.right.value)
                return None if value is None else (position, _SIGNS[node.op] * value)
        return None
