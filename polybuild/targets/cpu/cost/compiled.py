"""What compilers make of loops by themselves: they keep the order, unroll short loops and use lanes."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.analysis.reduction_dependences import separate_reduction_dependences
from polybuild.analysis.reductions import Reduction
from polybuild.c.types import IntegerType
from polybuild.context import CompileContext
from polybuild.effort import COMPILERS_UNROLL
from polybuild.scop.model import Scop
from polybuild.targets.cpu.mapping import CpuMapping
from polybuild.transform.full_unrolling import unroll_small_trip_counts


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
    return unroll_small_trip_counts(scop, scop.schedule, few=COMPILERS_UNROLL, elements=False), relaxed


def as_unrolled(scop: Scop, mapping: CpuMapping) -> isl.Schedule:
    """The tree of ``mapping`` with short loops unrolled; those of small tiles stay loops."""
    small = any(size <= COMPILERS_UNROLL for sizes in mapping.tile_sizes for size in sizes)
    if small or mapping.registers or mapping.buffers:
        return mapping.schedule
    return unroll_small_trip_counts(scop, mapping.schedule, few=COMPILERS_UNROLL, elements=False)
