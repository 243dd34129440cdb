"""Choosing among the orders that different schedulers and strategies give."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.context import CompileContext
from polybuild.poly.budget import budget_within
from polybuild.schedule.legality import IllegalSchedule, check_schedule
from polybuild.schedule.linearised import constant_trips, linearises_loops
from polybuild.schedule.original import original_bands
from polybuild.schedule.pluto.fusion import Cut
from polybuild.schedule.pluto.scheduler import PlutoScheduler
from polybuild.schedule.pluto.search import EFFORT, NoHyperplane, Strategy
from polybuild.schedule.scheduler import Fusion, compute_schedule
from polybuild.scop.model import Scop
from polybuild.targets.cpu.estimate import estimate
from polybuild.targets.cpu.stencils import has_stencil
from polybuild.targets.cpu.unit_strides import with_unit_strides
from polybuild.transform.full_unrolling import has_small_trip_counts, unroll_small_trip_counts

_T = TypeVar("_T")

_CUTS = {"auto": Cut.SMART, "min": Cut.ALL, "max": Cut.NEEDED, "depth": Cut.NEEDED}

# What is compared with isl's order: fused loops, and sequential loops with parallel ones inside.
_CANDIDATES = (Strategy(Cut.SMART), Strategy(Cut.ALL, inner=True))
# How much faster another order must seem: below that the estimate does not tell them apart.
_GAIN = 1.08

# isl's operations, and coefficients of integer programs, that our scheduler may spend: where it is asked
# for, and for a trial, of which it takes about a second.
_MAXIMUM_OPERATIONS = 2_000_000
_TRIAL_OPERATIONS = 400_000
_TRIAL_EFFORT = 1_000_000


def choose_schedule(scop: Scop, dependences: Dependences, context: CompileContext) -> isl.Schedule:
    """The order that the options of ``context`` ask for, or that the model prefers.

    The tile shapes of stencils are made from the original order, along the rows of their arrays.
    """
    if context.options.schedule == "original":
        return scop.schedule
    if context.options.schedule == "auto" and has_stencil(scop, dependences, context):
        return with_unit_strides(scop, dependences, scop.schedule)
    if context.options.schedule == "pluto":
        strategies = [Strategy(each) for each in dict.fromkeys((_CUTS[context.options.fusion], Cut.ALL))]
        found = _pluto(scop, dependences, strategies, _MAXIMUM_OPERATIONS, EFFORT)
        return next(found, None) or isl_schedule(scop, dependences, Fusion.MIN)
    fusion = Fusion.MIN if context.options.fusion == "auto" else Fusion(context.options.fusion)
    schedule = unroll_small_trip_counts(scop, isl_schedule(scop, dependences, fusion))
    if context.options.schedule == "auto" and context.options.fusion == "auto":
        return _best(scop, dependences, schedule, context)
    return schedule


def _best(
    scop: Scop, dependences: Dependences, schedule: isl.Schedule, context: CompileContext
) -> isl.Schedule:
    """``schedule``, unless another one is clearly faster by the estimate.

    Others are those of our own scheduler. Where short loops are to stay in it the original order comes
    first: what is computed over a window is best stored at once. Orders that linearise loops are the last
    resort.
    """
    candidates, trips = [schedule], constant_trips(scop)
    if has_small_trip_counts(scop) or linearises_loops(schedule, trips):
        with contextlib.suppress(IllegalSchedule):
            original = original_bands(scop, dependences)
            check_schedule(original, dependences, scop.domain)
            candidates.insert(0, unroll_small_trip_counts(scop, original))
    found = _pluto(scop, dependences, _CANDIDATES, _TRIAL_OPERATIONS, _TRIAL_EFFORT)
    orders = itertools.chain(candidates, (unroll_small_trip_counts(scop, each) for each in found))
    best, *others = [each for each in orders if not linearises_loops(each, trips)] or candidates
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


def isl_schedule(scop: Scop, dependences: Dependences, fusion: Fusion) -> isl.Schedule:
    """The schedule for ``fusion``; isl fails on a few small problems, then another one.

    Once isl's budget is spent all that follows fails, too.
    """
    for strategy in dict.fromkeys((fusion, Fusion.MIN)):
        try:
            return compute_schedule(scop, dependences, strategy)
        except isl.Error:
            continue
    return scop.schedule
