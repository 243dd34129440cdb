"""Loops with dynamic bounds, written with these bounds again (CC 2018, the template for CPUs).

A ``for`` node of isl's AST that steps through the static range of such a loop, for
one iteration of the loops that were around it, becomes that loop: the exit
predicates of the statements inside are then not needed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from polybuild.codegen.c.expressions import ADDITIVE, AND, ExpressionPrinter, is_number
from polybuild.codegen.c.nodes import users_below
from polybuild.poly.relations import maps_of
from polybuild.scop.model import DynamicLoop, Statement
from polybuild.values import dataclass

_Guarded = tuple[c_ast.Node, c_ast.Node | None]
_in, _out, _set = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


@dataclass(frozen=True, slots=True)
class RestoredLoop:
    """A generated loop over the counter of ``loop``, or over its negation where that counts down.

    ``narrowed`` says that it runs through a part of the static range only. Its bounds may
    be read where ``place``, a condition on the counters around it, holds; everywhere if that is None.
    """

    loop: DynamicLoop
    negated: bool
    narrowed: bool
    place: isl.AstExpr | None = None


def restored_loop(build: isl.AstBuild, statements: Mapping[str, Statement]) -> RestoredLoop | None:
    """The dynamic loop that the loop being built is, None if it is none."""
    if not any(each.dynamic for each in statements.values()):
        return None
    found: RestoredLoop | None = None
    narrowed = True
    schedule = build.get_schedule()
    for each in maps_of(schedule):
        statement = statements.get(each.get_tuple_name(_in))
        if statement is None:  # a copy for a register tile, whose statement is in no dynamic loop
            return None
        here = _match(each, statement)
        if here is None or (found is not None and (here.loop, here.negated) != (found.loop, found.negated)):
            return None
        found = here
        narrowed = narrowed and here.narrowed
    if found is None:
        return None
    return replace(found, narrowed=narrowed, place=_place(schedule, build))


def _place(schedule: isl.UnionMap, build: isl.AstBuild) -> isl.AstExpr | None:
    """Whether the loop being built has any instance, in terms of the counters around it."""
    stamps = isl.Set.from_union_set(schedule.range())
    last = stamps.dim(_set) - 1
    place = build.expr_from_set(stamps.eliminate(_set, last, 1))
    return None if isl.ast_expr_type(place.get_type()) == isl.ast_expr_type.int else place


def _match(schedule: isl.Map, statement: Statement) -> RestoredLoop | None:
    """The loop of ``statement`` that the innermost date of ``schedule`` steps through."""
    last = schedule.dim(_out) - 1
    anything = isl.Map.universe(schedule.get_space())
    for loop in statement.dynamic:
        position = loop.position
        upwards = loop.step > 0
        relate = anything.equate if upwards else anything.oppose
        if not schedule.is_subset(relate(_in, position, _out, last)):
            continue
        inner = schedule.dim(_in) - position
        around = schedule.project_out(_out, last, 1).project_out(_in, position, inner)
        if not around.reverse().is_single_valued():
            return None
        return RestoredLoop(loop, not upwards, _is_narrowed(schedule.domain(), loop))
    return None


def _is_narrowed(instances: isl.Set, loop: DynamicLoop) -> bool:
    """Whether only a part of the loop's static range is left for ``instances``."""
    count = instances.dim(_set)
    values = instances.project_out(_set, loop.position + 1, count - loop.position - 1).reset_tuple_id()
    rest = values.gist(loop.domain.align_params(values.get_space()))
    return bool(rest.involves_dims(_set, loop.position, 1))


def unguarded(statement: Statement, body: c_ast.Node, opened: Collection[DynamicLoop]) -> _Guarded:
    """``body``, of ``statement``, without the predicates of ``opened`` loops; and again if none is left."""
    predicates = []
    for loop in statement.dynamic:
        if loop not in opened:
            predicates.append(loop.predicate)
        body = body.iftrue
    always = None if predicates else body
    for predicate in reversed(predicates):
        body = c_ast.If(predicate, body, None)
    return body, always


def first_instance(node: isl.AstNode) -> str:
    """The name of the first statement instance below ``node``."""
    return str(next(users_below(node)).get_annotation().get_name())


def within(node: isl.AstNode, counter: str, expressions: ExpressionPrinter) -> str:
    """Whether ``counter`` has a value that the loop ``node`` of the AST gives it, as C."""
    start = expressions.text(node.for_get_init(), ADDITIVE + 1)
    terms = [f"{counter} >= {start}", expressions.text(node.for_get_cond(), AND)]
    if not is_number(node.for_get_inc(), 1):
        step = expressions.text(node.for_get_inc())
        terms.append(f"({counter} - {start}) % {step} == 0")
    return " && ".join(terms)
