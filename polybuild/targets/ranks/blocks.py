"""The blocks of ranks for given numbers: what the code of a region computes when it runs."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import islpy as isl

from polybuild.effort import WEIGHED_VALUES
from polybuild.poly.integers import integer_of
from polybuild.targets.cpu.cost.extents import about_count
from polybuild.targets.cpu.cost.parameters import parameters_at, trips_at
from polybuild.targets.ranks.model import Sharing, ValueWork


def blocks_at(sharing: Sharing, values: Mapping[str, int], ranks: int) -> Sequence[int]:
    """Where the blocks of ``ranks`` begin where parameters have ``values``, and the end of the last one.

    ``sharing`` is that of the region; as many blocks as there are values may be empty.
    """
    point = parameters_at(sharing.context, values)
    ends = [each.intersect_params(point) for each in (sharing.lowest, sharing.highest)]
    if any(each.domain().is_empty() for each in ends):
        return [0] * (ranks + 1)
    lowest, highest = (integer_of(each.max_val()) for each in ends)
    if not sharing.work or highest < lowest:
        return equal_blocks(lowest, highest, ranks)
    here = [(each.points.intersect_params(point), _factor(each, point)) for each in sharing.work]

    def work_at(value: int) -> float:
        slices = ((points.fix_val(isl.dim_type.set, 0, isl.Val(value)), factor) for points, factor in here)
        return sum(factor * about_count(each) for each, factor in slices if not each.is_empty())

    return even_blocks(work_at, (lowest, highest), ranks)


def _factor(work: ValueWork, point: isl.Set) -> int:
    return work.number * math.prod(trips_at(each, point) for each in work.times)


def even_blocks(work_at: Callable[[int], float], values: tuple[int, int], ranks: int) -> Sequence[int]:
    """Where blocks of the same work begin, about: that of values between few is taken to lie on lines."""
    lowest, highest = values
    step = (highest - lowest) // WEIGHED_VALUES + 1
    places = [*range(lowest, highest, step), highest]
    heights = [work_at(each) for each in places]
    sums = [0.0]  # of what comes before each place
    for (left, low), (right, high) in pairwise(zip(places, heights, strict=True)):
        sums.append(sums[-1] + (low + high) / 2 * (right - left))
    total = sums[-1]
    if not total:
        return equal_blocks(lowest, highest, ranks)
    begins = [lowest]
    for rank in range(1, ranks):
        share = total * rank / ranks
        place = min(bisect_right(sums, share), len(places) - 1)
        part = (share - sums[place - 1]) / ((sums[place] - sums[place - 1]) or 1.0)
        begins.append(round(places[place - 1] + part * (places[place] - places[place - 1])))
    return [*begins, highest + 1]


def equal_blocks(lowest: int, highest: int, ranks: int) -> Sequence[int]:
    """Where blocks of equal lengths begin; the first ones are one longer where it comes out uneven."""
    count = max(0, highest - lowest + 1)
    each, rest = divmod(count, ranks)
    return [lowest + each * rank + min(rest, rank) for rank in range(ranks + 1)]
