"""Kernels of equal grids as one.

The scheduler gives each strongly connected component bands of its own, so that nothing keeps its loops
from being parallel. Each is a kernel then, with a launch of its own, and values go from one to the next
through memory. Where two components have the same parallel loops, and what one computes is used by the other
in the same iteration of these alone, they may share them::

    for (i) t[i] = x[i] * 2;                    for (i) {
    for (i) y[i] = t[i] + 1;            ->        t[i] = x[i] * 2;
                                                  y[i] = t[i] + 1;
                                                }

Loops that reuse what they read are better off alone, in tiles of their own: what is joined has no other
loops, but for partial results, which begin where they are accumulated.
"""

from __future__ import annotations

from collections.abc import Collection

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.poly.relations import sets_of
from polybuild.poly.trees import is_band, node_kind
from polybuild.schedule.legality import active_dependences
from polybuild.scop.model import AccessKind, Scop
from polybuild.transform.bands import coincident_members
from polybuild.transform.distribution import distribute
from polybuild.values import dataclass

_Kind = isl.schedule_node_type


@dataclass(frozen=True, slots=True)
class _Group:
    """Children of a sequence that are to share loops: ``instances`` with the ``loops`` that they share.

    These have the ``values``; ``begins`` says that nothing but partial results is begun.
    """

    instances: isl.UnionSet
    loops: isl.MultiUnionPwAff | None
    values: isl.Set | None
    begins: bool
    alone: bool


def fuse_equal_grids(scop: Scop, schedule: isl.Schedule, dependences: Dependences) -> isl.Schedule:
    """``schedule`` with parallel loops joined that have the same iterations; it still has to be proved."""
    begun = frozenset(
        statement.name
        for statement in scop.statements
        if all(
            (each.kind is AccessKind.WRITE) == bool(each.array.expanded and each.array.local)
            for each in statement.accesses
        )
    )
    validity = dependences.validity

    def visit(node: isl.ScheduleNode) -> isl.ScheduleNode:
        if node_kind(node) == _Kind.sequence:
            node = _fused(node, active_dependences(node, validity), begun)
        for index in range(node.n_children()):
            child = node.child(index)
            if not (is_band(child) and coincident_members(child)):
                node = visit(child).parent()
        return node

    return visit(schedule.get_root()).get_schedule()


def _fused(node: isl.ScheduleNode, dependences: isl.UnionMap, begun: Collection[str]) -> isl.ScheduleNode:
    """The sequence ``node`` with children joined that may be."""
    groups: list[_Group] = []
    for index in range(node.n_children()):
        child = _group(node.child(index), begun)
        groups = _with(groups, child, dependences)
    if len(groups) == node.n_children():
        return node
    if len(groups) == 1:
        return _shared(node, groups[0])
    node = distribute(node, [each.instances for each in groups])
    for index, group in enumerate(groups):
        inner = node.child(index).child(0)
        if node_kind(inner) == _Kind.sequence and group.loops is not None:
            node = _shared(inner, group).parent().parent()
    return node


def _with(groups: list[_Group], child: _Group, dependences: isl.UnionMap) -> list[_Group]:
    """``groups`` with ``child``, which comes after them in the sequence, in one of them or after them."""

    def depend(first: _Group, second: _Group) -> bool:
        return not _between(dependences, first.instances, second.instances).is_empty()

    for position, group in reversed(list(enumerate(groups))):
        joined = _joined(group, child, dependences)
        after = groups[position + 1 :]
        if joined is not None and not any(depend(each, child) for each in after):
            return [*groups[:position], joined, *after]
        if joined is not None and not any(depend(group, each) for each in after):
            return [*groups[:position], *after, joined]
    return [*groups, child]


def _group(child: isl.ScheduleNode, begun: Collection[str]) -> _Group:
    """What a child of a sequence is."""
    instances, band = child.filter_get_filter(), child.child(0)
    members = coincident_members(band) if is_band(band) else []
    if not members or members != list(range(len(members))):
        return _Group(instances, None, None, begins=False, alone=True)
    loops = band.band_get_partial_schedule()
    alone = band.band_n_member() == len(members) and not _has_bands(band.child(0))
    loops = loops.drop_dims(isl.dim_type.set, len(members), band.band_n_member() - len(members))
    values = _values(band.get_domain(), loops)
    names = {each.get_tuple_name() for each in sets_of(instances)}
    return _Group(instances, loops, values, begins=names <= set(begun), alone=alone)


def _values(instances: isl.UnionSet, loops: isl.MultiUnionPwAff) -> isl.Set | None:
    """The values of ``loops``."""
    found = instances.apply(isl.UnionMap.from_multi_union_pw_aff(loops))
    return None if found.is_empty() else isl.Set.from_union_set(found).coalesce()


def _has_bands(node: isl.ScheduleNode) -> bool:
    return is_band(node) or any(_has_bands(node.child(index)) for index in range(node.n_children()))


def _joined(group: _Group, child: _Group, dependences: isl.UnionMap) -> _Group | None:
    """``group`` with ``child``; None if they are not to share loops."""
    if group.loops is None or child.loops is None or group.values is None or child.values is None:
        return None
    one = group.loops.dim(isl.dim_type.set) == 1
    if group.begins and child.begins:
        return None
    if not group.alone or not (child.alone or (group.begins and one)):
        return None
    if group.values.dim(isl.dim_type.set) != child.values.dim(isl.dim_type.set):
        return None
    fits = group.begins and one and child.values.is_subset(group.values)
    if not (fits or group.values.is_equal(child.values)):
        return None
    loops = group.loops.union_add(child.loops)
    pairs = _between(dependences, group.instances, child.instances)
    if not pairs.subtract(pairs.eq_at_multi_union_pw_aff(loops)).is_empty():
        return None
    instances = group.instances.union(child.instances)
    return _Group(instances, loops, group.values, begins=False, alone=child.alone)


def _between(dependences: isl.UnionMap, first: isl.UnionSet, second: isl.UnionSet) -> isl.UnionMap:
    return dependences.intersect_domain(first).intersect_range(second)


def _shared(node: isl.ScheduleNode, group: _Group) -> isl.ScheduleNode:
    """The sequence ``node`` below a band of the loops of ``group``, which its children have no more."""
    assert group.loops is not None  # noqa: S101 - others are not joined
    count = group.loops.dim(isl.dim_type.set)
    for index in range(node.n_children()):
        band = node.child(index).child(0)
        if band.band_n_member() > count:
            band = band.band_split(count)
        node = band.delete().parent().parent()
    node = node.insert_partial_schedule(group.loops).band_set_permutable(1)
    for position in range(count):
        node = node.band_member_set_coincident(position, 1)
    return node
