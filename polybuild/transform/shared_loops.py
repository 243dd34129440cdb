"""Parallel loops that statements share, and inside of these the loops that each has for itself.

::

    for y:                                     for y:
      for x: row[x] = 0;                         for x:
      for i: for j:                                row[x] = 0;
        for x: row[x] += w[i][j] * ...;   ->       for i: for j: row[x] += w[i][j] * ...;
      for x: q[y][x] = row[x];                     q[y][x] = row[x];

isl's scheduler, asked for as few loops as there can be, finds the loops to share; in these it lets an
iteration of a statement stand for all of its inner loops.
"""

from __future__ import annotations

from itertools import takewhile

import islpy as isl

from polybuild.poly.trees import is_band, map_bottom_up, prefix_schedule
from polybuild.transform.bands import with_members
from polybuild.transform.distribution import dependence_groups, distribute


def with_own_loops_inside(schedule: isl.Schedule, dependences: isl.UnionMap) -> isl.Schedule | None:
    """``schedule`` with statements one after the other inside its outermost parallel loops.

    None if it has none, or what is inside is a cycle of ``dependences``.
    """
    shared = len(shared_members(schedule))
    if not shared:
        return None
    band = schedule.get_root().child(0)
    inside = (band.band_split(shared) if shared < band.band_n_member() else band).child(0)
    stamps = prefix_schedule(inside)
    own = dependences.intersect(stamps.apply_range(stamps.reverse()))
    groups = dependence_groups(inside.get_domain(), own)
    if len(groups) < 2:
        return None
    return map_bottom_up(distribute(inside, groups), _without_constants).get_schedule()


def shared_members(schedule: isl.Schedule) -> tuple[int, ...]:
    """The members of its outermost band that come first and are parallel, which all statements share."""
    band = schedule.get_root().child(0)
    if not is_band(band):
        return ()
    return tuple(takewhile(band.band_member_get_coincident, range(band.band_n_member())))


def _without_constants(node: isl.ScheduleNode) -> isl.ScheduleNode:
    """A band without members that have one value; any other node as it is."""
    if not is_band(node):
        return node
    partial = node.band_get_partial_schedule().intersect_domain(node.get_domain())
    members = range(node.band_n_member())
    kept = [each for each in members if not _is_constant(partial.get_union_pw_aff(each))]
    return node if len(kept) == len(members) else with_members(node, kept)


def _is_constant(member: isl.UnionPwAff) -> bool:
    values = isl.UnionMap.from_union_pw_aff(member).range()
    return bool(values.is_empty() or isl.Set.from_union_set(values).is_singleton())
