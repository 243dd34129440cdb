"""What the leaves of a nest touch, whatever the sizes are: parts of arrays, and how they walk there."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import field

from polybuild.scop.model import AccessKind
from polybuild.targets.cpu.strides import Matrix, Reference, parametric_offset
from polybuild.targets.cpu.tilesizes import element_size
from polybuild.values import dataclass

_Steps = tuple[tuple[int, int | None], ...]


@dataclass(frozen=True, slots=True)
class TouchedRows:
    """What a reference touches in a box: ``rows``, and of each some ``elements`` within a ``span`` of bytes.

    The rows of the array have ``length`` bytes, if that is known.
    """

    rows: float
    span: float
    elements: float
    length: int | None

    def bytes(self, unit: int) -> float:
        """Bytes of the units that are touched."""
        row = max(float(unit), min(self.span, self.elements * unit))
        # short rows that follow each other share units
        if self.length is None or self.length >= unit:
            return self.rows * row
        return max(float(unit), self.rows * self.length)


@dataclass(frozen=True, slots=True)
class RowWalk:
    """How a reference goes through rows of ``length`` bytes, if that is known, with elements of ``size``.

    ``outer`` has, for each subscript but the last, the counters that move it, with their steps, without sign;
    ``last`` the same of the last one. The steps of some are not known.
    """

    outer: tuple[_Steps, ...]
    last: _Steps | None
    size: int
    length: int | None

    @classmethod
    def of(cls, reference: Reference) -> RowWalk:
        """How ``reference`` goes through its array."""
        rows = [
            tuple((place, None if step is None else abs(step)) for place, step in enumerate(row) if step != 0)
            for row in reference.matrix
        ]
        size = element_size(reference)
        return cls(tuple(rows[:-1]), rows[-1] if rows else None, size, _row_bytes(reference, size))

    def rows_in(self, box: tuple[float, ...]) -> TouchedRows:
        """What is touched while counters take as many values as ``box`` says."""
        if self.last is None:
            return TouchedRows(1.0, 0.0, 0.0, None)
        touched = math.prod(box[place] for place, _ in self.last)
        rows = math.prod(_values(each, box) for each in self.outer)
        return TouchedRows(rows, _values(self.last, box) * self.size, touched, self.length)


def _values(steps: _Steps, box: tuple[float, ...]) -> float:
    """How many values a subscript takes that goes on by ``steps`` in a ``box``."""
    return 1.0 + sum(box[place] - 1.0 if step is None else step * (box[place] - 1.0) for place, step in steps)


def _row_bytes(reference: Reference, size: int) -> int | None:
    """The bytes of a row of an array with elements of that ``size``, where its extent is known."""
    extents = reference.access.array.extents
    extent = extents[-1] if len(reference.matrix) > 1 else None
    largest = None if extent is None else extent.max_val()
    return None if largest is None or not largest.is_int() else largest.to_python() * size


@dataclass(frozen=True, slots=True)
class ArrayPart:
    """A part of an ``array``: references of one ``matrix`` and parametric ``offset`` touch the same elements.

    All but a few of them, that is.
    """

    array: str
    matrix: Matrix
    offset: Matrix

    def rows(self, others: Iterable[Matrix] = ()) -> ArrayPart:
        """The rows that it is in, whatever is touched of each; ``others`` may tell how it moves."""
        return ArrayPart(self.array, _neighbour(self.matrix, others)[:-1], self.offset)

    @property
    def is_partial(self) -> bool:
        """Whether some of its steps are numbers, and others are not known."""
        steps = [step for row in self.matrix for step in row]
        return None in steps and any(step is not None for step in steps)


def _neighbour(matrix: Matrix, others: Iterable[Matrix]) -> Matrix:
    """Which of ``others`` tells how a reference moves that ``matrix`` knows in part; itself if none does.

    What is around a corner in one iteration, as ``u[(i + 1) % n]``, is beside ``u[i]`` in all the rest. What
    data choose, of which nothing is known, is anywhere.
    """
    steps = [step for row in matrix for step in row]
    for other in others:
        known = [step for row in other for step in row]
        if len(known) != len(steps) or known == steps:  # those of another statement have its counters
            continue
        if all(step in {None, there} for step, there in zip(steps, known, strict=True)):
            return other
    return matrix


@dataclass(frozen=True, slots=True)
class LeafParts:
    """What a leaf touches: a reference to each part, by its number, and the names of arrays ``written``."""

    references: tuple[tuple[int, Reference], ...]
    written: frozenset[str]


@dataclass(frozen=True, slots=True)
class Touched:
    """What leaves touch, by their identity: ``references`` as functions of counters of statements.

    ``walks`` and ``leaves`` are what was asked for before, of references and of leaves by their identity.
    ``parts`` are those of all leaves, and the rows that they are in; ``numbers`` are their places there, and
    ``rows`` has for those of parts those of their rows.
    """

    references: Mapping[int, list[Reference]]
    walks: dict[int, RowWalk] = field(default_factory=dict)
    leaves: dict[int, LeafParts] = field(default_factory=dict)
    parts: list[ArrayPart] = field(default_factory=list)
    numbers: dict[ArrayPart, int] = field(default_factory=dict)
    rows: dict[int, int] = field(default_factory=dict)

    def walk(self, reference: Reference) -> RowWalk:
        """How one of the references goes through its array."""
        if id(reference) not in self.walks:
            self.walks[id(reference)] = RowWalk.of(reference)
        return self.walks[id(reference)]

    def parts_of(self, leaf: int) -> LeafParts:
        """What a ``leaf`` touches in its arrays."""
        if leaf not in self.leaves:
            references = self.references[leaf]
            found: dict[int, Reference] = {}
            for each in references:
                offset = parametric_offset(each.access.relation)
                found.setdefault(self._number(ArrayPart(each.access.array.name, each.matrix, offset)), each)
            written = frozenset(
                each.access.array.name for each in references if each.access.kind is not AccessKind.READ
            )
            self.leaves[leaf] = LeafParts(tuple(found.items()), written)
        return self.leaves[leaf]

    def rows_of(self, number: int, among: Iterable[int]) -> int:
        """The number of the rows that a part, by its own, is in, where it is ``among`` those touched."""
        if number in self.rows:
            return self.rows[number]
        part = self.parts[number]
        if part.is_partial:
            others = (self.parts[each] for each in among)
            return self._number(part.rows(each.matrix for each in others if each.array == part.array))
        self.rows[number] = self._number(part.rows())
        return self.rows[number]

    def _number(self, part: ArrayPart) -> int:
        if part not in self.numbers:
            self.numbers[part] = len(self.parts)
            self.parts.append(part)
        return self.numbers[part]
