"""Several steps over time between two exchanges: ranks compute the border of others' blocks a few times more.

A rank runs, in a tile of steps, its own instances and all that these need of others in the same tile: in the
last step its block, in each step before as many values more at both ends as the next one reads. All that it
reads is of earlier tiles then, and ranks meet once a tile (Demmel, Hoemmen, Mohiyuddin and Yelick, *Avoiding
communication in sparse matrix computations*, IPDPS 2008).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import reduce

import islpy as isl

from polybuild.poly import spaces
from polybuild.poly.integers import integer_of
from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.relations import maps_of
from polybuild.poly.trees import insert_mark, is_band, prefix_schedule
from polybuild.targets.cpu.cost.extents import about_count
from polybuild.targets.ranks.model import END, FIRST
from polybuild.targets.ranks.phases import SharedLoop
from polybuild.transform.bands import tile
from polybuild.values import dataclass

_SET = isl.dim_type.set


@dataclass(frozen=True, slots=True)
class Halo:
    """How many values beyond both ends of its block a rank runs of a phase, ``below`` and ``above``.

    In the last step of a tile; in each step before they are as many more as ``growths`` say.
    """

    phase: SharedLoop
    below: int
    above: int
    growths: tuple[int, int]


@dataclass(frozen=True, slots=True)
class StepTiles:
    """A tree with tiles of ``steps`` over time, each of which is a ``phase`` of its own."""

    schedule: isl.Schedule
    phase: SharedLoop
    step: isl.UnionPwAff
    steps: int
    halos: tuple[Halo, ...]

    def run_by(self, first: str, end: str) -> isl.UnionSet:
        """What the rank with the block between two parameters runs; one without values runs nothing."""
        parts = [self._part(each, first, end) for each in self.halos]
        return reduce(isl.UnionSet.union, parts)

    def instances_beyond(self, point: isl.Set) -> float:
        """How many instances a rank runs beyond its block, in a tile, with the parameters at ``point``."""
        total = 0.0
        for each in self.halos:
            values = self.steps * (each.below + each.above)
            values += sum(each.growths) * self.steps * (self.steps - 1) // 2
            for runs in maps_of(each.phase.runs().intersect_params(point)):
                total += values * about_count(runs.domain()) / _box(runs.range())
        return total

    def _part(self, halo: Halo, first: str, end: str) -> isl.UnionSet:
        before = spaces.constant(2, self.steps - 1).sub(spaces.dimension(2, 0))  # steps to the last one
        value, ends = spaces.dimension(2, 1), [spaces.parameter(2, name) for name in (first, end)]
        below, above = (
            spaces.constant(2, base).add(before.scale_val(isl.Val(growth)))
            for base, growth in zip((halo.below, halo.above), halo.growths, strict=True)
        )
        inside = value.ge_set(ends[0].sub(below)).intersect(value.lt_set(ends[1].add(above)))
        inside = inside.intersect(ends[0].lt_set(ends[1]))
        step = isl.UnionMap.from_multi_union_pw_aff(isl.MultiUnionPwAff.from_union_pw_aff(self.step))
        places = step.flat_range_product(halo.phase.values)
        return places.intersect_range(isl.UnionSet.from_set(inside)).domain()


def _box(points: isl.Set) -> int:
    """How many points there are in the box around ``points``."""
    ends = ((points.dim_min_val(each), points.dim_max_val(each)) for each in range(points.dim(_SET)))
    return math.prod(integer_of(high) - integer_of(low) + 1 for low, high in ends)


def tile_time(
    schedule: isl.Schedule, phases: Sequence[SharedLoop], flow: isl.UnionMap, steps: int
) -> StepTiles | None:
    """``schedule`` with tiles of ``steps`` of the loop around all ``phases``; ``flow``, ``{ W[i] -> R[j] }``.

    None if there is none, or it is not only around them, or how far values travel in a step is no number.
    """
    time = schedule.get_root().child(0)
    if not is_band(time) or time.band_n_member() != 1 or any(each.depth != 1 for each in phases):
        return None
    domain = reduce(isl.UnionSet.union, (each.domain for each in phases))
    if not schedule.get_domain().is_subset(domain):
        return None
    counted = time.band_get_partial_schedule().get_union_pw_aff(0)
    step = counted.mod_val(isl.Val(steps))
    travels = _travels(phases, counted, flow, steps)
    if travels is None:
        return None
    mark = Mark(MarkKind.RANKS, len(phases))
    node = insert_mark(tile(time, [steps]).child(0), mark)
    around = prefix_schedule(node).intersect_domain(domain)
    value = reduce(isl.UnionPwAff.union_add, (each.value for each in phases))
    whole = SharedLoop(mark, domain, value, around, 1)
    found = StepTiles(node.get_schedule(), whole, step, steps, _halos(phases, travels, steps))
    return found if _is_closed(found, flow) else None


@dataclass(frozen=True, slots=True)
class _Travel:
    """Values go from phase ``source`` to phase ``sink`` of ``steps`` later, between two distances."""

    source: int
    sink: int
    steps: int
    lowest: int
    highest: int


def _travels(
    phases: Sequence[SharedLoop], counted: isl.UnionPwAff, flow: isl.UnionMap, steps: int
) -> list[_Travel] | None:
    """How far values go within ``steps``; None if that is not bounded by a number."""
    time = isl.UnionMap.from_multi_union_pw_aff(isl.MultiUnionPwAff.from_union_pw_aff(counted))
    places = time.flat_range_product(reduce(isl.UnionMap.union, (each.values for each in phases)))
    found = []
    for (source, writing), (sink, reading) in itertools.product(enumerate(phases), repeat=2):
        pairs = flow.intersect_domain(writing.domain).intersect_range(reading.domain)
        if pairs.is_empty():
            continue
        moved = isl.Map.from_union_map(places.reverse().apply_range(pairs).apply_range(places)).deltas()
        moved = moved.project_out_all_params()
        for step in range(steps):
            far = moved.fix_val(_SET, 0, isl.Val(step))
            if far.is_empty():
                continue
            lowest, highest = far.dim_min_val(1), far.dim_max_val(1)
            if not (lowest.is_int() and highest.is_int()):
                return None
            found.append(_Travel(source, sink, step, lowest.to_python(), highest.to_python()))
    return found


def _halos(phases: Sequence[SharedLoop], travels: Sequence[_Travel], steps: int) -> tuple[Halo, ...]:
    """What a rank runs beyond its block of each phase, so that it has all that it reads of the same tile."""
    last, none = len(phases) - 1, (0, 0)
    widths: dict[tuple[int, int], tuple[int, int]] = {}  # by step and phase
    for step, phase in itertools.product(range(steps - 1, -1, -1), range(last, -1, -1)):
        below, above = none
        for each in travels:
            read = widths.get((step + each.steps, each.sink))
            if each.source == phase and read is not None:
                below, above = max(below, read[0] + each.highest), max(above, read[1] - each.lowest)
        widths[step, phase] = below, above
    growths = [
        max(
            (widths[step, phase][end] - widths[step + 1, phase][end])
            for step, phase in itertools.product(range(steps - 1), range(last + 1))
        )
        for end in (0, 1)
    ]
    return tuple(
        Halo(each, *widths[steps - 1, number], (max(growths[0], 0), max(growths[1], 0)))
        for number, each in enumerate(phases)
    )


def _is_closed(tiles: StepTiles, flow: isl.UnionMap) -> bool:
    """Whether nothing that a rank runs reads what only others compute in the same tile."""
    around = tiles.phase.around
    inside = flow.intersect(around.apply_range(around.reverse()))
    mine = tiles.run_by(FIRST, END)
    return bool(inside.intersect_range(mine).domain().is_subset(mine))
