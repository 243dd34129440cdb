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

import islpy as isl

from polybuild.analysis.dependences import Dependences, may_be_private, only, without
from polybuild.analysis.last_writers import has_strides, last_writers
from polybuild.poly import spaces
from polybuild.poly.relations import depends_on, lexicographically_after, maps_of
from polybuild.schedule.legality import check_schedule
from polybuild.scop.model import AccessKind, Array, Scop
from polybuild.targets.ranks.distribution import read_before, written_alike
from polybuild.targets.ranks.exchange_points import insert_exchanges
from polybuild.targets.ranks.model import (
    AROUND,
    END,
    FIRST,
    FROM_END,
    FROM_FIRST,
    TO_END,
    TO_FIRST,
    Exchange,
    ExchangeKind,
    Message,
    Share,
    Sharing,
)
from polybuild.targets.ranks.phases import SharedLoop, mark_phases, phases_of

_NAME = "exchange"


def share_best(
    scop: Scop, dependences: Dependences, orders: Sequence[isl.Schedule], live: frozenset[str]
) -> Share | None:
    """The share of a rank in that of ``orders`` where the fewest loops are around what ranks share."""
    found = [each for order in orders if (each := share_among_ranks(scop, dependences, order, live))]
    return min(found, key=_loops_around, default=None)


def _loops_around(share: Share) -> tuple[int, int]:
    """How many statements ranks run alike, and loops around exchanges."""
    alike = sum(FIRST not in each.domain.get_var_names(isl.dim_type.param) for each in share.scop.statements)
    return alike, max((each.depth for each in share.sharing.exchanges), default=0)


def share_among_ranks(
    scop: Scop, dependences: Dependences, schedule: isl.Schedule, live: frozenset[str]
) -> Share | None:
    """The block of a rank in the order ``schedule``, and what it sends; None where no loop can be shared.

    ``live`` names the variables that are read after the region. Raises IllegalSchedule if iterations
    of a loop that ranks would share depend on each other.
    """
    marked = mark_phases(schedule)
    check_schedule(marked, dependences, scop.domain)
    phases = phases_of(marked)
    if not _is_static(scop, dependences, phases):
        return None
    values = [isl.Set.from_union_set(_values(each).range()) for each in phases]
    if not all(each.dim_has_lower_bound(_SET, 0) and each.dim_has_upper_bound(_SET, 0) for each in values):
        return None
    shared = isl.UnionSet.empty(scop.context.get_space())
    for each in phases:
        shared = shared.union(each.domain)
    alone = scop.domain.subtract(shared)
    mine, theirs = (_run_by(phases, alone, *ends) for ends in ((FIRST, END), (TO_FIRST, TO_END)))
    flow = _flow(scop, dependences, theirs)
    exchanges = [
        Exchange(f"{_NAME}{number}", phase.depth, _messages(scop.arrays, flow, phase))
        for number, phase in enumerate(phases)
    ]
    arrays = _live_arrays(scop, live)
    last = _last_writes(scop)
    final = _whole(last, phases, arrays)
    if not values or not any(each.messages for each in (*exchanges, final)):
        return None
    read = read_before(f"{_NAME}s_before", scop, dependences, theirs)
    alike = written_alike(f"{_NAME}s_alike", last, alone, arrays)
    every = values[0]
    for value in values[1:]:
        every = every.union(value)
    block = replace(
        scop,
        statements=tuple(replace(each, domain=_part(mine, each.domain)) for each in scop.statements),
    )
    used = {each.name: phase for each, phase in zip(exchanges, phases, strict=True) if each.messages}
    names = [[each.name for each in points if each.messages] for points in ((read,), (alike, final))]
    order = insert_exchanges(marked, used, *names)
    points = order.get_domain().subtract(scop.domain)
    order = order.intersect_domain(mine.union(points))
    sharing = Sharing(
        scop.context,
        every.dim_min(0).coalesce(),
        every.dim_max(0).coalesce(),
        (*exchanges, final),
        (read, alike),
    )
    return Share(block, dependences.within(mine), order, sharing)


_SET = isl.dim_type.set


def _is_static(scop: Scop, dependences: Dependences, phases: Sequence[SharedLoop]) -> bool:
    """Whether no data decide which elements are written, how often phases run, or what their blocks are."""
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
    shares = [each for phase in phases for each in maps_of(phase.around.union(_values(phase)))]
    return not any(decided(each, each.get_tuple_name(isl.dim_type.in_)) for each in shares)


def _values(phase: SharedLoop) -> isl.UnionMap:
    """``{ S[i] -> [x] }``: what the blocks of ``phase`` are made of."""
    value = isl.MultiUnionPwAff.from_union_pw_aff(phase.value)
    return isl.UnionMap.from_multi_union_pw_aff(value).intersect_domain(phase.domain)


