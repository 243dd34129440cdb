"""The proof that the threads of a kernel may run side by side.

``check_schedule`` proves the order of the tree as it stands; this proves that the
order among threads does not matter: two dependent instances of one launch run in
one thread, which runs them in that order. Launches follow one another in the
order of the host's loops.
"""

from __future__ import annotations

import dataclasses

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.poly.marks import MarkKind
from polybuild.poly.trees import member
from polybuild.schedule.legality import IllegalSchedule, active_dependences, check_schedule
from polybuild.scop.model import Array, Scop
from polybuild.targets.device import Kernel
from polybuild.targets.gpu.model import GpuMapping
from polybuild.targets.gpu.tree import find_mark


def check_mapping(
    scop: Scop, mapping: GpuMapping, dependences: Dependences, owned: tuple[Array, ...]
) -> None:
    """Raise IllegalSchedule unless all threads together do what the original order does.

    The arrays in ``owned`` have a copy in each thread; all others are in the
    device's memory, private or not.
    """
    strict = without_private(dependences, tuple(array.name for array in owned))
    check_schedule(mapping.schedule, strict, scop.domain)
    together = same_launch(mapping, strict.validity)
    separated = together.subtract(same_thread(mapping, together))
    if not separated.is_empty():
        raise IllegalSchedule(f"threads of one launch depend on each other: {separated}")
    for each in strict.private:
        if not same_thread(mapping, each.flow).is_equal(each.flow):
            raise IllegalSchedule(f"a value of '{each.array.name}' leaves its thread")


def without_private(dependences: Dependences, keep: tuple[str, ...] = ()) -> Dependences:
    """``dependences`` where only the private arrays named in ``keep`` may have copies."""
    false = dependences.false
    for each in dependences.private:
        if each.array.name not in keep:
            false = false.union(each.order)
    kept = tuple(each for each in dependences.private if each.array.name in keep)
    return dataclasses.replace(dependences, false=false.coalesce(), private=kept)


def same_launch(mapping: GpuMapping, pairs: isl.UnionMap) -> isl.UnionMap:
    """Those of ``pairs`` whose ends run in one kernel, and in one iteration of the loops of the host."""
    result = isl.UnionMap.empty(pairs.get_space())
    for kernel in mapping.kernels:
        result = result.union(
            active_dependences(find_mark(mapping.schedule.get_root(), kernel.mark()), pairs)
        )
    return result


def same_thread(mapping: GpuMapping, pairs: isl.UnionMap) -> isl.UnionMap:
    """Those of ``pairs`` whose ends run in the same thread of one launch."""
    result = isl.UnionMap.empty(pairs.get_space())
    for kernel in mapping.kernels:
        node = find_mark(mapping.schedule.get_root(), kernel.mark())
        result = result.union(_at_same_indices(node, kernel, active_dependences(node, pairs)))
    return result


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
