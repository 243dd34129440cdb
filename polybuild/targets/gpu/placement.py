"""Where a kernel keeps what it touches: registers, shared memory or the device's memory (PPCG 7.2, 7.3).

The references to an array that the kernel writes are one group, as no copy may
miss what another changes; references to one that it only reads are grouped where
one box for two is smaller than two boxes. A group goes to registers if each
element belongs to one point of the thread's loops, whatever the sequential loops
do, and is used again; to shared memory if it is only read, and several threads use it
or threads side by side do not touch neighbours (a single element all threads get at once
from anywhere). All else stays where it is.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import islpy as isl

from polybuild.analysis.reductions import Reduction
from polybuild.poly.marks import MarkKind
from polybuild.poly.relations import maps_of
from polybuild.poly.trees import prefix_schedule
from polybuild.scop.model import AccessKind, Array, Scop
from polybuild.storage.buffers import element_size
from polybuild.targets.base import DeviceLimits
from polybuild.targets.device import Box, Kernel, KernelAccess, SharedTile, ThreadTile, Tile
from polybuild.targets.gpu.coalescing import steps_along
from polybuild.targets.gpu.footprint import box_of
from polybuild.targets.gpu.micro_tiles import words_of
from polybuild.targets.gpu.model import GpuMapping
from polybuild.targets.gpu.tree import find_mark, prefix_of, result_bands

_in, _out = isl.dim_type.in_, isl.dim_type.out


def place(
    scop: Scop, mapping: GpuMapping, kernel: Kernel, arrays: Sequence[Array], limits: DeviceLimits
) -> tuple[Tile, ...]:
    """The tiles of ``kernel``; ``arrays`` are those in the device's memory."""
    if kernel.is_serial:
        return ()
    placer = _Placer(scop, mapping, kernel, limits)
    registers: list[ThreadTile] = []
    shared: list[SharedTile] = []
    for array in arrays:
        references = placer.references(array)
        if not array.extents or not references:
            continue
        in_sum = [each for each in references if placer.is_in_sum(each)]
        if any(each.access.kind is not AccessKind.READ for each in references):
            tile = placer.registers(array, references) if in_sum else None
            if tile is not None:
                registers.append(tile)
        elif in_sum:
            shared += placer.shared(array, in_sum)
    inner = [each for each in shared if each.inner]
    if any(each.stages == 1 for each in inner) or sum(map(bytes_of, shared)) > limits.shared_bytes:
        shared = [replace(each, stages=1) for each in shared]
    chosen = [
        replace(tile, name=f"{tile.name}{index}")
        for index, tile in enumerate(_within_budget(shared, limits.shared_bytes - _exchanged(registers)))
    ]
    return (*registers, *chosen)


def _exchanged(registers: Sequence[ThreadTile]) -> int:
    """The bytes through which threads exchange parts of reductions, where that takes shared memory."""
    parts = [each for each in registers if each.reduction is not None]
    return sum(8 * math.prod(axis.size for axis in each.threads) for each in parts)


def _within_budget(tiles: list[SharedTile], size: int) -> list[SharedTile]:
    """The smaller of ``tiles``, as many as fit in ``size`` bytes."""
    chosen: set[int] = set()
    left = size
    for tile in sorted(tiles, key=bytes_of):
        if bytes_of(tile) <= left:
            chosen.add(id(tile))
            left -= bytes_of(tile)
    return [tile for tile in tiles if id(tile) in chosen]


def bytes_of(tile: SharedTile) -> int:
    """The shared memory of a tile."""
    return math.prod(tile.extents) * element_size(tile.array)


