"""What an instance of a statement takes in its kernel, where all multiprocessors of a device are busy.

What its threads do together is added up, as they hide little of one thing behind another::

    operations / what the device computes             two of them are one where they are fused
    + sectors that a warp accesses / threads of a warp / what caches have
    + bytes that no other instance of the launch touches / what memory has
    + vectors that it reads from shared memory / what that has, each for all points that a thread unrolls
    + divisions, roots, calls; and the loop around, where nothing is unrolled
    + its share of the time in which a block meets, and waits for operands, in tiles over time

The magnitudes were fitted to products, sums and stencils that were measured on an H200; see
``machine.model.Throughput``.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import islpy as isl

from polybuild.analysis.operations import operations_of
from polybuild.c.types import FloatingType
from polybuild.machine.model import DOUBLE, SEPARATE, Machine
from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.relations import maps_of
from polybuild.scop.model import Access, AccessKind, Statement
from polybuild.storage.buffers import element_size
from polybuild.targets.base import DeviceLimits
from polybuild.targets.device import Kernel, KernelCost, SharedTile, ThreadTile, Tile
from polybuild.targets.gpu.footprint import box_of
from polybuild.targets.gpu.memory_requests import WarpAccess, request_of
from polybuild.targets.gpu.micro_tiles import words_of
from polybuild.targets.gpu.occupancy import resident_blocks
from polybuild.targets.gpu.placement import bytes_of
from polybuild.targets.gpu.tree import find_mark, prefix_of

_in = isl.dim_type.in_


def kernel_cost(
    mark: isl.ScheduleNode,
    kernel: Kernel,
    grid: Sequence[isl.PwAff],
    accesses: Sequence[WarpAccess],
    *,
    tiles: Sequence[Tile],
    limits: DeviceLimits,
) -> KernelCost:
    """What the ``kernel`` below ``mark`` takes, whose ``grid`` is a function of the host's loops around it.

    ``accesses`` are its own, ``tiles`` what it keeps in registers and shared memory. Its loops are not bound
    to blocks and threads yet.
    """
    at_once = _at_once(kernel, tiles, limits.machine)
    model = _InstanceCosts(mark, kernel, tiles, limits)
    of_statement: dict[str, list[WarpAccess]] = defaultdict(list)
    statements: dict[str, Statement] = {}
    for each in accesses:
        of_statement[each.statement.name].append(each)
        statements[each.statement.name] = each.statement
    found = {
        name: model.instance(each, of_statement[name]) + model.waiting(each, at_once)
        for name, each in statements.items()
    }
    return KernelCost(found, tuple(_largest_grid(each) for each in grid), at_once)


def computing(statement: Statement, machine: Machine, fused: int) -> float:
    """What the operations of an instance take; a sum with a product is so many ``fused`` ones."""
    found = operations_of(statement, fused)
    doubles = any(
        isinstance(each.array.element, FloatingType) and element_size(each.array) >= DOUBLE
        for each in statement.accesses
    )
    peak = machine.throughput.double if doubles else machine.device.single
    special = found.divisions + found.roots + found.calls
    return found.simple * SEPARATE / peak + special / machine.throughput.special


def shared_among(costs: Mapping[Mark, KernelCost]) -> dict[Mark, KernelCost]:
    """The same ``costs``, where a statement with instances in several kernels has as many in each."""
    kernels = Counter(name for each in costs.values() for name in each.statements)
    return {
        mark: replace(each, statements={name: time / kernels[name] for name, time in each.statements.items()})
        for mark, each in costs.items()
    }


def _largest_grid(count: isl.PwAff) -> isl.PwAff:
    """The most that ``count`` blocks are in an iteration of the host's loops, or some more, in few words."""
    hull = isl.Map.from_pw_aff(count).range().remove_divs().simple_hull()
    return isl.Set.from_basic_set(hull).dim_max(0).coalesce()


def _at_once(kernel: Kernel, tiles: Sequence[Tile], machine: Machine) -> int:
    """How many blocks of ``kernel`` a multiprocessor holds at a time, at least one."""
    if kernel.resident:
        return kernel.resident
    registers = machine.multiprocessor.addresses
    for each in tiles:
        if isinstance(each, ThreadTile):
            registers += math.prod(each.sizes) * words_of(element_size(each.array))
    shared = sum(bytes_of(each) for each in tiles if isinstance(each, SharedTile))
    threads = math.prod(axis.size for axis in kernel.threads)
    registers = min(registers, machine.multiprocessor.of_thread)
    return max(1, resident_blocks(machine, threads, registers, shared))


