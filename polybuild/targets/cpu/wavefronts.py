"""Wavefronts of tiles: how many run at once, counted in the schedule tree that the code is written from."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping

import islpy as isl

from polybuild.effort import COUNTED_TILES
from polybuild.poly.integers import integer_of, value_of
from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.trees import children, mark_of, member, node_kind, prefix_schedule

_params, _set = isl.dim_type.param, isl.dim_type.set


def tiles_per_wavefront(
    schedule: isl.Schedule, sizes: Mapping[str, int], pairs: Collection[Mark] = ()
) -> list[int]:
    """The number of tiles in each wavefront, in the order in which they run; parameters are ``sizes``.

    Tiles that run at once are those of one parallel loop, for one time stamp of the loops around it; below
    the marks ``pairs`` those of the loop inside, too. A parallel loop without others around is no wavefront.
    None of a loop with too many wavefronts, or with too many tiles that have gaps between them.
    """
    counts: Counter[tuple[int, ...]] = Counter()
    _collect(schedule.get_root(), (sizes, pairs), (), counts)
    return [counts[stamp] for stamp in sorted(counts)]


def busy_part(tiles: list[int], cores: int) -> float:
    """The part of ``cores`` that is busy in wavefronts of ``tiles``: in the last round some have none."""
    return sum(tiles) / (cores * sum(math.ceil(each / cores) for each in tiles))


def _collect(
    node: isl.ScheduleNode,
    asked: tuple[Mapping[str, int], Collection[Mark]],
    phase: tuple[int, ...],
    counts: Counter[tuple[int, ...]],
) -> None:
    mark = mark_of(node)
    if mark is not None and mark.kind is MarkKind.PARALLEL:
        if node.get_schedule_depth():
            sizes, pairs = asked
            counts.update(_tiles(node.child(0), sizes, phase, 1 + (mark in pairs)))
        return
    sequence = node_kind(node) == isl.schedule_node_type.sequence
    for index, each in enumerate(children(node)):
        _collect(each, asked, (*phase, index) if sequence else phase, counts)


def _tiles(
    band: isl.ScheduleNode, sizes: Mapping[str, int], phase: tuple[int, ...], shared: int
) -> Counter[tuple[int, ...]]:
    """How many iterations the first ``shared`` loops of ``band`` have for each time stamp of those around."""
    stamps = prefix_schedule(band)
    for each in range(shared):
        stamps = stamps.flat_range_product(isl.UnionMap.from_multi_union_pw_aff(member(band, each)))
    tiles = isl.Set.from_union_set(stamps.intersect_domain(band.get_domain()).range())
    for dim in range(tiles.dim(_params)):
        tiles = tiles.fix_val(_params, dim, value_of(sizes[str(tiles.get_dim_name(_params, dim))]))
    tiles = tiles.project_out(_params, 0, tiles.dim(_params)).coalesce()
    found: Counter[tuple[int, ...]] = Counter()
    if tiles.is_empty():
        return found
    around = tiles.dim(_set) - shared
    times = tiles.project_out(_set, around, shared)
    if _box(times) > COUNTED_TILES:
        return found
    points: list[isl.Point] = []
    times.foreach_point(points.append)
    for point in points:
        values = [point.get_coordinate_val(_set, dim).to_python() for dim in range(around)]
        own = tiles
        for dim, value in enumerate(values):
            own = own.fix_val(_set, dim, isl.Val(value))
        count = _count(own.project_out(_set, 0, around).coalesce())
        if count is None:
            return Counter()
        found[(*values, *phase)] = count
    return found


def _count(values: isl.Set) -> int | None:
    """How many numbers, or pairs, ``values`` are; None if too many; of numbers: with gaps between them."""
    if values.dim(_set) > 1:
        return integer_of(values.count_val()) if _box(values) <= COUNTED_TILES else None
    first, last = values.dim_min_val(0), values.dim_max_val(0)
    if not (first.is_int() and last.is_int()):
        return None
    span = 1 + last.sub(first).to_python()
    whole = isl.Set.universe(values.get_space()).lower_bound_val(_set, 0, first)
    if whole.upper_bound_val(_set, 0, last).is_subset(values):
        return int(span)
    if span > COUNTED_TILES:
        return None
    points: list[isl.Point] = []
    values.foreach_point(points.append)
    return len(points)


def _box(tiles: isl.Set) -> float:
    sides = [tiles.dim_max_val(dim).sub(tiles.dim_min_val(dim)) for dim in range(tiles.dim(_set))]
    return math.prod(1 + each.to_python() if each.is_int() else math.inf for each in sides)
