"""Finding places in a schedule tree, and the schedules that lead to them."""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl

from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.trees import descendants, is_band, mark_of
from polybuild.targets.device import Kernel


def find_mark(node: isl.ScheduleNode, mark: Mark) -> isl.ScheduleNode:
    """The node with ``mark`` at or below ``node``; LookupError if there is none."""
    found = _find(node, lambda each: mark_of(each) == mark)
    if found is None:
        raise LookupError(mark.name)
    return found


def _find(node: isl.ScheduleNode, wanted: Callable[[isl.ScheduleNode], bool]) -> isl.ScheduleNode | None:
    if wanted(node):
        return node
    for index in range(node.n_children()):
        found = _find(node.child(index), wanted)
        if found is not None:
            return found
    return None


def result_bands(mark: isl.ScheduleNode, kernel: Kernel) -> list[isl.ScheduleNode]:
    """The bands over the points of a thread in the prologues and epilogues of ``kernel`` below ``mark``."""
    wanted, found = kernel.mark(MarkKind.RESULTS), []
    for each in descendants(mark):
        if mark_of(each) == wanted:
            node = each.child(0)
            found.append(node if is_band(node) else node.child(0))  # a filter may bind it to a thread
    return found


def prefix_of(node: isl.ScheduleNode) -> isl.UnionMap:
    """``{ S[i] -> [d0, ..., dn] }``: the loops above ``node`` for the instances that reach it."""
    return node.get_prefix_schedule_relation()


def time_stamps_of(node: isl.ScheduleNode) -> isl.Set:
    """``{ [d0, ..., dn] }``: the iterations of the loops above ``node`` that reach it."""
    stamps = prefix_of(node).range()
    return isl.Set.from_union_set(stamps)
