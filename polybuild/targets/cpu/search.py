"""The search for a mapping: candidates that differ in one decision, compared by their predicted costs.

Orders come first, each mapped; the best of them, unless it has register tiles, is then tried without tiles,
and with register tiles on one thread. What is not clearly faster loses to what comes before it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.context import CompileContext
from polybuild.effort import CANDIDATE_OPERATIONS, CERTAIN_GAIN, CERTAIN_ORDER, SAME_TIME
from polybuild.poly.budget import found_within
from polybuild.poly.relations import maps_of
from polybuild.poly.trees import descendants, is_band
from polybuild.scop.model import Scop
from polybuild.targets.cpu.cost.compare import cost_of_mapping
from polybuild.targets.cpu.cost.compilers_lanes import Aliases, nowhere
from polybuild.targets.cpu.cost.function import LoopCost, with_warm_caches
from polybuild.targets.cpu.cost.grids import walk_of
from polybuild.targets.cpu.cost.parameters import larger_sizes, long_lines, usual_sizes
from polybuild.targets.cpu.cost.versions import CandidateCost
from polybuild.targets.cpu.lanes import is_update
from polybuild.targets.cpu.mapping import CpuMapping, map_to_cpu
from polybuild.targets.cpu.schedule_choice import ALONG_ROWS, ORIGINAL, Order, orders
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class MappedOrder:
    """An ``order`` as it was mapped in a ``context``: that of the region, or one with a decision less."""

    order: Order
    context: CompileContext
    mapping: CpuMapping

    @property
    def has_lanes(self) -> bool:
        """Whether a loop is written in lanes."""
        return any(each.lanes is not None for each in self.mapping.directives.values())

    @property
    def stays_in_order(self) -> bool:
        """Whether it is the original order, of which threads share no loop."""
        return self.order.name == ORIGINAL and not self.mapping.parallel_loops

    @property
    def cuts_rows(self) -> bool:
        """Whether tiles start together along the rows of a plane, too, which makes these short."""
        plane = any(len(each) == 3 for each in self.mapping.tile_sizes)
        return plane and self.context.options.tile_shape == "diamond-2d"


def choose_schedule(scop: Scop, dependences: Dependences, context: CompileContext) -> isl.Schedule:
    """The order of the best candidate; how it is mapped best, which may be without tiles, is not asked."""
    found = orders(scop, dependences, context)
    if len(found) == 1:
        return found[0].schedule
    best, _ = _Trials(scop, dependences, context).of_orders(found)
    return best.order.schedule


def map_orders(
    scop: Scop, dependences: Dependences, context: CompileContext, among: Sequence[Order]
) -> list[MappedOrder]:
    """Those of the orders ``among`` that are mapped in time, for who asks what all of them have in common."""
    return _Trials(scop, dependences, context).each_mapped(among)


def search(
    scop: Scop,
    dependences: Dependences,
    context: CompileContext,
    among: Sequence[Order],
    *,
    aliases: Aliases = nowhere,
) -> MappedOrder:
    """The best candidate whose order is ``among`` these; its mapping tells of the others.

    The compiler does not know that arrays are different memory that ``aliases`` tells of.
    """
    trials = _Trials(scop, dependences, context, aliases)
    best, compared = trials.of_orders(among)
    wanted = [*_varied(scop, best)]
    if wanted and not compared:
        best = trials.best([best])
    if wanted and trials.compares:
        best = trials.best(trials.tried([*wanted, *trials.with_more_tiles(best)]))
    return replace(best, mapping=replace(best.mapping, rejected=trials.rejected(best)))


@dataclass(frozen=True, slots=True)
class _Priced:
    """A candidate with its cost, and its nanoseconds on one thread and on all at each of some sizes.

    It takes ``warm`` on one thread at the smallest of them where caches have the data already: memory may be
    the limit of all candidates where they come to data for the first time. ``long`` are those times for lines
    that no cache holds, if it walks along lines once.
    """

    candidate: MappedOrder
    cost: CandidateCost
    times: tuple[float, ...]
    warm: float
    long: tuple[float, ...]

    def is_faster(self, other: _Priced) -> bool:
        """Whether it is certainly faster than ``other``, in the mean of one thread and all, and all sizes.

        Where caches have the data it must not be certainly slower.
        What register tiles gain over loops are loads and stores of a core, which no prefetcher changes, and
        prefetchers make of the original order what they made of the program; compilers are known less than
        lanes. The model does not know what the many ends of short rows take.
        """
        mapped, rival = self.candidate, other.candidate
        same = mapped.order is rival.order and mapped.cuts_rows == rival.cuts_rows
        known = same or (mapped.mapping.registers and not rival.mapping.registers)
        known = known or (mapped.order.name == ORIGINAL and not rival.has_lanes)
        certain = CERTAIN_GAIN if known else CERTAIN_ORDER
        gains = _gains(other.times, self.times)
        moves_less = math.prod(_gains(other.long, self.long)) > CERTAIN_GAIN ** len(self.long)
        faster = math.prod(gains) > certain ** len(gains) or (moves_less and min(gains) >= 1 / SAME_TIME)
        return (faster and self.warm <= CERTAIN_GAIN * other.warm) or self._keeps_together(other)

    def _keeps_together(self, other: _Priced) -> bool:
        """Whether it is the original order, and what ``other`` takes apart gains nothing by it anywhere.

        Loops that are apart start anew, and come to memory again: where all else is the same, that counts.
        """
        mapped, rival = self.candidate, other.candidate
        if mapped.order.name != ORIGINAL or rival.order.name == ORIGINAL or rival.has_lanes:
            return False
        gains = _gains(other.times, self.times)
        faster = math.prod(gains) > SAME_TIME ** len(gains) or other.warm > CERTAIN_GAIN * self.warm
        return faster and min(gains) >= 1 / SAME_TIME and self.warm <= SAME_TIME * other.warm


def _gains(old: Sequence[float], new: Sequence[float]) -> list[float]:
    """How many times as fast each of the ``new`` times is as an ``old`` one."""
    return [(before or 1.0) / (after or 1.0) for before, after in zip(old, new, strict=True)]


class _Trials:
    """The candidates of a region, as far as isl maps and prices them in the time that they have."""

    def __init__(
        self, scop: Scop, dependences: Dependences, context: CompileContext, aliases: Aliases = nowhere
    ) -> None:
        self._scop = scop
        self._dependences = dependences
        self._context = context
        self._aliases = aliases
        self._sizes, self._long = usual_sizes(scop), long_lines(scop)
        self._priced: list[_Priced] = []

    def mapped(self, order: Order, context: CompileContext, name: str) -> MappedOrder:
        """The candidate of that ``name``: ``order`` as it is mapped in a ``context``."""
        mapping = map_to_cpu(self._scop, self._dependences, order.schedule, context)
        return MappedOrder(order, context, replace(mapping, name=name))

    def tried(self, wanted: Iterable[tuple[Order, CompileContext, str]]) -> list[MappedOrder]:
        """Those candidates that are mapped in time; on one thread only those with register tiles."""
        found = (found_within(CANDIDATE_OPERATIONS, partial(self.mapped, *each)) for each in wanted)
        parallel = self._context.options.parallel
        return [
            each
            for each in found
            if each is not None and (each.mapping.registers or each.context.options.parallel == parallel)
        ]

    def each_mapped(self, among: Sequence[Order]) -> list[MappedOrder]:
        """The orders ``among``, mapped as the context says; the first one whatever it takes.

        What isl takes apart threads may share, where statements that stay together have to stay in order.
        """
        first, *others = among
        mapped = self.mapped(first, self._context, first.name)
        others = [each for each in others if not _permutes_register_tiles(mapped, each)]
        found = self.tried((each, self._context, each.name) for each in others)
        shared = mapped.mapping.parallel_loops > 0
        return [mapped, *(each for each in found if not (shared and each.stays_in_order))]

    def of_orders(self, among: Sequence[Order]) -> tuple[MappedOrder, bool]:
        """The best of the orders ``among``; and whether there were others."""
        found = self.each_mapped(among)
        return (self.best(found), True) if found[1:] else (found[0], False)

    @property
    def compares(self) -> bool:
        """Whether the cost of some candidate is known, so that others can be compared with it."""
        return bool(self._priced)

    def best(self, candidates: Sequence[MappedOrder]) -> MappedOrder:
        """The best of all so far, with these ``candidates``: what comes later has to be certainly faster."""
        for each in candidates:
            priced = found_within(CANDIDATE_OPERATIONS, partial(self._price, each))
            if priced is not None:
                self._priced.append(priced)
            elif not self._priced:  # nothing can be compared
                return each
        best = self._priced[0]
        for other in self._priced[1:]:
            faster = other.is_faster(best) or self._needs_no_tiles(other, best)
            if faster and not self._lacks_threads(other, best):
                best = other
        return best.candidate

    def _needs_no_tiles(self, new: _Priced, old: _Priced) -> bool:
        """Whether ``new`` is ``old`` without its tiles, is as fast, and so for more work: tiles have ends.

        Where loops come to the same elements again, smaller caches may need tiles: it has to be faster there.
        """
        one, other = new.candidate, old.candidate
        if one.order is not other.order or one.mapping.tile_sizes or not other.mapping.tile_sizes:
            return False
        if min(_gains(old.times, new.times)) < 1 / SAME_TIME or new.warm > SAME_TIME * old.warm:
            return False
        sizes = larger_sizes(self._scop)
        times = (
            [version.at(each).total for each in sizes for version in (cost.one_thread, cost.all_threads)]
            for cost in (old.cost, new.cost)
        )
        gains = _gains(*times)
        enough = SAME_TIME if walk_of(self._scop.statements).repeats else 1 / SAME_TIME
        return bool(gains) and min(gains) > enough

    def _lacks_threads(self, new: _Priced, old: _Priced) -> bool:
        """Whether ``new`` has none, and ``old`` is faster with all of its own, perhaps for more work."""
        if new.candidate.mapping.parallel_loops or not old.candidate.mapping.parallel_loops:
            return False
        sizes = (*self._sizes, *larger_sizes(self._scop))
        return any(
            new.cost.all_threads.at(each).total > old.cost.all_threads.at(each).total for each in sizes
        )

    def with_more_tiles(self, best: MappedOrder) -> Iterator[tuple[Order, CompileContext, str]]:
        """``best``, if it has tiles over time in strips, in such as start together along two dimensions.

        That is where processors are more than the tiles that start together along one.
        """
        options, processors = best.context.options, self._context.machine.threads.processors
        found = (each.cost.all_threads for each in self._priced if each.candidate is best)
        costs = [each for each in found if isinstance(each, LoopCost)]
        if options.wants_order or not best.mapping.has_strips_over_time:
            return
        tiles = [each.shared_at(sizes) for each in costs for sizes in self._sizes]
        if any(0 < each < processors for each in tiles):
            context = best.context.with_options(replace(options, tile_shape="diamond-2d"))
            yield best.order, context, f"{best.order.name}, diamonds along two dimensions"

    def rejected(self, chosen: MappedOrder) -> tuple[CandidateCost, ...]:
        """What all candidates but the ``chosen`` one cost."""
        return tuple(each.cost for each in self._priced if each.candidate is not chosen)

    def _price(self, candidate: MappedOrder) -> _Priced:
        name, mapping = candidate.mapping.name, candidate.mapping
        cost = cost_of_mapping(
            name, self._scop, self._dependences, mapping, self._context, aliases=self._aliases
        )
        versions = (cost.one_thread, cost.all_threads)
        times, long = (
            tuple(each.at(values).total for values in sizes for each in versions)
            for sizes in (self._sizes, self._long)
        )
        warm = with_warm_caches(cost.one_thread).at(self._sizes[-1]).total
        return _Priced(candidate, cost, times, warm, long)


def _permutes_register_tiles(mapped: MappedOrder, other: Order) -> bool:
    """Whether all that ``other`` changes of the order of ``mapped`` is how register tiles are nested.

    They put their loops in an order of their own.
    """
    tiles = {each.update.name for each in mapped.mapping.registers}
    if not tiles or other.name != ALONG_ROWS:
        return False
    places = {
        each.get_tuple_name(isl.dim_type.in_): each for each in maps_of(mapped.order.schedule.get_map())
    }
    return all(
        (name := each.get_tuple_name(isl.dim_type.in_)) in tiles or places[name].is_equal(each)
        for each in maps_of(other.schedule.get_map())
    )


def _may_have_register_tiles(scop: Scop, order: Order) -> bool:
    """Whether there are an update and a band of several loops, as register tiles need."""
    return any(map(is_update, scop.statements)) and any(
        is_band(each) and each.band_n_member() > 1 for each in descendants(order.schedule.get_root())
    )


def _varied(scop: Scop, candidate: MappedOrder) -> Iterator[tuple[Order, CompileContext, str]]:
    """``candidate`` without something that might not pay, where that is left to the model."""
    mapping, options = candidate.mapping, candidate.context.options
    changed = {}
    if mapping.tile_sizes and not mapping.registers:
        changed["without tiles"] = replace(options, tile=False)
        in_tiles = options.registers and _may_have_register_tiles(scop, candidate.order)
        if in_tiles and mapping.parallel_loops:
            changed["in register tiles on one thread"] = replace(options, parallel=False)
    for name, each in changed.items() if not options.wants_order else ():
        yield candidate.order, candidate.context.with_options(each), f"{candidate.order.name}, {name}"
