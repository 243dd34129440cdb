"""Copies between two grids in each step, folded away: the grids alternate, and the last copy is restored.

Where steps read nothing but what is copied, the two grids of the program take turns. Else a second grid
``c`` is one of the region's own, where that is asked for (``--contract-arrays on``): it takes more memory.

::

    for t:                                       for each x of the border: c[x] = a[x]
      for x: b[x] = f(a)                         for h:
      for x: a[x] = b[x]                  ->       for x: c[x] = f(a)                    # t = 2 * h
                                                   for x: a[x] = f(c)                    # t = 2 * h + 1
                                                 if the last step is even: for x: a[x] = c[x]
                                                 for x: b[x] = a[x]

So do steps that begin with the copy, ``b[x] = a[x]; a[x] = f(b)``: if both grids take turns, the last step is
apart, as ``b`` holds in the end what was there before it. Elements of ``b`` beside those that are copied
may not exist, or change while the region runs. What
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
from polybuild.diagnostics import Diagnostic, Severity
from polybuild.effort import BORDER_PARTS, FOLDING_OPERATIONS, SPLIT_STATEMENTS_OVER_TIME, STENCIL_STEPS
from polybuild.poly.budget import found_within
from polybuild.poly.trees import descendants, is_band
from polybuild.scop.duplicates import copied, order_of_copies, unused_names
from polybuild.scop.model import AccessKind, Array, Assumption, Scop, Statement
from polybuild.scop.strides import count_steps
from polybuild.storage.copied_grids import (
    CopiedGrid,
    TimeLoop,
    copied_grids,
    grids_in_turn,
    instances_of,
    loops_over_time,
)
from polybuild.storage.expansion import copy_statement, in_own_nest
from polybuild.storage.folding_proof import FoldedLoop, cases_of, names_before
from polybuild.storage.main_borders import Parts, read_main_borders
from polybuild.transform.borders import is_choice
from polybuild.transform.residue_classes import split_into_phases
from polybuild.values import dataclass

_out, _set = isl.dim_type.out, isl.dim_type.set


def fold_copies(
    scop: Scop, live_out: frozenset[str], taken: Collection[str], *, allocates: bool = True
) -> Scop:
    """``scop`` without the copies that its loops over time make in each step; itself if there are none.

    Where the two grids of the program cannot take turns and the region ``allocates`` memory, it gets others,
    whose names are not ``taken``. ``live_out`` names variables that are read after the region. Whatever
    outside of the loop reads finds what it found before, in the same arrays.
    """
    for loop in loops_over_time(scop):
        choices = [tuple(grids_in_turn(loop))]
        if allocates:
            choices.append(tuple(copied_grids(scop, loop, taken)))
        for pairs in filter(None, choices):
            folded = found_within(FOLDING_OPERATIONS, partial(_folded, scop, loop, live_out, pairs))
            if folded is not None and (allocates or not _keeps_borders(scop, folded)):
                return folded
    return scop


def _keeps_borders(scop: Scop, folded: Scop) -> bool:
    """Whether elements that ``scop`` chooses stay so once it is ``folded``, which is too large to be split.

    Steps with copies, which are half as many, have vectors then.
    """
    chooses = any(is_choice(access) for each in scop.statements for access in each.accesses)
    parts = 3  # the interior of a row and its two ends
    return chooses and parts * len(folded.statements) > SPLIT_STATEMENTS_OVER_TIME


def _folded(
    scop: Scop, loop: TimeLoop, live_out: frozenset[str], pairs: tuple[CopiedGrid, ...]
) -> Scop | None:
    """``scop`` with the copies of ``loop`` folded away: all ``pairs``, or else one; None if none can be."""
    read = {access.array.name for each in loop.after for access in each.accesses}
    dead = frozenset(
        each.scratch.name
        for each in pairs
        if may_be_private(each.scratch, live_out) and each.scratch.name not in read
    )
    for chosen in [pairs] if len(pairs) < 2 else [pairs, *((each,) for each in pairs)]:
        found = _alternating(scop, loop, chosen, dead)
        if found is not None:
            return found
    return None


@dataclass(frozen=True, slots=True)
class _OwnStep:
    """Statements of a loop with their instances in one step, their ``order``, and the ``rest``."""

    statements: tuple[tuple[Statement, Statement], ...]
    order: tuple[isl.Schedule, ...]
    rest: TimeLoop


def _alternating(
    scop: Scop, loop: TimeLoop, pairs: Sequence[CopiedGrid], dead: frozenset[str]
) -> Scop | None:
    """``scop`` without the copies of ``pairs`` in ``loop``; None if a value would be another one."""
    bounds = reduce(isl.Set.intersect, (each.bounds for each in pairs), scop.context)
    numbers = len(loop.statements) * loop.counters.period
    # a pair has at most four copies before and after the loop, whose first step and last one may be apart
    count = (2 + BORDER_PARTS * len(pairs)) * numbers + len(loop.statements) + 4 * len(pairs)
    names = iter(unused_names(scop, count)[numbers:])
    first = _OwnStep((), (), loop)
    if any(_fixes_elements(each, loop) for each in pairs):
        first = _peeled(scop, loop, names)
    last = _OwnStep((), (), first.rest)
    if any(each.is_in_place and each.first and each.scratch.name not in dead for each in pairs):
        if not all(each.first for each in pairs):
            return None  # other copies come after all that steps make
        last = _with_last_step(scop, first.rest, pairs, names)
    rest = last.rest
    in_phases = _with_borders(_in_phases(scop, rest, pairs), loop, pairs, dead, names)
    if in_phases is None:
        return None
    split, parts = in_phases
    begin, end = [], []
    for each in pairs:
        own = replace(each, copy=rest.statements[rest.position(each.copy.name)])
        after = _where(_copies_after(rest, own, names, dead), bounds)
        users = [*(part for _, part in parts), *after]
        before = _where(_copies_before(users, own, first, names, dead), bounds)
        certain = loop.certain_elements(each.main, *AccessKind)
        if before and (certain is None or not _reads_only(before[0], certain)):
            return None  # what the program might not read may not be there
        if each.is_in_place and not _may_take_turns([*users, *before], own, loop, dead, bounds):
            return None
        begin += before
        end += after
    nests = _Nests(tuple(pairs), first, tuple(begin), split, tuple(parts), tuple(end), last)
    return _if_proved(scop, loop, nests, dead, bounds)


def _with_borders(
    split: tuple[Scop, Parts],
    loop: TimeLoop,
    pairs: Sequence[CopiedGrid],
    dead: frozenset[str],
    names: Iterator[str],
) -> tuple[Scop, Parts] | None:
    """The phases ``split``, in which grids without a border read that of the main one; or None."""
    for each in pairs:
        there = loop.certain_elements(each.scratch, *AccessKind)
        if each.is_in_place and each.scratch.name not in dead and there is not None:
            found = read_main_borders(*split, each, there, names)
            if found is None:
                return None
            split = found
    return split


@dataclass(frozen=True, slots=True)
class _Nests:
    """What a loop becomes without the copies of ``pairs``, in this order.

    The steps that alternate are the ``parts`` of ``alternating``.
    """

    pairs: tuple[CopiedGrid, ...]
    first: _OwnStep
    begin: tuple[Statement, ...]
    alternating: Scop
    parts: tuple[tuple[Statement, Statement], ...]
    end: tuple[Statement, ...]
    last: _OwnStep

    @property
    def order(self) -> isl.Schedule:
        """The order of all of it."""
        begin, end = (map(in_own_nest, each) for each in (self.begin, self.end))
        nests = [*self.first.order, *begin, self.alternating.schedule, *end, *self.last.order]
        return reduce(isl.Schedule.sequence, nests)

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All of its statements, in this order."""
        first, parts, last = (
            [each for _, each in some] for some in (self.first.statements, self.parts, self.last.statements)
        )
        return (*first, *self.begin, *parts, *self.end, *last)

    @property
    def origins(self) -> dict[str, Statement]:
        """What each was that was in the loop, by its name now."""
        both = (*self.first.statements, *self.parts, *self.last.statements)
        return {each.name: one for one, each in both}


