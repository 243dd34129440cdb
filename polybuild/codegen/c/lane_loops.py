"""Loops in lanes: whether all lanes may go through what is inside, and the loops that they become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import islpy as isl

from polybuild.codegen.c.expressions import is_number
from polybuild.codegen.c.instances import COUNTER_TYPE
from polybuild.codegen.c.lane_bodies import LaneBodyPrinter
from polybuild.codegen.c.lane_elements import LaneElements
from polybuild.codegen.c.lane_exits import LaneExitPrinter
from polybuild.codegen.c.lane_scope import LaneScope
from polybuild.codegen.c.layout import loop
from polybuild.codegen.c.nodes import FOR, IF, identifier_of, kind_of, mentions, nodes_below, users_below
from polybuild.codegen.c.row_buffers import RowBufferPrinter
from polybuild.codegen.c.row_windows import RowWindowPrinter
from polybuild.poly.marks import Mark, MarkKind

if TYPE_CHECKING:
    from polybuild.codegen.c.ast import Instance, PrintedAst

_Op = isl.ast_expr_op_type
# marks that say nothing of what lanes do below them
_IDLE = frozenset({MarkKind.SIMD, MarkKind.SERIAL, MarkKind.UNROLLED})


class LaneLoopBounds:
    """The counter of ``loop``, in ``scope``, and the last value that it has there.

    They are shared by the loops that it becomes: in steps of many lanes, of fewer, and one by one.
    """

    def __init__(self, loop: isl.AstNode, scope: LaneScope) -> None:
        condition = loop.for_get_cond()
        self._loop = loop
        self._scope = scope
        self._operator = "<=" if _Op(condition.op_get_type()) == _Op.le else "<"
        stem = "last" if self._operator == "<=" else "end"
        self._end = scope.names.declare(f"{stem}_{scope.counter}")

    def declarations(self, indent: str) -> list[str]:
        """What stands before the loops."""
        expressions = self._scope.expressions
        start, last = self._loop.for_get_init(), self._loop.for_get_cond().op_get_arg(1)
        return [
            f"{indent}const {COUNTER_TYPE} {self._end} = {expressions.text(last)};",
            f"{indent}{COUNTER_TYPE} {self._scope.counter} = {expressions.text(start)};",
        ]

    def head(self, indent: str, step: int, conditions: Sequence[str] = ()) -> str:
        """The head of a loop over ``step`` iterations at once, while ``conditions`` hold."""
        counter = self._scope.counter
        end, advance = (
            (self._end, f"{counter}++")
            if step == 1
            else (
                f"{self._end} - {step - 1}",
                f"{counter} += {step}",
            )
        )
        test = " && ".join([*conditions, f"{counter} {self._operator} {end}"])
        return loop(f"{indent}for (; {test}; {advance})")


class LaneLoopPrinter:
    """Prints one of the loops over vectors of iterations: ``node``, in ``scope``, with ``instances`` inside.

    ``statements`` prints these in lanes, ``windows`` loops inside that go along rows; ``elements`` are those
    that loops inside have in vectors.
    """

    def __init__(self, scope: LaneScope, node: isl.AstNode, instances: Mapping[str, Instance]) -> None:
        self._step = scope.step
        self._buffers = RowBufferPrinter(
            scope, [instances[each.get_annotation().get_name()] for each in users_below(node)]
        )
        self.windows = RowWindowPrinter(scope, instances)
        self.elements = LaneElements(scope, instances, self.windows)
        bodies = LaneBodyPrinter(scope, self._buffers, self.elements)
        self.statements = LaneExitPrinter(scope, bodies)

    def head(self, bounds: LaneLoopBounds, indent: str) -> str:
        """The head of the loop."""
        return bounds.head(indent, self._step, self._buffers.conditions())

    def declarations(self, indent: str) -> list[str]:
        """What stands before the statements in lanes: variables, and buffers with what fills them."""
        variables = (f"{indent}{line}" for line in self.statements.declarations())
        return [*variables, *self._buffers.filled(indent)]


def runs_in_lanes(node: isl.AstNode, ast: PrintedAst) -> bool:
    """Whether the loop ``node`` counts its iterations one by one, and all take the same way through it.

    No bound or condition inside may ask for the counter.
    """
    identifier = identifier_of(node)
    if not is_number(node.for_get_inc(), 1) or node.for_is_degenerate():
        return False
    if _Op(node.for_get_cond().op_get_type()) not in {_Op.le, _Op.lt}:
        return False
    for below in nodes_below(node.for_get_body()):
        kind = kind_of(below)
        if kind == isl.ast_node_type.mark and Mark.of_id(below.mark_get_id()).kind not in _IDLE:
            return False
        if any(mentions(each, identifier) for each in _decisions(below)):
            return False
    names = [each.get_annotation().get_name() for each in users_below(node)]
    return all(name in ast.instances and not ast.instances[name].never for name in names)


def _decisions(node: isl.AstNode) -> list[isl.AstExpr]:
    """The expressions that say whether, and how often, what is below ``node`` runs."""
    if kind_of(node) == IF:
        return [node.if_get_cond()]
    if kind_of(node) == FOR:
        first = [node.for_get_init()]
        return first if node.for_is_degenerate() else [*first, node.for_get_cond(), node.for_get_inc()]
    return []
