"""Elements that a loop inside of a loop in lanes writes again and again: vectors have them meanwhile.

::

    q[y][x] = 0;                       q[y][x..] = 0;
    for (i = 0; i < 7; i++)            vector value = q[y][x..];
      q[y][x] += w[i] * p[y + i][x];   for (i = 0; i < 7; i++)
                                         value += w[i] * p[y + i][x..];
                                       q[y][x..] = value;

What a sum is added up in is the same whether the loops have a variable for it or not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import islpy as isl

from polybuild.codegen.c.lane_scope import LaneScope
from polybuild.codegen.c.nodes import (
    FOR,
    IF,
    identifier_of,
    kind_of,
    mentions,
    nodes_below,
    surely_runs,
    users_below,
)
from polybuild.codegen.c.row_pointers import RowPointers
from polybuild.codegen.file.vector_types import VectorType
from polybuild.scop.model import AccessKind
from polybuild.storage.scalar_replacement import OrderedAccess, is_same_element, replaced_elements
from polybuild.targets.model import LaneKind
from polybuild.values import dataclass

if TYPE_CHECKING:
    from pycparser import c_ast

    from polybuild.codegen.c.ast import Instance
    from polybuild.codegen.c.row_windows import RowWindowPrinter
    from polybuild.scop.model import Access, Array


@dataclass(frozen=True, slots=True)
class _KeptElement:
    """An ``element`` of ``array``, which vectors have whose names begin with ``stem``."""

    array: Array
    element: isl.AstExpr
    stem: str


class LaneElements:
    """The elements that vectors have in a loop in lanes, whose ``scope`` this is.

    Those of ``windows`` of rows are among them. Others are loaded by pointers to their ``rows``.
    """

    def __init__(
        self, scope: LaneScope, instances: Mapping[str, Instance], windows: RowWindowPrinter
    ) -> None:
        self._windows = windows
        self._scope = scope
        self._instances = instances
        self._vector = VectorType(scope.lanes.type.name, scope.lanes.lanes)
        self._kept: list[_KeptElement] = []
        self.rows = RowPointers(scope.expressions, scope.names)

    def vector(self, node: c_ast.Node, place: tuple[Access, isl.AstExpr] | None, copy: int) -> str | None:
        """The vector number ``copy`` of what ``node`` accesses, at its ``place``; None if none has it."""
        window = self._windows.element(node, copy)
        if window is not None or place is None:
            return window
        access, at = place
        stem = self._stem(access.array, at)
        return None if stem is None else f"{stem}_{copy}"

    def enter(self, loop: isl.AstNode, indent: str) -> tuple[list[str], list[str]]:
        """What loads the elements that vectors have in ``loop``, and what stores them; empty without any."""
        loads, stores = [], []
        for array, element in self._elements(loop):
            if self._stem(array, element) is not None:
                continue
            kept = _KeptElement(array, element, self._scope.names.declare_stem(f"{array.name}_lanes"))
            copies = range(self._scope.lanes.copies)
            places = [self._vector.at(self._place(kept, copy)) for copy in copies]
            values = ", ".join(f"{kept.stem}_{copy} = {place}" for copy, place in enumerate(places))
            loads.append(f"{indent}{self._vector.name} {values};")
            stores += [f"{indent}{place} = {kept.stem}_{copy};" for copy, place in enumerate(places)]
            self._kept.append(kept)
            self._scope.in_use.helpers.add(self._vector)
        return loads, stores

    def leave(self, count: int) -> None:
        """Forget the last ``count`` elements."""
        del self._kept[len(self._kept) - count :]

    def _stem(self, array: Array, element: isl.AstExpr) -> str | None:
        """What the names of the vectors begin with that have ``element`` of ``array``."""
        for each in self._kept:
            if each.array.name == array.name and is_same_element(each.element, element):
                return each.stem
        return None

    def _place(self, kept: _KeptElement, copy: int) -> str:
        """The first element of the vector number ``copy``."""
        subscripts = self._scope.expressions.subscripts
        return self._scope.in_lane(
            copy * self._scope.lanes.lanes,
            lambda: self._scope.instances.element(kept.array, subscripts(kept.element)),
        )

    def _elements(self, loop: isl.AstNode) -> list[tuple[Array, isl.AstExpr]]:
        """The elements that each iteration of ``loop`` certainly writes, and the same ones in all of them."""
        counters = [identifier_of(loop)]
        for each in nodes_below(loop.for_get_body()):
            if kind_of(each) == IF or (kind_of(each) == FOR and not surely_runs(each)):
                return []
            counters += [identifier_of(each)] if kind_of(each) == FOR else []
        names = [each.get_annotation().get_name() for each in users_below(loop)]
        if any(each not in self._instances for each in names):
            return []
        inside = [self._instances[each] for each in names]
        if any(each.statement.name in self._scope.lanes.singles for each in inside):
            return []
        accesses = [each for instance in inside for each in self._scope.instances.ordered(instance)]
        found = [(each.array, each.element) for each in replaced_elements(accesses)]
        return [
            (array, element)
            for array, element in found
            if not any(mentions(element, each) for each in counters)
            and self._is_kept([each for each in accesses if _is_of(each, array, element)])
        ]

    def _is_kept(self, accesses: list[OrderedAccess]) -> bool:
        """Whether vectors may have what ``accesses`` are of: adjacent numbers of the lanes, always."""
        bodies, element = self._scope.lanes.bodies, self._scope.lanes.type
        # what is read under a condition is there, too: something certainly writes it
        if not all(each.certain for each in accesses if each.access.kind is not AccessKind.READ):
            return False
        own = [each.access for each in accesses]
        known = [bodies.operands.get(id(each.node)) for each in own]
        return (
            any(each.kind is AccessKind.WRITE for each in own)
            and all(each is not None and each.adjacent and each.type == element for each in known)
            and all(bodies.kinds.get(id(each.node)) is LaneKind.REAL for each in own)
        )


def _is_of(access: OrderedAccess, array: Array, element: isl.AstExpr) -> bool:
    """Whether ``access`` is of an ``element`` of ``array``."""
    if access.element is None or access.access.array.name != array.name:
        return False
    return is_same_element(access.element, element)