def _if_proved(
    scop: Scop, loop: TimeLoop, nests: _Nests, dead: frozenset[str], bounds: isl.Set
) -> Scop | None:
    """``scop`` with ``nests`` in place of ``loop``; None if a value would be another within ``bounds``."""
    made = nests.statements
    within = replace(nests.alternating, statements=made, schedule=nests.order, context=bounds)
    counted = count_steps(within)
    became = dict(zip((each.name for each in made), counted.statements, strict=True))
    copies = {each.copy.name for each in nests.pairs}
    origins = {name: one for name, one in nests.origins.items() if one.name not in copies}
    folded = FoldedLoop(
        replace(scop, statements=loop.statements, schedule=scop.schedule.intersect_domain(loop.instances)),
        counted,
        nests.pairs,
        tuple((one, became[name]) for name, one in origins.items()),
        tuple(each for name, each in became.items() if name not in origins),
        dead,
        names_before(within, origins),
    )
    proved = all(map(folded.is_proved, cases_of(nests.first.rest, bounds)))
    return _whole(scop, loop, folded) if proved else None


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
        remarks=(*scop.remarks, *(_told(each) for each in folded.grids if each.is_in_place)),
    )


def _told(pair: CopiedGrid) -> Diagnostic:
    """What a user should know of ``pair``."""
    message = (
        f"'{pair.main.source_name}' takes turns with '{pair.scratch.source_name}', as its steps would copy"
        " one to the other: both hold in the end what they would then"
    )
    return Diagnostic(Severity.REMARK, "copied-grids", message, pair.copy.location)


