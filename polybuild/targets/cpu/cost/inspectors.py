"""The cost of looking at data before a region runs: inspectors evaluate subscripts in loops of their own."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.dependences import Dependences
from polybuild.analysis.inspectors import Inspector
from polybuild.context import CompileContext
from polybuild.scop.model import Scop, Statement
from polybuild.targets.cost import Cost, CostFunction
from polybuild.targets.cpu.cost.compare import cost_of_original
from polybuild.targets.cpu.cost.versions import VersionCosts
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class _WithInspectors:
    """Loops and the inspectors before them, which as many threads share, as a cost function."""

    loops: CostFunction
    before: CostFunction
    threads: float = 1.0

    def at(self, values: Mapping[str, int]) -> Cost:
        """Both costs where parameters have ``values``."""
        return self.loops.at(values) + self.before.at(values).divided(self.threads)


def with_inspectors(
    costs: VersionCosts, scop: Scop, inspectors: Iterable[Inspector], context: CompileContext
) -> VersionCosts:
    """``costs`` where ``inspectors`` run before the new loops of ``scop``: none gain in caches alone."""
    found = sorted(inspectors, key=lambda each: each.statement.name)
    if not found:
        return costs
    groups = itertools.groupby(found, key=lambda each: each.statement.name)
    looking = tuple(_looking(list(group)) for _, group in groups)
    domain = isl.UnionSet.empty(scop.domain.get_space())
    for each in looking:
        domain = domain.union(isl.UnionSet.from_set(each.domain))
    own = replace(scop, statements=looking, schedule=scop.schedule.intersect_domain(domain))
    nothing = isl.UnionMap.empty(scop.domain.get_space())
    before = cost_of_original(own, Dependences(nothing, nothing, (), nothing), (), context)
    chosen = replace(
        costs.chosen,
        one_thread=_WithInspectors(costs.chosen.one_thread, before),
        all_threads=_WithInspectors(
            costs.chosen.all_threads,
            before,
            context.machine.threads.cores if costs.chosen.has_threads else 1,
        ),
    )
    return replace(costs, chosen=chosen, candidates=(chosen, *costs.candidates[1:]), gain_warm=False)


def _looking(inspectors: list[Inspector]) -> Statement:
    """A statement that evaluates what ``inspectors`` of one statement do, and compares it twice."""
    inspected = inspectors[0].statement
    asked = (condition for each in inspectors for condition in each.conditions)
    compared = (
        c_ast.BinaryOp(sign, each.expression, each.expression) for each in inspectors for sign in ("<", ">")
    )
    parts = {id(part): part for part in (*asked, *compared)}
    reads = {id(read.node): read for each in inspectors for read in each.reads}
    body = c_ast.ExprList(list(parts.values()))
    return replace(inspected, body=body, accesses=tuple(reads.values()))
