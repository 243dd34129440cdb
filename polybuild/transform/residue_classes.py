"""Loops whose storage alternates, as ``u[t % 2]``: each residue class of the counter has its own statements.

::

    for t:                                       for h:
      for i: for j:                        ->      for i: for j: u[1][i][j] = f(u[0])        # t = 2 * h
        u[(t + 1) % 2][i][j] = f(u[t % 2])         for i: for j: u[0][i][j] = f(u[1])        # t = 2 * h + 1

This is index-set splitting (M. Griebl, P. Feautrier, C. Lengauer, "Index Set Splitting", 2000) by the
remainder of a counter. The instances are the same, in the same order. Subscripts and conditions have no
remainders any more, so that dependences, footprints and tiles over time are those of a loop in which somebody
wrote several steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce

import islpy as isl

from polybuild.effort import (
    ALTERNATING_OPERATIONS,
    ALTERNATING_STATEMENTS,
    SPLITTING_OPERATIONS,
    STORAGE_PERIODS,
)
from polybuild.poly import spaces
from polybuild.poly.budget import found_within
from polybuild.poly.relations import depends_on, lexicographically_after, maps_of, sets_of, tuple_name
from polybuild.poly.trees import children, descendants, is_band
from polybuild.schedule.legality import IllegalSchedule
from polybuild.scop.duplicates import copied, order_of_copies, unused_names
from polybuild.scop.model import Access, AccessKind, Scop, Statement
from polybuild.scop.strides import count_steps
from polybuild.values import dataclass


def split_residue_classes(scop: Scop) -> Scop:
    """``scop`` with the statements in loops over alternating storage split; itself if there are none."""
    divided = frozenset(each.name for each in scop.statements if _has_divisions(each))
    if not divided:
        return scop
    operations = max(SPLITTING_OPERATIONS, ALTERNATING_OPERATIONS * len(scop.statements))
    return found_within(operations, partial(_split_loops, scop, divided)) or scop


def _has_divisions(statement: Statement) -> bool:
    """Whether a condition or the subscript of an array divides."""
    relations = (each.relation for each in statement.accesses if each.array.extents)
    return statement.domain.involves_locals() or any(map(_divides, relations))


def _divides(relation: isl.Map) -> bool:
    """Whether a subscript or a condition of ``relation`` has an integer division."""
    return bool(relation.wrap().involves_locals())


def _split_loops(scop: Scop, divided: frozenset[str]) -> Scop:
    named = {each.name: each for each in scop.statements}
    loops = [*_alternating_loops(scop.schedule.get_root().child(0), named, divided)]
    # what is known of each loop is about the counters as they are: steps are counted when all are split
    for each in loops:
        scop, _ = split_into_phases(scop, each)
    return count_steps(scop) if loops else scop


@dataclass(frozen=True, slots=True)
class AlternatingLoop:
    """A loop at some ``depth`` with what it counts, by the names of its statements, and a ``period``.

    Storage is used again after so many iterations. Where the loop starts at a parameter, the counters are
    less by that ``start``.
    """

    depth: int
    counters: dict[str, isl.PwAff]
    period: int
    start: isl.PwAff | None = None


def _alternating_loops(
    node: isl.ScheduleNode, named: dict[str, Statement], divided: frozenset[str]
) -> Iterator[AlternatingLoop]:
    """The outermost loops over alternating storage from ``node`` down."""
    inside = [named[tuple_name(each)] for each in sets_of(node.get_domain())]
    if divided.isdisjoint(each.name for each in inside):
        return
    if is_band(node) and node.band_n_member() == 1:
        below = max(len(each.iterators) for each in inside) - node.get_schedule_depth() - 1
        loop = _find_period(node, inside) if below > 0 else None
        if loop is not None:
            yield loop
            return
    for each in children(node):
        yield from _alternating_loops(each, named, divided)


def _find_period(band: isl.ScheduleNode, inside: Sequence[Statement]) -> AlternatingLoop | None:
    """The loop ``band`` around the statements ``inside``; None if its storage has no period that is tried."""
    counters = counters_of(band)
    if any(each.dynamic for each in inside) or len(inside) > ALTERNATING_STATEMENTS:
        return None
    depth, first = band.get_schedule_depth(), _first_iteration(inside, counters)
    moved = (
        counters if first is None else {name: counted_from(each, first) for name, each in counters.items()}
    )
    for period in STORAGE_PERIODS:
        loops = [AlternatingLoop(depth, counters, period), AlternatingLoop(depth, moved, period, first)]
        for loop in sorted(loops[: 1 if first is None else 2], key=partial(count_parts, inside)):
            if count_parts(inside, loop) <= ALTERNATING_STATEMENTS and _alternates(inside, loop):
                return loop
    return None


def count_parts(inside: Sequence[Statement], loop: AlternatingLoop) -> int:
    """How many statements there are once each step of a period has its own."""
    return sum(not part.is_empty() for each in inside for part in instances_in_phases(each, loop))


def _first_iteration(inside: Sequence[Statement], counters: dict[str, isl.PwAff]) -> isl.PwAff | None:
    """The parameters' value that the loop starts at; None if that is a constant, or not affine."""
    time = counted_by(inside, counters)
    if not time.dim_has_lower_bound(isl.dim_type.set, 0):
        return None
    pieces = time.dim_min(0).coalesce().get_pieces()
    affine = [aff for _, aff in pieces]
    moves = affine[0].involves_dims(isl.dim_type.param, 0, affine[0].dim(isl.dim_type.param))
    if (
        not moves
        or affine[0].dim(isl.dim_type.div)
        or not all(affine[0].plain_is_equal(each) for each in affine)
    ):
        return None
    return isl.PwAff.from_aff(affine[0])


