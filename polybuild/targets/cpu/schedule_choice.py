"""The orders that different schedulers and strategies give."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.context import CompileContext
from polybuild.effort import ORDER_OPERATIONS, SCHEDULER_EFFORT, TRIAL_EFFORT, TRIAL_OPERATIONS
from polybuild.poly.budget import budget_within, settled_within
from polybuild.poly.memory import Itself, remembered
from polybuild.poly.relations import sets_of, tuple_name
from polybuild.poly.trees import descendants, is_band, map_bottom_up
from polybuild.schedule.legality import IllegalSchedule, check_schedule
from polybuild.schedule.linearised import constant_trips, linearises_loops
from polybuild.schedule.original import original_bands, original_loops
from polybuild.schedule.pluto.fusion import Cut
from polybuild.schedule.pluto.scheduler import PlutoScheduler
from polybuild.schedule.pluto.search import NoHyperplane, Strategy
from polybuild.schedule.scheduler import Fusion, compute_schedule
from polybuild.scop.model import Scop
from polybuild.targets.cpu.stencils import order_of_stencil, with_shared_nests
from polybuild.targets.cpu.unit_strides import with_rows_innermost, with_unit_strides
from polybuild.transform.bands import in_single_loops
from polybuild.transform.full_unrolling import has_small_trip_counts, unroll_small_trip_counts
from polybuild.transform.shared_loops import shared_members, with_own_loops_inside
from polybuild.values import dataclass

_T = TypeVar("_T")

_CUTS = {"auto": Cut.SMART, "min": Cut.ALL, "max": Cut.NEEDED, "depth": Cut.NEEDED}

ORIGINAL, _ISL, _PLUTO = "original order", "isl's order", "Pluto's order"
ALONG_ROWS, _SHARED = "isl's order, along rows", "isl's order, in fused loops"


@dataclass(frozen=True, slots=True)
class _Named:
    """A strategy of our own scheduler, and what its order is called."""

    name: str
    strategy: Strategy


# What is compared with isl's order: fused loops, and sequential loops with parallel ones inside.
_CANDIDATES = (
    _Named(_PLUTO, Strategy(Cut.SMART)),
    _Named("parallel loops inside", Strategy(Cut.ALL, inner=True)),
)


@dataclass(frozen=True, slots=True)
class Order:
    """A legal order of a region; its ``name`` says where it comes from."""

    name: str
    schedule: isl.Schedule


def orders(scop: Scop, dependences: Dependences, context: CompileContext) -> tuple[Order, ...]:
    """The orders that the options of ``context`` ask for, those that are preferred first.

    The tile shapes of stencils are made from the original order, along the rows of their arrays.
    """
    wanted, fusion = context.options.schedule, context.options.fusion
    if wanted == "original":
        return (Order(ORIGINAL, _original_loops(scop, dependences)),)
    if wanted == "auto" and (schedule := order_of_stencil(scop, dependences, context)) is not None:
        rows = with_unit_strides(scop, dependences, schedule)
        return (Order(ORIGINAL, with_shared_nests(scop, dependences, rows, context)),)
    if wanted == "pluto":
        strategies = [_Named(_PLUTO, Strategy(each)) for each in dict.fromkeys((_CUTS[fusion], Cut.ALL))]
        found = next(_pluto(scop, dependences, strategies, ORDER_OPERATIONS, SCHEDULER_EFFORT), None)
        return (found or Order(_ISL, isl_schedule(scop, dependences, Fusion.MIN)),)
    smallest = Fusion.MIN if fusion == "auto" else Fusion(fusion)
    order = Order(_ISL, unroll_small_trip_counts(scop, isl_schedule(scop, dependences, smallest)))
    if wanted == "auto" and fusion == "auto":
        return _several(scop, dependences, order)
    return (order,)


def _original_loops(scop: Scop, dependences: Dependences) -> isl.Schedule:
    """The order of the program; loops that carry nothing, and whose values stay apart, may have threads.

    Without such loops where it takes isl long to tell: there is no simpler order to fall back to.
    """

    def checked() -> isl.Schedule:
        loops = original_loops(scop, dependences)
        check_schedule(loops, dependences, scop.domain)
        return loops

    with contextlib.suppress(IllegalSchedule):
        return settled_within(TRIAL_OPERATIONS, checked) or scop.schedule
    return scop.schedule


def _several(scop: Scop, dependences: Dependences, order: Order) -> tuple[Order, ...]:
    """``order``, which is isl's, and those of our own scheduler.

    Where short loops are to stay in it the original order comes first: what is computed over a window is best
    stored at once, which is also why loops that were apart, as over a buffer for a row, are fused. So it does
    where rows end at data but are known to be short. Orders that linearise loops are the last resort.
    """
    candidates, trips = [order], constant_trips(scop)
    bounded = scop.exits is not None and any(each.dynamic for each in scop.statements)
    if bounded or has_small_trip_counts(scop) or linearises_loops(order.schedule, trips):
        with contextlib.suppress(IllegalSchedule):
            original = original_bands(scop, dependences)
            check_schedule(original, dependences, scop.domain)
            candidates.insert(0, Order(ORIGINAL, unroll_small_trip_counts(scop, original)))
            shared = _in_shared_loops(scop, dependences, original)
            if shared is not None and not _is_same(shared, candidates[0]):
                candidates.insert(0, shared)
    together = () if len(candidates) > 1 else _of_program(scop, dependences, order)
    others = _pluto(scop, dependences, _CANDIDATES, TRIAL_OPERATIONS, TRIAL_EFFORT)
    for each in itertools.chain(together, others, _along_rows(scop, dependences, order)):
        candidate = Order(each.name, unroll_small_trip_counts(scop, each.schedule))
        if not any(_is_same(candidate, other) for other in candidates):
            candidates.append(candidate)
    best = [each for each in candidates if not linearises_loops(each.schedule, trips)]
    return tuple(best or candidates[:1])


def _of_program(scop: Scop, dependences: Dependences, order: Order) -> Iterator[Order]:
    """The original order, where ``order`` has statements apart that share all their loops in the program.

    isl puts statements into loops of their own if they may be. Each of these comes to memory again.
    """
    together = _innermost_loops(order.schedule)
    if all(any(each <= other for other in together) for each in _innermost_loops(scop.schedule)):
        return
    with contextlib.suppress(IllegalSchedule):
        original = original_bands(scop, dependences)
        check_schedule(original, dependences, scop.domain)
        yield Order(ORIGINAL, original)


def _innermost_loops(schedule: isl.Schedule) -> list[frozenset[str]]:
    """The names of the statements in each of the innermost loops of ``schedule``."""
    bands = filter(is_band, descendants(schedule.get_root()))
    inner = (each for each in bands if not any(map(is_band, descendants(each.child(0)))))
    return [frozenset(map(tuple_name, sets_of(each.get_domain()))) for each in inner]


def _along_rows(scop: Scop, dependences: Dependences, order: Order) -> Iterator[Order]:
    """``order`` with the loops innermost that rows are written along, where they may be.

    isl's, and that of programs, have those that carry something inside of all that do not.
    """
    single = map_bottom_up(order.schedule.get_root(), in_single_loops).get_schedule()
    straight = with_unit_strides(scop, dependences, single)
    if straight.plain_is_equal(single):
        return
    with contextlib.suppress(IllegalSchedule):
        bands = original_bands(replace(scop, schedule=straight), dependences)
        check_schedule(bands, dependences, scop.domain)
        yield Order(ALONG_ROWS, bands)


def _in_shared_loops(scop: Scop, dependences: Dependences, original: isl.Schedule) -> Order | None:
    """The order in which statements share parallel loops and have their own short ones inside of these.

    None where no loops are short, or isl finds none in time. It is not asked where the ``original`` order, in
    permutable bands, has such loops already: all those of a statement are shared, and there can be no more.
    """
    if not has_small_trip_counts(scop):
        return None
    fewest = min(each.domain.dim(isl.dim_type.set) for each in scop.statements)
    if len(shared_members(original)) >= fewest:
        fused: isl.Schedule | None = original
    else:
        fused = _within(TRIAL_OPERATIONS, partial(compute_schedule, scop, dependences, Fusion.MAX))
    schedule = None if fused is None else with_own_loops_inside(fused, dependences.validity)
    if schedule is None:
        return None
    schedule = with_rows_innermost(scop, schedule)
    check_schedule(schedule, dependences, scop.domain)
    return Order(_SHARED, unroll_small_trip_counts(scop, schedule))


def _is_same(first: Order, second: Order) -> bool:
    """Whether all instances have the same places in both orders."""
    return bool(_time_stamps(Itself(first)).is_equal(_time_stamps(Itself(second))))


@remembered  # each order is compared with all those before it
def _time_stamps(order: Itself[Order]) -> isl.UnionMap:
    """When each instance runs in an order."""
    schedule = order.value.schedule
    return schedule.get_map().intersect_domain(schedule.get_domain())


def fused(scop: Scop, dependences: Dependences) -> isl.Schedule | None:
    """An order in which statements share loops wherever they can, found by our scheduler within its limits.

    isl's knows none in the time it takes: where bounds are large numbers that can be minutes.
    """
    strategies = [_Named(_PLUTO, Strategy(Cut.NEEDED))]
    found = next(_pluto(scop, dependences, strategies, TRIAL_OPERATIONS, TRIAL_EFFORT), None)
    return None if found is None else found.schedule


def _pluto(
    scop: Scop, dependences: Dependences, strategies: Sequence[_Named], operations: int, effort: int
) -> Iterator[Order]:
    """The orders of our own scheduler for ``strategies``; none where it finds none within its limits.

    Each of ``strategies`` has these limits for itself, and so has the problem that they share.
    """
    scheduler = _within(operations, partial(PlutoScheduler.of, scop, dependences))
    if scheduler is None:
        return
    for each in strategies:
        schedule = _within(operations, partial(scheduler.schedule, each.strategy, effort))
        if schedule is not None:
            yield Order(each.name, schedule)


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
    return original_bands(scop, dependences)
