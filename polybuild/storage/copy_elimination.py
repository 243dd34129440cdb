"""Copies between two grids in each step, folded away: the grids alternate, and the last copy is restored.

Only where that is asked for (``--contract-arrays on``): it takes the memory of one more grid.

::

    for t:                                       for each x of the border: c[x] = a[x]
      for x: b[x] = f(a)                         for h:
      for x: a[x] = b[x]                  ->       for x: c[x] = f(a)                    # t = 2 * h
                                                   for x: a[x] = f(c)                    # t = 2 * h + 1
                                                 if the last step is even: for x: a[x] = c[x]
                                                 for x: b[x] = a[x]

So do steps that begin with the copy, ``b[x] = a[x]; a[x] = f(b)``. The second grid ``c`` is one of the
region's own: elements of ``b`` beside those that are copied may not exist, and hold what they hold. What
remains is the storage of ``u[t % 2]`` (V. Lefebvre, P. Feautrier, "Automatic storage management for parallel
programs", 1998: a value needs its element until its last use). Which grid an access is about is guessed, and
then checked: each read, and each element after the loop, must have the value of the same instance as before,
copies taken for what they copy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial, reduce

import islpy as isl

from polybuild.analysis.dependences import may_be_private
from polybuild.effort import FOLDING_OPERATIONS, STENCIL_STEPS
from polybuild.poly.budget import found_within
from polybuild.scop.duplicates import copied, order_of_copies, unused_names
from polybuild.scop.model import AccessKind, Array, Assumption, Scop, Statement
from polybuild.scop.strides import count_steps
from polybuild.storage.copied_grids import CopiedGrid, TimeLoop, copied_grids, instances_of, loops_over_time
from polybuild.storage.expansion import copy_statement, in_own_nest
from polybuild.storage.folding_proof import FoldedLoop, cases_of, names_before
from polybuild.transform.residue_classes import split_into_phases
from polybuild.values import dataclass

_out = isl.dim_type.out


def fold_copies(scop: Scop, live_out: frozenset[str], taken: Collection[str]) -> Scop:
    """``scop`` without the copies that its loops over time make in each step; itself if there are none.

    The grids that it gets have names that are not ``taken``; ``live_out`` names variables that are read after
    it. Whatever outside of the loop reads finds what it found before, in the same arrays.
    """
    for loop in loops_over_time(scop):
        folded = found_within(FOLDING_OPERATIONS, partial(_folded, scop, loop, live_out, taken))
        if folded is not None:
            return folded
    return scop


def _folded(scop: Scop, loop: TimeLoop, live_out: frozenset[str], taken: Collection[str]) -> Scop | None:
    """``scop`` with the copies of ``loop`` folded away: all, or else one; None if none can be."""
    pairs = tuple(copied_grids(scop, loop, taken))
    read = {access.array.name for each in loop.after for access in each.accesses}
    dead = frozenset(
        each.scratch.name
        for each in pairs
        if may_be_private(each.scratch, live_out) and each.scratch.name not in read
    )
    choices = [pairs] if len(pairs) < 2 else [pairs, *((each,) for each in pairs)]
    for chosen in filter(None, choices):
        found = _alternating(scop, loop, chosen, dead)
        if found is not None:
            return found
    return None


@dataclass(frozen=True, slots=True)
class _FirstStep:
    """Statements of a loop with their instances in the first step, their ``order``, and the ``rest``."""

    statements: tuple[tuple[Statement, Statement], ...]
    order: tuple[isl.Schedule, ...]
    rest: TimeLoop


def _alternating(
    scop: Scop, loop: TimeLoop, pairs: Sequence[CopiedGrid], dead: frozenset[str]
) -> Scop | None:
    """``scop`` without the copies of ``pairs`` in ``loop``; None if a value would be another one."""
    bounds = reduce(isl.Set.intersect, (each.bounds for each in pairs), scop.context)
    numbers = len(loop.statements) * loop.counters.period
    # a pair has at most four copies before and after the loop
    names = iter(unused_names(scop, numbers + len(loop.statements) + 4 * len(pairs))[numbers:])
    first = _FirstStep((), (), loop)
    if any(_fixes_elements(each, loop) for each in pairs):
        first = _peeled(scop, loop, names)
    rest = first.rest
    copies = {each.copy.name for each in pairs}
    split, parts = _in_phases(scop, rest, pairs)
    begin, end = [], []
    for each in pairs:
        own = replace(each, copy=rest.statements[rest.position(each.copy.name)])
        after = _where(_copies_after(rest, own, names, dead), bounds)
        users = [*(part for _, part in parts), *after]
        before = _where(_copies_before(users, own, names), bounds)
        certain = loop.certain_elements(each.main)
        if before and (certain is None or not _reads_only(before[0], certain)):
            return None  # what the program might not read may not be there
        begin += before
        end += after
    nests = [*first.order, *map(in_own_nest, begin), split.schedule, *map(in_own_nest, end)]
    made = [*(each for _, each in first.statements), *begin, *(each for _, each in parts), *end]
    within = replace(
        split, statements=tuple(made), schedule=reduce(isl.Schedule.sequence, nests), context=bounds
    )
    counted = count_steps(within)
    became = dict(zip((each.name for each in made), counted.statements, strict=True))
    origins = {each.name: one for one, each in (*first.statements, *parts) if one.name not in copies}
    folded = FoldedLoop(
        replace(scop, statements=loop.statements, schedule=scop.schedule.intersect_domain(loop.instances)),
        counted,
        tuple(pairs),
        tuple((one, became[name]) for name, one in origins.items()),
        tuple(each for name, each in became.items() if name not in origins),
        dead,
        names_before(within, origins),
    )
    return _whole(scop, loop, folded) if all(map(folded.is_proved, cases_of(rest, bounds))) else None


def _whole(scop: Scop, loop: TimeLoop, folded: FoldedLoop) -> Scop:
    """``scop`` with ``folded`` in place of ``loop``."""
    before, after = (
        [replace(scop, statements=each, schedule=scop.schedule.intersect_domain(instances_of(each)))]
        if each
        else []
        for each in (loop.before, loop.after)
    )
    whole = [*before, folded.after, *after]
    assumed = [_assumed(each) for each in folded.grids if not scop.context.is_subset(each.bounds)]
    return replace(
        folded.after,
        statements=tuple(each for part in whole for each in part.statements),
        schedule=reduce(isl.Schedule.sequence, (each.schedule for each in whole)),
        assumptions=(*scop.assumptions, *assumed),
    )


def _assumed(pair: CopiedGrid) -> Assumption:
    """That the grids of ``pair`` can take turns, and that it is worth it."""
    reason = f"a second '{pair.main.source_name}' is worth it from {STENCIL_STEPS} steps on"
    return Assumption(pair.bounds, reason, pair.copy.location)


def _fixes_elements(pair: CopiedGrid, loop: TimeLoop) -> bool:
    """Whether ``pair`` copies to the main grid what no step makes: it has that from the first step on."""
    if pair.first:
        return False
    made = [
        pair.elements(each, access)
        for each in loop.statements
        for access in each.accesses_to(pair.scratch)
        if access.kind is not AccessKind.READ
    ]
    (read,) = (each for each in pair.copy.accesses if each.kind is AccessKind.READ)
    return not pair.elements(pair.copy, read).is_subset(reduce(isl.Set.union, made))


def _peeled(scop: Scop, loop: TimeLoop, names: Iterator[str]) -> _FirstStep:
    """The first step of ``loop`` apart from the others."""
    counters, one = loop.counters, isl.Val(1)
    first, rest = [], []
    for each in loop.statements:
        counter = counters.counters[each.name]
        start = counter.eq_set(isl.PwAff.zero_on_domain(isl.LocalSpace.from_space(each.domain.get_space())))
        instances = each.domain.intersect(start).coalesce()
        if not instances.is_empty():
            first.append((each, copied(each, next(names), instances)))
        rest.append(replace(each, domain=each.domain.subtract(start).coalesce()))
    order = order_of_copies(scop, [each for _, each in first], {each.name: old.name for old, each in first})
    moved = {name: each.add_constant_val(one.neg()) for name, each in counters.counters.items()}
    assert counters.start is not None  # noqa: S101 - it is always counted from there
    later = replace(counters, counters=moved, start=counters.start.add_constant_val(one))
    return _FirstStep(tuple(first), (order,), replace(loop, statements=tuple(rest), counters=later))


def _in_phases(
    scop: Scop, loop: TimeLoop, pairs: Sequence[CopiedGrid]
) -> tuple[Scop, list[tuple[Statement, Statement]]]:
    """``loop`` in phases, without the copies of ``pairs``, and its statements with what became of them."""
    own = {each.name: each for each in loop.statements}
    alone = replace(scop, statements=tuple(own.get(each.name, each) for each in scop.statements))
    alone = replace(alone, schedule=scop.schedule.intersect_domain(alone.domain))
    split, phases = split_into_phases(alone, loop.counters)
    copies = {each.copy.name for each in pairs}
    parts = [
        (each, _on_grids(statements[each.name], (phase, position), pairs, loop))
        for phase, statements in enumerate(phases)
        for position, each in enumerate(loop.statements)
        if each.name in statements and each.name not in copies
    ]
    return (
        replace(
            split,
            arrays=(*split.arrays, *(each.other for each in pairs)),
            schedule=split.schedule.intersect_domain(instances_of([part for _, part in parts])),
        ),
        parts,
    )


def _on_grids(
    part: Statement, place: tuple[int, int], pairs: Sequence[CopiedGrid], loop: TimeLoop
) -> Statement:
    """``part``, at a ``place`` of a phase and a position in steps, on the grids that it has then."""
    phase, position = place
    accesses = []
    for each in part.accesses:
        access = each
        for pair in pairs:
            if pair.has(each):
                is_next = pair.is_next(position, each, loop)
                access = pair.on(pair.other if is_next == (phase == 0) else pair.main, each)
        accesses.append(access)
    return replace(part, accesses=tuple(accesses))


def _copies_before(
    statements: Sequence[Statement], pair: CopiedGrid, names: Iterator[str]
) -> list[Statement]:
    """What the grid must have of the main one before the loop: what it never writes."""
    reads, writes = (
        [
            access.relation.intersect_domain(each.domain).range()
            for each in statements
            for access in each.accesses_to(pair.other)
            if (access.kind is AccessKind.READ) == wanted
        ]
        for wanted in (True, False)
    )
    if not reads:
        return []
    elements = reduce(isl.Set.union, reads)
    elements = reduce(isl.Set.subtract, writes, elements).coalesce()
    if elements.is_empty():
        return []
    return [_copy(next(names), elements, pair.main, pair.other, pair.copy)]


def _copies_after(
    loop: TimeLoop, pair: CopiedGrid, names: Iterator[str], dead: frozenset[str]
) -> list[Statement]:
    """What both grids hold after the loop, from where its last step left it; but those in ``dead``."""
    made = [
        pair.on(pair.main, access).relation.intersect_domain(loop.last(each, 0)).range()
        for position, each in enumerate(loop.statements)
        if each.name != pair.copy.name
        for access in each.accesses
        if pair.has(access) and access.kind is not AccessKind.READ and pair.is_next(position, access, loop)
    ]
    restored = reduce(isl.Set.union, made).coalesce()
    access = next(each for each in pair.copy.accesses if each.array.name == pair.main.name)
    in_main, in_other = (
        access.relation.intersect_domain(loop.last(pair.copy, phase)).range().coalesce() for phase in (0, 1)
    )
    if pair.scratch.name in dead:
        in_main = in_other = isl.Set.empty(in_main.get_space())
    back = [] if restored.is_empty() else [_copy(next(names), restored, pair.other, pair.main, pair.copy)]
    if not pair.first:
        return [*back, *_to_scratch(in_main.union(in_other).coalesce(), pair.main, pair, names)]
    early = [*_to_scratch(in_main, pair.main, pair, names), *_to_scratch(in_other, pair.other, pair, names)]
    return [*early, *back]


def _to_scratch(
    elements: isl.Set, source: Array, pair: CopiedGrid, names: Iterator[str]
) -> Iterator[Statement]:
    """What copies ``elements`` of the grid ``source`` of ``pair`` to the scratch grid."""
    if not elements.is_empty():
        copy = _copy(next(names), elements, source, pair.scratch, pair.copy)
        read, write = copy.accesses
        there = read.relation.set_tuple_name(_out, pair.main.name).apply_range(pair.to_main.reverse())
        yield replace(copy, accesses=(read, replace(write, relation=there)))


def _copy(name: str, elements: isl.Set, source: Array, target: Array, user: Statement) -> Statement:
    """``copy_statement`` of ``elements``, of whichever grid they are said."""
    return copy_statement(name, elements.set_tuple_name(source.name), source, target, user)


def _reads_only(copy: Statement, elements: isl.Set) -> bool:
    """Whether ``copy`` reads nothing but ``elements``."""
    (read,) = (each for each in copy.accesses if each.kind is AccessKind.READ)
    return bool(read.relation.range().is_subset(elements))


def _where(copies: Sequence[Statement], bounds: isl.Set) -> list[Statement]:
    """Those of ``copies`` that copy anything where the parameters are in ``bounds``, for these alone."""
    domains = [each.domain.intersect_params(bounds).coalesce() for each in copies]
    parts = zip(copies, domains, strict=True)
    return [_on_instances(each, domain) for each, domain in parts if not domain.is_empty()]


def _on_instances(copy: Statement, domain: isl.Set) -> Statement:
    """``copy`` for fewer instances: in fewer pieces."""
    accesses = (replace(each, relation=each.relation.intersect_domain(domain)) for each in copy.accesses)
    return replace(copy, domain=domain, accesses=tuple(accesses))
