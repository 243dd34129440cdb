"""Copies for each block, in shared memory, of what data choose the elements of.

Threads that count at once wait for each other where they meet in one element: in shared memory, where only
those of a block meet, much less than in the device's. A copy begins with what the operator leaves as it is.
When the block is done it is combined with the array, by atomic operations again: integers are the same in any
order::

    h[a[i]]++;      ->      block[0..255] = 0;  barrier;
                            atomic: block[a[i]] += 1;
                            barrier;  atomic: h[k] += block[k], for each k that has changed

Where it is not known which elements there are, a copy has the first ones, and the others are updated where
they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from polybuild.analysis.reductions import Reduction
from polybuild.poly.marks import Mark
from polybuild.poly.relations import sets_of
from polybuild.scop.model import Scop
from polybuild.storage.buffers import element_size
from polybuild.targets.base import DeviceLimits
from polybuild.targets.device import BlockCopy, Kernel, KernelTree, SharedTile
from polybuild.targets.gpu.model import GpuMapping
from polybuild.targets.gpu.placement import bytes_of
from polybuild.targets.gpu.tree import find_mark

_set = isl.dim_type.set


def find_block_copies(
    scop: Scop, mapping: GpuMapping, tree: KernelTree, atomics: Sequence[Reduction], limits: DeviceLimits
) -> Mapping[Mark, tuple[BlockCopy, ...]]:
    """The copies of each kernel that has some, of arrays of which it does nothing but make ``atomics``."""
    found: dict[Mark, tuple[BlockCopy, ...]] = {}
    for kernel in mapping.kernels if atomics else ():
        tiles = [each for each in tree.tiles[kernel.mark()] if isinstance(each, SharedTile)]
        left = limits.shared_bytes - sum(map(bytes_of, tiles))
        chosen = []
        for copy in _candidates(scop, mapping, kernel, atomics, limits.parts.of_block):
            size = copy.size * element_size(copy.array)
            if size <= left:
                chosen.append(copy)
                left -= size
        if chosen:
            found[kernel.mark()] = tuple(chosen)
    return found


def _candidates(
    scop: Scop, mapping: GpuMapping, kernel: Kernel, atomics: Sequence[Reduction], count: int
) -> list[BlockCopy]:
    """The copies that ``kernel`` may have; where it runs through one loop, the blocks are few.

    Those of arrays of unknown extents have ``count`` elements.
    """
    if len(kernel.blocks) != 1 or kernel.in_steps:
        return []
    mark = find_mark(mapping.schedule.get_root(), kernel.mark())
    names = {each.get_tuple_name() for each in sets_of(mark.get_domain())}
    own = {each.statement.name: each for each in atomics if each.statement.name in names}
    found = []
    for array in {each.array.name: each.array for each in own.values()}.values():
        users = [
            (statement, access)
            for statement in scop.statements
            if statement.name in names
            for access in statement.accesses_to(array)
        ]
        updates = all(
            statement.name in own and id(access.node) in own[statement.name].own
            for statement, access in users
        )
        operators = {own[statement.name].operator for statement, _ in users if statement.name in own}
        if not updates or len(operators) != 1 or len(array.extents) != 1 or any(array.suffixes):
            continue
        low, high = _bounds(scop, [access.relation.range() for _, access in users])
        first = 0 if low is None else low
        size = count if low is None or high is None else high - low + 1
        whole = low is not None and high is not None
        found.append(BlockCopy(array, operators.pop(), first, size, whole))
    return found


def _bounds(scop: Scop, touched: Sequence[isl.Set]) -> tuple[int | None, int | None]:
    """The least and the greatest subscript of a vector that may be ``touched``; None: not known."""
    lows, highs = [], []
    for each in touched:
        here = each.intersect_params(scop.context)
        lows.append(here.dim_min_val(0))
        highs.append(here.dim_max_val(0))
    low = min(each.to_python() for each in lows) if all(each.is_int() for each in lows) else None
    high = max(each.to_python() for each in highs) if all(each.is_int() for each in highs) else None
    return low, high
