"""How high and how wide tiles over time are on a device, where nobody says so.

They have the sizes of the device's shapes. On grids whose extents are known these may be too few tiles for
a device, or have points that one thread runs while others have none: then the sizes are those of their
halves, quarters and eighths that take the least time by the model (``cost``), where that is clearly less.
Where strips keep their boxes in shared memory (``tile_caches``), the first sizes of a list are taken whose
boxes have room there, or the last ones if none have: what has no room then stays in memory.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace

import islpy as isl

from polybuild.options import SHARED_MEMORY, Options
from polybuild.scop.model import Scop
from polybuild.targets.base import DeviceLimits
from polybuild.targets.gpu.cost import in_tiles, step_work
from polybuild.targets.gpu.strip_boxes import bytes_of_boxes
from polybuild.targets.gpu.time_tiles import TimeTiles, find_time_tiles
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class StepLoop:
    """A loop over the steps of a stencil, and the ``dependences`` that the tree above leaves to it."""

    node: isl.ScheduleNode
    dependences: isl.UnionMap


def fit_time_tiles(
    scop: Scop, usual: TimeTiles, loop: StepLoop, options: Options, limits: DeviceLimits
) -> TimeTiles:
    """The ``usual`` tiles for the ``loop`` over time, or such of sizes that suit it better."""
    node = loop.node
    if options.tile_sizes:
        return usual

    def sized(sizes: tuple[int, ...]) -> TimeTiles:
        if sizes == usual.sizes:
            return usual
        found = find_time_tiles(node, loop.dependences, replace(options, tile_sizes=sizes), limits)
        return usual if found is None else found

    if SHARED_MEMORY in options.device_tiles:
        return _with_room(scop, usual, limits, sized)
    work = step_work(scop, node, usual.stencil, limits)
    if not work.known:
        return usual

    def time_of(tiles: TimeTiles) -> float:
        return in_tiles(work, tiles, options, limits)

    best = min(_smaller(usual, limits), key=time_of)
    pays = time_of(best) < limits.shapes.over_time.gain * time_of(usual)
    return sized(best.sizes) if pays else usual


def _with_room(
    scop: Scop, usual: TimeTiles, limits: DeviceLimits, sized: Callable[[tuple[int, ...]], TimeTiles]
) -> TimeTiles:
    """The first tiles whose boxes shared memory holds, or the last ones."""
    found = usual
    for sizes in limits.shapes.over_time.shared[len(usual.sizes) - 2]:
        found = sized(sizes)
        if bytes_of_boxes(scop, found.phases[0]) <= limits.shared_bytes:
            break
    return found


def _smaller(usual: TimeTiles, limits: DeviceLimits) -> Iterator[TimeTiles]:
    """The ``usual`` tiles and those of parts of their height, and of their widths.

    None is so narrow that most of what it touches belongs to its neighbours, too.
    """
    height, *widths = usual.sizes
    shapes, stencil = limits.shapes.over_time, usual.stencil
    spread = stencil.cones[0].spread * stencil.steps / stencil.scale
    for low, *narrow in itertools.product(shapes.parts, repeat=len(usual.sizes)):
        divided = [size // part for size, part in zip(widths, narrow, strict=True)]
        sizes = (height // low, *divided)
        if divided[0] >= spread * sizes[0] and divided[-1] >= shapes.narrowest:
            yield replace(usual, sizes=sizes)