class _Placer:
    """Places the references of one kernel; ``outer`` is below the blocks, ``inner`` above the threads."""

    def __init__(self, scop: Scop, mapping: GpuMapping, kernel: Kernel, limits: DeviceLimits) -> None:
        mark = find_mark(mapping.schedule.get_root(), kernel.mark())
        self._scop = scop
        self._shared_rows = mapping.shared
        self._kernel = kernel
        self._limits = limits
        points = find_mark(mark, kernel.mark(MarkKind.POINTS)).child(0)
        inner = find_mark(mark, kernel.mark(MarkKind.THREADS))
        outer = mark.child(0).child(0)
        self._outer, self._inner = (_by_statement(prefix_of(node)) for node in (outer, inner))
        self._depths = outer.get_schedule_depth(), inner.get_schedule_depth()
        prefix = prefix_schedule(points)
        self._stamps = _by_statement(prefix.flat_range_product(points.get_subtree_schedule_union_map()))
        self._first = points.get_schedule_depth()
        partial = points.band_get_partial_schedule_union_map()
        turns = points.ancestor(2).band_get_partial_schedule_union_map()
        self._partial = _by_statement(turns.flat_range_product(partial))
        self._users = _by_statement(prefix_of(inner).flat_range_product(partial))
        self._owners = _by_statement(prefix_of(outer).flat_range_product(partial))
        for band in result_bands(mark, kernel):
            own = band.band_get_partial_schedule_union_map()
            strips = band.ancestor(2).band_get_partial_schedule_union_map()
            self._partial |= _by_statement(strips.flat_range_product(own))
            self._owners |= _by_statement(prefix_of(outer).flat_range_product(own))

    def references(self, array: Array) -> list[KernelAccess]:
        """The references of the kernel to ``array``."""
        return [
            KernelAccess(statement, access)
            for statement in self._scop.statements
            if statement.name in self._outer
            for access in statement.accesses
            if access.array.name == array.name
        ]

    def is_in_sum(self, reference: KernelAccess) -> bool:
        """Whether ``reference`` is not of a prologue or an epilogue."""
        return reference.statement.name in self._inner

    def registers(self, array: Array, references: list[KernelAccess]) -> ThreadTile | None:
        """The references as a register tile, if they can be one and values are used again."""
        kernel = self._kernel
        strips = list(zip(kernel.tile, kernel.threads, strict=False))
        if not all(map(_is_plain, references)) or any(size % axis.turn for size, axis in strips):
            return None
        sizes = tuple(size // axis.size for size, axis in strips)
        if functools.reduce(int.__mul__, sizes) > self._limits.thread_registers:
            return None
        nodes = {id(each.access.node) for each in references}
        reduction = self._reduction(array, references)
        alone = len(nodes) == 1 and self._owners[references[0].statement.name].is_injective()
        if reduction is None and alone:
            return None
        owned = self._touched_by(self._owners, self._outer, references)
        owners = owned if reduction is None else owned.project_out(_in, owned.dim(_in) - 1, 1)
        if not (owned.is_single_valued() and owners.is_injective()):
            return None
        return ThreadTile(
            f"{array.name}_own",
            array,
            tuple(references),
            self._depths[0],
            _functions(self._outer),
            sizes,
            kernel.threads,
            _functions(self._partial),
            reduction,
        )

    def _reduction(self, array: Array, references: list[KernelAccess]) -> Reduction | None:
        """The reduction that all ``references`` are of, whose lanes are the threads along x."""
        found = [self._shared_rows.get(each.statement.name) for each in references]
        reduction = found[0]
        if reduction is None or reduction.lanes is None or any(each is not reduction for each in found):
            return None
        if reduction.array.name != array.name or any(
            id(each.access.node) not in reduction.own for each in references
        ):
            return None
        points = self._partial[reduction.statement.name]
        last, lane = points.dim(_out) - 1, reduction.lanes.position
        lanes = points.is_subset(isl.Map.universe(points.get_space()).equate(_in, lane, _out, last))
        size = reduction.lanes.count
        whole = self._kernel.threads[-1].size == self._kernel.tile[len(self._kernel.threads) - 1] == size
        return reduction if lanes and whole else None

    def shared(self, array: Array, references: list[KernelAccess]) -> list[SharedTile]:
        """The tiles of an array that is only read."""
        groups: list[tuple[list[KernelAccess], SharedTile]] = []
        for each in filter(_is_plain, references):
            tile = self._tile(array, [each])
            if tile is None:
                continue
            members = [each]
            for other in list(groups):
                both = self._tile(array, other[0] + members)
                if both is not None and both.box.elements <= other[1].box.elements + tile.box.elements:
                    groups.remove(other)
                    members, tile = other[0] + members, both
            groups.append((members, tile))
        return [tile for members, tile in groups if tile.box.elements > 1 and self._pays(members, tile.box)]

    def _tile(self, array: Array, references: list[KernelAccess]) -> SharedTile | None:
        tiles = []
        for prefixes in (self._outer, self._inner):
            touched = union_of(
                [
                    prefixes[each.statement.name].reverse().apply_range(relation_of(each, self._scop))
                    for each in references
                ]
            )
            tiles.append(box_of(touched))
        outer, inner = tiles
        if inner is None:
            return None
        hoisted = outer is not None and outer.elements <= inner.elements
        box = outer if hoisted and outer is not None else inner
        order, run = self._layout(references, len(box.sizes))
        waits = not hoisted and self._may_wait(array, box) and self._holds_all_points(references, box)
        row = box.sizes[order[-1]]
        if self._kernel.product is not None:
            row = self._kernel.product.instruction.row_of(row)
        elif run > 1:
            row = (-(-row // run) + (order[-1] != len(order) - 1)) * run
        elif len(order) > 1:
            row += not all(self._steps(each)[-1:] in ([1], [-1]) for each in references)
        return SharedTile(
            f"{array.name}_shared",
            array,
            tuple(references),
            self._depths[0 if hoisted else 1],
            _functions(self._outer if hoisted else self._inner),
            box,
            order,
            row,
            inner=not hoisted,
            run=run,
            stages=self._limits.stages.count if run > 1 and waits else 1,
        )

    def _holds_all_points(self, references: list[KernelAccess], box: Box) -> bool:
        """Whether ``box`` has a place for what each point of a tile touches, if it exists or not.

        Those of a full tile step through it from its first place on, or do not move in it.
        """
        for each in references:
            touched = self._users[each.statement.name].reverse().apply_range(relation_of(each, self._scop))
            for position in range(len(self._kernel.threads)):
                if self._kernel.tile[position] == 1:
                    continue  # its only point exists
                steps = self._steps(each, position)
                moving = [dim for dim, step in enumerate(steps) if step]
                if len(steps) != len(box.sizes) or len(moving) > 1:
                    return False
                for dim in moving:
                    size = self._kernel.tile[position]
                    if steps[dim] != 1 or box.sizes[dim] < size:
                        return False
                    place = self._place_in_tile(box.offset[dim], position, size)
                    count = touched.dim(_out)
                    own = touched.project_out(_out, dim + 1, count - dim - 1).project_out(_out, 0, dim)
                    if not own.reset_tuple_id(_out).is_subset(place.align_params(own.get_space())):
                        return False
        return True

    def _place_in_tile(self, first: isl.Aff, position: int, size: int) -> isl.Map:
        """``{ [d0, ..., dn, p0, ...] -> [first + p % size] }`` for the point at ``position``."""
        depth = first.dim(_in)
        begin = isl.Map.from_aff(first).insert_dims(_in, depth, len(self._kernel.threads))
        value = isl.PwMultiAff.from_map(begin).get_at(0)
        space = isl.LocalSpace.from_space(begin.get_space().domain())
        point = isl.PwAff.var_on_domain(space, isl.dim_type.set, depth + position)
        return isl.Map.from_pw_aff(value.add(point.mod_val(isl.Val(size))))

    def _may_wait(self, array: Array, box: Box) -> bool:
        """Whether there is one loop, for whose next tile threads can hold ``box`` in registers."""
        if self._depths[1] != self._depths[0] + 1:
            return False
        threads = math.prod(axis.size for axis in self._kernel.threads)
        return (
            words_of(-(-box.elements // threads) * element_size(array)) <= self._limits.thread_registers // 2
        )

    def _layout(self, references: list[KernelAccess], dims: int) -> tuple[tuple[int, ...], int]:
        """The order of the dimensions of a box in shared memory, and the runs along the last of them.

        A thread's points side by side find their elements side by side, those of the loop along x first.
        Matrix instructions take elements one by one, so that boxes lie there as in memory.
        """
        usual = tuple(range(dims))
        if self._kernel.product is not None:
            return usual, self._kernel.product.instruction.run
        for position in reversed(range(len(self._kernel.threads))):
            run = self._kernel.threads[position].run
            found = {tuple(self._steps(each, position)) for each in references}
            along = found.pop() if run > 1 and len(found) == 1 else ()
            moved = [dim for dim, step in enumerate(along) if step]
            if len(moved) == 1 and along[moved[0]] == 1:
                return (*(dim for dim in usual if dim != moved[0]), moved[0]), run
        return usual, 1

    def _pays(self, references: list[KernelAccess], box: Box) -> bool:
        """Whether several threads use an element, or threads side by side do not touch neighbours.

        What one thread alone uses again, it keeps itself; and a box without neighbours has none to copy.
        Where each point is visited once, neighbours come from the cache of the multiprocessor, which is as
        fast as its shared memory: a stencil gains nothing from copies, and loses by their barriers.
        """
        in_lanes = not self._shared_rows.keys().isdisjoint(self._outer)
        if in_lanes and not any(any(self._steps(each)) for each in references):
            return False  # what is one element for a warp all its threads get at once
        if self._depths[0] == self._depths[1] and all(map(self._is_coalesced, references)):
            return False
        users = self._touched_by(self._users, self._inner, references)
        return not users.is_injective() or (
            box.sizes[-1] > 1 and not all(map(self._is_coalesced, references))
        )

    def _touched_by(
        self, points: Mapping[str, isl.Map], prefixes: Mapping[str, isl.Map], references: list[KernelAccess]
    ) -> isl.Map:
        """``{ [d0, ..., dn, p0, ...] -> [[d0, ..., dn] -> array[x0, ...]] }`` for the points of a thread."""
        return union_of(
            [
                points[each.statement.name]
                .reverse()
                .apply_range(prefixes[each.statement.name].range_product(relation_of(each, self._scop)))
                for each in references
            ]
        )

    def _is_coalesced(self, reference: KernelAccess) -> bool:
        """Whether threads side by side touch elements side by side, or the same one."""
        steps = self._steps(reference)
        return bool(steps) and not any(steps[:-1]) and steps[-1] in {0, 1, -1}

    def _steps(self, reference: KernelAccess, position: int = -1) -> list[int]:
        """By how much each subscript changes from a point to the next; empty if that is not one number.

        The points are those of the loop at ``position`` of the mapped ones, by default that along x.
        """
        loop = self._first + position % len(self._kernel.threads)
        return steps_along(reference.access, self._stamps[reference.statement.name], loop) or []


def _functions(maps: Mapping[str, isl.Map]) -> dict[str, isl.PwMultiAff]:
    return {name: isl.PwMultiAff.from_map(each) for name, each in maps.items()}


def _is_plain(reference: KernelAccess) -> bool:
    return bool(reference.access.exact and reference.access.relation.is_single_valued())


def relation_of(reference: KernelAccess, scop: Scop) -> isl.Map:
    """The access relation of a reference for the instances that run."""
    relation = reference.access.relation.intersect_domain(reference.statement.domain)
    return relation.intersect_params(scop.context)


def _by_statement(union: isl.UnionMap) -> dict[str, isl.Map]:
    return {each.get_tuple_name(isl.dim_type.in_): each for each in maps_of(union)}


def union_of(maps: list[isl.Map]) -> isl.Map:
    """The union of maps of one space, at least one."""
    return functools.reduce(isl.Map.union, maps).coalesce()
