"""Statements that run one right after the other, each time, as one statement while isl makes their loops.

For each loop isl compares the values at which each statement runs with those of all others: of twelve
statements in tiles along a wavefront it took five seconds. Those with the same domain and the same order are
one group, which an expansion below all loops takes apart again::

    for c0, c1, i, j: { swap: ...; remove: ... }       isl: for c0, c1, i, j: group(i, j)

The loops are dimensions of a group, in which isl finds limits of the outer ones in no time. So statements
beside groups are groups of their own where their loops count blocks: the first element of a row, set beside
those twelve, alone took five seconds more.

(S. Verdoolaege, S. Guelton, T. Grosser, A. Cohen, "Schedule Trees", IMPACT 2014, on expansion nodes.)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import islpy as isl

from polybuild.poly.trees import children, descendants, map_bottom_up, node_kind

_in = isl.dim_type.in_
_TYPES = isl.schedule_node_type


def group_statements(schedule: isl.Schedule) -> isl.Schedule:
    """``schedule`` with groups of statements that follow each other and have the same place in all loops.

    Trees to which statements were added stay as they are: of these isl does not say when they run.
    """
    root, count = schedule.get_root(), 0
    if any(node_kind(each) == _TYPES.extension for each in descendants(root)):
        return schedule

    def grouped(node: isl.ScheduleNode) -> isl.ScheduleNode:
        nonlocal count
        runs = _runs(node)
        if all(len(each) == 1 for each in runs):
            return node
        depth = node.get_tree_depth()
        node = node.insert_sequence(_unions(node, runs)) if len(runs) > 1 else node
        for position, run in enumerate(runs):
            inner = node.child(position).child(0) if len(runs) > 1 else node
            alone = _with_first_values(inner) if len(run) == 1 else inner
            if alone is not None:
                inner = alone.group(isl.Id(f"group{count}"))
                node = inner.ancestor(inner.get_tree_depth() - depth)
                count += 1
        return node

    return map_bottom_up(root, grouped).get_schedule()


def members_of_groups(schedule: isl.Schedule) -> isl.UnionMap | None:
    """From each instance to the group that ``group_statements`` put it in; None if there is none."""
    found = None
    for node in descendants(schedule.get_root()):
        if node_kind(node) == _TYPES.expansion:
            members = node.expansion_get_expansion().reverse()
            found = members if found is None else found.union(members)
    return found


def without_groups(when: isl.UnionMap, members: isl.UnionMap | None) -> isl.UnionMap:
    """The schedule ``when`` of groups and others as that of statements alone."""
    if members is None:
        return when
    others = when.subtract_domain(members.range().universe())
    return others.union(members.apply_range(when))


def _runs(node: isl.ScheduleNode) -> list[list[int]]:
    """The children of a sequence, those together that are to be a group; nothing of another node."""
    if node_kind(node) != _TYPES.sequence:
        return []
    parts = children(node)
    if sum(node_kind(each.child(0)) == _TYPES.leaf for each in parts) < 2:
        return []
    when = node.get_prefix_schedule_relation()
    places = [_place(each, when) for each in parts]
    first = [0]
    for position in range(1, len(parts)):
        here, before = places[position], places[position - 1]
        same = here is not None and before is not None and here.plain_is_equal(before)
        first.append(first[-1] if same else position)
    return [list(run) for _, run in groupby(range(len(parts)), first.__getitem__)]


def _place(part: isl.ScheduleNode, when: isl.UnionMap) -> isl.Map | None:
    """When the statement of ``part`` runs, whatever its name is; None if there is more, or a loop."""
    own = when.intersect_domain(part.filter_get_filter())
    if node_kind(part.child(0)) != _TYPES.leaf or own.n_map() != 1:
        return None
    return isl.Map.from_union_map(own).reset_tuple_id(_in)


def _with_first_values(node: isl.ScheduleNode) -> isl.ScheduleNode | None:
    """A leaf whose loops count blocks, below a filter that says where these begin; None if it is another.

    What isl knows of blocks of a statement it would not find for the dimensions of a group: a loop over those
    from 0 would begin at -1.
    """
    when = node.get_prefix_schedule_union_pw_multi_aff()
    if node_kind(node) != _TYPES.leaf or when.n_pw_multi_aff() != 1 or not when.involves_locals():
        return None
    by_loops = isl.Map.from_union_map(node.get_prefix_schedule_relation()).reverse()
    loops = by_loops.domain()
    begun = isl.Set.universe(loops.get_space())
    for dim in range(loops.dim(isl.dim_type.set)):
        first = loops.dim_min_val(dim)
        if first.is_int():
            begun = begun.lower_bound_val(isl.dim_type.set, dim, first)
    return node.insert_filter(isl.UnionSet.from_set(begun.apply(by_loops))).child(0)


def _unions(node: isl.ScheduleNode, runs: Sequence[Sequence[int]]) -> isl.UnionSetList:
    """The instances of each of ``runs``."""
    found = isl.UnionSetList.alloc(node.get_ctx(), len(runs))
    for run in runs:
        union = node.child(run[0]).filter_get_filter()
        for position in run[1:]:
            union = union.union(node.child(position).filter_get_filter())
        found = found.add(union)
    return found
