"""What ranks send each other (Bondhugula, SC 2013, section 3: flow-out sets).

Each rank runs the program, on arrays of its own that are whole before a region. In a region it runs a block
of each phase, and what is in no phase. After a phase it sends each other rank what that will
read of the values that it wrote there, and after the region everything that the program may read
later. Whoever writes for all ranks sends nothing, as all of them did.

An instance that may write an element counts as one that reads it and writes it: its rank has the
value that is kept where nothing is written, and may send it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.poly.relations import depends_on, maps_of
from polybuild.schedule.legality import check_schedule
from polybuild.scop.model import AccessKind, Scop
from polybuild.targets.cpu.cost.parameters import parameters_at, usual_values
from polybuild.targets.ranks.device_blocks import device_work
from polybuild.targets.ranks.distribution import read_before, written_alike
from polybuild.targets.ranks.exchange_points import Point, insert_exchanges
from polybuild.targets.ranks.messages import (
    ValueFlow,
    last_writes,
    live_arrays,
    messages_of,
    value_flow,
    values_read,
    whole_arrays,
)
from polybuild.targets.ranks.model import (
    END,
    FIRST,
    HOME,
    TO_END,
    TO_FIRST,
    DeviceBlock,
    Exchange,
    ExchangeKind,
    Share,
    Sharing,
)
from polybuild.targets.ranks.overlap import find_overlap
from polybuild.targets.ranks.phases import SharedLoop, mark_phases, phases_of
from polybuild.targets.ranks.reductions import SharedAccumulators, shared_accumulators
from polybuild.targets.ranks.step_tiles import tile_time
from polybuild.targets.ranks.work import work_of
from polybuild.values import dataclass

_NAME = "exchange"


def share_best(
    scop: Scop,
    dependences: Dependences,
    orders: Sequence[isl.Schedule],
    live: frozenset[str],
    steps: int = 1,
    *,
    kernels: bool = False,
) -> Share | None:
    """The share of a rank in that of ``orders`` where the fewest loops are around what ranks share."""
    shares = (share_among_ranks(scop, dependences, each, live, steps, kernels=kernels) for each in orders)
    found = [each for each in shares if each is not None]
    return min(found, key=lambda each: each.meetings, default=None)


def share_among_ranks(
    scop: Scop,
    dependences: Dependences,
    schedule: isl.Schedule,
    live: frozenset[str],
    steps: int = 1,
    *,
    kernels: bool = False,
) -> Share | None:
    """The block of a rank in the order ``schedule``, and what it sends; None where no loop can be shared.

    ``live`` names the variables that are read after the region. Ranks meet once in so many ``steps`` of the
    loop around what they share. With ``kernels`` there are blocks for the devices of ranks. Raises
    IllegalSchedule if iterations of a loop that ranks would share depend on each other.
    """
    marked = mark_phases(schedule)
    check_schedule(marked, replace(dependences, reductions=()), scop.domain)  # each rank has its parts
    phases = phases_of(marked)
    every = _shared_values(phases) if _is_static(scop, dependences, phases) else None
    if every is None:
        return None
    parts, values = shared_accumulators(scop, dependences, phases), value_flow(scop, dependences)
    division = _divide(scop, marked, phases, values, steps)
    if division is None or (steps > 1 and parts.reductions):
        return None
    mine, theirs = division.mine, division.theirs
    flow = values_read(values, theirs, parts.accesses)
    if steps > 1:  # a rank computes itself what it is not sent
        flow = flow.subtract_domain(theirs)
    exchanges = _exchanges(scop, division.phases, flow)
    met = zip(exchanges, division.phases, strict=True)
    arrays, last = live_arrays(scop, live), last_writes(scop)
    whole = whole_arrays(last.subtract_domain(parts.instances), phases, arrays)
    final = Exchange(f"{_NAME}{len(exchanges)}", 0, whole, ExchangeKind.AFTER)
    if not (parts.reductions or any(each.messages for each in (*exchanges, final))):
        return None
    read = read_before(f"{_NAME}s_before", scop, dependences, theirs, parts.accesses)
    alike = written_alike(f"{_NAME}s_alike", last, division.alone.union(parts.instances), arrays)
    own = tuple(replace(each, domain=_part(mine, each.domain)) for each in scop.statements)
    tree = (division.schedule, division.phases) if kernels else None
    work = device_work(scop, dependences, tree, mine, live, parts=parts)
    points = _block_points(work.blocks, division.phases)
    points += _points(parts, [*met], flow, splits=steps == 1 and not work.blocks)
    first, ended = ([each.name for each in one if each.messages] for one in ((read,), (alike, final)))
    order = insert_exchanges(division.schedule, points, first, [HOME] * bool(work.blocks) + ended, work.alone)
    order = order.intersect_domain(mine.union(order.get_domain().subtract(scop.domain)))
    sharing = Sharing(
        scop.context,
        every.dim_min(0).coalesce(),
        every.dim_max(0).coalesce(),
        (*_overlapping(exchanges, points), final),
        (read, alike),
        tuple(each for _, each in parts.reductions),
        work_of(scop, phases),
        steps,
        division.extra,
        work.blocks,
        work.on_host,
    )
    return Share(replace(scop, statements=own), dependences.within(mine), order, sharing)


@dataclass(frozen=True, slots=True)
class _Division:
    """The tree with the phases after which ranks meet; what they run alike, what each, and what a receiver.

    ``extra`` counts the instances that a rank runs beyond its block between two meetings, at usual sizes.
    """

    schedule: isl.Schedule
    phases: Sequence[SharedLoop]
    alone: isl.UnionSet
    mine: isl.UnionSet
    theirs: isl.UnionSet
    extra: float = 0.0


def _divide(
    scop: Scop, marked: isl.Schedule, phases: Sequence[SharedLoop], values: ValueFlow, steps: int
) -> _Division | None:
    """Blocks of all ``phases`` and what ranks run alike; None where several ``steps`` cannot be tiles."""
    shared = reduce(isl.UnionSet.union, (each.domain for each in phases))
    alone = scop.domain.subtract(shared)
    ends = ((FIRST, END), (TO_FIRST, TO_END))
    if steps == 1:
        mine, theirs = (_run_by(phases, alone, *each) for each in ends)
        return _Division(marked, phases, alone, mine, theirs)
    tiles = tile_time(marked, phases, values.pairs, steps) if alone.is_empty() else None
    if tiles is None:
        return None
    mine, theirs = (tiles.run_by(*each) for each in ends)
    extra = tiles.instances_beyond(parameters_at(scop.context, usual_values(scop)))
    return _Division(tiles.schedule, [tiles.phase], alone, mine, theirs, extra)


def _exchanges(scop: Scop, phases: Sequence[SharedLoop], flow: isl.UnionMap) -> list[Exchange]:
    """What ranks send each other after each of ``phases`` of the values of ``flow``, ``{ W[i] -> a[x] }``."""
    return [
        Exchange(f"{_NAME}{number}", phase.depth, messages_of(scop.arrays, flow, phase))
        for number, phase in enumerate(phases)
    ]


def _overlapping(exchanges: Sequence[Exchange], points: Sequence[Point]) -> list[Exchange]:
    """``exchanges``, those that are posted at ``points`` before they are awaited marked as such."""
    return [replace(each, overlaps=any(each.start in one.posted for one in points)) for each in exchanges]


def _block_points(blocks: Sequence[DeviceBlock], phases: Sequence[SharedLoop]) -> list[Point]:
    """Where devices begin, before the loops of the phases for the host."""
    by_number = {each.mark.index: each for each in phases}
    return [Point(by_number[each.phase], (each.name,), ()) for each in blocks]


def _points(
    parts: SharedAccumulators,
    exchanges: Sequence[tuple[Exchange, SharedLoop]],
    flow: isl.UnionMap,
    *,
    splits: bool,
) -> list[Point]:
    """Where ranks meet: around phases in which they accumulate, after those that write what others read."""
    points = [Point(phase, (one.start,) * one.has_start, (one.name,)) for phase, one in parts.reductions]
    accumulating = {phase.mark for phase, _ in parts.reductions}
    for each, phase in exchanges:
        if each.messages:
            split = find_overlap(phase, flow) if splits and phase.mark not in accumulating else None
            points.append(Point(phase, (), (each.name,), (each.start,) * (split is not None), split))
    return points


def _shared_values(phases: Sequence[SharedLoop]) -> isl.Set | None:
    """The values that blocks are made of, ``{ [x] }``; None if there are none, or they have no end."""
    values = [isl.Set.from_union_set(each.values.range()) for each in phases]
    if not values or not all(
        each.dim_has_lower_bound(_SET, 0) and each.dim_has_upper_bound(_SET, 0) for each in values
    ):
        return None
    every = values[0]
    for value in values[1:]:
        every = every.union(value)
    return every


_SET = isl.dim_type.set


def _is_static(scop: Scop, dependences: Dependences, phases: Sequence[SharedLoop]) -> bool:
    """Whether no data decide which elements are written, how often phases run, or what their blocks are.

    Where rows are that pointers lead to is data, and so is whether loops are left early.
    """
    if scop.exits is not None or any(each.row_subscripts for each in scop.arrays):
        return False
    dynamic = {each.name: [loop.position for loop in each.dynamic] for each in scop.statements}

    def decided(relation: isl.Map, name: str) -> bool:
        return any(depends_on(relation, position) for position in dynamic[name])

    private = {each.array.name for each in dependences.private}
    written = [
        (access, statement.name)
        for statement in scop.statements
        for access in statement.accesses
        if access.kind is not AccessKind.READ and access.array.name not in private
    ]
    if any(not access.exact or decided(access.relation, name) for access, name in written):
        return False
    shares = [each for phase in phases for each in maps_of(phase.around.union(phase.values))]
    return not any(decided(each, each.get_tuple_name(isl.dim_type.in_)) for each in shares)


def _run_by(phases: Sequence[SharedLoop], alone: isl.UnionSet, first: str, end: str) -> isl.UnionSet:
    """What a rank with the block between two parameters runs: its part of each phase, and the rest."""
    for each in phases:
        alone = alone.union(each.block(first, end))
    return alone


def _part(instances: isl.UnionSet, domain: isl.Set) -> isl.Set:
    return instances.extract_set(domain.get_space()).intersect(domain).coalesce()
