"""What a nest moves between the levels of memory: the lines that its loops touch, and what they find there.

The footprint of a nest at some depth is the union of the boxes that its references touch, those that differ
by constants being one (thesis, section 5.3; Wolf and Lam, PLDI 1991). What one iteration of a loop leaves in
a cache is there in the next one if the footprint of an iteration fits: then the loop moves each line once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from polybuild.targets.cpu.cost.extents import Extents
from polybuild.targets.cpu.cost.nest import Nest, NestLeaf, NestLoop, NestSequence, leaves
from polybuild.targets.cpu.cost.touched import Touched, TouchedRows
from polybuild.targets.cpu.strides import Matrix, Reference, parametric_offset
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class MemoryLevel:
    """Something that keeps ``capacity`` bytes in units of ``unit``: a cache with lines, or pages.

    The part ``kept`` is certainly there: beyond it more and more is missing, as sets fill up. What is packed
    side by side fills all sets alike.
    """

    capacity: float
    unit: int
    kept: float

    def missing(self, size: float, *, packed: bool = False) -> float:
        """The part of ``size`` bytes, ``packed`` or not, that is gone when they are used again."""
        return min(1.0, max(0.0, size / self.capacity - (1.0 if packed else self.kept)))


@dataclass(frozen=True, slots=True)
class _Footprint:
    """What a nest touches: ``size`` bytes, of which ``moved`` enter a level or leave it where it all fits.

    Where it does not, references that meet the same elements at different times, as rows and columns of a
    matrix do, fetch them each for themselves: ``separate`` bytes. What is written moves both ways.
    """

    size: float
    moved: float
    separate: float

    def bounded_by(self, runs: float, inside: _Footprint) -> _Footprint:
        """What is touched, but no more than ``runs`` times what is ``inside``."""
        return _Footprint(
            min(self.size, runs * inside.size),
            min(self.moved, runs * inside.moved),
            min(self.separate, runs * inside.separate),
        )


@dataclass(frozen=True, slots=True)
class Traffic:
    """The bytes that a nest moves where leaves, by their identity, have ``extents``, by what is ``touched``.

    ``found`` are footprints that were asked for before, ``wholes`` those of arrays, ``boxes`` what references
    touch in boxes, ``inside`` the leaves of nests, ``moves`` what nests move through levels.
    """

    extents: Mapping[int, Extents]
    touched: Touched
    found: dict[tuple[int, int, int], _Footprint] = field(default_factory=dict)
    wholes: dict[int, dict[str, float]] = field(default_factory=dict)
    boxes: dict[tuple[int, tuple[float, ...]], TouchedRows] = field(default_factory=dict)
    inside: dict[int, tuple[NestLeaf, ...]] = field(default_factory=dict)
    moves: dict[tuple[int, tuple[MemoryLevel, ...]], tuple[float, ...]] = field(default_factory=dict)

    def through(self, nest: Nest, levels: tuple[MemoryLevel, ...]) -> tuple[float, ...]:
        """``moved`` for each of ``levels``, while ``nest``, which lives as long as this, runs once."""
        key = id(nest), levels
        if key not in self.moves:
            self.moves[key] = tuple(self.moved(nest, each) for each in levels)
        return self.moves[key]

    def entering(self, segments: Sequence[Nest], levels: tuple[MemoryLevel, ...]) -> list[tuple[float, ...]]:
        """``through`` for each of ``segments``, one after the other, without what earlier ones left there.

        Where everything together fits, all that they touch is moved once.
        """
        alone = [self.through(each, levels) for each in segments]
        if len(segments) < 2:
            return alone
        together = [leaf for each in segments for leaf in self._leaves(each)]
        new: list[float] = []
        for level, moved in zip(levels, zip(*alone, strict=True), strict=True):
            whole = self._boxed_footprint(together, level.unit, 0)
            there = 1.0 - level.missing(whole.size)
            new.append(1.0 - (there * max(0.0, 1.0 - whole.moved / sum(moved)) if sum(moved) else 0.0))
        return [tuple(part * each for part, each in zip(new, moved, strict=True)) for moved in alone]

    def moved(self, nest: Nest, level: MemoryLevel, depth: int = 0) -> float:
        """Bytes in whole units that enter ``level``, or leave it, while ``nest`` runs once at ``depth``."""
        footprint = self._footprint(nest, level.unit, depth)
        whole = footprint.moved + level.missing(footprint.size) * (footprint.separate - footprint.moved)
        if footprint.size <= level.capacity or isinstance(nest, NestLeaf):
            return whole
        if isinstance(nest, NestSequence):
            return sum(self.moved(each, level, depth) for each in nest.children)
        inside = self._footprint(nest.body, level.unit, depth + 1).size
        missing = level.missing(inside, packed=_is_packed(nest))
        if not missing:
            return whole
        trips, body = self._trips(nest), self.moved(nest.body, level, depth + 1)
        # lanes share the lines that neighbours share
        together = max(1.0, min(nest.lanes * nest.copies, trips))
        again = trips / together * max(body, together * whole / max(1.0, trips))
        return max(whole, missing * again + (1.0 - missing) * whole)

    def _trips(self, loop: NestLoop) -> float:
        """The iterations of ``loop``, as counted for what runs most in it.

        Those of nests along diagonals are fewer than there are, and as long as the middle one. A statement at
        one place beside them has them all, and says nothing of what moves.
        """
        inside = (self.extents[id(leaf)] for leaf in self._leaves(loop))
        return max(((each.count, each.trips[loop.dim]) for each in inside), default=(0.0, 0.0))[1]

    def _runs(self, loop: NestLoop, depth: int) -> float:
        """How often the body of ``loop``, which is at ``depth``, runs for one run of it."""
        inside = [self.extents[id(leaf)] for leaf in self._leaves(loop)]
        return max(
            (instances_inside(each, depth) / instances_inside(each, depth + 1) for each in inside),
            default=0.0,
        )

    def _leaves(self, nest: Nest) -> tuple[NestLeaf, ...]:
        """The leaves of ``nest``."""
        if id(nest) not in self.inside:
            self.inside[id(nest)] = tuple(leaf for leaf, _ in leaves(nest))
        return self.inside[id(nest)]

    def _footprint(self, nest: Nest, unit: int, depth: int) -> _Footprint:
        """Bytes of the units that ``nest`` touches and moves while it runs once at ``depth``."""
        key = id(nest), unit, depth
        if key not in self.found:
            boxed = self._boxed_footprint(self._leaves(nest), unit, depth)
            if isinstance(nest, NestLoop):  # boxes around diagonals hold far more than these do
                boxed = boxed.bounded_by(self._runs(nest, depth), self._footprint(nest.body, unit, depth + 1))
            self.found[key] = boxed
        return self.found[key]

    def _boxed_footprint(self, inside: Iterable[NestLeaf], unit: int, depth: int) -> _Footprint:
        sizes: dict[int, float] = {}
        written: set[str] = set()
        for leaf in inside:
            found = self.extents[id(leaf)]
            box, largest = found.boxes[depth], math.prod(found.trips[depth:]) * unit
            parts = self.touched.parts_of(id(leaf))
            for part, each in parts.references:
                size = min(largest, self._rows_of(each, box).bytes(unit))
                sizes[part] = max(sizes.get(part, 0.0), size)
            written |= parts.written
        rows: dict[int, float] = {}
        # parts of the same rows share units, or one is small
        for part, size in sizes.items():
            key = self.touched.rows_of(part, sizes)
            rows[key] = max(rows.get(key, 0.0), size)
        arrays: dict[str, float] = {}
        for key, size in rows.items():
            name = self.touched.parts[key].array
            arrays[name] = arrays.get(name, 0.0) + size
        whole = self._arrays(unit)
        touched = {name: min(size, whole.get(name, size)) for name, size in arrays.items()}
        back = sum(size for name, size in touched.items() if name in written)
        again = sum(arrays[name] - size for name, size in touched.items())
        return _Footprint(sum(touched.values()), moved := sum(touched.values()) + back, moved + again)

    def rows_of(self, reference: Reference, box: tuple[float, ...], unit: int) -> tuple[float, float]:
        """Rows that ``reference`` touches while counters take what ``box`` says, and bytes of their units."""
        found = self._rows_of(reference, box)
        return found.rows, found.bytes(unit)

    def row_of(self, reference: Reference, box: tuple[float, ...]) -> float:
        """The bytes from the first to the last element of a row that ``reference`` touches in ``box``."""
        return self._rows_of(reference, box).span

    def whole(self, unit: int) -> float:
        """The bytes of all arrays: what references touch in all."""
        return sum(self._arrays(unit).values())

    def _rows_of(self, reference: Reference, box: tuple[float, ...]) -> TouchedRows:
        key = id(reference), box
        found = self.boxes.get(key)
        if found is None:
            found = self.boxes[key] = self.touched.walk(reference).rows_in(box)
        return found

    def bytes_of(self, reference: Reference, box: tuple[float, ...], unit: int) -> float:
        """Bytes of the units that ``reference`` touches while counters take what ``box`` says."""
        return self.rows_of(reference, box, unit)[1]

    def _arrays(self, unit: int) -> Mapping[str, float]:
        """The bytes of each array: what its references touch in all, at most, in each of its parts."""
        if unit not in self.wholes:
            parts: dict[tuple[str, Matrix], float] = {}
            for leaf, extents in self.extents.items():
                for each in self.touched.references[leaf]:
                    part = each.access.array.name, parametric_offset(each.access.relation)
                    size = min(extents.count * unit, self.bytes_of(each, extents.boxes[0], unit))
                    parts[part] = max(parts.get(part, 0.0), size)
            found: dict[str, float] = {}
            for (name, _), size in parts.items():
                found[name] = found.get(name, 0.0) + size
            self.wholes[unit] = found
        return self.wholes[unit]


def instances_inside(extents: Extents, depth: int) -> float:
    """Instances in an iteration of each of the first ``depth`` loops: diagonals are longest in the middle."""
    if depth == 0:
        return extents.count
    found = 1.0
    for trips, box in zip(reversed(extents.trips[depth:]), reversed(extents.boxes[depth:-1]), strict=True):
        found = min(trips * found, max(1.0, math.prod(box)))
    return found


def _is_packed(nest: Nest) -> bool:
    """Whether operands in ``nest`` are packed for register tiles."""
    return any(loop.registers for _, around in leaves(nest) for loop in around)