class _InstanceCosts:
    """The nanoseconds of instances in the ``kernel`` below ``mark``."""

    def __init__(
        self, mark: isl.ScheduleNode, kernel: Kernel, tiles: Sequence[Tile], limits: DeviceLimits
    ) -> None:
        self._kernel = kernel
        self._machine = limits.machine
        self._fused = 1 if limits.contracts else SEPARATE
        self._points = () if kernel.in_steps else _points_of_tile(kernel)
        self._in_step = _points_of_steps(mark, kernel) if kernel.in_steps else {}
        self._unrolled = any(isinstance(each, ThreadTile) for each in tiles)
        self._launched: Mapping[str, isl.Map] = {
            each.get_tuple_name(_in): each for each in maps_of(prefix_of(mark))
        }
        self._kept = {id(one.access.node): each for each in tiles for one in each.references}

    def instance(self, statement: Statement, accesses: Sequence[WarpAccess]) -> float:
        """What one of ``statement`` takes that makes these ``accesses``."""
        loop = 0.0 if self._unrolled else self._machine.device.instance
        return self._computes(statement) + loop + sum(map(self._accesses, accesses))

    def waiting(self, statement: Statement, at_once: int) -> float:
        """The share of an instance in what blocks wait in each step; so many are ``at_once``.

        They wait as long as it takes to have operands from where the kernel keeps them.
        """
        if not self._kernel.in_steps:
            return 0.0
        machine = self._machine
        threads = math.prod(axis.size for axis in self._kernel.threads)
        points = self._in_step.get(statement.name, 1)
        near = all(self._is_near(each) for each in statement.accesses if each.kind is AccessKind.READ)
        latency = machine.multiprocessor.latency if near else machine.device.latency
        step = machine.device.meeting + points * latency
        return step / (points * threads * at_once * machine.multiprocessor.count)

    def _is_near(self, access: Access) -> bool:
        """Whether an operand is in shared memory or a register."""
        return not access.array.extents or id(access.node) in self._kept

    def _computes(self, statement: Statement) -> float:
        """What its operations take: those of products by instructions for matrices all at once."""
        product = self._kernel.product
        if product is not None and product.statement.name == statement.name:
            return SEPARATE / self._machine.throughput.matrix
        return computing(statement, self._machine, self._fused)

    def _accesses(self, asking: WarpAccess) -> float:
        """What accesses take that are alike."""
        own = {str(each.relation): each for each in asking.accesses}
        found = sum(self._access(asking, each) for each in own.values())
        return found + self._bytes(asking.first) / self._machine.device.bandwidth

    def _access(self, asking: WarpAccess, access: Access) -> float:
        """What one access takes of caches, or of shared memory; nothing of registers."""
        tile, processor = self._kept.get(id(access.node)), self._machine.multiprocessor
        rates = self._machine.throughput
        if isinstance(tile, ThreadTile):
            return 0.0
        if isinstance(tile, SharedTile):
            copied = self._copied(tile) / processor.sector / rates.sectors
            return self._vectors(asking, tile) / rates.vectors + copied
        sectors = max(request_of(asking, self._kernel, processor).sectors, processor.line // processor.sector)
        return sectors / processor.warp / rates.sectors

    def _vectors(self, asking: WarpAccess, tile: SharedTile) -> float:
        """How much of a vector an instance reads from ``tile``, for all points of a thread that share it.

        What a matrix instruction adds the threads of a warp read once between them.
        """
        part = element_size(tile.array) / self._machine.multiprocessor.vector
        if not self._unrolled:
            return part
        shared = (
            count
            for count, steps in zip(self._points, asking.steps, strict=True)
            if steps is not None and not any(steps)
        )
        product = self._kernel.product
        terms = 1 if product is None else product.instruction.terms
        return part / (math.prod(shared) * terms)

    def _copied(self, tile: SharedTile) -> float:
        """The bytes that an instance has copied to ``tile`` for it; strips copy little of each array."""
        if self._kernel.in_steps:
            return 0.0
        sizes = self._kernel.tile if tile.inner else self._kernel.tile[: len(self._kernel.blocks)]
        return tile.box.elements * element_size(tile.array) / math.prod(sizes)

    def _bytes(self, access: Access) -> float:
        """The bytes of memory that no other instance of a launch touches; others find them in caches."""
        if not access.exact or not access.relation.is_single_valued():
            return self._machine.multiprocessor.sector
        launch = self._launched.get(access.relation.get_tuple_name(_in))
        touched = access.relation if launch is None else access.relation.range_product(launch)
        return element_size(access.array) if touched.is_injective() else 0.0


def _points_of_tile(kernel: Kernel) -> tuple[int, ...]:
    """How many points of a tile a thread has along each mapped loop."""
    sizes = zip(kernel.tile, kernel.threads, strict=False)
    return tuple(-(-size // axis.size) for size, axis in sizes)


def _points_of_steps(mark: isl.ScheduleNode, kernel: Kernel) -> dict[str, int]:
    """How many points of each statement a thread has in a step at most, where that is a number."""
    turns = find_mark(mark, kernel.mark(MarkKind.POINTS)).parent()
    counted = turns.band_get_partial_schedule_union_map()
    found = {}
    for each in maps_of(prefix_of(turns)):
        in_step = isl.UnionMap.from_map(each.reverse()).apply_range(counted)
        boxes = [box_of(one) for one in maps_of(in_step)]
        if boxes and all(one is not None and one.elements for one in boxes):
            found[each.get_tuple_name(_in)] = max(one.elements for one in boxes if one is not None)
    return found
