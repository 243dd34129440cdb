"""The strips of tiles over time that have all their points (thesis, section 5.3: code for full tiles).

Most strips are cut off nowhere by the ends of the grid or of time. They get code of their own, which asks for
nothing but what the shape of a tile decides; a block asks once for each strip which of the two it runs.
"""

from __future__ import annotations

from functools import reduce

import islpy as isl

from polybuild.poly.marks import MarkKind
from polybuild.poly.relations import maps_of
from polybuild.targets.device import FullTiles, Kernel
from polybuild.targets.gpu.tree import find_mark, prefix_of, time_stamps_of

_set = isl.dim_type.set


def full_strips(mark: isl.ScheduleNode, kernel: Kernel) -> FullTiles | None:
    """The full strips of ``kernel``, None if there are none, or if they are no polyhedron.

    ``mark`` is the kernel's, whose loops are not bound to blocks and threads yet.
    """
    steps = find_mark(mark, kernel.mark(MarkKind.STEPS))
    points = find_mark(steps, kernel.mark(MarkKind.POINTS)).child(0)
    depth, strips = steps.get_schedule_depth(), time_stamps_of(steps).reset_tuple_id()
    stamps = prefix_of(points).flat_range_product(points.band_get_partial_schedule_union_map())
    full = reduce(isl.Set.intersect, (_whole(strips, each.range(), depth) for each in maps_of(stamps)))
    full = full.coalesce()
    if full.n_basic_set() != 1 or full.is_empty():
        return None
    return FullTiles(full.gist(strips), prefix_of(steps), alike=False)


def _whole(strips: isl.Set, exist: isl.Set, depth: int) -> isl.Set:
    """Those of ``strips`` with all steps and points that any of them has; ``exist`` has what each has."""
    inner = exist.dim(_set) - depth
    shape = exist.project_out(_set, 0, depth).project_out_all_params()
    wanted = shape.insert_dims(_set, 0, depth).intersect(strips.add_dims(_set, inner))
    return strips.subtract(wanted.subtract(exist).project_out(_set, depth, inner))
