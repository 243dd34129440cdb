"""Which loop's iterations touch consecutive elements."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from polybuild.poly.relations import maps_of
from polybuild.scop.model import Access, Scop

_set = isl.dim_type.set


def consecutive_member(scop: Scop, band: isl.ScheduleNode, members: Sequence[int]) -> int:
    """The one of ``members`` along which the accesses below ``band`` are best spread over memory.

    Consecutive elements count for it, elements further apart against it; the
    innermost of equals wins.
    """
    prefix = band.get_prefix_schedule_union_map()
    outer = band.get_schedule_depth()
    by_statement = {
        each.get_tuple_name(isl.dim_type.in_): each
        for each in maps_of(prefix.flat_range_product(band.get_subtree_schedule_union_map()))
    }
    scores = dict.fromkeys(members, 0)
    for statement in scop.statements:
        date = by_statement.get(statement.name)
        if date is None:
            continue
        for access in statement.accesses:
            for member in members:
                scores[member] += _score(access, date, outer + member)
    return max(members, key=lambda member: (scores[member], member))


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
    following = date.apply_range(_step(date, loop)).apply_range(date.reverse())
    distances = following.apply_domain(access.relation).apply_range(access.relation).deltas()
    distances = distances.detect_equalities()
    steps = []
    for dim in range(distances.dim(_set)):
        value = distances.plain_get_val_if_fixed(_set, dim)
        if not value.is_int():
            return None
        steps.append(value.to_python())
    return steps


def _step(date: isl.Map, loop: int) -> isl.Map:
    """``{ [..., c, ...] -> [..., c + 1, ...] }``, all other loops standing still."""
    space = date.range().get_space()
    values = isl.MultiAff.identity(space.map_from_set())
    values = values.set_aff(loop, values.get_aff(loop).set_constant_val(isl.Val(1)))
    return isl.Map.from_multi_aff(values)
