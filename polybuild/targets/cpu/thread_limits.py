"""How many threads pay for a parallel loop, told by the work it has each time it runs."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import islpy as isl

from polybuild.analysis.operations import bytes_of_element
from polybuild.analysis.trip_counts import trip_counts
from polybuild.effort import CERTAIN_GAIN, CROSSING_OPERATIONS
from polybuild.machine.model import Machine
from polybuild.poly.budget import found_within
from polybuild.poly.relations import maps_of, natural_key, sets_of
from polybuild.poly.trees import descendants, mark_of
from polybuild.scop.model import Scop
from polybuild.targets.cost import CostFunction
from polybuild.targets.cpu.cost.crossover import readable, threads_from
from polybuild.targets.cpu.cost.parameters import instances_at, larger_sizes, parameters_at, smaller_sizes
from polybuild.targets.cpu.cost.versions import VersionCosts
from polybuild.targets.cpu.estimate import instance_time, values_at_one_place
from polybuild.targets.cpu.mapping import CpuMapping
from polybuild.targets.model import LoopDirective, ThreadLimits

Counts = Mapping[str, Sequence[isl.PwAff]]


def limit_threads(
    scop: Scop, mapping: CpuMapping, machine: Machine, predicted: VersionCosts | None = None
) -> CpuMapping:
    """``mapping`` with what each parallel loop does each time it runs, and how much of that pays for threads.

    Work is counted in statement instances; the statements in the deepest loops stand for all of them. What
    all of them take, and took before, is as ``predicted``, if that is known.
    """
    counts = {
        statement.name: tuple(map(_plain, trips))
        for statement, trips in zip(scop.statements, trip_counts(scop), strict=True)
    }
    before: Mapping[str, float] = {each.name: instance_time(each, machine) for each in scop.statements}
    cost, sizes = _costs(scop, mapping, machine, before), list[Mapping[str, int]]()
    if predicted is not None and _is_counted(scop, counts):
        sizes = list(smaller_sizes(scop.context, predicted.usual))
        enough = machine.threads.work * machine.threads.start
        find = partial(_as_predicted, counts=counts, context=scop.context, sizes=sizes, enough=enough)
        cost, before = find(cost, predicted.chosen.one_thread), find(before, predicted.original)
        sizes = [*larger_sizes(scop), *sizes]
    directives = dict(mapping.directives)
    for node in descendants(mapping.schedule.get_root()):
        mark = mark_of(node)
        if mark is None or mark not in directives or not directives[mark].parallel:
            continue
        work = _work(node, counts)
        if work:
            new, old = (max(each[name] for name in work) for each in (cost, before))
            limited = _limited(directives[mark], work, new, old, machine)
            if predicted is not None and sizes and limited.depth:
                gaining = partial(threads_from, tuple(work.values()), scop.context, predicted, sizes)
                limited = _with_minimum(limited, found_within(CROSSING_OPERATIONS, gaining) or 0)
            directives[mark] = limited
    return replace(mapping, directives=directives)


def _plain(count: isl.PwAff) -> isl.PwAff:
    """``count``, or what one of its pieces says if that is never less: that is easier to read and compute."""
    pieces: list[isl.PwAff] = []
    count.foreach_piece(lambda _, value: pieces.append(isl.PwAff.from_aff(value)))
    bounds = [each for each in pieces if count.domain().is_subset(count.le_set(each))]
    return bounds[0].intersect_domain(count.domain()) if len(pieces) > 1 and len(bounds) == 1 else count


def _limited(
    directive: LoopDirective, work: Counts, new: float, old: float, machine: Machine
) -> LoopDirective:
    """``directive`` for a loop with ``work``, whose instance takes ``new`` nanoseconds, and took ``old``."""
    threads = machine.threads
    entered = threads.work * threads.enter / old
    if old > CERTAIN_GAIN * new:  # worth it for what one thread gains
        entered = min(entered, CERTAIN_GAIN * threads.enter / (old - CERTAIN_GAIN * new))
    limits = ThreadLimits(
        work=tuple(tuple(each) for each in work.values()),
        minimum=readable(_launches(directive) * threads.work * threads.start / new),
        # one thread may run the original loops instead
        entered_for=readable(entered) if directive.depth else 0,
        unnoticed=readable(threads.enter / ((CERTAIN_GAIN - 1) * new)),
    )
    return replace(directive, limits=limits)


def _launches(directive: LoopDirective) -> int:
    """How many times the work of another loop it takes to pay for the threads of this one.

    They start twice for a scan, and each pass brings half of what one would.
    """
    return 4 if any(each.scan is not None for each in directive.accumulators) else 1


def _with_minimum(directive: LoopDirective, minimum: int) -> LoopDirective:
    """``directive`` where threads are started for no less work than ``minimum``."""
    limits = directive.limits
    return replace(directive, limits=replace(limits, minimum=max(limits.minimum, minimum)))


def _is_counted(scop: Scop, counts: Counts) -> bool:
    """Whether how often loops run is told by the parameters, and not by data."""
    return all(not each.dynamic and len(counts[each.name]) <= len(each.iterators) for each in scop.statements)


def _as_predicted(
    cost: Mapping[str, float],
    predicted: CostFunction,
    *,
    counts: Counts,
    context: isl.Set,
    sizes: Sequence[Mapping[str, int]],
    enough: float,
) -> Mapping[str, float]:
    """``cost`` in the same proportions, but in all what is ``predicted``.

    That is for the one of smaller and smaller ``sizes`` at which the instances take about ``enough``
    nanoseconds, which caches hold.
    """
    values, total = sizes[0], 0.0
    for values in sizes:
        point = parameters_at(context, values)
        total = sum(cost[name] * instances_at(trips, point) for name, trips in counts.items())
        if total <= enough:
            break
    factor = predicted.at(values).total / total if total else 0.0
    return {name: each * factor for name, each in cost.items()} if factor else cost


def _costs(
    scop: Scop, mapping: CpuMapping, machine: Machine, alone: Mapping[str, float]
) -> Mapping[str, float]:
    """Nanoseconds of an instance of each statement, which takes those of ``alone`` outside of vectors.

    Those in vectors take as much less as vectors gain, but no less than what the second cache takes to move
    an element of each array; the elements of register tiles stay where they are.
    """
    found = dict(alone)
    in_vectors = mapping.vector_statements() | mapping.lane_statements()
    for statement in scop.statements:
        if statement.name in in_vectors:
            arrays = {each.array.name: each.array for each in statement.accesses if each.array.extents}
            moved = sum(map(bytes_of_element, arrays.values())) / machine.l2.bandwidth
            one = alone[statement.name]
            found[statement.name] = min(one, max(one / machine.vector.gain, moved))
    tiled = {each.update.name for each in mapping.registers}
    return found | {name: alone[name] / machine.vector.gain for name in tiled & alone.keys()}


def _work(node: isl.ScheduleNode, counts: Counts) -> Counts:
    """Trip counts, at most, of the loops that run each time ``node`` is reached, per statement.

    Those of statements in fewer loops than others are left out. None are known below loops that fix no
    counter.
    """
    prefixes = {each.get_tuple_name(isl.dim_type.in_): each for each in _prefixes(node)}
    names = sorted({each.get_tuple_name() for each in sets_of(node.get_domain())}, key=natural_key)
    known = [name for name in names if name in counts]
    inside = {name: _inside(counts[name], prefixes[name]) if prefixes else counts[name] for name in known}
    if prefixes and all(inside[name] is counts[name] for name in known):
        return {}
    deepest = max(map(len, inside.values()), default=0)
    return {name: each for name, each in inside.items() if len(each) == deepest and each}


def _prefixes(node: isl.ScheduleNode) -> Sequence[isl.Map]:
    """Where the loops around ``node`` are for each instance below it."""
    if node.get_schedule_depth() == 0:
        return []
    return maps_of(node.get_prefix_schedule_union_map().intersect_domain(node.get_domain()))


def _inside(counts: Sequence[isl.PwAff], prefix: isl.Map) -> Sequence[isl.PwAff]:
    """What is left of ``counts`` where the loops around are at one place of ``prefix``.

    That is ``counts`` itself if they fix no counter.
    """
    limits = values_at_one_place(prefix)
    if not any(limits):
        return counts
    found = []
    for count, limit in zip(counts, itertools.chain(limits, itertools.repeat(None)), strict=False):
        if limit is None:
            found.append(count)
        elif limit > 1:
            found.append(count.min(isl.PwAff.val_on_domain(count.domain(), isl.Val(limit))))
    return found
