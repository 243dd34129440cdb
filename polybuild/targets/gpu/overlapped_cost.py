"""What steps of a stencil take in tiles that overlap, of each size, and whether other forms take longer.

The sum is that of ``cost``. A tile of ``height`` iterations works on boxes as wide as what its first step
needs, which each later one needs less of, by as much as the cones of dependences spread::

    points of a step    product over space of (width + spread * steps that follow)
    again               their sum over all steps / (steps * product of widths)

What a block has not room for is not asked of the model: ``overlapped_plan`` leaves out sizes of that kind,
and those that this estimate is too low for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress

import islpy as isl

from polybuild.analysis.dependences import Dependences, accesses_of
from polybuild.analysis.trip_counts import dimension_counts
from polybuild.effort import STENCIL_STEPS
from polybuild.options import FULL_TILES, OVERLAPPED, Options
from polybuild.poly.relations import largest, sets_of
from polybuild.poly.trees import is_band
from polybuild.scop.model import Array, Scop
from polybuild.storage.buffers import element_size
from polybuild.targets.base import DeviceLimits
from polybuild.targets.gpu.cost import StepWork, arrays_of_steps, in_kernels, in_tiles, step_work
from polybuild.targets.gpu.grid import fitting_block
from polybuild.targets.gpu.occupancy import resident_blocks
from polybuild.targets.gpu.time_tile_sizes import StepLoop, fit_time_tiles
from polybuild.targets.gpu.time_tiles import find_time_tiles
from polybuild.transform.tiling.stencil import Stencil, find_stencil
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class TilePlanes:
    """What tiles of an array are: ``planes`` of elements of so many bytes of ``size``, as of ``a[t % 2]``."""

    planes: int
    size: int


@dataclass(frozen=True, slots=True)
class TileShape:
    """The ``sizes`` of a tile, time first, and the threads of its ``block`` along space."""

    sizes: tuple[int, ...]
    block: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OverlappedCost:
    """Prices tiles that overlap of a ``stencil`` whose steps do ``work`` and write arrays of ``boxes``."""

    work: StepWork
    stencil: Stencil
    boxes: tuple[TilePlanes, ...]
    options: Options
    limits: DeviceLimits

    def bytes(self, sizes: Sequence[int]) -> int:
        """What a tile of ``sizes`` takes of shared memory, about."""
        widths = self._widths(sizes, self._steps(sizes))
        return round(math.prod(widths) * sum(each.planes * each.size for each in self.boxes))

    def time(self, shape: TileShape) -> float:
        """The nanoseconds of an iteration of the loop over time in tiles and blocks of ``shape``."""
        work, sizes = self.work, shape.sizes
        height = sizes[0] if work.steps is None else max(1, min(sizes[0], work.steps))
        own = math.prod(sizes[1:])
        tiles = math.prod(math.ceil(a / b) for a, b in zip(work.extents, sizes[1:], strict=True))
        again = sum(map(math.prod, self._levels(sizes))) / (self._steps(sizes) * own)
        busy = tiles * own * again * (work.shared + work.others + work.computing)
        turns = math.ceil(tiles / (self._resident(shape) * self.limits.machine.multiprocessor.count))
        copies = max(self._moved(sizes, tiles), turns * self._loading(shape))
        launched = self.limits.machine.device.launch + copies + turns * self._stepping(shape)
        return busy + launched / height + self._begin()

    def shapes(self, sizes: Sequence[tuple[int, ...]] = ()) -> list[TileShape]:
        """Of ``sizes``, or those of the device with room for their tiles: what takes the least time first."""
        over_time = self.limits.shapes.over_time
        usual = over_time.blocks[len(self.stencil.space) - 1]
        known = over_time.overlapped[len(self.stencil.space) - 1]
        candidates = sizes or [one for each in known for one in (each, self._snug(each))]
        found: dict[TileShape, None] = {}  # in order
        for each in candidates:
            if not sizes and (self.bytes(each) > self.limits.shared_bytes or min(each) < 1):
                continue
            for more in over_time.more_threads:
                # whole warps: the power of two below the widest step
                widths = [1 << max(0, int(one).bit_length() - 1) for one in self._levels(each)[0]]
                block = fitting_block((usual[0] * more, *usual[1:]), tuple(widths), self.options, self.limits)
                found[TileShape(each, block)] = None
        return sorted(found, key=self.time)

    def _snug(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """Tiles whose widest steps have the widths of ``sizes``, which suit blocks."""
        widest = self._levels(sizes)[0]
        return sizes[0], *(2 * width - math.ceil(each) for width, each in zip(sizes[1:], widest, strict=True))

    def _steps(self, sizes: Sequence[int]) -> int:
        return sizes[0] * self.stencil.steps

    def _widths(self, sizes: Sequence[int], following: int) -> list[float]:
        """How wide a step is that so many others follow."""
        cones, scale = self.stencil.cones, self.stencil.scale
        return [
            width + float(cone.spread) * following / scale
            for width, cone in zip(sizes[1:], cones, strict=True)
        ]

    def _levels(self, sizes: Sequence[int]) -> list[list[float]]:
        """How wide each step of a tile is."""
        steps = self._steps(sizes)
        return [self._widths(sizes, steps - 1 - step) for step in range(steps)]

    def _moved(self, sizes: Sequence[int], tiles: int) -> float:
        """To copy boxes in and own parts out: by memory once, by caches where boxes overlap."""
        machine = self.limits.machine
        sector, rates = machine.multiprocessor.sector, machine.throughput
        box, own = self._widths(sizes, self._steps(sizes)), [float(each) for each in sizes[1:]]
        found = 0.0
        for each in self.boxes:
            moved = 2 * self.work.points * each.size
            copied = (math.prod(box) + math.prod(own)) * each.size / machine.multiprocessor.vector
            sectors = sum(math.prod(part[:-1]) * (part[-1] * each.size / sector + 1) for part in (box, own))
            through = tiles * (sectors / rates.sectors + copied / rates.vectors)
            found += each.planes * (moved / machine.device.bandwidth + through)
        return found

    def _resident(self, shape: TileShape) -> int:
        """How many blocks a multiprocessor holds."""
        registers = self.limits.machine.multiprocessor.addresses
        threads, shared = math.prod(shape.block), self.bytes(shape.sizes)
        return max(1, resident_blocks(self.limits.machine, threads, registers, shared))

    def _loading(self, shape: TileShape) -> float:
        """As long as a block waits for what it copies: in, and out."""
        device = self.limits.machine.device
        box = self._widths(shape.sizes, self._steps(shape.sizes))
        turns = _turns(box, shape.block) + _turns(shape.sizes[1:], shape.block)
        return 2 * device.meeting + turns * sum(each.planes for each in self.boxes) * device.latency

    def _stepping(self, shape: TileShape) -> float:
        """As long as the steps of a tile follow one another."""
        meeting, latency = self.limits.machine.device.meeting, self.limits.machine.multiprocessor.latency
        return sum(meeting + _turns(each, shape.block) * latency for each in self._levels(shape.sizes))

    def _begin(self) -> float:
        """The share of a step in what the versions begin with: arrays are read once and written twice."""
        if not self.work.steps:
            return 0.0
        moved = 3 * self.work.points * sum(each.planes * each.size for each in self.boxes)
        device = self.limits.machine.device
        return (len(self.boxes) * device.launch + moved / device.bandwidth) / self.work.steps


def _turns(widths: Sequence[float], block: Sequence[int]) -> int:
    """How many points each thread of ``block`` has at most."""
    return math.prod(math.ceil(each / count) for each, count in zip(widths, block, strict=True))


def price(scop: Scop, stencil: Stencil, options: Options, limits: DeviceLimits) -> OverlappedCost:
    """The prices of tiles of ``stencil``, which is the loop that ``scop`` begins with."""
    node = scop.schedule.get_root().child(0)
    names = {each.get_tuple_name() for each in sets_of(node.get_domain())}
    arrays = arrays_of_steps([each for each in scop.statements if each.name in names])
    boxes = tuple(TilePlanes(_planes(scop, each, len(stencil.space)), element_size(each)) for each in arrays)
    return OverlappedCost(step_work(scop, node, stencil, limits), stencil, boxes, options, limits)


def _planes(scop: Scop, array: Array, space: int) -> int:
    """How many elements of ``array`` there are for a place: along its short dimensions."""
    reads, must, may = accesses_of(scop, array)
    touched = isl.Set.from_union_set(reads.union(must).union(may).range())
    counts = [largest(each) for each in dimension_counts(touched, scop.context)]
    known = sorted(each.to_python() for each in counts if each.is_int())
    return math.prod(known[: max(0, len(counts) - space)])


def step_times(
    scop: Scop, dependences: Dependences, options: Options, limits: DeviceLimits
) -> StepTimes | None:
    """What a step takes in each form, where none is asked for; None if there are no tiles that overlap."""
    stencil = find_steps(scop, dependences, limits)
    words = set(options.device_tiles) - {FULL_TILES}
    if stencil is None or options.tile_sizes or words:
        return None
    cost = price(scop, stencil, options, limits)
    work, shapes = cost.work, cost.shapes()
    if not shapes or (work.steps is not None and work.steps < STENCIL_STEPS):
        return None
    others = {}
    node, validity = scop.schedule.get_root().child(0), dependences.validity
    with suppress(ValueError):
        usual = find_time_tiles(node, validity, options, limits)
        if usual is not None:
            fitted = fit_time_tiles(scop, usual, StepLoop(node, validity), options, limits)
            others[fitted.shape] = in_tiles(work, fitted, options, limits)
    time, kernels = cost.time(shapes[0]), in_kernels(work, limits.machine)
    limit = limits.shapes.over_time.gain * min(kernels, *others.values())
    return StepTimes(work.grid, kernels, {OVERLAPPED: time, **others}, time < limit)


def find_steps(scop: Scop, dependences: Dependences, limits: DeviceLimits) -> Stencil | None:
    """The stencil that all of ``scop`` is, where values go a few places in each step."""
    node = scop.schedule.get_root().child(0)
    stencil = find_stencil(node, dependences.validity) if is_band(node) else None
    if stencil is None or stencil.closed < len(stencil.space) or dependences.reductions:
        return None
    return stencil if len(stencil.space) <= limits.axes else None


@dataclass(frozen=True, slots=True)
class StepTimes:
    """Nanoseconds of a step of ``grid`` as ``kernels``, and in ``tiles`` by the name of their shape.

    Tiles that overlap, the first of them, are ``preferred`` where they take clearly less than all else.
    """

    grid: str
    kernels: float
    tiles: dict[str, float]
    preferred: bool

    def __str__(self) -> str:
        forms = [f"{_rounded(time)} in {name} tiles" for name, time in self.tiles.items()]
        without = f"{_rounded(self.kernels)} as kernels of its own"
        return f"a step of {self.grid} should take {', '.join(forms)}, {without}"


def _rounded(nanoseconds: float) -> str:
    """A time for people, of two digits."""
    return f"{float(f'{nanoseconds / 1000:.2g}'):g} us"
