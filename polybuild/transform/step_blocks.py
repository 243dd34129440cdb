"""Steps in blocks, between statements that run after each few of them, as a norm or a picture does.

::

    for t:                                   for b:
      step                              ->     for t from 4 * b to 4 * b + 3: step
      if (t % 4 == 3) norm                     norm                                  # of the step before

The order of all instances stays as it is: this is strip-mining (M. Wolfe, "High Performance Compilers for
Parallel Computing", 1996, section 9.5) of the loop over time by the stride of statements that follow each
other in its body, and that are all in one residue class. The loop over the steps of a block is one over
time alone, and can be tiled. What comes after such statements in a step is the first part of the next block::

    for t:                                   for b:
      step                                     for t from 4 * b to 4 * b + 4:
      if (t % 4 == 0) norm              ->       if (t > 4 * b) step
      copy                                       if (t < 4 * b + 4) copy
                                               norm                                  # at 4 * b + 4
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

import islpy as isl

from polybuild.effort import STENCIL_STEPS
from polybuild.poly.relations import maps_of, sets_of
from polybuild.poly.trees import children, descendants, is_band, node_kind, parts_in_sequence
from polybuild.values import dataclass


def in_step_blocks(schedule: isl.Schedule) -> isl.Schedule | None:
    """``schedule`` with the first loop that has such statements in blocks; None if none has."""
    for band in filter(is_band, descendants(schedule.get_root())):
        below = band.child(0)
        if band.band_n_member() == 1 and node_kind(below) == isl.schedule_node_type.sequence:
            found = _in_blocks(band, _filters(below))
            if found is not None:
                return found.get_schedule()
    return None


def with_peeled_steps(schedule: isl.Schedule) -> isl.Schedule | None:
    """``schedule`` with the iteration of a loop apart in which alone some statements run.

    That is the last one or the first, or one in between, as that of the last norm of those after each few
    steps; so does a residual of which only the last is looked at. None if there is no such loop.
    """
    for band in filter(is_band, descendants(schedule.get_root())):
        if band.get_schedule_depth() or band.band_n_member() > 1:
            continue
        counter = isl.UnionMap.from_union_pw_aff(band.band_get_partial_schedule().get_union_pw_aff(0))
        counter = counter.intersect_domain(band.get_domain())
        if counter.is_empty():
            continue
        statements = [each.range() for each in map(isl.UnionMap.from_map, maps_of(counter))]
        every = isl.Set.from_union_set(counter.range())
        if every.dim_has_upper_bound(isl.dim_type.set, 0):
            last = isl.UnionSet.from_set(every.lexmax())
            if _are_some(each.is_subset(last) for each in statements):
                return band.order_before(counter.subtract_range(last).domain()).get_schedule()
        if every.dim_has_lower_bound(isl.dim_type.set, 0):
            first = isl.UnionSet.from_set(every.lexmin())
            if _are_some(each.is_subset(first) for each in statements):
                return band.order_before(counter.intersect_range(first).domain()).get_schedule()
        between = _only_iteration(
            [isl.Set.from_union_set(each) for each in statements if not each.is_empty()]
        )
        if between is not None:
            return _around(band, counter, every, between).get_schedule()
    return None


def _only_iteration(counts: Sequence[isl.Set]) -> isl.Set | None:
    """The iteration that some statements have, alone of all that are in ``counts``; None if none do."""
    bounded = [each for each in counts if each.dim_has_lower_bound(isl.dim_type.set, 0)]
    single = [each for each in bounded if each.is_subset(each.lexmin())]
    if not single or len(single) == len(counts):
        return None
    found = reduce(isl.Set.union, single)
    return found.coalesce() if found.is_subset(found.lexmin()) else None


def _around(
    band: isl.ScheduleNode, counter: isl.UnionMap, every: isl.Set, iteration: isl.Set
) -> isl.ScheduleNode:
    """``band``, over ``every`` value of ``counter``, in parts: before ``iteration``, it, and after it."""
    here = counter.intersect_range(isl.UnionSet.from_set(iteration)).domain()
    after = isl.UnionSet.from_set(iteration.lex_lt_set(every).range())
    later = counter.intersect_range(after).domain()
    parts = isl.UnionSetList.alloc(band.get_ctx(), 3)
    for each in (counter.domain().subtract(here).subtract(later), here, later):
        parts = parts.add(each)
    return band.insert_sequence(parts)


def _are_some(which: Iterable[bool]) -> bool:
    """Whether there are some, and others."""
    return set(which) == {False, True}


def _filters(sequence: isl.ScheduleNode) -> list[isl.UnionSet]:
    """What a sequence runs one after the other, and the sequences in it."""
    found: list[isl.UnionSet] = []
    for each in children(sequence):
        inside = each.child(0)
        if node_kind(inside) == isl.schedule_node_type.sequence:
            found += _filters(inside)
        else:
            found.append(each.filter_get_filter())
    return found


@dataclass(frozen=True, slots=True)
class _Pause:
    """The filters from ``start`` to ``stop``, which run where the counter has ``residue`` by ``stride``."""

    start: int
    stop: int
    stride: int
    residue: int


def _in_blocks(band: isl.ScheduleNode, filters: Sequence[isl.UnionSet]) -> isl.ScheduleNode | None:
    """``band`` in blocks that end with some of the statements in ``filters``, or begin with them.

    What comes after them in the same step is the first of the next block.
    """
    counter = band.band_get_partial_schedule().get_union_pw_aff(0)
    here = band.get_domain()
    counts = [_values(counter.intersect_domain(here.intersect(each))) for each in filters]
    depths = list(map(_depth, filters))
    sweeps = sum(
        depth == max(depths) and each is not None and each.get_stride(0).is_one()
        for depth, each in zip(depths, counts, strict=True)
    )
    pause = _find_pause(counts, sweeps)
    if pause is None:
        return None
    before, rare, after = (
        [each.intersect(here) for each in part]
        for part in (filters[: pause.start], filters[pause.start : pause.stop], filters[pause.stop :])
    )
    blocks = [
        _blocks(counter.intersect_domain(each), pause.stride, pause.residue + late)
        for part, late in ((before, 1), (rare, int(bool(before))), (after, 0))
        for each in part
    ]
    parts = isl.UnionSetList.alloc(band.get_ctx(), 2)
    for group in ([*before, *after], rare) if before else (rare, after):
        parts = parts.add(reduce(isl.UnionSet.union, group))
    block = isl.MultiUnionPwAff.from_union_pw_aff(reduce(isl.UnionPwAff.union_add, blocks))
    return band.insert_partial_schedule(block).child(0).insert_sequence(parts)


def _blocks(counter: isl.UnionPwAff, stride: int, first: int) -> isl.UnionPwAff:
    """The blocks of ``stride`` values of ``counter``, one of which begins with ``first``."""
    moved = counter.add(isl.UnionPwAff.val_on_domain(counter.domain(), isl.Val(-first)))
    return moved.scale_down_val(isl.Val(stride)).floor()


def sweeps_in(band: isl.ScheduleNode) -> int:
    """How many nests over a grid each iteration of the loop ``band`` runs: there may be a few steps in it."""
    depths = [_depth(part.get_domain()) for part in parts_in_sequence(band.child(0))]
    return depths.count(max(depths, default=0))


def _depth(instances: isl.UnionSet) -> int:
    """How many loops are around the innermost of ``instances``."""
    return max((each.dim(isl.dim_type.set) for each in sets_of(instances)), default=0)


def _find_pause(counts: Sequence[isl.Set | None], sweeps: int) -> _Pause | None:
    """The most frequent of what runs in each few steps, whose ``counts`` are given; None if there is none.

    Each step makes so many ``sweeps`` over a grid, and blocks of steps make enough of them.

    That at the end of the body first, then what comes earlier. Not all of the body may be such.
    """
    found: list[_Pause] = []
    for place, values in enumerate(counts):
        stride = 0 if values is None else values.get_stride(0).to_python()
        if values is None or stride < 2 or stride * sweeps < STENCIL_STEPS:
            continue
        offset = values.get_stride_info(0).get_offset()
        if not offset.is_cst():
            continue
        residue = offset.get_constant_val().to_python() % stride
        alike = [each is not None and each.is_subset(_class(each, stride, residue)) for each in counts]
        start, stop = place, place + 1
        while start and alike[start - 1]:
            start -= 1
        while stop < len(counts) and alike[stop]:
            stop += 1
        if stop - start < len(counts):
            found.append(_Pause(start, stop, stride, residue))
    return min(found, key=lambda each: (each.stride, -each.stop), default=None)


def _values(counter: isl.UnionPwAff) -> isl.Set | None:
    """What values ``counter`` has, whatever the parameters are; None if there are none."""
    values = isl.UnionMap.from_union_pw_aff(counter).range()
    if values.is_empty():
        return None
    found = isl.Set.from_union_set(values)
    return found.project_out(isl.dim_type.param, 0, found.dim(isl.dim_type.param))


def _class(values: isl.Set, stride: int, residue: int) -> isl.Set:
    """The numbers that leave ``residue`` when divided by ``stride``."""
    own = isl.PwAff.var_on_domain(isl.LocalSpace.from_space(values.get_space()), isl.dim_type.set, 0)
    return own.mod_val(isl.Val(stride)).eq_set(
        isl.PwAff.val_on_domain(isl.Set.universe(values.get_space()), isl.Val(residue))
    )
