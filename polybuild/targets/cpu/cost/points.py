"""Sets of integer points as products of sets of few dimensions, of which isl answers quickly."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import field, replace

import islpy as isl

from polybuild.effort import NARROWED_DIMENSIONS
from polybuild.poly.integers import integer_of
from polybuild.values import dataclass

_set, _div, _param = isl.dim_type.set, isl.dim_type.div, isl.dim_type.param


_Known = tuple[isl.Set, list[tuple[isl.Val, isl.Val]]]


@dataclass(frozen=True, slots=True)
class Points:
    """The product of ``factors``; ``places`` has the factor of each dimension, and its position there.

    None of the factors is empty, and none has parameters. ``known`` has limits that were asked for before,
    of a factor (by identity, which it keeps alive) at a position.
    """

    factors: tuple[isl.Set, ...]
    places: tuple[tuple[int, int], ...]
    known: dict[tuple[int, int], _Known] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, points: isl.Set) -> Points:
        """``points``, which are not empty, whatever the parameters are.

        A union of several pieces is one factor.
        """
        points = points.project_out(_param, 0, points.dim(_param))
        dimensions = points.dim(_set)
        first = _first_of_equals(points)  # counters are, most often, what loops run over
        kept = sorted(set(first))
        points = _projected(points, kept)
        groups = _connected(points) if points.n_basic_set() == 1 else [list(range(len(kept)))]
        places = {
            kept[dim]: (number, place) for number, dims in enumerate(groups) for place, dim in enumerate(dims)
        }
        factors = tuple(_projected(points, dims) for dims in groups)
        return cls(factors, tuple(places[first[dim]] for dim in range(dimensions)))

    def connects(self, one: int, other: int) -> bool:
        """Whether values of dimension ``one`` may decide on those of dimension ``other``."""
        return self.places[one][0] == self.places[other][0]

    def limits(self, dim: int) -> tuple[isl.Val, isl.Val]:
        """The smallest and the largest value of a dimension."""
        lows, highs = zip(*self._spans(dim), strict=True)
        return functools.reduce(isl.Val.min, lows), functools.reduce(isl.Val.max, highs)

    def _spans(self, dim: int) -> list[tuple[isl.Val, isl.Val]]:
        """The smallest and the largest value of a dimension in each piece that is not empty."""
        number, place = self.places[dim]
        factor = self.factors[number]
        key = id(factor), place
        if key not in self.known:
            narrow, there = _narrowed(factor, place)
            spans = [
                (low, each.dim_max_val(there))
                for each in map(isl.Set.from_basic_set, narrow.get_basic_sets())
                if not (low := each.dim_min_val(there)).is_nan()
            ]
            self.known[key] = factor, spans
        return self.known[key][1]

    def in_pieces(self, dim: int) -> bool:
        """Whether a dimension is one of a union, whose pieces may lie far apart."""
        return bool(self.factors[self.places[dim][0]].n_basic_set() > 1)

    def covered(self, dim: int) -> int:
        """How many whole numbers a bounded dimension of pieces covers: halves of a grid lie far apart."""
        spans = [(integer_of(low), integer_of(high)) for low, high in self._spans(dim)]
        covered, end = 0, min(low for low, _ in spans) - 1
        for low, high in sorted(spans):
            covered += max(0, high - max(low - 1, end))
            end = max(end, high)
        return covered

    def stride(self, dim: int) -> isl.Val:
        """The step between values of a dimension."""
        factor, place = self.places[dim]
        return self.factors[factor].get_stride(place)

    def fixed(self, dim: int, value: isl.Val) -> Points | None:
        """Those that have ``value`` in a dimension; None if there are none."""
        factor, place = self.places[dim]
        fixed = self.factors[factor].fix_val(_set, place, value)
        if fixed.is_empty():
            return None
        return replace(self, factors=(*self.factors[:factor], fixed, *self.factors[factor + 1 :]))


def _narrowed(points: isl.Set, place: int) -> tuple[isl.Set, int]:
    """``points`` without dimensions that take no division to leave out, and where ``place`` is then.

    Most loops over tiles are such, where what is in the tiles remains.
    """
    if points.n_basic_set() > 1 or points.dim(_set) < NARROWED_DIMENSIONS:
        return points, place
    divisions = _divisions(points)
    for dim in reversed(range(points.dim(_set))):
        if dim != place:
            without = points.project_out(_set, dim, 1)
            if _divisions(without) <= divisions:
                points, place = without, place - (dim < place)
    return points, place


def _divisions(points: isl.Set) -> int:
    return sum(int(each.dim(_div)) for each in points.get_basic_sets())


def _first_of_equals(points: isl.Set) -> list[int]:
    """For each dimension the first one that all constraints say to have the same value, most often itself."""
    equals = set.intersection(*map(_equal_dimensions, points.get_basic_sets()))
    first = list(range(points.dim(_set)))
    for later, earlier in sorted(equals):
        first[later] = first[earlier]
    return first


def _equal_dimensions(piece: isl.BasicSet) -> set[tuple[int, int]]:
    """The pairs of dimensions, the later one first, that a constraint says to be equal."""
    found = set()
    for each in piece.get_constraints():
        if not each.is_equality() or not each.get_constant_val().is_zero():
            continue
        steps = [each.get_coefficient_val(_set, dim) for dim in range(piece.dim(_set))]
        used = [dim for dim, step in enumerate(steps) if not step.is_zero()]
        if len(used) == 2 and not each.involves_dims(_div, 0, piece.dim(_div)):
            earlier, later = used
            if steps[earlier].neg().eq(steps[later]):
                found.add((later, earlier))
    return found


def _connected(points: isl.Set) -> list[list[int]]:
    """The dimensions of a set in one piece, in groups that no constraint relates to each other."""
    piece = points.get_basic_sets()[0]
    columns = [(kind, dim) for kind in (_set, _div) for dim in range(piece.dim(kind))]
    groups = [{column} for column in columns]
    for constraint in piece.get_constraints():
        used = {column for column in columns if constraint.involves_dims(*column, 1)}
        related = [each for each in groups if each & used]
        if len(related) > 1:
            groups = [each for each in groups if not each & used] + [set().union(*related)]
    dimensions = (sorted(dim for kind, dim in each if kind == _set) for each in groups)
    return sorted(each for each in dimensions if each)


def _projected(points: isl.Set, dims: Sequence[int]) -> isl.Set:
    """``points`` in the dimensions ``dims`` alone."""
    for dim in reversed(range(points.dim(_set))):
        if dim not in dims:
            points = points.project_out(_set, dim, 1)
    return points
