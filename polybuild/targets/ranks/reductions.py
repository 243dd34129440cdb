"""Reductions in which all ranks take part: each accumulates its block, and they put these parts together.

The first rank accumulates on what the element held, the others on the identity element; every rank combines
the parts in the order of the ranks: the same number of ranks gives the same bits, whatever comes first
(Bondhugula, SC 2013, leaves that to MPI, which may choose another order in each run).
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from polybuild.analysis.dependences import Dependences, ReductionDependences
from polybuild.analysis.reductions import Reduction
from polybuild.c.types import IntegerType
from polybuild.poly.relations import union_of
from polybuild.scop.model import AccessKind, Scop
from polybuild.targets.model import Accumulator
from polybuild.targets.ranks.model import Accumulation, RankReduction
from polybuild.targets.ranks.phases import SharedLoop
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class SharedAccumulators:
    """The reductions of all phases; ``accesses``, ``{ S[i] -> a[x] }``, are those of what is accumulated."""

    reductions: tuple[tuple[SharedLoop, RankReduction], ...]
    accesses: isl.UnionMap

    @property
    def instances(self) -> isl.UnionSet:
        """What accumulates."""
        return self.accesses.domain()


def shared_accumulators(
    scop: Scop, dependences: Dependences, phases: Sequence[SharedLoop]
) -> SharedAccumulators:
    """What iterations of ``phases`` that different ranks may run accumulate together.

    Nothing else in the phase touches these elements: the loop would carry that.
    """
    found: list[tuple[SharedLoop, RankReduction]] = []
    accesses = isl.UnionMap.empty(scop.context.get_space())
    for number, phase in enumerate(phases):
        accumulations: list[Accumulation] = []
        for group in dependences.reductions:
            touched = _touched(scop, group, phase)
            if touched.is_empty():
                continue
            accesses = accesses.union(touched)
            (elements,) = phase.elements_of_run(touched)
            accumulations.append(Accumulation(group.reductions, elements.coalesce()))
        if accumulations:
            found.append((phase, RankReduction(f"parts{number}", phase.depth, tuple(accumulations))))
    return SharedAccumulators(tuple(found), accesses)


def _touched(scop: Scop, group: ReductionDependences, phase: SharedLoop) -> isl.UnionMap:
    """``{ S[i] -> a[x] }``: what instances of ``phase`` accumulate that different ranks may run.

    With those that are alone in their run, where that makes it simpler and nothing else is at these elements.
    """
    relations = (each.relation.intersect_domain(each.statement.domain) for each in group.reductions)
    own = union_of(relations, scop.context.get_space()).intersect_domain(phase.domain)
    across = own.intersect_domain(_across_blocks(group.pairs, phase))
    if across.is_empty():
        return across
    every = scop.accesses(*AccessKind).intersect_domain(phase.domain)
    others = every.subtract(own).range()
    same = own.intersect_params(across.params()).is_subset(across)
    return own if same and others.intersect(own.range()).is_empty() else across


def _across_blocks(pairs: isl.UnionMap, phase: SharedLoop) -> isl.UnionSet:
    """The instances of ``pairs`` in one run of ``phase`` that may be in blocks of different ranks."""
    here = pairs.intersect_domain(phase.domain).intersect_range(phase.domain)
    here = here.intersect(phase.around.apply_range(phase.around.reverse()))
    across = here.subtract(phase.values.apply_range(phase.values.reverse()))
    return across.domain().union(across.range())


def overflows_in_parts(sharing: Sequence[RankReduction], accumulators: Sequence[Accumulator]) -> bool:
    """Whether a part may overflow though the whole does not: a signed sum in no wider, unsigned variable.

    The ``accumulators`` of loops are such variables.
    """
    wide = {each.statement.name for accumulator in accumulators for each in accumulator.reductions}
    parts = [
        each for one in sharing for accumulation in one.accumulations for each in accumulation.reductions
    ]
    return any(_wraps(each) and each.statement.name not in wide for each in parts)


def _wraps(reduction: Reduction) -> bool:
    """Whether the order decides if intermediate values fit the element."""
    in_integers = isinstance(reduction.type, IntegerType) and reduction.operator in {"+", "*"}
    return in_integers and reduction.type != reduction.array.element
