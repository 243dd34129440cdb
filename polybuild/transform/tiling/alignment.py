"""Tiles that begin where loops do: ``for (i = 1; i <= n; i++)`` in tiles of 8 has its first tile from 1 to 8.

Tiles are counted from zero. A loop that begins elsewhere, in whatever iteration of the loops around it, would
have a partial tile at its beginning, of a block of results that then stays in no registers.
"""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from polybuild.poly.trees import member

_set = isl.dim_type.set


def align_members(node: isl.ScheduleNode, sizes: Mapping[int, int]) -> isl.ScheduleNode:
    """The band ``node`` with members shifted such that tiles of their ``sizes`` begin where they do.

    A member is left alone that begins elsewhere in other iterations of the loops around it.
    """
    domain = node.get_domain()
    shift = node.band_get_partial_schedule()
    shift = shift.sub(shift)
    moved = False
    for position, size in sizes.items():
        values = isl.UnionMap.from_multi_union_pw_aff(member(node, position)).intersect_domain(domain)
        first = first_value(values.range())
        if first % size and _begins_at(_around(node, position).reverse().apply_range(values), first, size):
            everywhere = shift.get_union_pw_aff(position).domain()
            back = isl.UnionPwAff.val_on_domain(everywhere, isl.Val(-first))
            shift = shift.set_union_pw_aff(position, back)
            moved = True
    return node.band_shift(shift) if moved else node


def _around(node: isl.ScheduleNode, position: int) -> isl.UnionMap:
    """The time stamps in the loops around a band and in its members before ``position``."""
    stamps = node.get_prefix_schedule_relation()
    for each in range(position):
        stamps = stamps.flat_range_product(isl.UnionMap.from_multi_union_pw_aff(member(node, each)))
    return stamps


def first_value(values: isl.UnionSet) -> int:
    """The lowest of some ``{ [value] }``; zero if that is no constant."""
    if values.is_empty():
        return 0
    lowest = isl.Set.from_union_set(values).dim_min_val(0)
    return int(lowest.to_python()) if lowest.is_int() else 0


def _begins_at(values: isl.UnionMap, first: int, size: int) -> bool:
    """Whether ``{ [time stamp] -> [value] }`` begins ``first`` and some multiple of ``size`` everywhere."""
    begin = isl.Set.from_union_set(values.lexmin().range())
    place = isl.PwAff.var_on_domain(isl.LocalSpace.from_space(begin.get_space()), _set, 0)
    distance = place.add_constant_val(isl.Val(-first)).mod_val(isl.Val(size))
    return bool(begin.is_subset(distance.zero_set()))
