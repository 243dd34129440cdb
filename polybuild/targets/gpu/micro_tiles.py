"""How much of a product one thread computes: tile, block and micro-tile by what they need and what they save.

In each iteration of the sequential loops a thread reads what its points have in common once, a vector at a
time, and updates all of them::

    multiply-adds for each load    points / sum over reads of (own elements of it / elements of a vector)

Among the micro-tiles whose values fit registers, with enough threads at once, and whose boxes fit shared
memory, that with the most is taken; where all extents are known, one with a block for each multiprocessor
before those with fewer. How many blocks registers have room for is told to the compiler: it may use what
is there, and no more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import islpy as isl

from polybuild.scop.model import AccessKind, Scop
from polybuild.storage.buffers import element_size
from polybuild.targets.base import DeviceLimits
from polybuild.targets.gpu.coalescing import dated, steps_along
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class MicroTile:
    """Sizes of a ``tile`` along all members of a band, of a ``block`` along those that are mapped."""

    tile: tuple[int, ...]
    block: tuple[int, ...]

    @property
    def threads(self) -> int:
        """The threads of a block."""
        return math.prod(self.block)


@dataclass(frozen=True, slots=True)
class _Reference:
    """An access of elements of ``size`` bytes: how its subscripts change with each member of the band."""

    array: str
    size: int
    steps: tuple[tuple[int, ...], ...]
    written: bool

    def moves(self, member: int) -> bool:
        """Whether ``member`` leads to other elements."""
        return any(self.steps[member])

    def own(self, points: Sequence[int]) -> int:
        """How many elements a thread has that has so many ``points`` along the mapped members."""
        return math.prod(count for member, count in enumerate(points) if self.moves(member))

    def box(self, tile: Sequence[int]) -> int:
        """The elements of the box that a tile touches."""
        pairs = list(zip(self.steps, tile, strict=True))
        dims = range(len(self.steps[0]))
        return math.prod(1 + sum(abs(steps[dim]) * (size - 1) for steps, size in pairs) for dim in dims)


def micro_tile(
    scop: Scop,
    band: isl.ScheduleNode,
    mapped: int,
    extents: Sequence[int | None],
    limits: DeviceLimits,
) -> MicroTile | None:
    """The best micro-tile for ``band``, whose first ``mapped`` members are parallel, two or three.

    ``extents`` has the trip counts of all members as far as they are known. None where one point is all that
    fits, where accesses have no steps of their own, and for sums over several loops outside of products.
    """
    references = _references(scop, band)
    if references is None or mapped < 2 or (mapped > 2 and len(extents) > mapped + 1):
        return None
    found = [
        (_quality(references, shape, mapped, extents, limits), shape)
        for shape in _shapes(mapped, extents, limits)
        if _fits(references, shape, mapped, limits)
    ]
    return max(found, key=lambda pair: pair[0])[1] if found else None


def resident_blocks(
    scop: Scop, band: isl.ScheduleNode, mapped: int, shape: MicroTile, limits: DeviceLimits
) -> int:
    """How many blocks of ``shape`` the registers of a multiprocessor have room for; 0: not as it is.

    ``band`` and ``mapped`` as for ``micro_tile``.
    """
    references = _references(scop, band)
    fits = references is not None and _fits(references, shape, mapped, limits)
    return _resident(references, shape, mapped, limits) if references is not None and fits else 0


def exceeded(
    scop: Scop, band: isl.ScheduleNode, mapped: int, shape: MicroTile, limits: DeviceLimits
) -> tuple[str, ...]:
    """What ``shape`` takes more of than there is, and what becomes of it; arguments as for ``micro_tile``."""
    references, found = _references(scop, band), []
    if references is None or any(
        size % threads for size, threads in zip(shape.tile[:mapped], shape.block, strict=True)
    ):
        return ()
    sizes = f"tiles of {'x'.join(map(str, shape.tile))}, blocks of {'x'.join(map(str, shape.block))} threads"
    results, shared = _accumulators(references, shape, mapped), _shared(references, shape, limits)
    if results > limits.thread_registers:
        found.append(
            f"{sizes}: a thread has {results} results, its registers hold {limits.thread_registers};"
            " all of them stay in memory"
        )
    if shared > limits.shared_bytes:
        found.append(
            f"{sizes}: what a tile reads takes {shared} bytes, shared memory has {limits.shared_bytes};"
            " some of it is read from memory"
        )
    return tuple(found)


def largest_element(scop: Scop, band: isl.ScheduleNode) -> int:
    """The bytes of the largest element of an array that is accessed below ``band``."""
    return max((element_size(each.array) for each, _ in dated(scop, band) if each.array.extents), default=1)


def _references(scop: Scop, band: isl.ScheduleNode) -> list[_Reference] | None:
    outer, members = band.get_schedule_depth(), band.band_n_member()
    found: dict[_Reference, None] = {}
    for access, date in dated(scop, band):
        if not access.array.extents:
            continue
        steps = [steps_along(access, date, outer + member) for member in range(members)]
        if None in steps:
            return None
        known = tuple(tuple(each) for each in steps if each is not None)
        written = access.kind is not AccessKind.READ
        found[_Reference(access.array.name, element_size(access.array), known, written)] = None
    return list(found)


def _shapes(mapped: int, extents: Sequence[int | None], limits: DeviceLimits) -> Iterator[MicroTile]:
    """The candidates: blocks are those of the device, along an outermost of three loops single."""
    outer, products = (1,) * (mapped - 2), limits.shapes.products
    for block in products.blocks:
        for points in products.batched if outer else products.points:
            wide = tuple(map(int.__mul__, block, points))
            for steps in products.steps:
                inner = [steps if known is None else min(steps, max(1, known)) for known in extents[mapped:]]
                yield MicroTile((*outer, *wide, *inner), (*outer, *block))


def words_of(size: int) -> int:
    """The registers, of 32 bits, that so many bytes take."""
    return -(-size // 4)


def _points(shape: MicroTile, mapped: int) -> list[int]:
    return [size // threads for size, threads in zip(shape.tile[:mapped], shape.block, strict=True)]


def _fits(references: Sequence[_Reference], shape: MicroTile, mapped: int, limits: DeviceLimits) -> bool:
    shared = _shared(references, shape, limits)
    return (
        shape.threads * _resident(references, shape, mapped, limits) >= limits.shapes.products.threads
        and limits.stages.count * shared <= limits.shared_bytes
        and shape.threads <= limits.block_threads
        and _accumulators(references, shape, mapped) <= limits.thread_registers
    )


def _shared(references: Sequence[_Reference], shape: MicroTile, limits: DeviceLimits) -> int:
    """The bytes of one stage of all boxes, whose rows may be longer."""
    rows = shape.tile[-1] * limits.machine.multiprocessor.vector
    return sum(each.box(shape.tile) * each.size + rows for each in _reads(references))


def _accumulators(references: Sequence[_Reference], shape: MicroTile, mapped: int) -> int:
    """The elements of the largest array that a thread keeps."""
    points = _points(shape, mapped)
    return max((each.own(points) for each in references if each.written), default=0)


def _resident(references: Sequence[_Reference], shape: MicroTile, mapped: int, limits: DeviceLimits) -> int:
    """How many blocks at once have the registers that they need: for results, operands and copies."""
    points, processor = _points(shape, mapped), limits.machine.multiprocessor
    words = processor.addresses
    for each in ({each.array: each for each in references if each.written}).values():
        words += each.own(points) * words_of(each.size)
    for each in _reads(references):
        words += each.own(points) * words_of(each.size)
    words += words_of(_shared(references, shape, limits) // shape.threads)  # on their way to shared memory
    words = -(-words // processor.granularity) * processor.granularity
    if words > processor.of_thread and not limits.stages.asynchronous:
        return 0
    words = min(words, processor.of_thread)
    warps = processor.registers // processor.schedulers // (words * processor.warp)
    return warps * processor.schedulers // -(-shape.threads // processor.warp)


def _reads(references: Sequence[_Reference]) -> list[_Reference]:
    written = {each.array for each in references if each.written}
    return [each for each in references if each.array not in written]


def _quality(
    references: Sequence[_Reference],
    shape: MicroTile,
    mapped: int,
    extents: Sequence[int | None],
    limits: DeviceLimits,
) -> tuple[bool, float, int]:
    """What is better is greater: enough blocks, multiply-adds for each load, and those between barriers."""
    points = _points(shape, mapped)
    vector = limits.machine.multiprocessor.vector
    loads = sum(-(-each.own(points) * each.size // vector) for each in _reads(references))
    known = [each for each in extents[:mapped] if each is not None]
    blocks = math.prod(-(-count // size) for count, size in zip(known, shape.tile, strict=False))
    enough = len(known) < mapped or blocks >= limits.machine.multiprocessor.count
    return enough, math.prod(points) / max(1, loads), math.prod(shape.tile[mapped:])
