"""The proof that the threads of a kernel may run side by side.

``check_schedule`` proves the order of the tree as it stands; this proves that the
order among threads does not matter: two dependent instances of one launch run in
one thread, which runs them in that order. In a kernel whose threads meet before each step
(``barriers`` proves that they do) two of one block may also be in different steps: what one
thread wrote to memory before a barrier the others see after it. Launches follow one another
in the order of the host's loops.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.analysis.reductions import Reduction
from polybuild.poly.marks import MarkKind
from polybuild.poly.trees import children, is_band, is_mark, mark_of, member, within
from polybuild.schedule.legality import IllegalSchedule, check_schedule
from polybuild.scop.model import Array, Scop
from polybuild.targets.device import Axis, Kernel, KernelTree, ThreadTile
from polybuild.targets.gpu.model import GpuMapping
from polybuild.targets.gpu.tree import find_mark, prefix_of, result_bands, time_stamps_of


def check_mapping(
    scop: Scop, mapping: GpuMapping, dependences: Dependences, owned: tuple[Array, ...]
) -> None:
    """Raise IllegalSchedule unless all threads together do what the original order does.

    The arrays in ``owned`` have a copy in each thread; all others are in the
    device's memory, private or not.
    """
    strict = without_private(dependences, tuple(array.name for array in owned))
    check_schedule(mapping.schedule, strict, scop.domain)
    separated = unordered(mapping, strict.validity)
    if not separated.is_empty():
        raise IllegalSchedule(f"threads of one launch depend on each other: {separated}")
    for each in strict.private:
        if not same_thread(mapping, each.flow).is_equal(each.flow):
            raise IllegalSchedule(f"a value of '{each.array.name}' leaves its thread")


def check_combined(tree: KernelTree, reductions: Sequence[Reduction]) -> None:
    """Raise IllegalSchedule unless threads that share ``reductions`` in lanes accumulate parts of their own.

    A part begins with what changes nothing, and those of a row are combined before anybody sees them.
    """
    shared = {
        each.reduction.statement.name
        for tiles in tree.tiles.values()
        for each in tiles
        if isinstance(each, ThreadTile) and each.reduction is not None
    }
    for each in reductions:
        if each.lanes is not None and each.statement.name not in shared:
            raise IllegalSchedule(
                f"threads that share a row of '{each.array.name}' have no parts of their own"
            )


def without_private(dependences: Dependences, keep: tuple[str, ...] = ()) -> Dependences:
    """``dependences`` where only the private arrays named in ``keep`` may have copies."""
    false = dependences.false
    for each in dependences.private:
        if each.array.name not in keep:
            false = false.union(each.order)
    kept = tuple(each for each in dependences.private if each.array.name in keep)
    return dataclasses.replace(dependences, false=false.coalesce(), private=kept)


def unordered(mapping: GpuMapping, pairs: isl.UnionMap) -> isl.UnionMap:
    """Those of ``pairs`` whose ends run in one launch, and in threads that keep no order between them."""
    result = isl.UnionMap.empty(pairs.get_space())
    for mark, kernel, together in _by_launch(mapping, pairs):
        result = result.union(
            _between_barriers(mark, kernel, together)
            if kernel.in_steps
            else together.subtract(_at_same_indices(mark, kernel, together))
        )
    return result


def _between_barriers(mark: isl.ScheduleNode, kernel: Kernel, pairs: isl.UnionMap) -> isl.UnionMap:
    """Those of ``pairs``, of one launch, in different tiles, or in one step of a tile in different threads.

    Between all others all threads of a block meet: strips and steps begin with a barrier.
    """
    tiles = mark.child(0).band_get_partial_schedule()
    across = pairs.lex_lt_at_multi_union_pw_aff(tiles).union(pairs.lex_gt_at_multi_union_pw_aff(tiles))
    points = find_mark(mark, kernel.mark(MarkKind.POINTS)).child(0)
    step = _at_same_bands(find_mark(mark, kernel.mark(MarkKind.STEPS)).child(0), pairs)
    return across.union(step.subtract(_at_same_axes([points], kernel.threads, step)))


def meeting_steps(mapping: GpuMapping, kernel: Kernel, pairs: isl.UnionMap) -> isl.Set:
    """The steps ``{ [d0, ..., dn] }`` of ``kernel`` that must begin with a barrier for ``pairs``.

    The first one of a strip does, and each at which one of ``pairs`` ends that begins in the same strip, in
    another thread. Steps that take what their own thread has left need not wait for others.
    """
    result = isl.UnionMap.empty(pairs.get_space())
    for mark, each, together in _by_launch(mapping, pairs):
        if each is kernel:
            points = find_mark(mark, kernel.mark(MarkKind.POINTS)).child(0)
            strip = _at_same_bands(find_mark(mark, kernel.mark(MarkKind.STEPS)), together)
            result = result.union(strip.subtract(_at_same_axes([points], kernel.threads, strip)))
    steps = find_mark(mapping.schedule.get_root(), kernel.mark(MarkKind.STEPS)).child(0).child(0)
    stamps = time_stamps_of(steps)
    last = stamps.dim(isl.dim_type.set) - 1
    first = stamps.identity().project_out(isl.dim_type.in_, last, 1).lexmin().range()
    reached = result.range().apply(prefix_of(steps)).union(first.to_union_set())
    return isl.Set.from_union_set(reached).coalesce()


def _at_same_bands(node: isl.ScheduleNode, pairs: isl.UnionMap) -> isl.UnionMap:
    """Those of ``pairs`` whose ends are in one iteration of the bands from ``node`` up to its kernel."""
    while not is_mark(node, MarkKind.KERNEL):
        if is_band(node):
            pairs = pairs.eq_at_multi_union_pw_aff(node.band_get_partial_schedule())
        node = node.parent()
    return pairs


def same_thread(mapping: GpuMapping, pairs: isl.UnionMap) -> isl.UnionMap:
    """Those of ``pairs`` whose ends run in the same thread of one launch."""
    result = isl.UnionMap.empty(pairs.get_space())
    for mark, kernel, together in _by_launch(mapping, pairs):
        result = result.union(_at_same_indices(mark, kernel, together))
    return result


def _by_launch(
    mapping: GpuMapping, pairs: isl.UnionMap
) -> Iterator[tuple[isl.ScheduleNode, Kernel, isl.UnionMap]]:
    """The marks of kernels, these, and those of ``pairs`` whose ends run in one of their launches.

    From the root down: isl is asked once what the host's loops tell apart, whatever kernels are below.
    """
    kernels = {each.mark(): each for each in mapping.kernels}

    def below(
        node: isl.ScheduleNode, left: isl.UnionMap
    ) -> Iterator[tuple[isl.ScheduleNode, Kernel, isl.UnionMap]]:
        if left.is_empty():
            return
        kernel = kernels.get(mark) if (mark := mark_of(node)) is not None else None
        if kernel is not None:
            yield node, kernel, left
            return
        if is_band(node):
            left = left.eq_at_multi_union_pw_aff(node.band_get_partial_schedule())
        for each in children(node):
            yield from below(each, within(left, each))

    here = mapping.schedule.get_domain()
    yield from below(mapping.schedule.get_root(), pairs.intersect_domain(here).intersect_range(here))


def _at_same_indices(mark: isl.ScheduleNode, kernel: Kernel, pairs: isl.UnionMap) -> isl.UnionMap:
    if kernel.is_serial:
        return pairs
    points = find_mark(mark, kernel.mark(MarkKind.POINTS)).child(0)
    pairs = _at_same_axes([mark.child(0)], kernel.blocks, pairs)
    return _at_same_axes([points, *result_bands(mark, kernel)], kernel.threads, pairs)


def _at_same_axes(
    bands: Sequence[isl.ScheduleNode], axes: Sequence[Axis], pairs: isl.UnionMap
) -> isl.UnionMap:
    """Those of ``pairs`` whose ends run at the same indices ``axes``, to which all ``bands`` are mapped."""
    for place, axis in enumerate(axes):
        values = [member(band, place).get_union_pw_aff(0) for band in bands]
        number = functools.reduce(isl.UnionPwAff.union_add, values)
        number = number.scale_down_val(isl.Val(axis.run)).floor() if axis.run > 1 else number
        index = number.mod_val(isl.Val(axis.size))
        pairs = pairs.eq_at_multi_union_pw_aff(isl.MultiUnionPwAff.from_union_pw_aff(index))
    return pairs
