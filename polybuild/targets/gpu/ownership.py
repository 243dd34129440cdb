"""Which instances run in the same thread of the same run of a kernel."""

from __future__ import annotations

import islpy as isl

from polybuild.poly.marks import MarkKind
from polybuild.poly.trees import member
from polybuild.targets.device import Kernel
from polybuild.targets.gpu.model import GpuMapping
from polybuild.targets.gpu.tree import find_mark


def same_launch(mapping: GpuMapping, pairs: isl.UnionMap) -> isl.UnionMap:
    """Those of ``pairs`` whose ends run in one kernel, and in one iteration of the loops of the host."""
    result = isl.UnionMap.empty(pairs.get_space())
    for kernel in mapping.kernels:
        result = result.union(_in_launch(find_mark(mapping.schedule.get_root(), kernel.mark()), pairs))
    return result


def same_thread(mapping: GpuMapping, pairs: isl.UnionMap) -> isl.UnionMap:
    """Those of ``pairs`` whose ends run in the same thread of one launch."""
    result = isl.UnionMap.empty(pairs.get_space())
    for kernel in mapping.kernels:
        node = find_mark(mapping.schedule.get_root(), kernel.mark())
        result = result.union(_at_same_indices(node, kernel, _in_launch(node, pairs)))
    return result


def _in_launch(mark: isl.ScheduleNode, pairs: isl.UnionMap) -> isl.UnionMap:
    here = mark.get_domain()
    pairs = pairs.intersect_domain(here).intersect_range(here)
    if mark.get_schedule_depth():
        pairs = pairs.eq_at_multi_union_pw_aff(mark.get_prefix_schedule_multi_union_pw_aff())
    return pairs


def _at_same_indices(mark: isl.ScheduleNode, kernel: Kernel, pairs: isl.UnionMap) -> isl.UnionMap:
    if kernel.is_serial:
        return pairs
    tiles = mark.child(0)
    points = find_mark(mark, kernel.mark(MarkKind.POINTS)).child(0)
    for position, (block, thread) in enumerate(zip(kernel.blocks, kernel.threads, strict=True)):
        for band, place, axis in ((tiles, position, block), (points, position, thread)):
            index = member(band, place).get_union_pw_aff(0).mod_val(isl.Val(axis.size))
            pairs = pairs.eq_at_multi_union_pw_aff(isl.MultiUnionPwAff.from_union_pw_aff(index))
    return pairs