def counters_of(band: isl.ScheduleNode) -> dict[str, isl.PwAff]:
    """What the loop ``band`` counts, by the names of the statements inside."""
    schedule = isl.UnionMap.from_multi_union_pw_aff(band.band_get_partial_schedule())
    return {
        each.get_tuple_name(isl.dim_type.in_): isl.PwMultiAff.from_map(each).get_pw_aff(0)
        for each in maps_of(schedule.intersect_domain(band.get_domain()))
    }


def counted_by(statements: Sequence[Statement], counters: Mapping[str, isl.PwAff]) -> isl.Set:
    """All values that the ``counters`` of ``statements`` take."""
    values = [
        isl.Map.from_pw_aff(counters[each.name]).intersect_domain(each.domain).range() for each in statements
    ]
    return reduce(isl.Set.union, values).coalesce()


def counted_from(counter: isl.PwAff, start: isl.PwAff) -> isl.PwAff:
    """``counter`` less the value of the parameters ``start``."""
    return counter.sub(start.insert_domain(counter.get_domain_space()))


def _alternates(inside: Sequence[Statement], loop: AlternatingLoop) -> bool:
    """Whether in each residue class divisions go, and some statement writes to the same elements again.

    Those of conditions, and in the subscripts of arrays that are written. Conditions count where they are of
    what sets points of a grid: a norm after each two steps is no reason to have two copies of these.
    """
    written = {
        each.array.name
        for statement in inside
        for each in statement.accesses
        if each.array.extents and each.kind is not AccessKind.READ
    }
    gains = meets = False
    for statement in inside:
        classes = [each for each in instances_in_phases(statement, loop) if not each.is_empty()]
        own = [each for each in statement.accesses if each.exact and each.array.name in written]
        subscripts = (each.relation.gist_domain(statement.domain) for each in own)
        gains = gains or any(_loses_divisions(each, classes) for each in subscripts)
        gains = gains or (_sets_points(statement, loop) and has_simpler_conditions(statement, loop))
        meets = meets or any(_comes_back(each, statement, loop, classes) for each in own)
    return gains and meets


def _sets_points(statement: Statement, loop: AlternatingLoop) -> bool:
    """Whether ``statement`` sets several elements in an iteration of ``loop``."""
    inner = range(loop.depth + 1, len(statement.iterators))
    return any(
        depends_on(access.relation, dim)
        for access in statement.accesses
        if access.kind is not AccessKind.READ
        for dim in inner
    )


def instances_in_phases(statement: Statement, loop: AlternatingLoop) -> list[isl.Set]:
    """The instances of ``statement`` in each residue class of the counter of ``loop``."""
    residues = _residues(loop.counters[statement.name], statement.domain, loop.period)
    return [statement.domain.intersect(each) for each in residues]


def _residues(counter: isl.PwAff, instances: isl.Set, period: int) -> list[isl.Set]:
    """Where ``counter`` of the ``instances`` has each remainder by ``period``."""
    remainder = counter.mod_val(isl.Val(period))
    return [remainder.eq_set(isl.PwAff.val_on_domain(instances, isl.Val(each))) for each in range(period)]


def has_simpler_conditions(statement: Statement, loop: AlternatingLoop) -> bool:
    """Whether conditions divide less where a residue class is known: those on other counters still do."""
    divisions = _count_divisions(statement.domain)
    counter = loop.counters[statement.name].gist(statement.domain)
    known = _residues(counter, isl.Set.universe(statement.domain.get_space()), loop.period)
    parts = [(statement.domain.intersect(each).coalesce(), each) for each in known]
    return all(part.is_empty() or _count_divisions(part.gist(each)) < divisions for part, each in parts)