def _may_take_turns(
    users: Sequence[Statement], pair: CopiedGrid, loop: TimeLoop, dead: frozenset[str], bounds: isl.Set
) -> bool:
    """Whether the program's own grid has what ``users`` access of it, and is written where they write.

    That is asked where ``bounds`` hold. Others may have elements beside those that ``loop`` writes, and
    change them meanwhile. A grid of the function's own that is in ``dead`` is all there, and nobody else's.
    """
    scratch = pair.scratch
    if scratch.name in dead and all(each is not None for each in scratch.extents):
        there: isl.Set | None = _declared(scratch)
        written = there
    else:
        there = loop.certain_elements(scratch, *AccessKind)
        written = loop.certain_elements(scratch, AccessKind.WRITE)
    if there is None or written is None:
        return False
    return all(
        access.relation.intersect_domain(each.domain)
        .range()
        .intersect_params(bounds)
        .is_subset(there if access.kind is AccessKind.READ else written)
        for each in users
        for access in each.accesses_to(scratch)
    )


def _declared(array: Array) -> isl.Set:
    """The elements that ``array`` is declared with, all of whose extents are known."""
    space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, len(array.extents))
    elements = isl.Set.nat_universe(space.set_tuple_name(_set, array.name))
    local = isl.LocalSpace.from_space(elements.get_space())
    for dimension, declared in enumerate(array.extents):
        assert declared is not None  # noqa: S101 - as the contract says
        extent = declared.project_domain_on_params().insert_domain(elements.get_space())
        elements = elements.intersect(isl.PwAff.var_on_domain(local, _set, dimension).lt_set(extent))
    return elements


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


def _with_last_step(
    scop: Scop, loop: TimeLoop, pairs: Sequence[CopiedGrid], names: Iterator[str]
) -> _OwnStep:
    """The last step of ``loop`` apart from the others, with the copies of ``pairs``, which come first in it.

    Where the steps before are of an odd number, the grids are as if that copy had been made.
    """
    copies = {each.copy.name for each in pairs}
    last, order = [], []
    for phase in range(loop.counters.period):
        found = []
        for position, each in enumerate(loop.statements):
            instances = loop.last(each, phase).coalesce()
            if not (instances.is_empty() or (phase and each.name in copies)):
                part = copied(each, next(names), instances)
                found.append((each, _on_grids(part, (1, position), pairs, loop) if phase else part))
        if found:
            last += found
            order.append(_order_in_step(scop, found))
    rest = [
        replace(each, domain=each.domain.subtract(loop.last(each, 0).union(loop.last(each, 1))).coalesce())
        for each in loop.statements
    ]
    return _OwnStep(tuple(last), tuple(order), replace(loop, statements=tuple(rest)))


