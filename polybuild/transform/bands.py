"""Small moves on band nodes: reorder, split, tile. Each returns the node that took the band's place."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import islpy as isl

from polybuild.poly.trees import is_band, member, within


def coincident_members(node: isl.ScheduleNode) -> list[int]:
    """Positions of the members that carry no dependence."""
    return [position for position in range(node.band_n_member()) if node.band_member_get_coincident(position)]


def permute(node: isl.ScheduleNode, order: Sequence[int]) -> isl.ScheduleNode:
    """Reorder the members of a permutable band: new member ``k`` is old member ``order[k]``.

    ``(i, j, k)`` with order ``(0, 2, 1)`` becomes ``(i, k, j)``.
    """
    if list(order) == list(range(node.band_n_member())):
        return node
    partial = node.band_get_partial_schedule()
    permutable = node.band_get_permutable()
    coincident = [node.band_member_get_coincident(position) for position in order]
    reordered = partial
    for new, old in enumerate(order):
        reordered = reordered.set_union_pw_aff(new, partial.get_union_pw_aff(old))
    node = node.delete().insert_partial_schedule(reordered)
    node = node.band_set_permutable(permutable)
    for position, value in enumerate(coincident):
        node = node.band_member_set_coincident(position, value)
    return node


def with_members(node: isl.ScheduleNode, kept: Sequence[int]) -> isl.ScheduleNode:
    """The band with the members ``kept`` alone; what is below it where none are."""
    partial = node.band_get_partial_schedule()
    permutable = node.band_get_permutable()
    coincident = [node.band_member_get_coincident(position) for position in kept]
    node = node.delete()
    if not kept:
        return node
    members = [isl.MultiUnionPwAff.from_union_pw_aff(partial.get_union_pw_aff(each)) for each in kept]
    node = node.insert_partial_schedule(reduce(isl.MultiUnionPwAff.flat_range_product, members))
    node = node.band_set_permutable(permutable)
    for position, value in enumerate(coincident):
        node = node.band_member_set_coincident(position, value)
    return node


def with_single(node: isl.ScheduleNode) -> isl.ScheduleNode:
    """A permutable band with one more member before the others, which has a single iteration."""
    partial = node.band_get_partial_schedule()
    coincident = [node.band_member_get_coincident(position) for position in range(node.band_n_member())]
    first = partial.get_union_pw_aff(0)
    single = isl.MultiUnionPwAff.from_union_pw_aff(first.sub(first))
    node = node.delete().insert_partial_schedule(single.flat_range_product(partial)).band_set_permutable(1)
    for position, value in enumerate([1, *coincident]):
        node = node.band_member_set_coincident(position, value)
    return node


def put_first(node: isl.ScheduleNode, position: int) -> isl.ScheduleNode:
    """Make one member of a permutable band its first."""
    members = range(node.band_n_member())
    return permute(node, [position, *(each for each in members if each != position)])


def split_last(node: isl.ScheduleNode, position: int) -> isl.ScheduleNode:
    """Make one member of a permutable band its last, in a band of its own, which is returned."""
    members = node.band_n_member()
    if members == 1:
        return node
    node = permute(node, [*(each for each in range(members) if each != position), position])
    return node.band_split(members - 1).child(0)


def in_single_loops(node: isl.ScheduleNode) -> isl.ScheduleNode:
    """A band as bands of one member each, in their order; any other node as it is."""
    while is_band(node) and node.band_n_member() > 1:
        node = node.band_split(node.band_n_member() - 1)
    return node


def tile(node: isl.ScheduleNode, sizes: Sequence[int]) -> isl.ScheduleNode:
    """Split a permutable band into a band over tiles and, below it, a band over the points of a tile.

    ``(i, j)`` with sizes ``(32, 8)`` becomes ``(floor(i/32), floor(j/8))`` above
    ``(i, j)``; legal whenever the band is permutable (PLDI 2008, section 3).
    """
    context = node.get_ctx()
    context.set_tile_scale_tile_loops(0)
    context.set_tile_shift_point_loops(0)
    space = node.band_get_space()
    values = isl.MultiVal.zero(space)
    for position, size in enumerate(sizes):
        values = values.set_val(position, isl.Val.int_from_si(context, size))
    return node.band_tile(values)


def clear_coincidence(schedule: isl.Schedule, dependences: isl.UnionMap) -> isl.Schedule:
    """``schedule`` with no member coincident that carries one of ``dependences``.

    Reductions may run in any order, which ``legality`` proves, but not side by side on one element.
    """
    return _cleared(schedule.get_root(), dependences).get_schedule()


def _cleared(node: isl.ScheduleNode, active: isl.UnionMap) -> isl.ScheduleNode:
    if active.is_empty():
        return node
    if is_band(node):
        for position in range(node.band_n_member()):
            same = active.eq_at_multi_union_pw_aff(member(node, position))
            if node.band_member_get_coincident(position) and not active.is_subset(same):
                node = node.band_member_set_coincident(position, 0)
        active = active.eq_at_multi_union_pw_aff(node.band_get_partial_schedule())
    for index in range(node.n_children()):
        child = node.child(index)
        node = _cleared(child, within(active, child)).parent()
    return node
