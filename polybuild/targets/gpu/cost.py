"""What a step of a stencil takes on a device: as kernels of its own, or in tiles over time.

Whatever the form, points take what their operations take, and their accesses in caches or in shared memory;
kernels hide little of one thing behind another (``instance_costs``), so times are added up. A kernel a step
also takes the time in which all it touches comes from memory and goes back, or its launch if that is more.
Tiles leave memory and launches to one step of many, but their steps follow one another, each as long as
threads take to meet and to get their operands: for all strips of a block, and as often as the device has not
room for all blocks of a phase. Tiles that overlap have neither phases nor strips, and copy what they work on
to shared memory and back, but compute points of their borders again::

    kernel a step    max(kernels * launch, memory + points * (accesses + operations))
    tiles            (phases * launch + memory) / height + points * (accesses + operations)
                     + phases * strips * steps * (meeting + points of a thread * latency) * turns
    that overlap     (launch + memory + sectors of boxes + copies) / height
                     + points * again * (accesses of shared memory + operations)
                     + turns * sum over steps (meeting + points of a thread * latency)

The sums are magnitudes: ``benchmarks/results``, gpu-stencil-model, sets them beside what an H200 took. Sizes
of tiles for small grids are chosen by the same sums: lower and narrower ones have more blocks, and fewer
points for each thread. Those that overlap are priced in ``overlapped_cost``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import islpy as isl

from polybuild.analysis.trip_counts import dimension_counts
from polybuild.effort import STENCIL_STEPS
from polybuild.machine.model import SEPARATE, Machine
from polybuild.options import SHARED_MEMORY, Options
from polybuild.poly.relations import largest, sets_of
from polybuild.poly.trees import node_kind
from polybuild.scop.model import AccessKind, Array, Scop, Statement
from polybuild.storage.buffers import element_size
from polybuild.targets.base import DeviceLimits
from polybuild.targets.gpu.instance_costs import computing
from polybuild.targets.gpu.time_tiles import TimeTiles, threads_of
from polybuild.transform.tiling.stencil import Stencil
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class StepWork:
    """What a step of a stencil does, how many ``steps`` there are, if that is known, and where.

    The ``extents`` of space may be ``known``, or are those of a large grid. For each point all statements
    together move so many bytes of ``memory``, and take nanoseconds for ``computing`` and for accesses in
    ``caches``; if arrays that steps write are in shared memory, accesses of these take what ``shared``
    says, and the ``others`` still come from caches. Without tiles a step is so many ``kernels``.
    """

    steps: int | None
    extents: tuple[float, ...]
    memory: int
    caches: float
    shared: float
    others: float
    computing: float
    kernels: int
    known: bool

    @property
    def points(self) -> float:
        """Those of the grid."""
        return math.prod(self.extents)

    @property
    def grid(self) -> str:
        """What is said of the grid to people."""
        sizes = "x".join(str(round(each)) for each in self.extents)
        return f"a grid of {sizes}" if self.known else "a large grid"


def step_work(scop: Scop, node: isl.ScheduleNode, stencil: Stencil, limits: DeviceLimits) -> StepWork:
    """The work of the loop over steps ``node``; grids of unknown extents are large."""
    device = limits.machine.device
    steps, *extents = (extent(scop, node, each) for each in stencil.counters)
    names = {each.get_tuple_name() for each in sets_of(node.get_domain())}
    statements = [each for each in scop.statements if each.name in names]
    moved = [_bytes_of_point(each) for each in statements]
    usual = (device.overflow * device.cache / max(moved)) ** (1 / len(extents))
    sizes = tuple(usual if each is None else each for each in extents)
    written = {each.name for each in arrays_of_steps(statements)}
    caches, shared, others = (
        sum(times)
        for times in zip(*(_accesses(each, written, limits.machine) for each in statements), strict=True)
    )
    fused = 1 if limits.contracts else SEPARATE
    return StepWork(
        steps,
        sizes,
        sum(moved),
        caches,
        shared,
        others,
        sum(computing(each, limits.machine, fused) for each in statements),
        _kernels(node),
        None not in extents,
    )


def arrays_of_steps(statements: Sequence[Statement]) -> list[Array]:
    """The arrays that ``statements`` write."""
    found = {
        each.array.name: each.array
        for statement in statements
        for each in statement.accesses
        if each.kind is not AccessKind.READ and each.array.extents
    }
    return list(found.values())


def pays(work: StepWork, tiles: TimeTiles, options: Options, limits: DeviceLimits) -> bool:
    """Whether ``tiles`` take clearly less time than a kernel for each step."""
    if work.steps is not None and work.steps < STENCIL_STEPS:
        return False
    limit = limits.shapes.over_time.gain * in_kernels(work, limits.machine)
    return in_tiles(work, tiles, options, limits) < limit


def in_kernels(work: StepWork, machine: Machine) -> float:
    """A step as kernels of its own that share the statements evenly."""
    busy = work.memory / machine.device.bandwidth + work.caches + work.computing
    return max(work.kernels * machine.device.launch, busy * work.points)


def in_tiles(work: StepWork, tiles: TimeTiles, options: Options, limits: DeviceLimits) -> float:
    """A step in ``tiles`` over time whose values go through memory, or through shared memory."""
    device = limits.machine.device
    threads = math.prod(threads_of(tiles, tiles.closed, options, limits))
    height, *widths = tiles.sizes
    height = height if work.steps is None else max(1, min(height, work.steps))
    phases = len(tiles.phases)
    mapped = len(tiles.phases[0].tiles)
    counts = [math.ceil(size / width) for size, width in zip(work.extents, widths, strict=True)]
    turns = math.ceil(math.prod(counts[:mapped]) * threads / device.threads)
    points = math.ceil(math.prod(widths) / phases / threads)
    shared = SHARED_MEMORY in options.device_tiles
    step = device.meeting + points * (limits.machine.multiprocessor.latency if shared else device.latency)
    serial = phases * math.prod(counts[mapped:]) * tiles.stencil.steps * step * turns
    accesses = work.shared + work.others if shared else work.caches
    moved = work.memory / device.bandwidth * work.points
    return (phases * device.launch + moved) / height + (accesses + work.computing) * work.points + serial


def extent(scop: Scop, node: isl.ScheduleNode, counter: isl.UnionPwAff) -> int | None:
    """How many values ``counter`` takes at most below ``node``, None if that depends on parameters."""
    values = node.get_domain().apply(isl.UnionMap.from_union_pw_aff(counter))
    count = largest(dimension_counts(isl.Set.from_union_set(values), scop.context)[0])
    return count.to_python() if count.is_int() else None


def _bytes_of_point(statement: Statement) -> int:
    """What ``statement`` moves for a point: an element of each array that it reads, and that it writes."""
    moved = {
        (each.array.name, each.kind is AccessKind.READ): element_size(each.array)
        for each in statement.accesses
        if each.array.extents
    }
    return max(1, sum(moved.values()))


def _accesses(statement: Statement, written: set[str], machine: Machine) -> tuple[float, float, float]:
    """What different accesses of ``statement`` take in caches, side by side in a warp.

    Then those of arrays that are ``written`` in shared memory, and what the others take in caches.
    """
    processor, rates = machine.multiprocessor, machine.throughput
    caches = shared = others = 0.0
    own = {str(each.relation): each for each in statement.accesses if each.array.extents}
    for each in own.values():
        size = element_size(each.array)
        sectors = max(size * processor.warp, processor.line) / processor.sector
        through = sectors / processor.warp / rates.sectors
        caches += through
        if each.array.name in written:
            shared += size / processor.vector / rates.vectors
        else:
            others += through
    return caches, shared, others


def _kernels(node: isl.ScheduleNode) -> int:
    """How many kernels a step of the loop ``node`` is without tiles, about."""
    below = node.child(0)
    return int(below.n_children()) if node_kind(below) == isl.schedule_node_type.sequence else 1