def _order_in_step(scop: Scop, parts: Sequence[tuple[Statement, Statement]]) -> isl.Schedule:
    """The order of ``scop`` for instances of one step: the second statement of each of ``parts``."""
    # without what has no instance in the step: no pass expects loops that never run
    instances = instances_of([old for old, _ in parts])
    alone = replace(scop, schedule=scop.schedule.intersect_domain(instances))
    order = order_of_copies(alone, [each for _, each in parts], {each.name: old.name for old, each in parts})
    # a loop of one iteration would be the one that threads share
    return next(filter(is_band, descendants(order.get_root()))).delete().get_schedule()


def _peeled(scop: Scop, loop: TimeLoop, names: Iterator[str]) -> _OwnStep:
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
    moved = {name: each.add_constant_val(one.neg()) for name, each in counters.counters.items()}
    assert counters.start is not None  # noqa: S101 - it is always counted from there
    later = replace(counters, counters=moved, start=counters.start.add_constant_val(one))
    others = replace(loop, statements=tuple(rest), counters=later)
    return _OwnStep(tuple(first), (_order_in_step(scop, first),), others)


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
            arrays=(*split.arrays, *(each.other for each in pairs if not each.is_in_place)),
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
    statements: Sequence[Statement],
    pair: CopiedGrid,
    first: _OwnStep,
    names: Iterator[str],
    dead: frozenset[str],
) -> list[Statement]:
    """What the grid must have of the main one before the loop: what it never writes.

    The ``first`` step, where it is apart, copies from the program's own grid what that has already.
    Grids in ``dead`` need not hold what they held at the end.
    """
    reads, writes = (
        [
            access.relation.intersect_domain(each.domain).range()
            for each in statements
            for access in each.accesses_to(pair.other)
            if (access.kind is AccessKind.READ) == wanted
        ]
        for wanted in (True, False)
    )
    if pair.is_in_place and pair.first and pair.scratch.name not in dead:
        kept = pair.elements(pair.copy, pair.copy.accesses[0])  # it has them in the end
        reads.append(kept.set_tuple_name(pair.other.name))
    if not reads:
        return []
    elements = reduce(isl.Set.union, reads)
    elements = reduce(isl.Set.subtract, writes, elements).coalesce()
    if pair.is_in_place and not pair.first and first.statements:
        (read,) = (each for each in pair.copy.accesses if each.kind is AccessKind.READ)
        elements = elements.subtract(read.relation.range()).coalesce()
    if elements.is_empty():
        return []
    return [_copy(next(names), elements, pair.main, pair.other, pair.copy)]


def _copies_after(
    loop: TimeLoop, pair: CopiedGrid, names: Iterator[str], dead: frozenset[str]
) -> list[Statement]:
    """What both grids hold after the loop, from where its last step left it; but those in ``dead``."""
    alive = pair.scratch.name not in dead
    if pair.is_in_place and pair.first and alive:
        return []  # the last step is apart, and reads either
    restored = _made_last(loop, pair, 0)
    back = [] if restored.is_empty() else [_copy(next(names), restored, pair.other, pair.main, pair.copy)]
    if pair.is_in_place:
        made = _made_last(loop, pair, 1)
        return [*back, *(_to_scratch(made, pair.main, pair, names) if alive else ())]
    access = next(each for each in pair.copy.accesses if each.array.name == pair.main.name)
    in_main, in_other = (
        access.relation.intersect_domain(loop.last(pair.copy, phase)).range().coalesce() for phase in (0, 1)
    )
    if not alive:
        in_main = in_other = isl.Set.empty(in_main.get_space())
    if not pair.first:
        return [*back, *_to_scratch(in_main.union(in_other).coalesce(), pair.main, pair, names)]
    early = [*_to_scratch(in_main, pair.main, pair, names), *_to_scratch(in_other, pair.other, pair, names)]
    return [*early, *back]


def _made_last(loop: TimeLoop, pair: CopiedGrid, phase: int) -> isl.Set:
    """What the last step of ``loop`` makes of the main grid of ``pair``, if it is of that ``phase``."""
    made = [
        pair.on(pair.main, access).relation.intersect_domain(loop.last(each, phase)).range()
        for position, each in enumerate(loop.statements)
        if each.name != pair.copy.name
        for access in each.accesses
        if pair.has(access) and access.kind is not AccessKind.READ and pair.is_next(position, access, loop)
    ]
    return reduce(isl.Set.union, made).coalesce()


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
