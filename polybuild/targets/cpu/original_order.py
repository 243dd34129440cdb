"""The original loops, shared by threads and else as they are, or in lanes that are written out."""

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
    mapping = _without_tiles(scop, dependences, temporaries, context)
    if mapping is not None and mapping.lane_loops():
        plain = context.with_options(replace(context.options, simd=False))
        mapping = _without_tiles(scop, dependences, temporaries, plain)
    return mapping if mapping is not None and _shares_outermost(mapping) else None


def original_in_lanes(
    scop: Scop, dependences: Dependences, temporaries: Sequence[Array], context: CompileContext
) -> CpuMapping | None:
    """The mapping of the original order in lanes, without tiles; None if no loop is written in lanes.

    Where threads may share loops they share the outermost ones. ``temporaries`` need not be in memory.
    """
    mapping = _without_tiles(scop, dependences, temporaries, context)
    if mapping is None or not mapping.lane_loops():
        return None
    return mapping if _shares_outermost(mapping) or not context.options.parallel else None


def _without_tiles(
    scop: Scop, dependences: Dependences, temporaries: Sequence[Array], context: CompileContext
) -> CpuMapping | None:
    """The mapping of the original order without tiles; None if there is no such order."""
    order = original_bands(scop, dependences)
    try:
        check_schedule(order, dependences, scop.domain)
    except IllegalSchedule:
        return None
    plain = context.with_options(replace(context.options, tile=False))
    return choose_mapping(scop, dependences, plain, temporaries, (Order(ORIGINAL, order),))


def _shares_outermost(mapping: CpuMapping) -> bool:
    """Whether threads share loops, none of which is inside of others."""
    shared = [each for each in mapping.directives.values() if each.parallel]
    return bool(shared) and not any(each.depth for each in shared)
