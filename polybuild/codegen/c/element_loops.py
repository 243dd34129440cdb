"""Loops over sets of integers as C: over elements of arrays, in the order in which they lie in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import islpy as isl

from polybuild.codegen.c.expressions import ADDITIVE, ExpressionPrinter, is_number
from polybuild.codegen.c.instances import COUNTER_TYPE
from polybuild.codegen.c.layout import between, closing, condition, loop, opening
from polybuild.codegen.c.names_in_scope import NamesInScope
from polybuild.codegen.c.nodes import FOR, IF, flat, identifier_of, kind_of, mentions
from polybuild.values import dataclass

_INDENT = "  "
_Op = isl.ast_expr_op_type
_SET = isl.dim_type.set


class PointPrinter(Protocol):
    """What is written for a point of a set, ``user``, which is the call that isl makes of it."""

    def takes_rows(self, user: isl.AstExpr) -> bool:
        """Whether points that follow each other in the last dimension are written as one."""

    def lines(self, user: isl.AstExpr, count: str, indent: str) -> list[str]:
        """The code for ``count`` points from ``user`` on."""


@dataclass(frozen=True, slots=True)
class ElementLoopPrinter:
    """Prints loops over points; ``expression`` gives what prints isl's expressions where they stand."""

    names: NamesInScope
    expression: Callable[[], ExpressionPrinter]

    def lines(self, sets: Sequence[isl.Set], context: isl.Set, leaf: PointPrinter, indent: str) -> list[str]:
        """Loops over ``sets``, one after the other, each along its dimensions."""
        schedules = [isl.Schedule.from_domain(isl.UnionSet.from_set(each)) for each in sets]
        ordered: Sequence[isl.Schedule] = [
            each.insert_partial_schedule(_dimensions(points)) if points.dim(_SET) else each
            for each, points in zip(schedules, sets, strict=True)
        ]
        whole = ordered[0]
        for each in ordered[1:]:
            whole = whole.sequence(each)
        node = isl.AstBuild.from_context(context).node_from_schedule(whole)
        return self._node(node, leaf, indent)

    def _node(self, node: isl.AstNode, leaf: PointPrinter, indent: str) -> list[str]:
        kind = kind_of(node)
        if kind == FOR:
            return self._for(node, leaf, indent)
        if kind == IF:
            lines: list[str] = [condition(f"{indent}if ({self.expression().text(node.if_get_cond())})")]
            lines += self._node(node.if_get_then_node(), leaf, indent + _INDENT)
            if node.if_has_else_node():
                lines += [between(indent), *self._node(node.if_get_else_node(), leaf, indent + _INDENT)]
            return [*lines, closing(indent)]
        if kind == isl.ast_node_type.block:
            return [line for each in flat(node) for line in self._node(each, leaf, indent)]
        return leaf.lines(node.user_get_expr(), "1", indent)

    def _for(self, node: isl.AstNode, leaf: PointPrinter, indent: str) -> list[str]:
        """A loop over points; one along a row is a single run of neighbours."""
        identifier, text = identifier_of(node), self.expression().text
        counter, outer, inner = self.names.fresh(identifier), self.names.get(identifier), indent + _INDENT
        first, body = text(node.for_get_init()), node.for_get_body()
        self.names[identifier] = counter
        start = f"{inner}const {COUNTER_TYPE} {counter} = {first};"
        lines: list[str]
        if node.for_is_degenerate():
            lines = [opening(f"{indent}{{"), start, *self._node(body, leaf, inner)]
        elif _is_row(node, identifier) and leaf.takes_rows(body.user_get_expr()):
            test = node.for_get_cond()
            more = " + 1" if _Op(test.op_get_type()) == _Op.le else ""
            count = f"{text(test.op_get_arg(1), ADDITIVE)} - {counter}{more}"
            run = leaf.lines(body.user_get_expr(), count, inner + _INDENT)
            head = condition(f"{inner}if ({text(test)})")
            lines = [opening(f"{indent}{{"), start, head, *run, closing(inner)]
        else:
            going = f"{text(node.for_get_cond())}; {counter} += {text(node.for_get_inc())}"
            head = loop(f"{indent}for ({COUNTER_TYPE} {counter} = {first}; {going})")
            lines = [head, *self._node(body, leaf, inner)]
        self.names.restore(identifier, outer)
        return [*lines, closing(indent)]


def _is_row(node: isl.AstNode, identifier: str) -> bool:
    """Whether the loop ``node`` goes along the last dimension of one array, from neighbour to neighbour."""
    body, test = node.for_get_body(), node.for_get_cond()
    if kind_of(body) != isl.ast_node_type.user or not is_number(node.for_get_inc(), 1):
        return False
    user = body.user_get_expr()
    *outer, last = map(user.op_get_arg, range(1, user.op_get_n_arg()))
    if any(mentions(each, identifier) for each in outer) or not _is(last, identifier):
        return False
    return _Op(test.op_get_type()) in {_Op.le, _Op.lt} and _is(test.op_get_arg(0), identifier)


def _is(expression: isl.AstExpr, identifier: str) -> bool:
    plain = isl.ast_expr_type(expression.get_type()) == isl.ast_expr_type.id
    return bool(plain and expression.id_get_id().get_name() == identifier)


def _dimensions(elements: isl.Set) -> isl.MultiUnionPwAff:
    """A schedule of elements along their dimensions, in the order in which they lie in memory."""
    identity = isl.Map.identity(elements.get_space().map_from_set()).reset_tuple_id(isl.dim_type.out)
    return isl.MultiUnionPwAff.from_union_map(isl.UnionMap.from_map(identity.intersect_domain(elements)))
