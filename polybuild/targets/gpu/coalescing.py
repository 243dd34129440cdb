"""Which loop's iterations touch consecutive elements, and whether elements are touched again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from polybuild.poly.relations import maps_of
from polybuild.poly.trees import prefix_schedule
from polybuild.scop.model import Access, AccessKind, Scop

_set = isl.dim_type.set


def consecutive_member(scop: Scop, band: isl.ScheduleNode, members: Sequence[int]) -> int:
    """The one of ``members`` along which the accesses below ``band`` are best spread over memory.

    Consecutive elements count for it, elements further apart against it, twice where they are written:
    shared memory helps those who read. What stays the same along another member is kept in registers and
    does not count. The innermost of equals wins.
    """
    outer = band.get_schedule_depth()
    others = [each for each in range(band.band_n_member()) if each not in members]
    scores = dict.fromkeys(members, 0)
    for access, date in dated(scop, band):
        if any(_stays(access, date, outer + each) for each in others):
            continue
        weight = 1 if access.kind is AccessKind.READ else 2
        for member in members:
            scores[member] += weight * _score(access, date, outer + member)
    return max(members, key=lambda member: (scores[member], member))


def streams(scop: Scop, band: isl.ScheduleNode) -> bool:
    """Whether an access below ``band`` touches another element in each iteration of its members."""
    outer = band.get_schedule_depth()
    for access, date in dated(scop, band):
        if not access.exact or not access.array.extents:
            continue
        touched = date.reverse().apply_range(access.relation)
        times = touched.domain().identity()
        times = times.project_out(isl.dim_type.out, outer, times.dim(isl.dim_type.out) - outer)
        if touched.range_product(times).is_injective():
            return True
    return False


def dated(scop: Scop, band: isl.ScheduleNode) -> Iterator[tuple[Access, isl.Map]]:
    """The accesses of the statements below ``band``, with the time stamps of their instances."""
    stamps = prefix_schedule(band).flat_range_product(band.get_subtree_schedule_union_map())
    by_statement = {
        each.get_tuple_name(isl.dim_type.in_): each
        for each in maps_of(stamps.intersect_domain(band.get_domain()))
    }
    for statement in scop.statements:
        if statement.name in by_statement:
            yield from ((access, by_statement[statement.name]) for access in statement.accesses)


def _stays(access: Access, date: isl.Map, loop: int) -> bool:
    """Whether all steps of a loop touch the same element."""
    steps = steps_along(access, date, loop) if access.array.extents else []
    return steps is not None and not any(steps)


def _score(access: Access, date: isl.Map, loop: int) -> int:
    """1 if a step of one loop, the others fixed, leads to the next element; -1 if further; 0 if nowhere."""
    if not access.array.extents:
        return 0
    steps = steps_along(access, date, loop)
    last = access.relation.dim(isl.dim_type.out) - 1
    if steps is None:
        return -1
    if all(each == 0 for each in steps):
        return 0
    return 1 if steps[last] in {1, -1} and not any(steps[:last]) else -1


def steps_along(access: Access, date: isl.Map, loop: int) -> list[int] | None:
    """By how much each subscript changes per step of a loop, None if that is not one number."""
    if not (access.exact and access.relation.is_single_valued()):
        return None
    distances = _distances(access, date, loop).detect_equalities()
    steps = []
    for dim in range(distances.dim(_set)):
        value = distances.plain_get_val_if_fixed(_set, dim)
        if not value.is_int():
            return None
        steps.append(value.to_python())
    return steps


def steps_through_remainders(access: Access, date: isl.Map, loop: int) -> list[int] | None:
    """As ``steps_along``, where subscripts are remainders of other loops, too: bounds see through these."""
    if not (access.exact and access.relation.is_single_valued()):
        return None
    distances = _distances(access, date, loop)
    ends = [(distances.dim_min_val(dim), distances.dim_max_val(dim)) for dim in range(distances.dim(_set))]
    known = all(low.is_int() and low.eq(high) for low, high in ends)
    return [low.to_python() for low, _ in ends] if known else None


def _distances(access: Access, date: isl.Map, loop: int) -> isl.Set:
    """How far apart the elements are that ``access`` touches in two steps of a loop, one after the other."""
    following = date.apply_range(_step(date, loop)).apply_range(date.reverse())
    return following.apply_domain(access.relation).apply_range(access.relation).deltas()


def _step(date: isl.Map, loop: int) -> isl.Map:
    """``{ [..., c, ...] -> [..., c + 1, ...] }``, all other loops standing still."""
    space = date.range().get_space()
    values = isl.MultiAff.identity(space.map_from_set())
    values = values.set_aff(loop, values.get_aff(loop).set_constant_val(isl.Val(1)))
    return isl.Map.from_multi_aff(values)
