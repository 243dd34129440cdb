"""From a tree with marked kernels to one that a thread of each kernel can run (PPCG 6.4).

The indices of blocks and threads are parameters. Under a kernel's mark a context
node bounds them and a filter keeps the tiles of a block; under its threads' mark a
filter keeps the points of a thread::

    { b0, t0 : 0 <= b0 < 256 and 0 <= t0 < 16 }
      { S[i, j] : floor(i / 64) mod 256 = b0 }
        ...
          { S[i, j] : i mod 16 = t0 }
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence

import islpy as isl

from polybuild.options import FULL_TILES
from polybuild.poly import spaces
from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.relations import sets_of
from polybuild.poly.trees import is_band, is_mark, member
from polybuild.scop.model import Scop
from polybuild.targets.base import DeviceLimits
from polybuild.targets.device import (
    AddedStatement,
    Axis,
    FullTiles,
    Kernel,
    KernelCost,
    KernelTree,
    MemoryRequest,
    Purpose,
    SharedTile,
    ThreadTile,
    Tile,
    Transfer,
)
from polybuild.targets.gpu.copy_statements import (
    add_barrier,
    add_copy,
    add_exchange,
    add_stages,
    add_transfer,
    elements_of,
    owned,
    staged_copy,
)
from polybuild.targets.gpu.full_strips import full_strips
from polybuild.targets.gpu.fulltiles import full_tiles, mark_tiles, whole_sums
from polybuild.targets.gpu.instance_costs import kernel_cost, shared_among
from polybuild.targets.gpu.memory_requests import memory_requests, warp_accesses
from polybuild.targets.gpu.model import GpuMapping
from polybuild.targets.gpu.placement import place
from polybuild.targets.gpu.strip_caches import StripCaches
from polybuild.targets.gpu.tree import find_mark, prefix_of, result_bands, time_stamps_of
from polybuild.targets.instructions import CopyStages


def lower(
    scop: Scop,
    mapping: GpuMapping,
    transfers: Sequence[Transfer],
    limits: DeviceLimits,
    *,
    steps: Collection[str] = (),
    meetings: Mapping[Mark, isl.Set],
) -> KernelTree:
    """Bind the loops of all kernels of ``mapping`` to the indices of blocks and threads.

    ``steps`` are those of ``Options.device_tiles`` that tiles over time get. Of kernels in ``meetings`` those
    steps begin with barriers, of others all.
    """
    root, arrays = mapping.schedule.get_root(), [each.array for each in transfers]
    grids: dict[Mark, tuple[isl.PwAff, ...]] = {}
    hosts: dict[Mark, isl.UnionMap] = {}
    tiles: dict[Mark, tuple[Tile, ...]] = {}
    full: dict[Mark, FullTiles] = {}
    told: dict[str, None] = {}
    requests: dict[Mark, tuple[MemoryRequest, ...]] = {}
    costs: dict[Mark, KernelCost] = {}
    filler = _Filler(scop, {each.array.name: each for each in transfers}, limits.stages)
    for kernel in mapping.kernels:
        mark = kernel.mark()
        node = find_mark(root, mark)
        grids[mark] = tuple(_grid(node, position, axis) for position, axis in enumerate(kernel.blocks))
        hosts[mark] = prefix_of(node)
        cached = (
            StripCaches(scop, kernel, node, transfers, limits=limits, steps=steps, inside=mapping.inside)
            if kernel.in_steps
            else None
        )
        placed = not kernel.in_steps and _is_whole(node, scop)
        tiles[mark] = place(scop, mapping, kernel, arrays, limits) if placed else ()
        unrolled = any(isinstance(each, ThreadTile) for each in tiles[mark])
        whole_tiles = full_tiles(node, kernel) if unrolled else None
        sums = None if whole_tiles is None else whole_sums(node, kernel)
        strips = full_strips(node, kernel) if kernel.in_steps and FULL_TILES in steps else None
        kept = tiles[mark] if cached is None else cached.tiles
        accesses = tuple(warp_accesses(scop, node, kernel, limits.machine.multiprocessor))
        requests[mark] = memory_requests(accesses, kernel, kept, limits.machine.multiprocessor)
        if not kernel.is_serial:
            costs[mark] = kernel_cost(node, kernel, grids[mark], accesses, tiles=kept, limits=limits)
        root = _bind(node, kernel).root()
        if cached is not None:
            tiles[mark] = cached.tiles
            told |= dict.fromkeys(cached.told)
            root = cached.fill(root, filler.added, meetings.get(mark))
        else:
            root = filler.fill(root, kernel, tiles[mark])
        if whole_tiles is not None:
            root = mark_tiles(root, kernel)
            full[kernel.mark(MarkKind.FULL_TILE)] = whole_tiles
        if sums is not None:
            full[kernel.mark(MarkKind.THREADS)] = sums
        if strips is not None:
            full[kernel.mark(MarkKind.STEPS)] = strips
    schedule, costs = _keep_whole(root).get_schedule(), shared_among(costs)
    return KernelTree(schedule, grids, hosts, tiles, filler.added, full, tuple(told), requests, costs)


def in_registers_alone(scop: Scop, tree: KernelTree) -> frozenset[str]:
    """The arrays of which no kernel of ``tree`` has an element in memory."""
    moved = {each.tile.array.name for each in tree.added.values() if each.tile is not None}
    tiles = [each for found in tree.tiles.values() for each in found if isinstance(each, ThreadTile)]
    return frozenset(
        each.array.name
        for each in tiles
        if each.reduction is None and each.array.name not in moved and _is_all_in(each, scop)
    )


def _is_all_in(tile: ThreadTile, scop: Scop) -> bool:
    """Whether nothing but references in ``tile`` accesses its array."""
    own = {id(each.access.node) for each in tile.references}
    return all(
        id(each.node) in own
        for statement in scop.statements
        for each in statement.accesses
        if each.array.name == tile.array.name
    )


def _is_whole(mark: isl.ScheduleNode, scop: Scop) -> bool:
    """Whether no statement of a kernel has instances elsewhere."""
    here = {each.get_tuple_name(): each for each in sets_of(mark.get_domain())}
    domains = {each.name: each.domain.intersect_params(scop.context) for each in scop.statements}
    return all(domains[name].is_subset(part) for name, part in here.items())


class _Filler:
    """Adds copies and barriers to kernels; ``transfers`` is by the name of the array.

    Tiles with several places are filled as ``stages`` says.
    """

    def __init__(self, scop: Scop, transfers: Mapping[str, Transfer], stages: CopyStages) -> None:
        self._scop = scop
        self._stages_of = stages
        self._transfers = transfers
        self.added: dict[str, AddedStatement] = {}

    def fill(self, root: isl.ScheduleNode, kernel: Kernel, tiles: Sequence[Tile]) -> isl.ScheduleNode:
        """Add what serves ``tiles``; ``root`` and the result are roots."""
        registers = [each for each in tiles if isinstance(each, ThreadTile)]
        shared = [each for each in tiles if isinstance(each, SharedTile)]
        elements = [self._owned(each, root, kernel) for each in registers]
        if registers:
            strips = find_mark(root, kernel.mark(MarkKind.POINTS)).parent()
            points = _unrolled(strips).child(0).child(0).child(0)
            root = (_unrolled(points) if any(axis.run > 1 for axis in kernel.threads) else points).root()
            for index in range(len(result_bands(find_mark(root, kernel.mark()), kernel))):
                band = result_bands(find_mark(root, kernel.mark()), kernel)[index]
                while not is_mark(band, MarkKind.RESULTS):
                    band = band.parent()
                root = _unrolled(_unrolled(band.parent()).child(0).child(0).child(0)).root()
        # the inner place first: what is added there does not move the outer one
        for depth in sorted({each.depth for each in tiles}, reverse=True):
            node = self._place(root, kernel, depth)
            for tile, (loaded, stored) in zip(registers, elements, strict=True):
                if tile.depth != depth:
                    continue
                if tile.reduction is not None:
                    node = self._combined(node, tile, stored)
                    continue
                if tile.loads and not loaded.is_empty():
                    node = self._transfer(node, tile, Purpose.LOAD, loaded)
                if tile.stores and not stored.is_empty():
                    node = self._transfer(node, tile, Purpose.STORE, stored)
            staged = [each for each in shared if each.depth == depth and each.stages > 1]
            if staged:
                node = self._stages(node, staged, kernel)
            here = [each for each in shared if each.depth == depth and each.stages == 1]
            for copy in here:
                wanted = elements_of(copy, self._transfers[copy.array.name], node, self._scop)
                node, added = add_copy(node, self._name("copy"), copy, kernel, wanted)
                self.added[added.name] = added
            if here:
                node = self._barrier(self._barrier(node, after=False), after=True)
            root = node.root()
        return root

    def _stages(
        self, node: isl.ScheduleNode, tiles: Sequence[SharedTile], kernel: Kernel
    ) -> isl.ScheduleNode:
        """Fill the next stage of ``tiles`` while the one before is used below ``node``."""
        copies = []
        for each in tiles:
            wanted = elements_of(each, self._transfers[each.array.name], node, self._scop)
            copies.append((each, staged_copy(each, wanted, kernel.threads, self._stages_of)))
        names = (f"polybuild_staged{len(self.added) + number}" for number in itertools.count())
        node, added = add_stages(node, copies, names)
        self.added |= {each.name: each for each in added}
        return node

    def _owned(self, tile: ThreadTile, root: isl.ScheduleNode, kernel: Kernel) -> tuple[isl.Map, isl.Map]:
        """What a thread loads, and what it stores."""
        transfer = self._transfers[tile.array.name]
        loaded, stored = owned(tile, root, kernel, self._scop, initialised=transfer.goes_in)
        # what is loaded, an earlier launch has stored
        read_later = transfer.comes_out or not loaded.is_empty() or not _is_all_in(tile, self._scop)
        return loaded, stored if read_later else isl.Map.empty(stored.get_space())

    @staticmethod
    def _place(root: isl.ScheduleNode, kernel: Kernel, depth: int) -> isl.ScheduleNode:
        """The node below ``depth`` loops: that of the threads, or the tiles of the sequential loops."""
        node = find_mark(root, kernel.mark(MarkKind.THREADS))
        while node.get_schedule_depth() > depth:
            node = node.parent()
        mark = find_mark(root, kernel.mark())
        if result_bands(mark, kernel) and depth == mark.get_schedule_depth() + len(kernel.blocks):
            while not is_band(node.parent()):  # around what comes before and after a sum, too
                node = node.parent()
        return node

    def _transfer(
        self, node: isl.ScheduleNode, tile: ThreadTile, purpose: Purpose, elements: isl.Map
    ) -> isl.ScheduleNode:
        node, added = add_transfer(node, self._name(purpose.value), tile, purpose, elements)
        self.added[added.name] = added
        return node

    def _combined(self, node: isl.ScheduleNode, tile: ThreadTile, stored: isl.Map) -> isl.ScheduleNode:
        """The parts of a reduction begin, are combined, and stored by the first thread along x."""
        first = isl.Set.universe(stored.get_space().params())
        lane = isl.PwAff.param_on_domain_id(first, spaces.identifier(tile.threads[-1].parameter))
        node = self._transfer(node, tile, Purpose.STORE, stored.intersect_params(lane.zero_set()))
        for purpose in (Purpose.COMBINE, Purpose.BEGIN):
            node, added = add_exchange(node, self._name(purpose.value), tile, purpose)
            self.added[added.name] = added
        return node

    def _barrier(self, node: isl.ScheduleNode, *, after: bool) -> isl.ScheduleNode:
        node, added = add_barrier(node, self._name("barrier"), after=after)
        self.added[added.name] = added
        return node

    def _name(self, purpose: str) -> str:
        return f"polybuild_{purpose}{len(self.added)}"


def _unrolled(band: isl.ScheduleNode) -> isl.ScheduleNode:
    """``band`` with a copy of the code for each of its iterations."""
    for position in range(band.band_n_member()):
        band = band.band_member_set_ast_loop_type(position, isl.ast_loop_type.unroll)
    return band


def _tiles(band: isl.ScheduleNode, position: int) -> isl.Map:
    """The tiles along a member of ``band``, for the loops of the host: ``{ [d0, ..., dn] -> [tile] }``."""
    values = isl.UnionMap.from_multi_union_pw_aff(member(band, position))
    return isl.Map.from_union_map(prefix_of(band).reverse().apply_range(values))


def _first_tile(band: isl.ScheduleNode, position: int) -> int:
    """The tile of the first block: the first there ever is where that is a negative number, else 0."""
    minimum = _tiles(band, position).lexmin_pw_multi_aff().get_pw_aff(0).min_val()
    return min(0, minimum.to_python()) if minimum.is_int() else 0


def _grid(mark: isl.ScheduleNode, position: int, axis: Axis) -> isl.PwAff:
    """The blocks that have work: as many as there are tiles, if that is fewer than the axis has."""
    band = mark.child(0)
    tiles, first = _tiles(band, position), _first_tile(band, position)
    size = isl.PwAff.val_on_domain(time_stamps_of(mark), isl.Val(axis.size))
    minimum = tiles.lexmin_pw_multi_aff().get_pw_aff(0).add_constant_val(isl.Val(-first))
    if not minimum.nonneg_set().is_equal(tiles.domain()):
        return size
    last = tiles.lexmax_pw_multi_aff().get_pw_aff(0)
    return last.add_constant_val(isl.Val(1 - first)).min(size).coalesce()


def _bind(mark: isl.ScheduleNode, kernel: Kernel) -> isl.ScheduleNode:
    """Insert the context and the filters of a kernel; returns its mark."""
    reached = time_stamps_of(mark)
    depth = mark.get_tree_depth()
    if not kernel.is_serial:
        points = find_mark(mark, kernel.mark(MarkKind.POINTS)).child(0)
        node = points.insert_filter(filter_of(points, kernel.threads, [0] * len(kernel.threads)))
        mark = node.ancestor(node.get_tree_depth() - depth)
        for index in range(len(result_bands(mark, kernel))):
            band = result_bands(mark, kernel)[index]
            node = band.insert_filter(filter_of(band, kernel.threads, [0] * len(kernel.threads)))
            mark = node.ancestor(node.get_tree_depth() - depth)
        node = mark.child(0)
        first = [_first_tile(node, position) for position in range(len(kernel.blocks))]
        node = node.insert_filter(filter_of(node, kernel.blocks, first))
        node = node.insert_context(bounds_of(kernel.axes, mark.get_schedule_depth()))
        mark = node.parent()
    if mark.get_schedule_depth():
        guard = mark.insert_guard(reached)
        return guard.child(0)
    return mark


def filter_of(band: isl.ScheduleNode, axes: Sequence[Axis], first: Sequence[int]) -> isl.UnionSet:
    """What the indices ``axes`` run, by the members of ``band``; index 0 runs the value ``first``."""
    chosen = band.get_domain()
    for position, axis in enumerate(axes):
        value = member(band, position).get_union_pw_aff(0)
        index = isl.UnionPwAff.param_on_domain_id(value.domain(), spaces.identifier(axis.parameter))
        start = isl.UnionPwAff.val_on_domain(value.domain(), isl.Val(first[position]))
        number = value.scale_down_val(isl.Val(axis.run)).floor() if axis.run > 1 else value
        difference = number.sub(start).sub(index).mod_val(isl.Val(axis.size))
        chosen = chosen.intersect(difference.zero_union_set())
    return chosen


def bounds_of(axes: Sequence[Axis], depth: int) -> isl.Set:
    """``[b0, ...] -> { [d0, ..., dn] : 0 <= b0 < size ... }``, for a context node below ``depth`` loops."""
    bounds = spaces.universe(depth)
    for axis in axes:
        index = spaces.parameter(depth, axis.parameter)
        size = spaces.constant(depth, axis.size)
        bounds = bounds.intersect(index.nonneg_set()).intersect(index.lt_set(size))
    return bounds


def _keep_whole(root: isl.ScheduleNode) -> isl.ScheduleNode:
    """Ask for the host's loops not to be cut in pieces, each of which would have kernels of its own."""

    def visit(node: isl.ScheduleNode) -> isl.ScheduleNode:
        if is_mark(node, MarkKind.KERNEL):
            return node
        if is_band(node):
            for position in range(node.band_n_member()):
                node = node.band_member_set_ast_loop_type(position, isl.ast_loop_type.atomic)
        for index in range(node.n_children()):
            node = visit(node.child(index)).parent()
        return node

    return visit(root)
