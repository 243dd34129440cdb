"""The inspectors of a region as loops: they run before it, and say which elements it touches.

Each leaves the minimum and the maximum of the subscripts that it saw in two variables.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.aliasing import Overlap
from polybuild.analysis.inspectors import Inspector
from polybuild.analysis.trip_counts import trip_counts
from polybuild.c.basic_types import LONG_LONG
from polybuild.c.syntax_tree import key, walk
from polybuild.c.synthetic import type_name
from polybuild.codegen.c.ast import build_ast
from polybuild.codegen.c.bodies import Sizes
from polybuild.codegen.c.directives import DirectivePrinter
from polybuild.codegen.c.layout import CodeLine
from polybuild.codegen.c.loops import LoopPrinter
from polybuild.codegen.c.names_in_scope import NamesInScope
from polybuild.codegen.c.names_in_use import NamesInUse
from polybuild.codegen.file.names import PREFIX, fresh
from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.trees import insert_mark
from polybuild.scop.model import Scop, Statement
from polybuild.targets.model import LoopDirective, ThreadLimits
from polybuild.values import dataclass

_MARK = Mark(MarkKind.INSPECTOR)
_LARGEST = (1 << 63) - 1

Extrema = Mapping[Inspector, tuple[str, str]]
"""The variables of the minimum and the maximum subscript that each inspector saw."""


def inspectors_of(overlaps: Sequence[Overlap]) -> list[Inspector]:
    """The inspectors that ``overlaps`` need, each once."""
    both = (each for overlap in overlaps for each in (overlap.first.inspector, overlap.second.inspector))
    return list(dict.fromkeys(each for each in both if each is not None))


def name_extrema(inspectors: Sequence[Inspector], taken: frozenset[str]) -> Extrema:
    """Variables that are not ``taken`` for the minimum and the maximum subscript of each inspector."""
    used = set(taken)
    extrema: dict[Inspector, tuple[str, str]] = {}
    for each in inspectors:
        minimum = fresh(PREFIX + "least", used)
        maximum = fresh(PREFIX + "most", used)
        used |= {minimum, maximum}
        extrema[each] = (minimum, maximum)
    return extrema


def extrema_declarations(inspectors: Sequence[Inspector], extrema: Extrema) -> list[str]:
    """The declarations of the minima and maxima of ``inspectors``, before anything was looked at."""
    return [
        f"long long {minimum} = {_LARGEST}LL, {maximum} = -{_LARGEST}LL;"
        for minimum, maximum in (extrema[each] for each in inspectors)
    ]


@dataclass(frozen=True, slots=True)
class InspectorText:
    """What the printer of a region's loops is made of, as in ``LoopPrinter``, and names for the results.

    ``work`` writes how many instances there are to look at, from so many as ``limits`` say on by threads,
    and by one ``alone`` if it is given.
    """

    scop: Scop
    names: Mapping[str, str]
    taken: frozenset[str]
    in_use: NamesInUse
    sizes: Mapping[str, Sizes]
    extrema: Extrema
    work: Callable[[ThreadLimits], str | None] = lambda _: None
    limits: ThreadLimits = ThreadLimits()
    alone: int = 0


def write_inspectors(
    inspectors: Sequence[Inspector], text: InspectorText, *, parallel: bool
) -> list[CodeLine]:
    """Loops that find the extrema of ``inspectors``, as lines of C; on several threads if ``parallel``."""
    lines: list[CodeLine] = []
    for _, group in groupby(inspectors, key=lambda each: each.statement.name):
        lines += _loops(list(group), text, parallel=parallel)
    return lines


def _loops(inspectors: Sequence[Inspector], text: InspectorText, *, parallel: bool) -> list[CodeLine]:
    statement = _statement(inspectors, text.extrema)
    schedule = _in_order(statement)
    directives: dict[Mark, LoopDirective] = {}
    own = dataclasses.replace(text.scop, statements=(statement,), schedule=schedule)
    if parallel and statement.iterators:
        minima, maxima = (tuple(text.extrema[each][end] for each in inspectors) for end in (0, 1))
        reductions = ("min", minima), ("max", maxima)
        limits = dataclasses.replace(text.limits, work=trip_counts(own)) if text.alone else ThreadLimits()
        directives[_MARK] = LoopDirective(0, shared=1, reductions=reductions, limits=limits)
    taken = text.taken.union(name for pair in text.extrema.values() for name in pair)
    ast = build_ast(own, schedule)
    printer = LoopPrinter(
        ast,
        NamesInScope(text.names, taken),
        DirectivePrinter(directives, text.in_use, text.work, alone=text.alone),
        sizes=text.sizes,
    )
    return printer.lines()


def _statement(inspectors: Sequence[Inspector], extrema: Extrema) -> Statement:
    """A statement that runs where the inspected one does, and looks at what that would use."""
    inspected = inspectors[0].statement
    alike = groupby(inspectors, key=lambda each: tuple(map(key, each.conditions)))
    tests = [_tests(list(group), extrema) for _, group in alike]
    body = tests[0] if len(tests) == 1 else c_ast.Compound(tests)
    for loop in reversed(inspected.dynamic):
        body = c_ast.If(loop.predicate, body, None)
    mentioned = {id(node) for node in walk(body)}
    reads = {id(each.node): each for each in inspected.accesses}
    reads |= {id(each.node): each for inspector in inspectors for each in inspector.reads}
    return dataclasses.replace(
        inspected,
        body=body,
        accesses=tuple(each for node, each in reads.items() if node in mentioned),
        locals=(),
    )


def _tests(inspectors: Sequence[Inspector], extrema: Extrema) -> c_ast.Node:
    """What looks at the expressions of ``inspectors``, which have the same conditions, where these hold."""
    found: list[c_ast.Node] = []
    seen = ((each, one) for each in inspectors for one in (each.expression, *each.others))
    for each, expression in seen:
        value = c_ast.Cast(type_name(LONG_LONG), expression)
        for op, extremum in zip("<>", extrema[each], strict=True):
            nearer = c_ast.Assignment("=", c_ast.ID(extremum), value)
            found.append(c_ast.If(c_ast.BinaryOp(op, value, c_ast.ID(extremum)), nearer, None))
    tests: c_ast.Node = c_ast.Compound(found)
    for condition in reversed(inspectors[0].conditions):
        tests = c_ast.If(condition, tests, None)
    return tests


def _in_order(statement: Statement) -> isl.Schedule:
    """One band for each loop of ``statement``, outermost first, under a mark for the threads."""
    schedule = isl.Schedule.from_domain(isl.UnionSet.from_set(statement.domain))
    space = isl.LocalSpace.from_space(statement.domain.get_space())
    downwards = {loop.position for loop in statement.dynamic if loop.step < 0}
    for position in reversed(range(len(statement.iterators))):
        counter = isl.PwAff.var_on_domain(space, isl.dim_type.set, position)
        value = isl.UnionPwAff.from_pw_aff(counter.neg() if position in downwards else counter)
        schedule = schedule.insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff(value))
    return insert_mark(schedule.get_root().child(0), _MARK).get_schedule()
