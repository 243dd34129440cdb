"""What a core takes for the instances of a statement: operations, accesses and chains, scalar or in lanes."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence

from polybuild.analysis.operations import Operations
from polybuild.effort import LONG_LOOP
from polybuild.machine.model import DOUBLE, Machine
from polybuild.scop.model import AccessKind
from polybuild.targets.cost import Cost
from polybuild.targets.cpu.cost.extents import Extents
from polybuild.targets.cpu.cost.nest import LaneWay, NestLoop, statements_below
from polybuild.targets.cpu.strides import Reference, Stride
from polybuild.targets.cpu.tilesizes import element_size
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class Body:
    """The instances of statement ``name`` below the loops ``around``; references as functions of these."""

    name: str
    around: tuple[NestLoop, ...]
    operations: Operations
    references: tuple[Reference, ...]


def cost_on_core(
    body: Body, extents: Extents, machine: Machine, compiled_bytes: int, taken: Collection[int]
) -> Cost:
    """The cost of all instances on one thread, but for what is moved between caches.

    ``extents`` are those of all loops, ``compiled_bytes`` is the size of vectors that compilers use in those
    loops (by identity) that they have ``taken`` to lanes.
    """
    trips = extents.trips
    count = extents.count
    scalar = _scalar(body, trips, machine)
    width = max(1, body.operations.width)
    found, lanes = scalar, 1
    written = next((each for each in body.around if each.lanes and body.name not in each.singles), None)
    compiled = _compilers_loop(body)
    if written is not None:
        lanes = written.lanes
        if written.registers:  # one iteration for each lane, of which a single row has less
            lanes = max(1, min(machine.vector.bytes // width, round(trips[written.dim])))
        found = _mixed(
            _in_lanes(body, written, lanes, extents, machine), scalar, _left(written, extents, lanes)
        )
    elif compiled is not None and id(compiled) in taken:
        lanes = _compilers_lanes(body, compiled, machine, compiled_bytes)
        found = _by_compiler(body, compiled, extents, machine, compiled_bytes)
    in_order = compiled is not None and bool(compiled.singles)
    together = 1 if in_order else lanes * (written.copies if written is not None else 1)
    return Cost(
        arithmetic=count * found[0],
        accesses=count * found[1],
        waiting=_waiting(body, trips, count, sum(scalar), machine) / together,
    )


def taken_to_lanes(
    bodies: Iterable[tuple[Body, Extents]], machine: Machine, compiled_bytes: int
) -> frozenset[int]:
    """The loops, by identity, of which compilers compute all ``bodies`` in lanes, as that is faster in all.

    They call no function of a library in lanes.
    """
    gains: dict[int, float] = {}
    for body, extents in bodies:
        loop = _compilers_loop(body)
        if loop is None:
            continue
        if body.operations.calls or body.operations.roots:
            gain = -math.inf
        else:
            vector = _by_compiler(body, loop, extents, machine, compiled_bytes)
            gain = extents.count * (sum(_scalar(body, extents.trips, machine)) - sum(vector))
        gains[id(loop)] = gains.get(id(loop), 0.0) + gain
    return frozenset(loop for loop, gain in gains.items() if gain > 0)


def _compilers_loop(body: Body) -> NestLoop | None:
    """The loop around ``body`` that a compiler may take to lanes."""
    return next((each for each in body.around if each.compiled and not each.unrolled), None)


def _compilers_lanes(body: Body, loop: NestLoop, machine: Machine, compiled_bytes: int) -> int:
    """The lanes that a compiler has ``loop`` around ``body`` in."""
    wide = loop.compiled is not None and loop.compiled.wide
    return max(1, (machine.vector.rows if wide else compiled_bytes) // max(1, body.operations.width))


def _by_compiler(
    body: Body, loop: NestLoop, extents: Extents, machine: Machine, compiled_bytes: int
) -> tuple[float, float]:
    """Nanoseconds of operations and accesses of an instance whose ``loop`` a compiler takes to lanes.

    All statements share what is around the vectors of a loop.
    """
    trips, unit = extents.trips, machine.arithmetic
    lanes = _compilers_lanes(body, loop, machine, compiled_bytes)
    scalar = _scalar(body, trips, machine)
    found = _mixed(_in_lanes(body, loop, lanes, extents, machine), scalar, _left(loop, extents, lanes))
    if loop.compiled is not None and not loop.compiled.whole:
        runs = math.prod(max(1.0, trips[each.dim]) for each in (loop, *_inside(body, loop)))
        around = unit.vector_loop * unit.operation / runs / statements_below(loop)
        found = (found[0] + around, found[1])
    checked = loop.compiled is not None and loop.compiled.checked
    part = _without_one(extents, loop) if checked else 1.0
    return found[0] * part + scalar[0] * (1 - part), found[1] * part + scalar[1] * (1 - part)


def _without_one(extents: Extents, loop: NestLoop) -> float:
    """How many of the runs of ``loop`` do without one iteration of all that its counters ever make."""
    whole, outside, inside = extents.boxes[0], extents.boxes[loop.dim], extents.boxes[loop.dim + 1]
    moved = (
        here / all_
        for all_, here, rest in zip(whole, outside, inside, strict=True)
        if here > 1.0 and rest == 1.0
    )
    return 1.0 - max(moved, default=1.0)


def _left(loop: NestLoop, extents: Extents, lanes: int) -> float:
    """The part of the iterations of ``loop`` that fill no vector: the last ones, if need be of all tiles."""
    trips = extents.trips[loop.dim]
    whole = (extents.boxes[0][place] for place in _moved(loop, extents))
    count = trips if trips % lanes else max(whole, default=trips)
    return (count % lanes) / max(1.0, count) if count < LONG_LOOP * lanes else 0.0


def _mixed(vector: tuple[float, float], scalar: tuple[float, float], left: float) -> tuple[float, float]:
    """Of an instance, where the part ``left`` of the iterations is scalar."""
    return (
        vector[0] * (1 - left) + scalar[0] * left,
        vector[1] * (1 - left) + scalar[1] * left,
    )


def _scalar(body: Body, trips: Sequence[float], machine: Machine) -> tuple[float, float]:
    """Nanoseconds of operations and accesses of one instance."""
    copies = math.prod(trips[each.dim] for each in body.around if each.unrolled)
    inner = next((each for each in reversed(body.around) if not each.unrolled), None)
    unit, counts = machine.arithmetic, body.operations
    operations = counts.simple + unit.loop / copies
    time = operations * unit.operation + counts.divisions * unit.divide + counts.roots * unit.root
    time += counts.calls * unit.call
    accesses = sum(_share(each, body, trips) for each in _distinct(body, inner))
    return time, accesses * unit.access


def _in_lanes(
    body: Body, loop: NestLoop, lanes: int, extents: Extents, machine: Machine
) -> tuple[float, float]:
    """The same of an instance whose loop ``loop`` runs in ``lanes``."""
    unit, vector, counts, trips = machine.arithmetic, machine.vector, body.operations, extents.trips
    copies = loop.copies * math.prod(trips[each.dim] for each in body.around if each.unrolled)
    time = (counts.simple + unit.loop / copies) * unit.operation / lanes + counts.calls * unit.call
    # what is narrower than a double takes as many times less
    time += (counts.divisions * vector.divide + counts.roots * vector.root) * counts.width / DOUBLE
    if loop.compiled and body.name in loop.singles:  # each lane is taken out and added
        time += 2 * unit.operation
    inner = next((each for each in reversed(body.around) if not each.unrolled and each is not loop), None)
    kept = inner if loop.registers or inner in _inside(body, loop) else None
    vectors = _vectors_of(loop, body, extents)
    together, accesses = adjacent_access(lanes * counts.width, counts.width, machine) / lanes, 0.0
    for each in _distinct(body, kept):
        stride, way = each.stride(loop.dim), loop.ways.get(id(each.access.node))
        if way is LaneWay.SINGLE:
            accesses += unit.access + unit.guard * unit.operation
        elif loop.registers or stride is Stride.UNIT:
            moving = frozenset[int]() if stride is Stride.NONE else vectors
            accesses += _share(each, body, trips, moving) * together
        elif stride is Stride.NONE:
            moves = inner in _inside(body, loop) and each.stride(inner.dim) is not Stride.NONE
            accesses += unit.access / lanes / loop.copies if moves or not loop.compiled else 0.0
        elif way is LaneWay.SORTED:
            accesses += together + unit.operation / lanes
        elif way is LaneWay.PACKED:
            accesses += unit.access / lanes + unit.access / _reuse(each, body, loop, trips)
        elif way is LaneWay.CARRIED:
            accesses += unit.access / lanes
        elif way is LaneWay.WINDOWED:
            accesses += _transposed(lanes, counts.width, machine)
        else:
            accesses += _strided(each, loop, lanes, machine)
    return time, accesses


def adjacent_access(size: int, width: int, machine: Machine) -> float:
    """To load or store a vector of ``size`` bytes, of elements of ``width``: it begins anywhere in a line.

    The two lines that it may be in are accessed one after the other.
    """
    in_one = max(machine.arithmetic.access, size / machine.l1.bandwidth)
    return in_one * (1 + max(0, size - width) / machine.memory.line)


def _transposed(lanes: int, width: int, machine: Machine) -> float:
    """To access an element of a row that is moved between memory and a buffer in squares of vectors."""
    moved, unit = 3, machine.arithmetic  # by rows, by columns, and where it is computed with
    rounds = (machine.vector.bytes // max(1, width)).bit_length() - 1
    return (moved * unit.access + rounds * unit.operation) / lanes


def _reuse(reference: Reference, body: Body, loop: NestLoop, trips: Sequence[float]) -> float:
    """How often the loops inside of ``loop`` read each element."""
    inside = _inside(body, loop)
    return math.prod(trips[each.dim] for each in inside if reference.stride(each.dim) is Stride.NONE)


def _inside(body: Body, loop: NestLoop) -> tuple[NestLoop, ...]:
    """The loops around ``body`` that ``loop`` has inside."""
    return body.around[body.around.index(loop) + 1 :]


def farthest_read(machine: Machine) -> int:
    """How many bytes apart elements are, at most, that are sorted out of whole vectors when loaded."""
    return machine.memory.line // 4


def _strided(reference: Reference, loop: NestLoop, lanes: int, machine: Machine) -> float:
    """To access an element where those of lanes are apart: sorted out of whole vectors if they are near.

    So are small elements that are stored in lanes which a compiler finds: others fill what is between them.
    """
    reads = reference.access.kind is AccessKind.READ
    one_by_one = machine.vector.gather if reads else machine.vector.scatter
    distance = reference.distance(loop.dim)
    if distance is None or not (reads or loop.compiled):
        return one_by_one
    step = abs(distance)
    farthest = farthest_read(machine) if reads else machine.vector.sorted_bytes
    whole = step * element_size(reference) <= farthest
    return 2.0 * step * machine.arithmetic.access / lanes if whole else one_by_one


def _distinct(body: Body, inner: NestLoop | None) -> list[Reference]:
    """The references that load or store: each element once, and none that stays in a register."""
    seen: dict[tuple[object, ...], Reference] = {}
    for each in body.references:
        if not each.access.array.extents:
            continue
        if inner is not None and each.stride(inner.dim) is Stride.NONE:
            continue
        seen.setdefault(
            (each.access.kind is AccessKind.READ, each.access.array.name, each.access.relation), each
        )
    return list(seen.values())


def _share(reference: Reference, body: Body, trips: Sequence[float], moving: Collection[int] = ()) -> float:
    """The part of a load that is left where copies of the body by unrolling share it.

    Those by the dimensions ``moving`` do not: the lanes of these vectors come to elements of their own.
    """
    shared = math.prod(
        trips[each.dim]
        for each in body.around
        if each.unrolled and each.dim not in moving and reference.stride(each.dim) is Stride.NONE
    )
    return 1.0 / max(1.0, shared)


def _vectors_of(lanes: NestLoop, body: Body, extents: Extents) -> frozenset[int]:
    """The dimensions of loops around ``body`` over the vectors of ``lanes``: these move the same counters."""
    inside = _moved(lanes, extents)
    return frozenset(each.dim for each in body.around if each is not lanes and _moved(each, extents) & inside)


def _moved(loop: NestLoop, extents: Extents) -> set[int]:
    """The places of the counters that take fewer values where ``loop`` is fixed."""
    before, after = extents.boxes[loop.dim], extents.boxes[loop.dim + 1]
    return {place for place, (old, new) in enumerate(zip(before, after, strict=True)) if new < old}


def _waiting(body: Body, trips: Sequence[float], count: float, instance: float, machine: Machine) -> float:
    """For results of earlier iterations; a short loop overlaps with the next one of those around it.

    Where its last operations wait, the first iterations of that are at work: as many as there is room for.
    """
    chained = next((each for each in reversed(body.around) if each.chain), None)
    if chained is None:
        return 0.0
    unit, own = machine.arithmetic, trips[chained.dim]
    again = chained is not body.around[0] and own <= unit.foreseen
    ahead = min(unit.ahead, unit.window / max(1.0, instance / unit.operation))
    overlap = 1.0 + again * ahead / max(1.0, own)
    copies = math.prod(trips[each.dim] for each in body.around if each.unrolled)
    # all statements of an iteration wait together
    return count / copies * chained.chain / statements_below(chained) / overlap
