"""What compilers make of loops by themselves: they keep the order, unroll short loops and use lanes."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.analysis.operations import operations_of
from polybuild.analysis.reduction_dependences import separate_reduction_dependences
from polybuild.analysis.reductions import Reduction
from polybuild.c.types import IntegerType
from polybuild.context import CompileContext, CompilerRules
from polybuild.effort import COMPILERS_UNROLL
from polybuild.scop.model import AccessKind, Scop, Statement
from polybuild.targets.cpu.mapping import CpuMapping
from polybuild.transform.full_unrolling import UnrollingLimits, unroll_small_trip_counts


def as_compiled(
    scop: Scop, exact: Dependences, reductions: Sequence[Reduction], context: CompileContext
) -> tuple[isl.Schedule, Dependences]:
    """The original order with short loops unrolled, and what a compiler keeps of the ``exact`` dependences.

    It accumulates in lanes what any order of the terms gives in integers; in floating point only if it may:
    it does not know which minima and maxima do not depend on the order.
    """
    reassociates = context.compiler.may_reassociate
    reordered = [each for each in reductions if reassociates or isinstance(each.type, IntegerType)]
    relaxed = separate_reduction_dependences(scop, exact, reordered) if reordered else exact
    limits = _limits(scop, context.compiler)
    return unroll_small_trip_counts(scop, scop.schedule, limits, elements=False), relaxed


def as_unrolled(scop: Scop, mapping: CpuMapping, compiler: CompilerRules) -> isl.Schedule:
    """The tree of ``mapping`` with the loops unrolled that ``compiler`` unrolls; not those of small tiles."""
    small = any(size <= COMPILERS_UNROLL for sizes in mapping.tile_sizes for size in sizes)
    if small or mapping.registers or mapping.buffers:
        return mapping.schedule
    return unroll_small_trip_counts(scop, mapping.schedule, _limits(scop, compiler), elements=False)


def _limits(scop: Scop, compiler: CompilerRules) -> UnrollingLimits:
    """What ``compiler`` unrolls: so many instructions, those that load elements among them."""
    sizes = {each.name: _instructions(each) for each in scop.statements}
    return UnrollingLimits(COMPILERS_UNROLL, compiler.unrolled_instructions, sizes)


def _instructions(statement: Statement) -> int:
    """How many instructions there are for an instance of ``statement``, with one for a place in flat rows."""
    found = operations_of(statement)
    computed = found.simple + found.divisions + found.roots + found.calls
    loaded = {
        (each.array.name, each.relation): each.array.flat > 1 and each.array.sizes is None
        for each in statement.accesses
        if each.kind is AccessKind.READ and each.array.extents
    }
    return max(round(computed) + len(loaded) + sum(loaded.values()), 1)
