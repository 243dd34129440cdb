"""Which subtrees become kernels, and which of their loops run on blocks and threads (PPCG 6.3, 6.4).

The outermost bands with a coincident member become kernels; what is above them
runs on the host. In a kernel's band the coincident members come first, the one
along which most accesses are consecutive last of them; the band is tiled, the
tiles of (up to three of) these members go to the blocks and the points of a tile
to the threads. What has no coincident band runs in a kernel of one thread.
"""

from __future__ import annotations

import math

import islpy as isl

from polybuild.options import Options
from polybuild.poly.marks import MarkKind
from polybuild.poly.trees import descendants, insert_mark, is_band, node_kind
from polybuild.scop.model import Scop
from polybuild.targets.base import DeviceLimits
from polybuild.targets.device import Axis, Kernel
from polybuild.targets.gpu.coalescing import consecutive_member, streams
from polybuild.targets.gpu.model import GpuMapping
from polybuild.transform.bands import coincident_members, permute, tile


def tile_sizes(
    parallel: int, sequential: int, options: Options, limits: DeviceLimits, *, reused: bool
) -> tuple[int, ...]:
    """One size per member of a band of ``parallel`` mapped loops followed by ``sequential`` others.

    ``reused`` says whether all elements are touched by several iterations: a thread has several points then.
    """
    members = parallel + sequential
    if options.tile_sizes:
        given = options.tile_sizes[:members]
        return given + (given[-1],) * (members - len(given))
    outer = limits.shapes.reusing_tiles if reused else limits.shapes.streaming_tiles
    return outer[parallel - 1] + (limits.shapes.sequential_tiles[parallel - 1],) * sequential


def block_sizes(
    parallel: int, tile: tuple[int, ...], options: Options, limits: DeviceLimits, *, reused: bool
) -> tuple[int, ...]:
    """Threads along each mapped loop: no more than a tile has points, and than a block may have."""
    wanted = options.block_sizes[-parallel:]
    if not wanted:
        blocks = limits.shapes.reusing_blocks if reused else limits.shapes.streaming_tiles
        wanted = blocks[parallel - 1]
    wanted = (1,) * (parallel - len(wanted)) + wanted
    sizes = [min(pair) for pair in zip(wanted, tile[:parallel], strict=True)]
    for position in range(parallel):
        others = math.prod(sizes[:position] + sizes[position + 1 :])
        sizes[position] = max(1, min(sizes[position], limits.block_threads // others))
    return tuple(sizes)


def grid_sizes(parallel: int, options: Options, limits: DeviceLimits) -> tuple[int, ...]:
    """The maximum number of blocks along each mapped loop, no more than a grid may have."""
    given = options.grid_sizes[:parallel]
    wanted = given + (given[-1],) * (parallel - len(given)) if given else limits.shapes.grids[parallel - 1]
    return (*(min(each, limits.outer_blocks) for each in wanted[:-1]), wanted[-1])


def map_to_gpu(
    scop: Scop, schedule: isl.Schedule, options: Options, limits: DeviceLimits, *, inside: bool = False
) -> GpuMapping:
    """Choose the kernels of ``schedule``, tile them and mark what they are.

    The tree still runs every instance once, in an order that ``check_schedule``
    can prove; only the marks say what runs side by side. With loops ``inside``, those of a kernel that
    are sequential are below those of the threads: each thread comes to an end for one point of these
    before it begins with the next.
    """
    mapper = _KernelMapper(scop, options, limits, inside=inside)
    root = mapper.map(schedule.get_root())
    return GpuMapping(root.get_schedule(), tuple(mapper.kernels))


class _KernelMapper:
    """Walks the tree; every method returns the node at the place it was given."""

    def __init__(self, scop: Scop, options: Options, limits: DeviceLimits, *, inside: bool) -> None:
        self._scop = scop
        self._options = options
        self._limits = limits
        self._inside = inside
        self.kernels: list[Kernel] = []

    def map(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """Choose the kernels at and below ``node``."""
        kind = node_kind(node)
        if kind == isl.schedule_node_type.domain:
            return self.map(node.child(0)).parent()
        if not _has_parallelism(node):
            return self._serial(node)
        if is_band(node) and coincident_members(node):
            return self._parallel(node)
        for index in range(node.n_children()):
            node = self.map(node.child(index)).parent()
        return node

    def _serial(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        if node_kind(node) == isl.schedule_node_type.filter:
            return self._serial(node.child(0)).parent()
        kernel = Kernel(len(self.kernels))
        self.kernels.append(kernel)
        return insert_mark(node, kernel.mark())

    def _parallel(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """The kernel of a band with a coincident member."""
        members = node.band_n_member()
        if not node.band_get_permutable() and members > 1:
            if not node.band_member_get_coincident(0):
                split = self.map(node.band_split(1).child(0))
                return split.parent()
            node, members = node.band_split(1), 1
        mapped = coincident_members(node)
        x = consecutive_member(self._scop, node, mapped)
        mapped = [*(each for each in mapped if each != x), x][-self._limits.axes :]
        others = [each for each in range(members) if each not in mapped]
        node = permute(node, [*mapped, *others])
        count = len(mapped)
        if self._inside and others:
            node, members, others = node.band_split(count), count, []
        reused = bool(others) and not (count == 2 and streams(self._scop, node))
        sizes = tile_sizes(count, len(others), self._options, self._limits, reused=reused)
        kernel = Kernel(
            len(self.kernels),
            _axes("b", grid_sizes(count, self._options, self._limits)),
            _axes("t", block_sizes(count, sizes, self._options, self._limits, reused=reused)),
            sizes,
        )
        self.kernels.append(kernel)
        node = tile(node, sizes)
        if others:
            node = node.band_split(count).child(0)
        # the points of a thread innermost: they can be unrolled, and held in registers
        points = permute(node.child(0), [*range(count, members), *range(count)])
        points = insert_mark(points, kernel.mark(MarkKind.THREADS)).child(0)
        if others:
            points = points.band_split(len(others)).child(0)
        points = tile(points, [axis.size for axis in kernel.threads])
        points = insert_mark(points.child(0), kernel.mark(MarkKind.POINTS))
        node = points.ancestor(4 if others else 3)
        if others:
            node = node.parent()
        return insert_mark(node, kernel.mark())


def _axes(letter: str, sizes: tuple[int, ...]) -> tuple[Axis, ...]:
    return tuple(Axis(f"pb_{letter}{position}", size) for position, size in enumerate(sizes))


def _has_parallelism(node: isl.ScheduleNode) -> bool:
    return any(is_band(each) and coincident_members(each) for each in descendants(node))
