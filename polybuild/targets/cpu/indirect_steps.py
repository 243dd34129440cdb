"""How counters move accesses to elements that data choose, as ``a[row[y]][x]`` and ``a[first + x]``.

Data say where such an access is, but not how it goes on: ``x`` moves both by one element, as ``row[y]`` and
``first`` stay the same meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl
from pycparser import c_ast

from polybuild.c.literals import integer_value
from polybuild.c.syntax_tree import walk
from polybuild.scop.model import Access, AccessKind, Scop, Statement
from polybuild.values import dataclass

Steps = tuple[int | None, ...]
"""The step of a subscript per step of each counter of a statement; None where it is not linear."""


def indirect_steps(access: Access, statement: Statement, scop: Scop) -> tuple[Steps | None, ...]:
    """The steps of each subscript of ``access`` as C has it; None for one that C has no expression for."""
    extents, node, found = access.array.extents, access.node, list[c_ast.Node]()
    while isinstance(node, c_ast.ArrayRef | c_ast.StructRef):
        if isinstance(node, c_ast.ArrayRef):
            found.append(node.subscript)
        node = node.name
    if len(found) != len(extents):
        return (None,) * len(extents)
    steps = _Subscripts(statement, _moving(statement, scop))
    return tuple(map(steps.of, reversed(found)))


@dataclass(frozen=True, slots=True)
class _Subscripts:
    """The subscripts of ``statement``; what nodes (by identity) read may change with counters ``moving``."""

    statement: Statement
    moving: Mapping[int, frozenset[int]]

    def of(self, node: c_ast.Node) -> Steps:
        """The steps of the value of ``node``."""
        counters = [each.name for each in self.statement.iterators]
        if id(node) in self.moving:
            return tuple(None if place in self.moving[id(node)] else 0 for place in range(len(counters)))
        if isinstance(node, c_ast.ID):
            return tuple(int(name == node.name) for name in counters)
        if isinstance(node, c_ast.Cast):
            return self.of(node.expr)
        if isinstance(node, c_ast.BinaryOp) and node.op in {"+", "-"}:
            sign = 1 if node.op == "+" else -1
            return _sum(self.of(node.left), self.of(node.right), sign)
        if isinstance(node, c_ast.BinaryOp) and node.op == "*":
            for one, other in ((node.left, node.right), (node.right, node.left)):
                factor = integer_value(one.value) if isinstance(one, c_ast.Constant) else None
                if factor is not None:
                    return tuple(None if step is None else factor * step for step in self.of(other))
        return self._unless_moved(node)

    def _unless_moved(self, node: c_ast.Node) -> Steps:
        """No step along counters that nothing in ``node`` depends on."""
        read = (each for each in walk(node) if isinstance(each, c_ast.ID) or id(each) in self.moving)
        parts = [self.of(each) for each in read]
        places = range(len(self.statement.iterators))
        return tuple(0 if all(part[place] == 0 for part in parts) else None for place in places)


def _sum(left: Steps, right: Steps, sign: int) -> Steps:
    pairs = zip(left, right, strict=True)
    return tuple(None if one is None or other is None else one + sign * other for one, other in pairs)


def _moving(statement: Statement, scop: Scop) -> dict[int, frozenset[int]]:
    """The counters, by their places, with which the values change that nodes (by identity) read.

    That is what moves the element that is read, what data move that choose it, and the loops that have
    statements inside which write it.
    """
    own = [each.name for each in statement.iterators]
    moving: dict[int, frozenset[int]] = {}
    for access in statement.accesses:
        places = _moved_element(access, own)
        for other in scop.statements:
            if any(each.kind is not AccessKind.READ for each in other.accesses_to(access.array)):
                places |= set(range(_common(own, [each.name for each in other.iterators])))
        moving[id(access.node)] = frozenset(places)
    parts = {id(each.node): {id(part) for part in walk(each.node)} for each in statement.accesses}
    return {
        node: frozenset[int]().union(*(moved for part, moved in moving.items() if part in inside))
        for node, inside in parts.items()
    }


def _moved_element(access: Access, counters: Sequence[str]) -> set[int]:
    """The places of the ``counters`` that move the element of ``access`` by themselves."""
    if not access.array.extents:
        return set()
    if not access.relation.is_single_valued():
        named = {each.name for each in walk(access.node) if isinstance(each, c_ast.ID)}
        return {place for place, name in enumerate(counters) if name in named}
    element = access.relation.gist_domain(access.relation.domain())
    places = range(len(counters))
    return {place for place in places if element.involves_dims(isl.dim_type.in_, place, 1)}


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many names both begin with."""
    return next(
        (place for place, names in enumerate(zip(one, other, strict=False)) if len(set(names)) > 1),
        min(len(one), len(other)),
    )
