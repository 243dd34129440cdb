"""Kernels in words: grid and blocks, and what is kept where."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from polybuild.storage.buffers import element_size
from polybuild.targets.device import Axis, Kernel, MemoryRequest, SharedTile, ThreadTile, Tile


def described(kernel: Kernel, tiles: Sequence[Tile]) -> tuple[str, ...]:
    """What there is to say about ``kernel``, which keeps ``tiles``."""
    if kernel.is_serial:
        return ("one thread",)
    grid = f"at most {_sizes(kernel.blocks)} blocks of {_sizes(kernel.threads)} threads"
    tile = f", for tiles of {_product(kernel.tile)}" if kernel.tile else ""
    lines = [grid + tile, *_kept(tiles)]
    if kernel.product is not None:
        lines.append("matrix instructions compute whole tiles of the sum")
    if kernel.resident:
        lines.append(f"registers for {kernel.resident} blocks at once on a multiprocessor")
    return tuple(lines)


def requested(requests: Sequence[MemoryRequest]) -> tuple[str, ...]:
    """What warps ask memory for, in words."""
    return tuple(map(_requested, requests))


def _requested(request: MemoryRequest) -> str:
    count = f"{request.sectors} sector{'s' * (request.sectors > 1)}"
    enough = f", {request.minimum} would do" if request.minimum < request.sectors else ""
    action = "writes" if request.writes else "reads"
    return f"{request.array.spelling}: a warp {action} {count} of memory at once{enough}"


def _kept(tiles: Sequence[Tile]) -> Iterator[str]:
    for each in tiles:
        if isinstance(each, ThreadTile):
            yield f"{each.array.spelling}: {_product(each.sizes)} elements in registers of each thread"
        else:
            stages = f" in {each.stages} stages" if each.stages > 1 else ""
            yield f"{each.array.spelling}: {_product(each.box.sizes)} elements in shared memory{stages}"
    shared = [each for each in tiles if isinstance(each, SharedTile)]
    if shared:
        size = sum(math.prod(each.extents) * element_size(each.array) for each in shared)
        yield f"{size} bytes of shared memory for each block"


def _sizes(axes: Sequence[Axis]) -> str:
    return _product([each.size for each in axes])


def _product(sizes: Sequence[int]) -> str:
    return " x ".join(map(str, sizes))