def _block(phase: SharedLoop, first: str, end: str) -> isl.UnionSet:
    """The instances of ``phase`` in the block between two parameters."""
    value = spaces.dimension(1, 0)
    inside = value.ge_set(spaces.parameter(1, first)).intersect(value.lt_set(spaces.parameter(1, end)))
    return _values(phase).intersect_range(isl.UnionSet.from_set(inside)).domain()


def _run_by(phases: Sequence[SharedLoop], alone: isl.UnionSet, first: str, end: str) -> isl.UnionSet:
    """What a rank with the block between two parameters runs: its part of each phase, and the rest."""
    for each in phases:
        alone = alone.union(_block(each, first, end))
    return alone


def _part(instances: isl.UnionSet, domain: isl.Set) -> isl.Set:
    return instances.extract_set(domain.get_space()).intersect(domain).coalesce()


def _flow(scop: Scop, dependences: Dependences, readers: isl.UnionSet) -> isl.UnionMap:
    """``{ W[i] -> a[x] }``: the values that instances write and ``readers`` find."""
    kept = scop.accesses(AccessKind.MAY_WRITE)
    reads, writes = scop.accesses(AccessKind.READ).union(kept), scop.accesses(AccessKind.WRITE).union(kept)
    private = {each.array.name for each in dependences.private}
    shared_reads, shared_writes = without(reads, private), without(writes, private)
    if has_strides(shared_reads, shared_writes):
        flow, _ = last_writers(scop, shared_reads, shared_writes, shared_writes)
    else:
        flow = (
            isl.UnionAccessInfo.from_sink(shared_reads)
            .set_must_source(shared_writes)
            .set_schedule(scop.schedule)
            .compute_flow()
            .get_full_must_dependence()
        )
    found = flow.intersect_range(shared_reads.intersect_domain(readers).wrap()).range_factor_range()
    for each in dependences.private:
        # of a private array it is known which instances use a value, and all of it is taken to be used
        used = each.flow.intersect_range(readers).domain()
        found = found.union(only(writes, each.array.name).intersect_domain(used))
    return found


def _last_writes(scop: Scop) -> isl.UnionMap:
    """``{ W[i] -> a[x] }``: the last writes of all elements."""
    writes = scop.accesses(AccessKind.WRITE, AccessKind.MAY_WRITE)
    later = lexicographically_after(scop.schedule.get_map())
    return writes.subtract(later.apply_range(writes))


def _whole(last: isl.UnionMap, phases: Sequence[SharedLoop], arrays: Sequence[Array]) -> Exchange:
    """What makes ``arrays`` whole on every rank after the region: the ``last`` values of all elements."""
    nothing = isl.UnionSet.from_set(spaces.universe(0))
    found: list[Message] = []
    for each in phases:
        nowhere = replace(each, around=isl.UnionMap.from_domain_and_range(each.domain, nothing))
        found += _messages(arrays, last, nowhere)
    return Exchange(f"{_NAME}{len(phases)}", 0, tuple(found), ExchangeKind.AFTER)


def _live_arrays(scop: Scop, live: frozenset[str]) -> list[Array]:
    """The arrays and variables that the program may read after the region."""
    return [each for each in scop.arrays if not (each.local or may_be_private(each, live))]


def _messages(arrays: Sequence[Array], written: isl.UnionMap, phase: SharedLoop) -> tuple[Message, ...]:
    """What the sender tells of ``written``, ``{ W[i] -> a[x] }``, after its block of ``phase``."""
    named = {each.name: each for each in arrays}
    disjoint = _disjoint_blocks()
    found: list[Message] = []
    block = written.intersect_domain(_block(phase, FROM_FIRST, FROM_END))
    for each in maps_of(phase.around.reverse().apply_range(block)):
        depth = each.dim(isl.dim_type.in_)
        here = spaces.universe(depth)
        for position in range(depth):
            value = spaces.dimension(depth, position)
            here = here.intersect(value.eq_set(spaces.parameter(depth, f"{AROUND}{position}")))
        elements = each.intersect_domain(here).range().intersect_params(disjoint).coalesce()
        name = elements.get_tuple_name()
        if name in named and not elements.is_empty():
            found.append(Message(named[name], elements.gist_params(disjoint).coalesce()))
    return tuple(found)


def _disjoint_blocks() -> isl.Set:
    """That the blocks of two ranks have nothing in common."""
    first, end, other_first, other_end = (
        spaces.parameter(0, name) for name in (FROM_FIRST, FROM_END, TO_FIRST, TO_END)
    )
    before, after = end.le_set(other_first), other_end.le_set(first)
    return before.union(after).params()
