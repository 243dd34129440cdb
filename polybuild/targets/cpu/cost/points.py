"""Sets of integer points as products of sets of few dimensions, of which isl answers quickly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from polybuild.poly.integers import integer_of
from polybuild.values import dataclass

_set, _div, _param = isl.dim_type.set, isl.dim_type.div, isl.dim_type.param


@dataclass(frozen=True, slots=True)
class Points:
    """The product of ``factors``; ``places`` has the factor of each dimension, and its position there.

    None of the factors is empty, and none has parameters.
    """

    factors: tuple[isl.Set, ...]
    places: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, points: isl.Set) -> Points:
        """``points``, which are not empty, whatever the parameters are.

        A union of several pieces is one factor.
        """
        points = points.project_out(_param, 0, points.dim(_param))
        dimensions = points.dim(_set)
        groups = _connected(points) if points.n_basic_set() == 1 else [list(range(dimensions))]
        places = {
            dim: (number, place) for number, dims in enumerate(groups) for place, dim in enumerate(dims)
        }
        factors = tuple(_projected(points, dims) for dims in groups)
        return cls(factors, tuple(places[dim] for dim in range(dimensions)))

    def connects(self, one: int, other: int) -> bool:
        """Whether values of dimension ``one`` may decide on those of dimension ``other``."""
        return self.places[one][0] == self.places[other][0]

    def limits(self, dim: int) -> tuple[isl.Val, isl.Val]:
        """The smallest and the largest value of a dimension."""
        factor, place = self.places[dim]
        return self.factors[factor].dim_min_val(place), self.factors[factor].dim_max_val(place)

    def in_pieces(self, dim: int) -> bool:
        """Whether a dimension is one of a union, whose pieces may lie far apart."""
        return bool(self.factors[self.places[dim][0]].n_basic_set() > 1)

    def covered(self, dim: int) -> int:
        """How many whole numbers a bounded dimension of pieces covers: halves of a grid lie far apart."""
        factor, place = self.places[dim]
        pieces = (each.to_set() for each in self.factors[factor].get_basic_sets() if not each.is_empty())
        spans = [
            tuple(map(integer_of, (each.dim_min_val(place), each.dim_max_val(place)))) for each in pieces
        ]
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
