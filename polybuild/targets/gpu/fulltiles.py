"""Full tiles: where every point of a tile exists, no thread has to ask whether its own do (PPCG 6.4).

    for (tiles)                for (tiles)
      if (i < n && j < m)        if (the tile is full) ...
        ...               =>     else if (i < n && j < m)
                                   ...

A mark below the loops over a block's tiles says where this is known. All threads of a block
work on the same tile, so they stay together. The question is asked in each piece between
barriers, so copies and barriers are there once.
"""

from __future__ import annotations

import functools

import islpy as isl

from polybuild.poly.marks import MarkKind
from polybuild.poly.relations import maps_of
from polybuild.poly.trees import insert_mark, is_band
from polybuild.targets.device import FullTiles, Kernel
from polybuild.targets.gpu.tree import find_mark, prefix_of, result_bands

_set = isl.dim_type.set


def full_tiles(mark: isl.ScheduleNode, kernel: Kernel) -> FullTiles | None:
    """The full tiles of a kernel, None if they are no polyhedron.

    ``mark`` is the kernel's, whose loops are not bound to threads yet.
    """
    points = find_mark(mark, kernel.mark(MarkKind.POINTS)).child(0)
    values = points.band_get_partial_schedule_union_map()
    prefixes = maps_of(prefix_of(mark).flat_range_product(values))
    points_of = [each.range() for each in prefixes]
    results = result_bands(mark, kernel)
    if results:  # of a sum without terms no loop comes to a point: that says nothing of its points
        points_of = [each.gist_params(each.params()) for each in points_of]
    for band in results:
        values = band.band_get_partial_schedule_union_map()
        found = maps_of(prefix_of(mark).flat_range_product(values))
        points_of += [one.gist_params(one.params()) for one in (each.range() for each in found)]
    exist = functools.reduce(isl.Set.intersect, points_of).coalesce()
    to_tile = _to_tile(exist.get_space(), mark.get_schedule_depth(), kernel)
    tiles = exist.apply(to_tile)
    missing = tiles.apply(to_tile.reverse()).subtract(exist)
    full = tiles.subtract(missing.apply(to_tile)).coalesce()
    if full.n_basic_set() != 1 or full.is_empty():
        return None
    alike = all(each.is_subset(exist) for each in points_of)
    return FullTiles(full, prefix_of(mark.child(0).child(0)), alike)


def whole_sums(mark: isl.ScheduleNode, kernel: Kernel) -> FullTiles | None:
    """The tiles of a kernel's sequential loops all of whose terms belong to each point that is there.

    Where these are no polyhedron, those whose terms belong to all points of a full tile; None if that is none
    either, if all points have the same terms anyway, or if there are several statements. ``mark`` as for
    ``full_tiles``.
    """
    threads = find_mark(mark, kernel.mark(MarkKind.THREADS))
    above = prefix_of(threads)
    points = find_mark(mark, kernel.mark(MarkKind.POINTS)).child(0)
    terms = threads.child(0).band_get_partial_schedule_union_map()
    stamps = above.flat_range_product(points.band_get_partial_schedule_union_map())
    found = maps_of(stamps.flat_range_product(terms))
    outer, mapped = threads.get_schedule_depth(), len(kernel.threads)
    inner = len(kernel.tile) - mapped
    if len(found) != 1 or not inner or outer - mark.get_schedule_depth() != len(kernel.tile):
        return None
    exist = found[0].range().coalesce()
    tiles = exist.project_out(_set, outer, mapped + inner)
    there = exist.project_out(_set, outer + mapped, inner).project_out(_set, outer - inner, inner)
    product = there.insert_dims(_set, outer - inner, inner).insert_dims(_set, outer + mapped, inner)
    if product.intersect(exist.project_out(_set, outer, mapped).insert_dims(_set, outer, mapped)).is_subset(
        exist
    ):
        return None
    box = isl.Set.universe(there.get_space())
    for position in range(mapped):
        tile, point = outer - inner - mapped + position, outer - inner + position
        box = box.intersect(_within(box.get_space(), tile, point, kernel.tile[position]))
    for each in (there, box):
        wanted = each.insert_dims(_set, outer - inner, inner).insert_dims(_set, outer + mapped, inner)
        for position in range(mapped, mapped + inner):
            tile, point = outer - inner + position - mapped, outer + position
            wanted = wanted.intersect(_within(wanted.get_space(), tile, point, kernel.tile[position]))
        wanted = wanted.intersect(tiles.add_dims(_set, mapped + inner))
        missing = wanted.subtract(exist).project_out(_set, outer, mapped + inner)
        whole = tiles.subtract(missing).coalesce()
        if whole.n_basic_set() == 1 and not whole.is_empty():
            return FullTiles(whole.gist(tiles), above, alike=True)
    return None


def _within(space: isl.Space, tile: int, point: int, size: int) -> isl.Set:
    """Where the dimension ``point`` is in the ``tile`` of its ``size``."""
    local = isl.LocalSpace.from_space(space)
    first = isl.PwAff.var_on_domain(local, _set, tile).scale_val(isl.Val(size))
    value = isl.PwAff.var_on_domain(local, _set, point)
    return value.ge_set(first).intersect(value.lt_set(first.add_constant_val(isl.Val(size))))


def mark_tiles(root: isl.ScheduleNode, kernel: Kernel) -> isl.ScheduleNode:
    """Insert the mark of full tiles below the loops over the tiles of a block; takes and gives the root."""
    node = find_mark(root, kernel.mark())
    while not is_band(node):
        node = node.child(0)
    return insert_mark(node.child(0), kernel.mark(MarkKind.FULL_TILE)).root()


def _to_tile(space: isl.Space, depth: int, kernel: Kernel) -> isl.Map:
    """``{ [d0, ..., dn, p0, ...] -> [d0, ..., dn, floor(p0 / size), ...] }``."""
    tiles = isl.MultiAff.identity(space.map_from_set())
    for position in range(len(kernel.blocks)):
        value = tiles.get_aff(depth + position)
        size = isl.Val(kernel.tile[position])
        tiles = tiles.set_aff(depth + position, value.scale_down_val(size).floor())
    return isl.Map.from_multi_aff(tiles)