def _count_divisions(instances: isl.Set) -> int:
    return max(each.dim(isl.dim_type.div) for each in instances.compute_divs().get_basic_sets())


def _loses_divisions(relation: isl.Map, classes: Sequence[isl.Set]) -> bool:
    """Whether ``relation`` divides, but not any more where a residue class is known."""
    return _divides(relation) and not any(
        _divides(relation.intersect_domain(each).coalesce().gist_domain(each)) for each in classes
    )


def _comes_back(
    access: Access, statement: Statement, loop: AlternatingLoop, classes: Sequence[isl.Set]
) -> bool:
    """Whether ``access`` writes to the same elements a period later: these do not depend on the counter.

    Loops over blocks are none of that kind: each block has elements of its own.
    """
    if access.kind is AccessKind.READ:
        return False
    time = isl.Map.from_pw_aff(loop.counters[statement.name])
    moving = [dim for dim in range(time.dim(isl.dim_type.in_)) if depends_on(time, dim)]
    if any(
        depends_on(access.relation.intersect_domain(each).coalesce(), dim)
        for each in classes
        for dim in moving
    ):
        return False
    elements = time.reverse().apply_range(access.relation.intersect_domain(statement.domain))
    later = isl.Map.from_pw_aff(spaces.dimension(1, 0).add_constant_val(isl.Val(loop.period)))
    return not later.apply_range(elements).is_disjoint(elements)


def split_into_phases(scop: Scop, loop: AlternatingLoop) -> tuple[Scop, tuple[dict[str, Statement], ...]]:
    """``scop`` with the statements in ``loop`` split, whose iterations become those of a whole period.

    For each step of a period, too, what became of its statements, by their names before. Their counters are
    what they were. The instances and their order are proved to stay the same; IllegalSchedule otherwise.
    """
    names = iter(unused_names(scop, loop.period * len(loop.counters)))
    phases: list[dict[str, Statement]] = [{} for _ in range(loop.period)]
    statements: list[Statement] = []
    originals: dict[str, str] = {}
    for each in scop.statements:
        if each.name not in loop.counters:
            statements.append(each)
            continue
        classes = instances_in_phases(each, loop)
        if not reduce(isl.Set.union, classes).is_equal(each.domain):
            raise IllegalSchedule(f"instances of {each.name} are in no residue class")
        for phase, instances in zip(phases, classes, strict=True):
            if not instances.is_empty():
                part = copied(each, next(names), instances.coalesce())
                statements.append(part)
                phase[each.name] = part
                originals[part.name] = each.name
    before = order_of_copies(scop, statements, originals)
    schedule = _in_phases(before, loop, [list(each.values()) for each in phases])
    # what comes later takes this for the original order: nothing else would find a fault in it
    if not lexicographically_after(before.get_map()).is_subset(lexicographically_after(schedule.get_map())):
        raise IllegalSchedule("a loop over alternating storage was split into another order")
    return replace(scop, statements=tuple(statements), schedule=schedule), tuple(phases)


def _in_phases(
    schedule: isl.Schedule, loop: AlternatingLoop, phases: Sequence[Sequence[Statement]]
) -> isl.Schedule:
    """``schedule`` with its ``loop``, now around the statements ``phases``, counted in periods."""
    inside = {each.name for phase in phases for each in phase}
    band = next(
        each
        for each in descendants(schedule.get_root())
        if is_band(each)
        and each.get_schedule_depth() == loop.depth
        and {tuple_name(one) for one in sets_of(each.get_domain())} == inside
    )
    counter = band.band_get_partial_schedule()
    if loop.start is not None:
        parts = counter.get_union_pw_aff(0).get_pw_aff_list()
        moved = [counted_from(parts.get_at(each), loop.start) for each in range(parts.n_pw_aff())]
        union = reduce(isl.UnionPwAff.union_add, map(isl.UnionPwAff.from_pw_aff, moved))
        counter = isl.MultiUnionPwAff.from_union_pw_aff(union)
    counter = counter.scale_down_val(isl.Val(len(phases))).floor()
    filters = isl.UnionSetList.alloc(isl.DEFAULT_CONTEXT, len(phases))
    for phase in filter(None, phases):
        filters = filters.add(
            reduce(isl.UnionSet.union, (isl.UnionSet.from_set(each.domain) for each in phase))
        )
    periods = isl.UnionMap.from_multi_union_pw_aff(counter).intersect_domain(band.get_domain()).range()
    band = band.delete().insert_sequence(filters)
    if isl.Set.from_union_set(periods).project_out_all_params().is_singleton():
        return band.get_schedule()
    return band.insert_partial_schedule(counter).get_schedule()
