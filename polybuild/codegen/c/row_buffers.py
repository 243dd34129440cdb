"""Buffers with the rows that lanes read, lanes side by side: what declares and fills them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import islpy as isl

from polybuild.codegen.c.expressions import ADDITIVE, ATOM, Operand
from polybuild.codegen.c.lane_scope import LaneScope
from polybuild.codegen.c.layout import CodeLine, Role, closing, condition, loop

if TYPE_CHECKING:
    from pycparser import c_ast

    from polybuild.codegen.c.ast import Instance
    from polybuild.targets.model import PackedRows

_INDENT = "  "


class RowBufferPrinter:
    """Prints the buffers of a loop in lanes, with the instances ``below`` it.

    Rows are not packed if the loops inside say which they are.
    """

    def __init__(self, scope: LaneScope, below: Iterable[Instance]) -> None:
        self._scope = scope
        accesses = {id(access.node): at for each in below for access, at in each.accesses}
        self._rows: dict[PackedRows, isl.AstExpr] = {}
        for each in scope.lanes.packed:
            found = next((accesses[node] for node in each.nodes if node in accesses), None)
            if found is not None and _is_in_scope(found.op_get_arg(1 + each.subscripts[0]), scope.names):
                self._rows[each] = found
        self._called = {each: scope.names.declare(f"packed_{each.array.name}") for each in self._rows}

    def conditions(self) -> list[str]:
        """What must hold for the buffers to be large enough."""
        texts = ((each, self._bound(each, 1), self._bound(each, 0)) for each in self._rows if not each.enough)
        return [
            f"{high.bound(ADDITIVE)} < {each.extent}"
            if low.is_zero
            else f"{high.bound(ADDITIVE)} - {low.bound(ADDITIVE + 1)} < {each.extent}"
            for each, high, low in texts
        ]

    def filled(self, indent: str) -> list[str]:
        """The buffers, and what fills them."""
        lines: list[str] = []
        step, inner = self._scope.step, indent + _INDENT
        for each, at in self._rows.items():
            name = self._called[each]
            place, lane = self._scope.names.declare("place"), self._scope.names.declare("lane")
            low, high = self._bound(each, 0), self._bound(each, 1)
            value = self._scope.instances.element(each.array, self._subscripts(each, at, lane, place))
            column = place if low.is_zero else f"{place} - {low.bound(ADDITIVE + 1)}"
            lines += [
                f"{indent}{self._scope.lanes.type.name} {name}[{each.extent}][{step}];",
                *self._guard(each, indent),
                loop(f"{inner}for (int {lane} = 0; {lane} < {step}; {lane}++)"),
                loop(
                    f"{inner}{_INDENT}for (long long {place} = {low.text}; {place} <= {high.text}; {place}++)"
                ),
                CodeLine(f"{inner}{_INDENT * 2}{name}[{column}][{lane}] = {value};", role=Role.STATEMENT),
                closing(f"{inner}{_INDENT}"),
                closing(inner),
                closing(indent),
            ]
        return lines

    def element(self, node: c_ast.Node, at: isl.AstExpr, lane: int) -> str | None:
        """The element that ``node``, an access to ``at``, reads in ``lane``; None if it is in no buffer."""
        for each, name in self._called.items():
            if id(node) in each.nodes:
                place = self._scope.expressions.subscripts(at)[each.subscripts[1]]
                low = self._bound(each, 0)
                column = place.text if low.is_zero else f"{place.text} - {low.bound(ADDITIVE + 1)}"
                return f"{name}[{column}][{lane}]"
        return None

    def _guard(self, rows: PackedRows, indent: str) -> list[str]:
        """The head of what runs only where the rows are read."""
        if rows.needed.plain_is_universe():
            return [CodeLine(f"{indent}{{", role=Role.OPENING)]
        test = _build(rows).expr_from_set(rows.needed)
        return [condition(f"{indent}if ({self._scope.expressions.text(test)})")]

    def _subscripts(self, rows: PackedRows, at: isl.AstExpr, lane: str, place: str) -> list[Operand]:
        """The subscripts of the element at ``place`` of the row of ``lane``."""
        expressions = self._scope.expressions
        row = self._scope.in_lane(lane, lambda: expressions.operand(at.op_get_arg(1 + rows.subscripts[0])))
        both = {rows.subscripts[0]: row, rows.subscripts[1]: Operand(place, ATOM)}
        return [both[each] for each in sorted(both)]

    def _bound(self, rows: PackedRows, which: int) -> Operand:
        return self._scope.expressions.operand(_build(rows).expr_from_pw_aff(rows.bounds[which]))


def _build(rows: PackedRows) -> isl.AstBuild:
    return isl.AstBuild.from_context(isl.Set.universe(rows.needed.get_space()))


def _is_in_scope(expression: isl.AstExpr, names: Mapping[str, str]) -> bool:
    """Whether all that ``expression`` mentions is among ``names``."""
    kind = isl.ast_expr_type(expression.get_type())
    if kind == isl.ast_expr_type.id:
        return str(expression.id_get_id().get_name()) in names
    if kind == isl.ast_expr_type.int:
        return True
    return all(_is_in_scope(expression.op_get_arg(each), names) for each in range(expression.op_get_n_arg()))
