"""The cost of a schedule tree as a function of the parameters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

import islpy as isl

from polybuild.analysis.operations import operations_of, operations_of_copy
from polybuild.machine.model import SEPARATE, Machine
from polybuild.poly.memory import Itself, remembered
from polybuild.scop.model import AccessKind, Scop
from polybuild.targets.cost import Cost, CostFunction, overlapping
from polybuild.targets.cpu.cost.conflicts import time_of_conflicts
from polybuild.targets.cpu.cost.core import Body, cost_on_core, taken_to_lanes
from polybuild.targets.cpu.cost.exchange import time_of_exchange
from polybuild.targets.cpu.cost.extents import Extents, about_count, extents_at
from polybuild.targets.cpu.cost.nest import Nest, NestLeaf, NestLoop, NestSequence, leaves
from polybuild.targets.cpu.cost.parameters import parameters_at
from polybuild.targets.cpu.cost.runs import with_first_lines
from polybuild.targets.cpu.cost.subscripts import with_chosen_elements, with_subscripts
from polybuild.targets.cpu.cost.touched import Touched
from polybuild.targets.cpu.cost.traffic import MemoryLevel, Traffic
from polybuild.targets.cpu.strides import Reference, references_at
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class Running:
    """The parts of a nest that run one after the other for values of the parameters, and their traffic.

    The parameters have these values at the ``point``.
    """

    segments: tuple[Nest, ...]
    traffic: Traffic
    point: isl.Set


@dataclass(frozen=True, slots=True)
class Loops:
    """A schedule tree as its cost is computed from it: the nest, and what its leaves compute and touch.

    ``bodies`` are by the identities of leaves. What is ``touched`` leaves out arrays that are in buffers; its
    references are functions of the counters of statements, of which ``domains`` are those, by name. ``known``
    is what was asked for before, by the values of the parameters.
    """

    context: isl.Set
    domains: Mapping[str, isl.Set]
    nest: Nest
    bodies: Mapping[int, Body]
    touched: Touched
    known: dict[tuple[tuple[str, int], ...], Running] = field(default_factory=dict)

    def at(self, values: Mapping[str, int]) -> Running:
        """What runs where parameters have ``values``."""
        key = tuple(sorted(values.items()))
        if key not in self.known:
            point = parameters_at(self.context, values)
            by_stamps: dict[isl.Map, Extents | None] = {}  # many statements have the same
            extents: dict[int, Extents] = {}
            for leaf, _ in leaves(self.nest):
                stamps = leaf.stamps.reset_tuple_id(isl.dim_type.in_)
                if stamps not in by_stamps:
                    by_stamps[stamps] = extents_at(stamps, point)
                found = by_stamps[stamps]
                if found is not None:
                    extents[id(leaf)] = found
            extents = self._in_all(extents, point)
            parts = (_running(each, extents) for each in _segments(self.nest))
            live = tuple(each for each in parts if each is not None)
            self.known[key] = Running(live, Traffic(extents, self.touched), point)
        return self.known[key]

    def _in_all(self, extents: Mapping[int, Extents], point: isl.Set) -> dict[int, Extents]:
        """``extents`` where the leaves of a statement have as many instances together as it has.

        Those of phases of tiles are counted as if each were everywhere, or nowhere.
        """
        together: dict[str, list[int]] = {}
        for leaf, _ in leaves(self.nest):
            if id(leaf) in extents and leaf.name in self.domains:
                together.setdefault(leaf.name, []).append(id(leaf))
        found = dict(extents)
        for name, several in together.items():
            if len(several) > 1:
                counted = sum(extents[each].count for each in several)
                part = about_count(self.domains[name].intersect_params(point)) / counted
                found |= {each: replace(extents[each], count=extents[each].count * part) for each in several}
        return found

    @classmethod
    def of(
        cls,
        scop: Scop,
        nest: Nest,
        buffered: frozenset[str],
        *,
        fused: int = SEPARATE,
        as_written: bool = False,
    ) -> Loops:
        """What is known of ``nest``; the arrays ``buffered`` are in buffers.

        Sums with products are so many ``fused`` operations. Elements of loops ``as_written`` are found as the
        program says.
        """
        statements = {each.name: each for each in scop.statements}
        bodies: dict[int, Body] = {}
        touched: dict[int, list[Reference]] = {}
        by_counters: dict[str, list[Reference]] = {}
        subscripts: dict[int, set[object]] = {}
        loaded: dict[int, set[object]] = {}
        for leaf, around in leaves(nest):
            statement = statements.get(leaf.name)
            if statement is None:
                bodies[id(leaf)], touched[id(leaf)] = Body(leaf.name, around, operations_of_copy(), ()), []
                continue
            strides = references_at(scop, {leaf.name: leaf.stamps}, range(leaf.stamps.dim(isl.dim_type.out)))
            operations = operations_of(statement, fused)
            found_as = with_subscripts if as_written else with_chosen_elements
            iteration = id(around[-1]) if around else id(leaf)
            operations = found_as(operations, statement, subscripts.setdefault(iteration, set()))
            strides = _first_loads(strides, leaf.stamps, loaded.setdefault(iteration, set()))
            bodies[id(leaf)] = Body(leaf.name, around, operations, tuple(strides))
            if leaf.name not in by_counters:
                same = statement.domain.identity()
                found = references_at(scop, {leaf.name: same}, range(len(statement.iterators)))
                by_counters[leaf.name] = [
                    each
                    for each in found
                    if each.access.array.extents and each.access.array.name not in buffered
                ]
            touched[id(leaf)] = by_counters[leaf.name]
        domains = {each.name: each.domain for each in scop.statements}
        return cls(scop.context, domains, nest, bodies, Touched(touched))


def _first_loads(found: Sequence[Reference], stamps: isl.Map, loaded: set[object]) -> list[Reference]:
    """The references of ``found`` that are not to elements which are ``loaded`` in their iteration already.

    Compilers keep these in registers, and what was stored last: they know nothing of all others after that.
    """
    when = stamps.reset_tuple_id(isl.dim_type.in_)
    kept: list[Reference] = []
    for each in found:
        place = (each.access.array.name, each.access.relation.reset_tuple_id(isl.dim_type.in_), when)
        if each.access.kind is not AccessKind.READ and each.access.array.extents:
            loaded.clear()
        elif place in loaded:
            continue
        kept.append(each)
        if each.access.kind is not AccessKind.MAY_WRITE:
            loaded.add(place)
    return kept


@dataclass(frozen=True, slots=True)
class LoopCost:
    """The cost of ``loops`` on ``machine``, by one thread or by all, as a function of the parameters.

    ``compiled_bytes`` is the size of vectors that compilers use. Loops that are ``repeated`` find in caches
    what these kept since they ran before.
    """

    loops: Loops
    machine: Machine
    compiled_bytes: int
    parallel: bool
    repeated: bool = False

    def at(self, values: Mapping[str, int]) -> Cost:
        """The cost where parameters have ``values``, by their names; others have a usual one."""
        return _cost_at(Itself(self), tuple(sorted(values.items())))

    def on(self, running: Running) -> Cost:
        """The cost of what is ``running``."""
        parts = _work_of(Itself(self.loops), Itself(running), Itself(self.machine), self.compiled_bytes)
        return sum((self._segment(nest, running, work) for nest, work in parts), Cost())

    def shared_at(self, values: Mapping[str, int]) -> float:
        """How many iterations threads share at once, at most, where parameters have ``values``; 0 if none."""
        running = self.loops.at(values)
        extents = running.traffic.extents
        return max(
            (
                math.prod(extents[id(leaf)].trips[each.dim] for each in around if each.threads)
                for nest in running.segments
                for leaf, around in leaves(nest)
                if any(each.threads for each in around)
            ),
            default=0.0,
        )

    def _segment(self, nest: Nest, running: Running, work: _PricedWork) -> Cost:
        """The cost of loops that come one after the other, whose ``work`` is shared among threads."""
        conflicts, alone, shared, starts = 0.0, 0.0, 0.0, 0.0
        by_loop: dict[int, Cost] = {}
        for (_, around), (own, columns, extents) in zip(leaves(nest), work.leaves, strict=True):
            faster = self._speedup(around, extents.trips)
            loop = _last_long(around, extents.trips, self.machine)
            by_loop[loop] = by_loop.get(loop, Cost()) + own.divided(faster)
            conflicts += columns / faster
            total = own.total
            alone += total
            shared += total / faster
            starts = max(starts, _starts(around, extents.trips) if self.parallel else 0.0)
        gain = alone / shared if shared else 1.0
        moved = self._moved(work.entering, running.traffic, work.slower, gain)
        together = starts * self.machine.threads.start
        if starts:
            together += time_of_exchange(nest, running.traffic, self.machine)
        return overlapping(by_loop.values(), moved) + Cost(threads=together, conflicts=conflicts)

    def _moved(
        self, entering: tuple[float, ...], traffic: Traffic, slower: tuple[float, float], gain: float
    ) -> Cost:
        """What it takes to bring what is ``entering`` each level to cores; work of ``gain`` runs at once.

        From the last cache and from memory that is ``slower`` than in long rows.
        """
        machine, memory = self.machine, self.machine.memory
        first, second, far, translated = entering
        if self.repeated:
            whole = traffic.whole(memory.line)
            second = 0.0 if whole <= machine.l2.bytes * memory.kept else second
            far = 0.0 if whole <= machine.l3.bytes * memory.kept else far
        # bandwidths are those at which data come from a level to the core, whatever they pass
        near = max(0.0, first - second) / machine.l2.bandwidth
        middle = slower[0] * max(0.0, second - far) / machine.l3.bandwidth
        pages = translated / memory.page
        bandwidth = min(memory.bandwidth * gain, max(memory.all_cores, memory.bandwidth))
        return Cost(
            caches=(near + middle) / gain,
            memory=slower[1] * far / bandwidth,
            pages=pages * memory.page_miss / gain,
            traffic=far,
        )

    def _speedup(self, around: tuple[NestLoop, ...], trips: tuple[float, ...]) -> float:
        """How much faster than one the threads run what is in the loops ``around``."""
        shared = [trips[each.dim] for each in around if each.threads]
        if not shared or not self.parallel:
            return 1.0
        threads = self.machine.threads
        siblings = threads.sibling_gain if threads.processors > threads.cores else 1.0
        tiles = math.prod(shared)
        rounds = math.ceil(tiles / threads.processors) or 1
        balanced = tiles / rounds / threads.processors
        return max(1.0, threads.cores * siblings * balanced)


def with_warm_caches(cost: CostFunction) -> CostFunction:
    """``cost`` where caches have the data already, as far as these fit there."""
    return replace(cost, repeated=True) if isinstance(cost, LoopCost) else cost


@dataclass(frozen=True, slots=True)
class _PricedWork:
    """What loops that come one after the other do, whoever does it.

    ``leaves`` have the cost of each on a core, what its conflicts take, and its extents. From the last cache
    and from memory loops are ``slower`` than in long rows; they bring what is ``entering`` to each level.
    """

    leaves: tuple[tuple[Cost, float, Extents], ...]
    slower: tuple[float, float]
    entering: tuple[float, ...]


@remembered  # one thread and all threads do the same, with data in caches, too
def _work_of(
    loops: Itself[Loops], running: Itself[Running], machine: Itself[Machine], compiled_bytes: int
) -> tuple[tuple[Nest, _PricedWork], ...]:
    """The work of each part of what is ``running``."""
    segments, traffic, point = running.value.segments, running.value.traffic, running.value.point
    entering = traffic.entering(segments, _levels(machine.value))
    found = []
    for nest, moved in zip(segments, entering, strict=True):
        own = [leaf for leaf, _ in leaves(nest)]
        bodies = [(loops.value.bodies[id(leaf)], traffic.extents[id(leaf)]) for leaf in own]
        taken = taken_to_lanes(bodies, machine.value, compiled_bytes)
        timed: dict[int, tuple[Body, float]] = {}
        done = []
        for leaf, (body, extents) in zip(own, bodies, strict=True):
            cost = cost_on_core(body, extents, machine.value, compiled_bytes, taken)
            timed[id(leaf)] = body, cost.total / (extents.count or 1.0)
            done.append((cost, time_of_conflicts(body, extents, point, machine.value), extents))
        slower = with_first_lines(nest, timed, traffic, machine.value)
        found.append((nest, _PricedWork(tuple(done), slower, moved)))
    return tuple(found)


def _levels(machine: Machine) -> tuple[MemoryLevel, ...]:
    """The caches of ``machine``, from the first to the last, and the pages that it knows."""
    memory = machine.memory
    caches = (machine.l1, machine.l2, machine.l3)
    return (
        *(MemoryLevel(each.bytes, memory.line, memory.kept) for each in caches),
        MemoryLevel(memory.pages * memory.page, memory.page, memory.kept),
    )


@remembered  # each size is asked for by several comparisons
def _cost_at(cost: Itself[LoopCost], values: tuple[tuple[str, int], ...]) -> Cost:
    return cost.value.on(cost.value.loops.at(dict(values)))


def _last_long(around: Sequence[NestLoop], trips: Sequence[float], machine: Machine) -> int:
    """The identity of the last loop ``around`` that processors do not run beside what follows it."""
    long = (id(each) for each in reversed(around) if trips[each.dim] > machine.arithmetic.foreseen)
    return next(long, 0)


def _starts(around: tuple[NestLoop, ...], trips: tuple[float, ...]) -> float:
    """How often threads start for the loops ``around`` a statement."""
    shared = next((each for each in around if each.threads), None)
    return 0.0 if shared is None else math.prod(trips[: shared.dim])


def _segments(nest: Nest) -> Iterator[Nest]:
    """The parts of a region that run one after the other."""
    if isinstance(nest, NestSequence):
        for each in nest.children:
            yield from _segments(each)
    else:
        yield nest


def _running(nest: Nest, extents: Mapping[int, Extents]) -> Nest | None:
    """``nest`` without the leaves that have no instances; None if nothing is left."""
    if isinstance(nest, NestLeaf):
        return nest if id(nest) in extents else None
    if isinstance(nest, NestLoop):
        body = _running(nest.body, extents)
        return None if body is None else replace(nest, body=body)
    children = tuple(found for each in nest.children if (found := _running(each, extents)) is not None)
    return NestSequence(children) if children else None
