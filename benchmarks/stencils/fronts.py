"""How many tiles run at once: counted in the schedule tree that the code is written from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import islpy as isl

from polybuild.poly.marks import MarkKind
from polybuild.poly.trees import children, is_mark, member, node_kind


def tiles_per_front(schedule: isl.Schedule, sizes: Mapping[str, int]) -> list[int]:
    """The number of tiles in each wavefront, in the order in which they run; parameters are ``sizes``.

    Tiles that run at once are those of one parallel loop, for one date of the loops around it.
    """
    counts: Counter[tuple[int, ...]] = Counter()
    _collect(schedule.get_root(), sizes, (), counts)
    return [counts[date] for date in sorted(counts)]


def _collect(
    node: isl.ScheduleNode, sizes: Mapping[str, int], phase: tuple[int, ...], counts: Counter[tuple[int, ...]]
) -> None:
    if is_mark(node, MarkKind.PARALLEL):
        band = node.child(0)
        loop = isl.UnionMap.from_multi_union_pw_aff(member(band, 0))
        dates = band.get_prefix_schedule_union_map().flat_range_product(loop)
        tiles = isl.Set.from_union_set(dates.intersect_domain(band.get_domain()).range())
        for dim in range(tiles.dim(isl.dim_type.param)):
            tiles = tiles.fix_val(
                isl.dim_type.param, dim, isl.Val(sizes[tiles.get_dim_name(isl.dim_type.param, dim)])
            )
        depth = tiles.dim(isl.dim_type.set)
        points: list[isl.Point] = []
        tiles.project_out(isl.dim_type.param, 0, tiles.dim(isl.dim_type.param)).foreach_point(points.append)
        for point in points:
            values = [point.get_coordinate_val(isl.dim_type.set, dim).to_python() for dim in range(depth - 1)]
            counts[(*values, *phase)] += 1
        return
    sequence = node_kind(node) == isl.schedule_node_type.sequence
    for index, each in enumerate(children(node)):
        _collect(each, sizes, (*phase, index) if sequence else phase, counts)
