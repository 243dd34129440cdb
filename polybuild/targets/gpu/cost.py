"""What a step of a stencil takes on a device: as a kernel of its own, or in tiles over time.

A kernel a step takes its launches, or, where that is more, the time in which all it touches comes from
memory and goes back. Tiles leave that to one step of many, but their steps follow one another, each as long
as threads take to meet and to get their operands: for all strips of a block, and as often as the device has
not room for all blocks of a phase::

    kernel a step    sum over kernels of max(launch, bytes / bandwidth)
    tiles            (phases * launch + bytes / bandwidth) / height
                     + phases * strips * steps * (meeting + points of a thread * latency) * turns

These are magnitudes: devices differ by factors, the two forms on large grids by more. Sizes of tiles for
small grids are chosen by the same sum: lower and narrower ones have more blocks, and fewer points for each
thread.
"""

from __future__ import annotations

import math

import islpy as isl

from polybuild.analysis.trip_counts import dimension_counts
from polybuild.effort import STENCIL_STEPS
from polybuild.machine.model import Device
from polybuild.poly.relations import largest, sets_of
from polybuild.poly.trees import node_kind
from polybuild.scop.model import AccessKind, Scop
from polybuild.storage.buffers import element_size
from polybuild.targets.gpu.time_tiles import TimeTiles
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class StepWork:
    """What the steps of a stencil do: how many there are, if that is known, and ``extents`` of space.

    These may be ``known``, or are those of a large grid. Each statement moves so many ``bytes_of_point``;
    without tiles a step is so many ``kernels``.
    """

    steps: int | None
    extents: tuple[float, ...]
    bytes_of_point: tuple[int, ...]
    kernels: int
    known: bool


def step_work(scop: Scop, node: isl.ScheduleNode, tiles: TimeTiles, device: Device) -> StepWork:
    """The work of the loop over steps ``node``; grids of unknown extents are large."""
    steps, *extents = (extent(scop, node, each) for each in tiles.stencil.counters)
    bytes_of_point = _bytes_of_points(scop, node)
    usual = (device.overflow * device.cache / max(bytes_of_point)) ** (1 / len(extents))
    sizes = tuple(usual if each is None else each for each in extents)
    return StepWork(steps, sizes, tuple(bytes_of_point), _kernels(node), None not in extents)


def pays(scop: Scop, node: isl.ScheduleNode, tiles: TimeTiles, threads: int, device: Device) -> bool:
    """Whether ``tiles`` with blocks of ``threads`` take less time than a kernel for each step.

    The steps are those of the loop ``node``.
    """
    work = step_work(scop, node, tiles, device)
    if work.steps is not None and work.steps < STENCIL_STEPS:
        return False
    return in_tiles(work, tiles, threads, device) < _in_kernels(work, device)


def _in_kernels(work: StepWork, device: Device) -> float:
    """A step as kernels of its own that share the statements evenly."""
    moved = sum(work.bytes_of_point) * math.prod(work.extents) / device.bandwidth
    return max(work.kernels * device.launch, moved)


def in_tiles(work: StepWork, tiles: TimeTiles, threads: int, device: Device) -> float:
    """A step in ``tiles`` over time with blocks of ``threads``."""
    height, *widths = tiles.sizes
    height = height if work.steps is None else max(1, min(height, work.steps))
    phases = len(tiles.phases)
    mapped = len(tiles.phases[0].tiles)
    counts = [math.ceil(size / width) for size, width in zip(work.extents, widths, strict=True)]
    turns = math.ceil(math.prod(counts[:mapped]) * threads / device.threads)
    points = math.ceil(math.prod(widths) / phases / threads)
    step = device.meeting + points * device.latency
    serial = phases * math.prod(counts[mapped:]) * tiles.stencil.steps * step * turns
    moved = sum(work.bytes_of_point) * math.prod(work.extents) / device.bandwidth
    return (phases * device.launch + moved) / height + serial


def extent(scop: Scop, node: isl.ScheduleNode, counter: isl.UnionPwAff) -> int | None:
    """How many values ``counter`` takes at most below ``node``, None if that depends on parameters."""
    values = node.get_domain().apply(isl.UnionMap.from_union_pw_aff(counter))
    count = largest(dimension_counts(isl.Set.from_union_set(values), scop.context)[0])
    return count.to_python() if count.is_int() else None


def _bytes_of_points(scop: Scop, node: isl.ScheduleNode) -> list[int]:
    """What each statement moves for a point: an element of each array that it reads, and that it writes."""
    names = {each.get_tuple_name() for each in sets_of(node.get_domain())}
    found = []
    for statement in scop.statements:
        if statement.name in names:
            moved = {
                (each.array.name, each.kind is AccessKind.READ): element_size(each.array)
                for each in statement.accesses
                if each.array.extents
            }
            found.append(max(1, sum(moved.values())))
    return found


def _kernels(node: isl.ScheduleNode) -> int:
    """How many kernels a step of the loop ``node`` is without tiles, about."""
    below = node.child(0)
    return int(below.n_children()) if node_kind(below) == isl.schedule_node_type.sequence else 1
