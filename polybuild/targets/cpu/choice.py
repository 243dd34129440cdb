"""Choosing among the orders that different schedulers and strategies give."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

import islpy as isl

from polybuild.analysis.dependences import Dependences, written_and_flow
from polybuild.context import CompileContext
from polybuild.poly.budget import budget_within, found_within
from polybuild.poly.relations import sets_of, tuple_name
from polybuild.schedule.legality import IllegalSchedule, check_schedule
from polybuild.schedule.original import original_bands
from polybuild.schedule.pluto.fusion import Cut
from polybuild.schedule.pluto.scheduler import PlutoScheduler
from polybuild.schedule.pluto.search import EFFORT, NoHyperplane, Strategy
from polybuild.schedule.scheduler import Fusion, compute_schedule
from polybuild.scop.model import Array, Scop
from polybuild.storage.temporaries import streams, users_of
from polybuild.targets.cpu.contraction import contract_arrays, is_cheap
from polybuild.targets.cpu.estimate import estimate
from polybuild.targets.cpu.mapping import CpuMapping, map_to_cpu
from polybuild.targets.cpu.scalars import promote
from polybuild.targets.cpu.stencils import has_stencil
from polybuild.targets.cpu.tilesizes import ROW
from polybuild.transform.full_unrolling import has_small_trip_counts, unroll_small_trip_counts

_T = TypeVar("_T")

# How much longer than else strips of tiles may be where they share buffers.
_LONGER_ROWS = (2 * ROW, 4 * ROW)

_CUTS = {"auto": Cut.SMART, "min": Cut.ALL, "max": Cut.NEEDED, "depth": Cut.NEEDED}

# What is compared with isl's order: fused loops, and sequential loops with parallel ones inside.
_CANDIDATES = (Strategy(Cut.SMART), Strategy(Cut.ALL, inner=True))
# How much faster another order must seem: below that the estimate does not tell them apart.
_GAIN = 1.08

# isl's operations, and coefficients of integer programs, that our scheduler may spend: where it is asked
# for, and for a trial, of which it takes about a second. And operations for buffers.
_MAXIMUM_OPERATIONS = 2_000_000
_TRIAL_OPERATIONS = 400_000
_TRIAL_EFFORT = 1_000_000
_CONTRACTION_OPERATIONS = 1_000_000


def choose_mapping(
    scop: Scop,
    dependences: Dependences,
    context: CompileContext,
    temporaries: Sequence[Array] = (),
    schedule: isl.Schedule | None = None,
) -> CpuMapping:
    """The mapping of the best order for the CPU; ``temporaries`` need not be in memory.

    ``schedule`` is that of ``choose_schedule``, if it was asked before.
    """
    if schedule is None:
        schedule = choose_schedule(scop, dependences, context)
    mapping = map_to_cpu(scop, dependences, schedule, context)
    if dependences.reductions:  # elsewhere a value may be read in another order than that it was made in
        temporaries = [
            each for each in temporaries if written_and_flow(scop, each)[1].is_subset(dependences.flow)
        ]
    if not temporaries:
        return mapping
    contracted = partial(_contracted, scop, dependences, mapping, temporaries, context, schedule=schedule)
    return found_within(_CONTRACTION_OPERATIONS, contracted) or mapping


def _contracted(
    scop: Scop,
    dependences: Dependences,
    mapping: CpuMapping,
    temporaries: Sequence[Array],
    context: CompileContext,
    *,
    schedule: isl.Schedule,
) -> CpuMapping:
    """``mapping``, which is of ``schedule``, with ``temporaries`` in buffers or variables.

    Or another order, where more of them are.
    """
    users = users_of(scop, temporaries)
    vectors = users & _in_vector_loops(mapping)
    asked = context.contraction
    if asked != "on" and (context.in_variables or not (mapping.registers or vectors)):
        promoted = _in_scalars(scop, dependences, mapping, temporaries, context)
        if promoted is not None or context.in_variables:
            return promoted or mapping
    remap = partial(map_to_cpu, scop, dependences, schedule, context)
    best = _in_buffers(scop, mapping, remap, temporaries, context)
    if asked == "auto" and not is_cheap(scop, best):
        best = mapping
    if len(best.buffers) == len(temporaries):
        return best
    if context.options.schedule == context.options.fusion == "auto":
        # A value that is used soon after it was made needs producer and consumer in one loop.
        together = _isl(scop, dependences, Fusion.MAX)
        remap = partial(map_to_cpu, scop, dependences, together, context, distribute=False)
        fused = _in_buffers(scop, remap(), remap, temporaries, context)
        loses = mapping.parallel_loops and not fused.parallel_loops
        pays = asked == "on" or (_costs_nothing(mapping, fused) and is_cheap(scop, fused))
        if len(fused.buffers) > len(best.buffers) and pays and not loses:
            return fused
    if asked == "auto" and not best.buffers and streams(scop, users, temporaries):
        best = _in_scalars(scop, dependences, mapping, temporaries, context) or best
    return best


def _in_buffers(
    scop: Scop,
    mapping: CpuMapping,
    remap: Callable[..., CpuMapping],
    temporaries: Sequence[Array],
    context: CompileContext,
) -> CpuMapping:
    """``mapping`` with ``temporaries`` in buffers; ``remap`` makes it anew with rows of another length.

    Strips of tiles are as long as the buffers may be: prefetchers start anew in each row of one.
    """
    best = contract_arrays(scop, mapping, temporaries, context)
    for row in _LONGER_ROWS:
        if not 0 < sum(each.size for each in best.buffers) * 2 <= context.machine.l1.bytes // 2:
            break
        found = contract_arrays(scop, remap(row=row), temporaries, context)
        if len(found.buffers) < len(best.buffers) or found.tile_sizes == best.tile_sizes:
            break
        best = found
    return best


def _in_scalars(
    scop: Scop,
    dependences: Dependences,
    mapping: CpuMapping,
    temporaries: Sequence[Array],
    context: CompileContext,
) -> CpuMapping | None:
    """The best order with all of ``temporaries`` in variables; None if there is none, or none for threads."""
    if not context.options.scalars:
        return None
    if context.options.schedule != "auto" or context.options.fusion != "auto":
        schedules = [choose_schedule(scop, dependences, context)]
    else:
        schedules = [_isl(scop, dependences, Fusion.MAX), scop.schedule]
    promoted = promote(scop, dependences, schedules, temporaries, context)
    if promoted is None or (mapping.parallel_loops and not promoted.parallel_loops):
        return None
    return promoted


def _costs_nothing(mapping: CpuMapping, fused: CpuMapping) -> bool:
    """Whether ``fused`` keeps what makes ``mapping`` fast: register tiles, tiles, vector loops."""
    if mapping.registers or len(fused.tile_sizes) < bool(mapping.tile_sizes):
        return False
    return _in_vector_loops(mapping) <= _in_vector_loops(fused)


def _in_vector_loops(mapping: CpuMapping) -> set[str]:
    """The statements that run in loops for the vector unit."""
    return {tuple_name(each) for node in mapping.vector_loops() for each in sets_of(node.get_domain())}


def choose_schedule(scop: Scop, dependences: Dependences, context: CompileContext) -> isl.Schedule:
    """The order that the options of ``context`` ask for, or that the model prefers.

    The tile shapes of stencils are made from the original order.
    """
    if context.options.schedule == "original" or (
        context.options.schedule == "auto" and has_stencil(scop, dependences, context)
    ):
        return scop.schedule
    if context.options.schedule == "pluto":
        strategies = [Strategy(each) for each in dict.fromkeys((_CUTS[context.options.fusion], Cut.ALL))]
        found = _pluto(scop, dependences, strategies, _MAXIMUM_OPERATIONS, EFFORT)
        return next(found, None) or _isl(scop, dependences, Fusion.MIN)
    fusion = Fusion.MIN if context.options.fusion == "auto" else Fusion(context.options.fusion)
    schedule = unroll_small_trip_counts(scop, _isl(scop, dependences, fusion))
    if context.options.schedule == "auto" and context.options.fusion == "auto":
        return _best(scop, dependences, schedule, context)
    return schedule


def _best(
    scop: Scop, dependences: Dependences, schedule: isl.Schedule, context: CompileContext
) -> isl.Schedule:
    """``schedule``, unless another one is clearly faster by the estimate.

    Others are those of our own scheduler. Where short loops are to stay in it the original order comes
    first: what is computed over a window is best stored at once.
    """
    candidates = [schedule]
    if has_small_trip_counts(scop):
        with contextlib.suppress(IllegalSchedule):
            original = original_bands(scop, dependences)
            check_schedule(original, dependences, scop.domain)
            candidates.insert(0, unroll_small_trip_counts(scop, original))
    found = _pluto(scop, dependences, _CANDIDATES, _TRIAL_OPERATIONS, _TRIAL_EFFORT)
    best, *others = itertools.chain(candidates, (unroll_small_trip_counts(scop, each) for each in found))
    shortest = estimate(scop, dependences, best, context) / _GAIN
    for candidate in others:
        time = estimate(scop, dependences, candidate, context)
        if time < shortest:
            best, shortest = candidate, time
    return best


def fused(scop: Scop, dependences: Dependences) -> isl.Schedule | None:
    """An order in which statements share loops wherever they can, found by our scheduler within its limits.

    isl's knows none in the time it takes: where bounds are large numbers that can be minutes.
    """
    strategies = [Strategy(Cut.NEEDED)]
    return next(_pluto(scop, dependences, strategies, _TRIAL_OPERATIONS, _TRIAL_EFFORT), None)


def _pluto(
    scop: Scop, dependences: Dependences, strategies: Sequence[Strategy], operations: int, effort: int
) -> Iterator[isl.Schedule]:
    """The schedules of our own scheduler for ``strategies``; none where it finds none within its limits.

    Each of ``strategies`` has these limits for itself, and so has the problem that they share.
    """
    scheduler = _within(operations, partial(PlutoScheduler.of, scop, dependences))
    if scheduler is None:
        return
    for strategy in strategies:
        schedule = _within(operations, partial(scheduler.schedule, strategy, effort))
        if schedule is not None:
            yield schedule


def _within(operations: int, find: Callable[[], _T]) -> _T | None:
    """What ``find`` finds in so many operations of isl, which also fails on a few small problems."""
    try:
        with budget_within(operations):
            return find()
    except (NoHyperplane, isl.Error):
        return None


def _isl(scop: Scop, dependences: Dependences, fusion: Fusion) -> isl.Schedule:
    """The schedule for ``fusion``; isl fails on a few small problems, then another one.

    Once isl's budget is spent all that follows fails, too.
    """
    for strategy in dict.fromkeys((fusion, Fusion.MIN)):
        try:
            return compute_schedule(scop, dependences, strategy)
        except isl.Error:
            continue
    return scop.schedule
