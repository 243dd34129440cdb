"""Steps in blocks, between statements that run after each few of them, as a norm or a picture does.

::

    for t:                                   for b:
      step                              ->     for t from 4 * b to 4 * b + 3: step
      if (t % 4 == 3) norm                     norm                                  # of the step before

The order of all instances stays as it is: this is strip-mining (M. Wolfe, "High Performance Compilers for
Parallel Computing", 1996, section 9.5) of the loop over time by the stride of statements that come last in
its body, or first, and that are all in one residue class. The loop over the steps of a block is one over
time alone, and can be tiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import islpy as isl

from polybuild.effort import STENCIL_STEPS
from polybuild.poly.trees import children, descendants, is_band, node_kind


def in_step_blocks(schedule: isl.Schedule) -> isl.Schedule | None:
    """``schedule`` with the first loop that has such statements in blocks; None if none has."""
    for band in filter(is_band, descendants(schedule.get_root())):
        below = band.child(0)
        if band.band_n_member() == 1 and node_kind(below) == isl.schedule_node_type.sequence:
            for last in (True, False):
                found = _in_blocks(band, _filters(below), last=last)
                if found is not None:
                    return found.get_schedule()
    return None


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


def _in_blocks(
    band: isl.ScheduleNode, filters: Sequence[isl.UnionSet], *, last: bool
) -> isl.ScheduleNode | None:
    """``band`` in blocks that end with some of the statements in ``filters``, or begin with them."""
    counter = band.band_get_partial_schedule().get_union_pw_aff(0)
    here = band.get_domain()
    counts = [_values(counter.intersect_domain(here.intersect(each))) for each in filters]
    ordered = [*zip(filters, counts, strict=True)]
    if last:
        ordered.reverse()
    first_values = ordered[0][1]
    if first_values is None:
        return None
    stride = first_values.get_stride(0).to_python()
    if stride < STENCIL_STEPS:
        return None
    offset = first_values.get_stride_info(0).get_offset()
    if not offset.is_cst():
        return None
    residue = offset.get_constant_val().to_python() % stride
    rare = []
    for each, values in ordered:
        if values is None or not values.is_subset(_class(values, stride, residue)):
            break
        rare.append(each)
    if len(rare) == len(filters):
        return None
    often = [each for each in filters if not any(each is other for other in rare)]
    moved = counter.add(isl.UnionPwAff.val_on_domain(counter.domain(), isl.Val(-residue - int(last))))
    block = isl.MultiUnionPwAff.from_union_pw_aff(moved.scale_down_val(isl.Val(stride)).floor())
    parts = isl.UnionSetList.alloc(band.get_ctx(), 2)
    for group in (often, rare) if last else (rare, often):
        parts = parts.add(reduce(isl.UnionSet.union, group).intersect(here))
    return band.insert_partial_schedule(block).child(0).insert_sequence(parts)


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
