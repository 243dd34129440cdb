"""Sizes of tiles, blocks and grids."""

from __future__ import annotations

import math

from polybuild.options import Options

# Tiles and blocks for one, two and three loops of threads, x last: where the band has a sequential
# loop too, values are reused and a thread works on several points; elsewhere on one.
_STREAMING = {1: (128,), 2: (8, 32), 3: (4, 4, 32)}
_REUSING = {1: (64,), 2: (64, 64), 3: (4, 4, 32)}
_REUSING_BLOCKS = {1: (64,), 2: (16, 16), 3: (4, 4, 32)}
_SEQUENTIAL = {1: 32, 2: 16, 3: 16}
# Blocks of one dimension, two and three: what has more tiles wraps around.
_GRIDS = {1: (32768,), 2: (256, 256), 3: (64, 64, 64)}
# The most threads that every device runs in one block.
MOST_THREADS = 1024


def tile_sizes(parallel: int, sequential: int, options: Options) -> tuple[int, ...]:
    """One size per member of a band of ``parallel`` mapped loops followed by ``sequential`` others."""
    members = parallel + sequential
    if options.tile_sizes:
        given = options.tile_sizes[:members]
        return given + (given[-1],) * (members - len(given))
    outer = _REUSING[parallel] if sequential else _STREAMING[parallel]
    return outer + (_SEQUENTIAL[parallel],) * sequential


def block_sizes(parallel: int, tile: tuple[int, ...], options: Options) -> tuple[int, ...]:
    """Threads along each mapped loop: no more than a tile has points, and no more than fit in a block."""
    wanted = options.block_sizes[-parallel:]
    if not wanted:
        wanted = _REUSING_BLOCKS[parallel] if len(tile) > parallel else _STREAMING[parallel]
    wanted = (1,) * (parallel - len(wanted)) + wanted
    sizes = [min(pair) for pair in zip(wanted, tile[:parallel], strict=True)]
    for position in range(parallel):
        others = math.prod(sizes[:position] + sizes[position + 1 :])
        sizes[position] = max(1, min(sizes[position], MOST_THREADS // others))
    return tuple(sizes)


def grid_sizes(parallel: int, options: Options) -> tuple[int, ...]:
    """The most blocks along each mapped loop."""
    given = options.grid_sizes[:parallel]
    return given + (given[-1],) * (parallel - len(given)) if given else _GRIDS[parallel]
