"""Micro-kernels that update their results several times in each iteration of K.

Of ``q[o][y][x] += w[o][c][i][j] * p[c][y + i][x + j]`` the loops over the window, ``i`` and ``j``, are
unrolled below the others. A block of results stays in registers over them and over ``c``.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from polybuild.poly.marks import MarkKind
from polybuild.poly.relations import largest, sets_of
from polybuild.poly.trees import is_band, is_mark, prefix_schedule

_set = isl.dim_type.set


def count_steps(node: isl.ScheduleNode) -> int:
    """How many instances each iteration of the band ``node`` runs, in unrolled loops below it.

    Zero if these are not of one statement, and not the same ones in all iterations.
    """
    *below, last = _unrolled(node.child(0))
    inner = sum(each.band_n_member() for each in below if is_band(each))
    if not inner or last.n_children() > 0 or len(sets_of(node.get_domain())) > 1:
        return 0
    schedule = prefix_schedule(node).flat_range_product(node.get_subtree_schedule_union_map())
    stamps = isl.Set.from_union_set(schedule.intersect_domain(node.get_domain()).range())
    outer = stamps.dim(_set) - inner
    iterations = stamps.project_out(_set, outer, inner)
    steps = stamps.project_out(_set, 0, outer)
    every = iterations.add_dims(_set, inner).intersect(steps.insert_dims(_set, 0, outer))
    if not every.is_subset(stamps):
        return 0
    count = 1
    for position in range(inner):
        extent = largest(steps.dim_max(position).sub(steps.dim_min(position)))
        if not extent.is_int():
            return 0
        count *= int(extent.to_python()) + 1
    return count


def put_steps_outside(node: isl.ScheduleNode) -> isl.ScheduleNode:
    """The band ``node`` with the unrolled loops below it around it, as plain loops."""
    schedules = []
    inside = node.child(0)
    while is_band(inside) or is_mark(inside, MarkKind.UNROLLED):
        if is_band(inside):
            schedules.append(inside.band_get_partial_schedule())
        inside = inside.delete()
    node = inside.parent()
    for each in schedules:
        node = node.insert_partial_schedule(each).child(0)
    return node


def _unrolled(node: isl.ScheduleNode) -> Iterator[isl.ScheduleNode]:
    """``node`` and what is below it, as long as that is unrolled loops and nothing else."""
    while is_band(node) or is_mark(node, MarkKind.UNROLLED):
        yield node
        node = node.child(0)
    yield node
