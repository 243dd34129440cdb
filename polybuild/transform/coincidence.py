"""Coincident members of bands where reductions may run in any order.

They may not run side by side on one element. So the order that ``legality`` proves ignores
the reductions' own dependences, and coincident members, whose iterations run side by side, must
not carry them.
"""

from __future__ import annotations

import islpy as isl

from polybuild.poly.trees import is_band, member, within


def without_carried(schedule: isl.Schedule, reductions: isl.UnionMap) -> isl.Schedule:
    """``schedule`` with no member coincident that carries one of the dependences ``reductions``."""
    return _cleared(schedule.get_root(), reductions).get_schedule()


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
