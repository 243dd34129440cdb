"""Which subtrees become kernels, and which of their loops run on blocks and threads (PPCG 6.3, 6.4).

The outermost bands with a coincident member become kernels; what is above them
runs on the host. In a kernel's band the coincident members come first, the one
along which most accesses are consecutive last of them; the band is tiled, the
tiles of (up to three of) these members go to the blocks and the points of a tile
to the threads. Loops over time of stencils can get tiles whose phases are kernels
(``time_tiles``). What has no coincident band runs in a kernel of one thread.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import islpy as isl

from polybuild.analysis.reductions import Reduction
from polybuild.options import ALIGNED_LOADS, DYNAMIC_REUSE, SHARED_MEMORY, STATIC_REUSE, Options
from polybuild.poly.marks import MarkKind
from polybuild.poly.relations import maps_of, sets_of
from polybuild.poly.trees import children, descendants, insert_mark, is_band, member, node_kind
from polybuild.schedule.legality import active_dependences
from polybuild.scop.model import Scop
from polybuild.targets.base import DeviceLimits
from polybuild.targets.device import STEP_BY_STEP, Kernel, MatrixProduct
from polybuild.targets.gpu.aligned_loads import align_loads
from polybuild.targets.gpu.coalescing import consecutive_member, streams
from polybuild.targets.gpu.cost import extent, pays, step_work
from polybuild.targets.gpu.grid import axes, block_sizes, grid_sizes, run_lengths, tile_sizes, with_lanes
from polybuild.targets.gpu.matrix_products import find_matrix_product, fits_instructions, matrix_tile
from polybuild.targets.gpu.micro_tiles import (
    MicroTile,
    exceeded,
    largest_element,
    micro_tile,
    resident_blocks,
)
from polybuild.targets.gpu.model import GpuMapping
from polybuild.targets.gpu.time_tile_sizes import StepLoop, fit_time_tiles
from polybuild.targets.gpu.time_tiles import (
    PhaseMapper,
    TimeTiles,
    asks_for_shape,
    find_time_tiles,
)
from polybuild.transform.bands import coincident_members, permute, tile
from polybuild.transform.distribution import distribute
from polybuild.values import dataclass

_in, _out = isl.dim_type.in_, isl.dim_type.out


def map_to_gpu(
    scop: Scop,
    schedule: isl.Schedule,
    options: Options,
    limits: DeviceLimits,
    *,
    inside: bool = False,
    over_time: isl.UnionMap | None = None,
    reductions: Sequence[Reduction] = (),
) -> GpuMapping:
    """Choose the kernels of ``schedule``, tile them and mark what they are.

    The tree still runs every instance once, in an order that ``check_schedule``
    can prove; only the marks say what runs side by side. With loops ``inside``, those of a kernel that
    are sequential are below those of the threads: each thread comes to an end for one point of these
    before it begins with the next. With the dependences ``over_time`` loops over the steps of a stencil
    get tiles. The ``reductions`` are in lanes, or update elements that data choose.
    """
    shared = {each.statement.name: each for each in reductions if each.lanes is not None}
    counting = {each.statement.name for each in reductions} - set(shared)
    shares = _Shares(counting, shared)
    mapper = _KernelMapper(scop, options, limits, over_time, inside=inside, shares=shares)
    root = mapper.map(schedule.get_root())
    kernels, remarks = tuple(mapper.kernels), tuple(mapper.remarks)
    return GpuMapping(root.get_schedule(), kernels, remarks, shared, tuple(mapper.exceeded))


def map_overlapped(
    scop: Scop, order: isl.Schedule, tiles: TimeTiles, options: Options, limits: DeviceLimits
) -> GpuMapping:
    """The kernels of steps in tiles that overlap: ``order`` has what begins, and what is in ``tiles``."""
    mapper = _KernelMapper(scop, options, limits, None, inside=False, shares=_Shares((), {}))
    node = mapper.map(order.get_root().child(0).child(0)).parent()
    phases = PhaseMapper(scop, tiles, options, limits, len(mapper.kernels))
    node = phases.map(node.child(1).child(0))
    return GpuMapping(node.get_schedule(), (*mapper.kernels, *phases.kernels), (tiles.description,))


@dataclass(frozen=True, slots=True)
class _Shares:
    """What threads accumulate together: by ``counting`` statements, or ``shared`` ones in lanes."""

    counting: Collection[str]
    shared: Mapping[str, Reduction]

    def lane(self, band: isl.ScheduleNode, members: Sequence[int]) -> int | None:
        """The one of ``members`` that steps through the lanes below ``band``, None if there are none."""
        below = {each.get_tuple_name() for each in sets_of(band.get_domain())}
        here = [each for name, each in self.shared.items() if name in below]
        for position in members if here else ():
            steps = isl.UnionMap.from_multi_union_pw_aff(member(band, position))
            if all(_steps_through_lanes(steps, each) for each in here):
                return position
        return None

    def count(self, band: isl.ScheduleNode) -> bool:
        """Whether a statement below ``band`` updates elements that data choose."""
        return any(each.get_tuple_name() in self.counting for each in sets_of(band.get_domain()))


def _steps_through_lanes(steps: isl.UnionMap, reduction: Reduction) -> bool:
    own = [each for each in maps_of(steps) if each.get_tuple_name(_in) == reduction.statement.name]
    assert reduction.lanes is not None  # noqa: S101 - others share nothing
    lane = reduction.lanes.position
    return all(each.is_subset(isl.Map.universe(each.get_space()).equate(_in, lane, _out, 0)) for each in own)


def _with_serial_together(node: isl.ScheduleNode) -> isl.ScheduleNode:
    """The sequence ``node``, whose children without parallelism are one where they follow each other."""
    groups: list[isl.UnionSet] = []
    before = True
    for child in children(node):
        parallel, instances = _has_parallelism(child), child.filter_get_filter()
        if parallel or before:
            groups.append(instances)
        else:
            groups[-1] = groups[-1].union(instances)
        before = parallel
    return node if len(groups) == node.n_children() else distribute(node, groups)


@dataclass(frozen=True, slots=True)
class _Shape:
    """The ``sizes`` of a tile, the threads of a ``block``, and their ``runs`` or the ``longest`` one."""

    sizes: tuple[int, ...]
    block: tuple[int, ...]
    longest: int = 1
    runs: tuple[int, ...] = ()
    warp: tuple[int, int] | None = None
    product: MatrixProduct | None = None
    resident: int = 0


class _KernelMapper:
    """Walks the tree; every method returns the node at the place it was given."""

    def __init__(
        self,
        scop: Scop,
        options: Options,
        limits: DeviceLimits,
        over_time: isl.UnionMap | None,
        *,
        inside: bool,
        shares: _Shares,
    ) -> None:
        self._scop = scop
        self._options = options
        self._limits = limits
        self._over_time = over_time
        self._inside = inside
        self._shares = shares
        self.kernels: list[Kernel] = []
        self.remarks: list[str] = []
        self.exceeded: list[str] = []

    def map(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """Choose the kernels at and below ``node``."""
        kind = node_kind(node)
        if kind == isl.schedule_node_type.domain:
            return self.map(node.child(0)).parent()
        tiles = self._tiles_over_time(node)
        if tiles is not None:
            self.remarks.append(tiles.description)
            mapper = PhaseMapper(self._scop, tiles, self._options, self._limits, len(self.kernels))
            node = mapper.map(node)
            self.kernels += mapper.kernels
            return node
        if not _has_parallelism(node):
            return self._serial(node)
        if is_band(node) and coincident_members(node):
            return self._parallel(node)
        if kind == isl.schedule_node_type.sequence:
            node = _with_serial_together(node)
        for index in range(node.n_children()):
            node = self.map(node.child(index)).parent()
        return node

    def _tiles_over_time(self, node: isl.ScheduleNode) -> TimeTiles | None:
        if self._over_time is None or not is_band(node):
            return None
        active = active_dependences(node, self._over_time)
        try:
            tiles = find_time_tiles(node, active, self._options, self._limits)
        except ValueError as error:
            self.remarks.append(f"{STEP_BY_STEP}: {error}")
            return None
        if tiles is None:
            return None
        tiles = fit_time_tiles(self._scop, tiles, StepLoop(node, active), self._options, self._limits)
        asked = bool(self._options.tile_sizes) or asks_for_shape(self._options)
        if not asked:
            work = step_work(self._scop, node, tiles.stencil, self._limits)
            if not pays(work, tiles, self._options, self._limits):
                self.remarks.append(f"{STEP_BY_STEP}: tiles over time would take longer")
                return None
        if {SHARED_MEMORY, ALIGNED_LOADS} <= set(self._options.device_tiles):
            processor = self._limits.machine.multiprocessor
            reuse = not {STATIC_REUSE, DYNAMIC_REUSE}.isdisjoint(self._options.device_tiles)
            pieces = processor.line, processor.sector
            tiles = align_loads(self._scop, tiles, active, pieces, reuse=reuse)
        return tiles

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
        lane = self._shares.lane(node, mapped)
        x = consecutive_member(self._scop, node, mapped) if lane is None else lane
        mapped = [*(each for each in mapped if each != x), x][-self._limits.axes :]
        others = [each for each in range(members) if each not in mapped]
        node = permute(node, [*mapped, *others])
        count = len(mapped)
        if self._inside and others:
            node, members, others = node.band_split(count), count, []
        reused = bool(others) and lane is None and not (count == 2 and streams(self._scop, node))
        in_parts = count == 2 and not reused and self._runs_through_parts(node)
        in_rows = lane is not None
        shape = self._shape(node, count, reused=reused, in_parts=in_parts, in_rows=in_rows)
        if lane is not None:  # a row is combined by threads of one warp
            shape = _Shape(*with_lanes(shape.sizes, shape.block, self._limits))
        sizes, block = shape.sizes, shape.block
        kernel = Kernel(
            len(self.kernels),
            axes(
                "b",
                grid_sizes(
                    count,
                    self._options,
                    self._limits,
                    counting=self._shares.count(node),
                    in_parts=in_parts,
                ),
            ),
            axes("t", block, shape.runs or run_lengths(sizes[:count], block, shape.longest)),
            sizes,
            warp=shape.warp,
            product=shape.product,
            resident=shape.resident,
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
        points = tile(points, [axis.turn for axis in kernel.threads])
        points = insert_mark(points.child(0), kernel.mark(MarkKind.POINTS))
        node = points.ancestor(4 if others else 3)
        if others:
            node = node.parent()
        return insert_mark(node, kernel.mark())

    def _shape(
        self, node: isl.ScheduleNode, count: int, *, reused: bool, in_parts: bool, in_rows: bool
    ) -> _Shape:
        """The sizes of tiles and blocks for the band ``node``, and the runs of a thread."""
        options, limits = self._options, self._limits
        others = node.band_n_member() - count
        sizes = tile_sizes(count, others, options, limits, reused=reused, in_parts=in_parts, in_rows=in_rows)
        block = block_sizes(count, sizes, options, limits, reused=reused, alone=in_parts or in_rows)
        if not reused or count == 1:
            return _Shape(sizes, block)
        product = find_matrix_product(self._scop, node, count, limits.shapes.products.matrix)
        if not (options.tile_sizes or options.block_sizes):
            members = [member(node, position).get_at(0) for position in range(count + others)]
            extents = [extent(self._scop, node, each) for each in members]
            choose = micro_tile if product is None else matrix_tile
            found = choose(self._scop, node, count, extents, limits)
            if found is not None:
                sizes, block = found.tile, found.block
        else:
            self.exceeded += exceeded(self._scop, node, count, MicroTile(sizes, block), limits)
        resident = resident_blocks(self._scop, node, count, MicroTile(sizes, block), limits)
        if product is not None and fits_instructions(sizes, block, product.instruction):
            instruction = product.instruction
            runs = (*[1] * (count - 1), instruction.run)
            return _Shape(sizes, block, runs=runs, warp=instruction.warp, product=product, resident=resident)
        if math.prod(block) >= limits.shapes.products.threads:
            resident = 0  # left to itself a compiler gives all registers to threads of small blocks alone
        warp = limits.shapes.products.warp
        longest = limits.machine.multiprocessor.vector // largest_element(self._scop, node)
        in_warps = all(threads % each == 0 for threads, each in zip(block[-2:], warp, strict=True))
        lies_so = longest > 1 and in_warps and math.prod(block[:-2]) == 1
        return _Shape(sizes, block, longest, warp=warp if lies_so else None, resident=resident)

    def _runs_through_parts(self, node: isl.ScheduleNode) -> bool:
        """Whether one of two mapped loops of the band ``node`` has an iteration for each part, at most."""
        extents = (extent(self._scop, node, member(node, position).get_at(0)) for position in range(2))
        return any(each is not None and each <= self._limits.parts.of_row for each in extents)


def _has_parallelism(node: isl.ScheduleNode) -> bool:
    return any(is_band(each) and coincident_members(each) for each in descendants(node))
