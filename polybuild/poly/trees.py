"""Schedule trees: what a node is, and ways through the nodes below it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import islpy as isl

from polybuild.poly.marks import Mark, MarkKind


def node_kind(node: isl.ScheduleNode) -> isl.schedule_node_type:
    """The type of a schedule node, as the enumeration it is."""
    kind = node.get_type()
    # asked for of each node of each tree: to make an enumeration what it is takes ten times as long
    return kind if isinstance(kind, isl.schedule_node_type) else isl.schedule_node_type(kind)


def is_band(node: isl.ScheduleNode) -> bool:
    """Whether ``node`` is a band with at least one member."""
    return bool(node_kind(node) == isl.schedule_node_type.band and node.band_n_member() > 0)


def member(node: isl.ScheduleNode, position: int) -> isl.MultiUnionPwAff:
    """The schedule of one member of a band."""
    return isl.MultiUnionPwAff.from_union_pw_aff(node.band_get_partial_schedule().get_union_pw_aff(position))


def negate(node: isl.ScheduleNode, position: int) -> isl.ScheduleNode:
    """Run one coincident member of a band the other way round: ``(i, j)`` becomes ``(i, -j)``."""
    partial = node.band_get_partial_schedule()
    permutable = node.band_get_permutable()
    coincident = [node.band_member_get_coincident(each) for each in range(node.band_n_member())]
    partial = partial.set_union_pw_aff(position, partial.get_union_pw_aff(position).neg())
    node = node.delete().insert_partial_schedule(partial).band_set_permutable(permutable)
    for each, value in enumerate(coincident):
        node = node.band_member_set_coincident(each, value)
    return node


def counts_down(member: isl.UnionPwAff) -> bool:
    """Whether a loop takes the values of its statements' counters from the last to the first."""
    for function in (member.get_pw_aff_list().get_at(k) for k in range(member.get_pw_aff_list().n_pw_aff())):
        for _, affine in function.get_pieces():
            signs = [
                affine.get_coefficient_val(isl.dim_type.in_, dim).sgn()
                for dim in range(affine.dim(isl.dim_type.in_))
            ]
            if not any(sign < 0 for sign in signs) or any(sign > 0 for sign in signs):
                return False
    return True


def prefix_schedule(node: isl.ScheduleNode) -> isl.UnionMap:
    """When instances run in the loops around ``node``: isl's own relation, found in a quarter of the time.

    isl makes pieces of affine functions of all loops together, where these have few each.
    """
    if not node.get_schedule_depth():
        return node.get_prefix_schedule_union_map()
    return isl.UnionMap.from_multi_union_pw_aff(node.get_prefix_schedule_multi_union_pw_aff())


def within(relation: isl.UnionMap, node: isl.ScheduleNode) -> isl.UnionMap:
    """The pairs of ``relation`` with both ends in what ``node`` lets pass, all of them if it is no filter."""
    if node_kind(node) != isl.schedule_node_type.filter:
        return relation
    chosen = node.filter_get_filter()
    return relation.intersect_domain(chosen).intersect_range(chosen)


def children(node: isl.ScheduleNode) -> list[isl.ScheduleNode]:
    """The children of a schedule node, in order."""
    return [node.child(index) for index in range(node.n_children())]


def parts_in_sequence(node: isl.ScheduleNode) -> Iterator[isl.ScheduleNode]:
    """What runs one after the other at ``node``."""
    if node_kind(node) == isl.schedule_node_type.sequence:
        for each in children(node):
            yield from parts_in_sequence(each.child(0))
    else:
        yield node


def descendants(node: isl.ScheduleNode) -> Iterator[isl.ScheduleNode]:
    """``node`` and all nodes below it, parents first.

    isl's own walks call back; an error that leaves a callback corrupts isl's memory.
    """
    yield node
    for each in children(node):
        yield from descendants(each)


def map_bottom_up(
    node: isl.ScheduleNode, change: Callable[[isl.ScheduleNode], isl.ScheduleNode]
) -> isl.ScheduleNode:
    """``node`` with each node below and then itself replaced by what ``change`` makes of it."""
    for index in range(node.n_children()):
        node = map_bottom_up(node.child(index), change).parent()
    return change(node)


def mark_of(node: isl.ScheduleNode) -> Mark | None:
    """The mark that ``node`` is, None if it is a node of another kind."""
    if node_kind(node) != isl.schedule_node_type.mark:
        return None
    return Mark.of_id(node.mark_get_id())


def is_mark(node: isl.ScheduleNode, kind: MarkKind) -> bool:
    """Whether ``node`` is a mark of ``kind``."""
    mark = mark_of(node)
    return mark is not None and mark.kind is kind


def insert_mark(node: isl.ScheduleNode, mark: Mark) -> isl.ScheduleNode:
    """Put ``mark`` above ``node``; returns the mark."""
    return node.insert_mark(isl.Id(mark.name))
