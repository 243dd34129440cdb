"""How many tiles, blocks and threads there are along each loop of a kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence

from polybuild.options import Options
from polybuild.targets.base import DeviceLimits
from polybuild.targets.device import Axis


def tile_sizes(
    parallel: int,
    sequential: int,
    options: Options,
    limits: DeviceLimits,
    *,
    reused: bool,
    in_parts: bool = False,
    in_rows: bool = False,
) -> tuple[int, ...]:
    """One size per member of a band of ``parallel`` mapped loops followed by ``sequential`` others.

    ``reused`` says whether all elements are touched by several iterations, ``in_parts`` that one of two
    mapped loops runs through the parts of a warp, ``in_rows`` that threads of a warp share a row.
    """
    members = parallel + sequential
    if options.tile_sizes:
        given = options.tile_sizes[:members]
        return given + (given[-1],) * (members - len(given))
    shapes = limits.shapes
    usual = shapes.warps.rows if in_rows else shapes.streaming_tiles
    outer = (shapes.reusing_tiles if reused else usual)[parallel - 1]
    if in_parts and parallel == 2 and not reused:
        outer = shapes.warps.parts
    return outer + (shapes.sequential_tiles[parallel - 1],) * sequential


def block_sizes(
    parallel: int,
    tile: tuple[int, ...],
    options: Options,
    limits: DeviceLimits,
    *,
    reused: bool,
    alone: bool = False,
) -> tuple[int, ...]:
    """Threads along each mapped loop: no more than a tile has points, and than a block may have.

    ``reused`` is as above, ``alone`` says that each works on one point.
    """
    shapes = limits.shapes
    blocks = shapes.reusing_blocks if reused else shapes.warps.rows if alone else shapes.streaming_blocks
    return fitting_block(blocks[parallel - 1], tile[:parallel], options, limits)


def with_lanes(
    tile: tuple[int, ...], threads: tuple[int, ...], limits: DeviceLimits
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """``tile`` and ``threads`` where the lanes of a row are those along x, one for each thread of a warp."""
    lanes, last = limits.parts.of_row, len(threads) - 1
    room, outer = limits.block_threads // lanes, []
    for size in threads[:last]:
        outer.append(min(size, room))
        room //= outer[-1]
    return (*tile[:last], lanes, *tile[last + 1 :]), (*outer, lanes)


def fitting_block(
    usual: tuple[int, ...], tile: tuple[int, ...], options: Options, limits: DeviceLimits
) -> tuple[int, ...]:
    """The block that is asked for, else the ``usual`` one, as far as it fits ``tile`` and the device."""
    parallel = len(tile)
    wanted = options.block_sizes[-parallel:] or usual
    wanted = (1,) * (parallel - len(wanted)) + wanted
    sizes = [min(pair) for pair in zip(wanted, tile, strict=True)]
    for position in range(parallel):
        others = math.prod(sizes[:position] + sizes[position + 1 :])
        sizes[position] = max(1, min(sizes[position], limits.block_threads // others))
    return tuple(sizes)


def grid_sizes(
    parallel: int, options: Options, limits: DeviceLimits, *, counting: bool = False, in_parts: bool = False
) -> tuple[int, ...]:
    """The maximum number of blocks along each mapped loop, no more than a grid may have.

    Blocks of one loop that are ``counting`` may each have counts of their own; ``in_parts`` as for tiles.
    """
    given = options.grid_sizes[:parallel]
    wanted = given + (given[-1],) * (parallel - len(given)) if given else limits.shapes.grids[parallel - 1]
    if counting and parallel == 1 and not given:
        wanted = (limits.shapes.counting_blocks,)
    if in_parts and not given:
        wanted = limits.shapes.warps.part_grid
    return (*(min(each, limits.outer_blocks) for each in wanted[:-1]), wanted[-1])


def axes(letter: str, sizes: Sequence[int], runs: Sequence[int] = ()) -> tuple[Axis, ...]:
    """Axes of the grid (``b``) or of its blocks (``t``), outermost first; without ``runs`` they are of 1."""
    pairs = zip(sizes, runs or [1] * len(sizes), strict=True)
    return tuple(Axis(f"pb_{letter}{position}", *pair) for position, pair in enumerate(pairs))


def run_lengths(tile: Sequence[int], block: Sequence[int], longest: int) -> tuple[int, ...]:
    """How many points side by side are one thread's along each loop: a power of two up to ``longest``.

    They divide what a thread has of the ``tile``; where the ``block`` does not, threads have single ones.
    """
    runs = []
    for size, threads in zip(tile, block, strict=True):
        own = 1 if size % threads else size // threads
        runs.append(min(longest, own & -own))
    return tuple(runs)
