"""Tile shapes with concurrent start, and their sizes, for stencils on the CPU (thesis, chapters 4 to 6)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.context import CompileContext
from polybuild.poly.trees import children, is_band
from polybuild.scop.model import Scop
from polybuild.targets.cpu.carried import active_dependences
from polybuild.targets.cpu.strides import Reference, references
from polybuild.targets.cpu.tilesizes import element_size, is_resident
from polybuild.transform.interleave import interleave
from polybuild.transform.tiling.diamond import determinant, diamond, diamond_planes
from polybuild.transform.tiling.hexagonal import hexagonal
from polybuild.transform.tiling.hybrid import Hexagons, hybrid, minimum_width
from polybuild.transform.tiling.split import minimum_split_width, split
from polybuild.transform.tiling.stencil import Stencil, find_stencil

# The innermost dimension, along which rows are: long enough for the vector unit and the prefetchers.
_ROW = 512
# The other dimensions between the first and the rows.
_STRIP = 16
# In space rows are left whole, as good as always, and a tile may touch this many times what the
# second-level cache holds.
_WHOLE_ROW = 4096
_SPILL = 9
# Heights of tiles in iterations of the loop over time, the best first.
_HEIGHTS = (32, 24, 16, 12, 8, 6, 4, 3, 2)
_LINE_HEIGHTS = (1024, 512, 256, 128, 64, 32, 16, 8, 4, 2)


@dataclass(frozen=True, slots=True)
class StencilTiles:
    """``node`` is the tree below and with the tiles; ``sizes`` are iterations of the loops, time first."""

    node: isl.ScheduleNode
    sizes: tuple[int, ...]
    shape: str


def has_stencil(scop: Scop, dependences: Dependences, context: CompileContext) -> bool:
    """Whether some loop nest of the original order gets the tiles of a stencil."""
    if not context.options.tile or context.options.tile_shape == "rectangular":
        return False
    return _has_stencil(scop, scop.schedule.get_root(), dependences, context)


def _has_stencil(
    scop: Scop, node: isl.ScheduleNode, dependences: Dependences, context: CompileContext
) -> bool:
    if is_band(node):
        return tile_stencil(node, references(scop, node), dependences, context) is not None
    return any(_has_stencil(scop, each, dependences, context) for each in children(node))


def tile_stencil(
    node: isl.ScheduleNode, accesses: Sequence[Reference], dependences: Dependences, context: CompileContext
) -> StencilTiles | None:
    """Tile the loop over time ``node`` if it is a stencil's, with the shape asked for.

    None if it is no stencil, if its data stay in the cache anyway, if sizes were
    asked for that the shape cannot have, or where reductions lack the order that shapes rely on.
    """
    if context.options.tile_shape == "rectangular" or dependences.reductions:
        return None
    if not context.options.tile_sizes and is_resident(list(accesses), context.machine.l2.bytes // 4):
        return None
    active = active_dependences(node, dependences.validity)
    stencil = find_stencil(node, active)
    if stencil is None or not stencil.cones[0].closed or not stencil.cones[0].spread:
        return None
    shape = "diamond" if context.options.tile_shape == "auto" else context.options.tile_shape
    sizes = _sizes(stencil, accesses, context)
    node = interleave(node, stencil, active)
    try:
        return StencilTiles(_tile(node, stencil, shape, sizes, active), sizes, shape)
    except ValueError:
        return None


def _tile(
    node: isl.ScheduleNode, stencil: Stencil, shape: str, sizes: Sequence[int], dependences: isl.UnionMap
) -> isl.ScheduleNode:
    height = sizes[0] * stencil.steps
    widths = [each * stencil.scale for each in sizes[1:]]
    cone = stencil.cones[0]
    if shape == "split":
        minimum = [minimum_split_width(stencil, dim, height) for dim in range(len(stencil.space))]
        return split(node, stencil, height, [max(pair) for pair in zip(widths, minimum, strict=True)])
    if shape == "hybrid":
        half = max(0, height // 2 - 1)
        spare = widths[0] - Hexagons(cone, half, minimum_width(cone, half)).period
        width = minimum_width(cone, half) + max(0, spare // 2)
        return hybrid(node, stencil, half, width, widths[1:])
    planes = diamond_planes(stencil, 1, dependences)
    size = _diamond_size(stencil, planes, height)
    if shape == "diamond":
        return diamond(node, stencil, planes, size, widths[1:])
    stretch = max(0, widths[0] - stencil.cones[0].spread * height // 2)
    return hexagonal(node, stencil, planes, size, stretch=math.ceil(stretch / 2), strips=widths[1:])


def _diamond_size(stencil: Stencil, planes: Sequence[tuple[int, ...]], height: int) -> int:
    """The size, a multiple of the determinant, of diamonds of about ``height``."""
    unit = determinant(planes)
    wanted = Fraction(height) * stencil.cones[0].spread / len(planes)
    return unit * max(1, round(wanted / unit))


def _sizes(stencil: Stencil, accesses: Sequence[Reference], context: CompileContext) -> tuple[int, ...]:
    """Iterations of the loop over time, then of those over space, that a tile covers.

    Those that are given; or the highest tile whose data fit in the cache that suits the shape of the
    grid. Lines are for the first level. Tiles of planes fill the second. In space even low ones
    overflow it, and reuse over time saves more than that costs.
    """
    depth = 1 + len(stencil.space)
    if context.options.tile_sizes:
        given = context.options.tile_sizes[:depth]
        return given + (given[-1],) * (depth - len(given))
    cache = {2: context.machine.l1.bytes, 3: context.machine.l2.bytes}.get(
        depth, _SPILL * context.machine.l2.bytes
    )
    arrays = {each.access.array.name: element_size(each) for each in accesses}
    sizes: tuple[int, ...] = ()
    for steps in _LINE_HEIGHTS if depth == 2 else _HEIGHTS:
        # how wide a diamond is in its middle
        spread = math.ceil(stencil.cones[0].spread * steps * stencil.steps / stencil.scale)
        strips = [max(_STRIP, spread // 2)] * (depth - 3)
        touched = [spread, *(each + spread // 2 for each in strips), *[_ROW + spread // 2] * (depth > 2)]
        rows = {2: [], 3: [_ROW]}.get(depth, [_WHOLE_ROW])
        sizes = (steps, spread, *strips, *rows)
        if sum(arrays.values()) * math.prod(touched) <= cache:
            break
    return sizes
