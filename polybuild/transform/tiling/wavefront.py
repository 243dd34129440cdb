"""Wavefronts in permutable bands without a coincident member: of tiles, and of points."""

from __future__ import annotations

import islpy as isl


def wavefront(node: isl.ScheduleNode) -> isl.ScheduleNode:
    """Skew the first member of a permutable tile band by the second, which becomes coincident.

    ``(T0, T1, ...)`` becomes ``(T0 + T1, T1, ...)``: dependences go forward in every
    member, so tiles with the same sum do not depend on each other along ``T1``.
    Needs at least two members, counted in tiles (not scaled by the tile size).
    """
    partial = node.band_get_partial_schedule()
    skewed = partial.set_union_pw_aff(0, partial.get_union_pw_aff(0).add(partial.get_union_pw_aff(1)))
    members = node.band_n_member()
    node = node.delete().insert_partial_schedule(skewed).band_set_permutable(1)
    # with the sum fixed, only the second member is known to carry nothing; below it all stay permutable
    node = node.band_split(1)
    inner = node.child(0).band_member_set_coincident(0, 1)
    if members > 2:
        inner = inner.band_split(1)
    return inner.parent()


def wavefront_of_points(node: isl.ScheduleNode) -> isl.ScheduleNode:
    """Run the last two members of a permutable band over points along their diagonals.

    ``(..., i, j)`` becomes ``(..., i + j)`` above ``(i)``, which is returned and coincident: a recurrence
    that had to wait for the result of each point finds independent ones instead, which the
    processor overlaps.
    """
    partial = node.band_get_partial_schedule()
    last = node.band_n_member() - 1
    row, column = partial.get_union_pw_aff(last - 1), partial.get_union_pw_aff(last)
    skewed = partial.set_union_pw_aff(last - 1, row.add(column)).set_union_pw_aff(last, row)
    node = node.delete().insert_partial_schedule(skewed)
    return node.band_split(last).child(0).band_member_set_coincident(0, 1)
