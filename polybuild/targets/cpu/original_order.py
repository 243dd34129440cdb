"""The original loops, shared by threads and else as they are: compilers make what they can of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polybuild.analysis.dependences import Dependences
from polybuild.context import CompileContext
from polybuild.schedule.legality import IllegalSchedule, check_schedule
from polybuild.schedule.original import original_bands
from polybuild.scop.model import Array, Scop
from polybuild.targets.cpu.choice import choose_mapping
from polybuild.targets.cpu.mapping import CpuMapping
from polybuild.targets.cpu.schedule_choice import ORIGINAL, Order


def original_on_threads(
    scop: Scop, dependences: Dependences, temporaries: Sequence[Array], context: CompileContext
) -> CpuMapping | None:
    """The mapping of the original order as compilers like it; None unless threads share its outermost loops.

    It has no tiles, and no lanes that are written out. ``temporaries`` need not be in memory.
    """
    order = original_bands(scop, dependences)
    try:
        check_schedule(order, dependences, scop.domain)
    except IllegalSchedule:
        return None
    candidates, options = (Order(ORIGINAL, order),), replace(context.options, tile=False)
    mapping = choose_mapping(scop, dependences, context.with_options(options), temporaries, candidates)
    if mapping.lane_loops():
        options = replace(options, simd=False)
        mapping = choose_mapping(scop, dependences, context.with_options(options), temporaries, candidates)
    shared = [each for each in mapping.directives.values() if each.parallel]
    return mapping if shared and not any(each.depth for each in shared) else None
