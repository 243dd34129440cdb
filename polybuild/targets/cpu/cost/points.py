"""Sets of integer points as unions of products of sets of few dimensions, of which isl answers quickly."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import field, replace

import islpy as isl

from polybuild.effort import NARROWED_DIMENSIONS
from polybuild.poly.integers import integer_of
from polybuild.poly.memory import remembered
from polybuild.poly.spaces import stride_of
from polybuild.values import dataclass

_set, _div, _param = isl.dim_type.set, isl.dim_type.div, isl.dim_type.param


_Known = tuple[isl.Set, tuple[isl.Val, isl.Val]]


@dataclass(frozen=True, slots=True)
class Product:
    """The product of ``factors``; ``places`` has the factor of each dimension, and its position there."""

    factors: tuple[isl.Set, ...]
    places: tuple[tuple[int, int], ...]

    def fixed(self, dim: int, value: isl.Val) -> Product | None:
        """What has ``value`` in a dimension; None if there is nothing."""
        factor, place = self.places[dim]
        fixed = self.factors[factor].fix_val(_set, place, value)
        if fixed.is_empty():
            return None
        return replace(self, factors=(*self.factors[:factor], fixed, *self.factors[factor + 1 :]))


@dataclass(frozen=True, slots=True)
class Points:
    """The union of ``pieces``, each a product, none of them empty; none has parameters.

    Of several pieces the ``union`` is kept as well, whose dimensions are at ``places``. ``known`` has limits
    that were asked for before, of a factor (by identity, which it keeps alive) at a position.
    """

    pieces: tuple[Product, ...]
    union: isl.Set | None
    places: tuple[int, ...]
    known: dict[tuple[int, int], _Known] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, points: isl.Set) -> Points:
        """``points``, which are not empty, whatever the parameters are."""
        return _points_of(points)

    def connects(self, one: int, other: int) -> bool:
        """Whether values of dimension ``one`` may decide on those of dimension ``other``.

        In a union they may decide on the pieces that are left.
        """
        places = self.pieces[0].places
        return self.union is not None or places[one][0] == places[other][0]

    def limits(self, dim: int) -> tuple[isl.Val, isl.Val]:
        """The smallest and the largest value of a dimension."""
        lows, highs = zip(*self._spans(dim), strict=True)
        return functools.reduce(isl.Val.min, lows), functools.reduce(isl.Val.max, highs)

    def _spans(self, dim: int) -> list[tuple[isl.Val, isl.Val]]:
        """The smallest and the largest value of a dimension in each piece."""
        return [self._span(each, *each.places[dim]) for each in self.pieces]

    def _span(self, piece: Product, number: int, place: int) -> tuple[isl.Val, isl.Val]:
        factor = piece.factors[number]
        key = id(factor), place
        if key not in self.known:
            narrow, there = _narrowed(factor, place)
            self.known[key] = factor, (narrow.dim_min_val(there), narrow.dim_max_val(there))
        return self.known[key][1]

    def in_pieces(self) -> bool:
        """Whether there are several pieces, which may lie far apart."""
        return len(self.pieces) > 1

    def covered(self, dim: int) -> int:
        """How many whole numbers a bounded dimension of pieces covers: halves of a grid lie far apart."""
        spans = [(integer_of(low), integer_of(high)) for low, high in self._spans(dim)]
        covered, end = 0, min(low for low, _ in spans) - 1
        for low, high in sorted(spans):
            covered += max(0, high - max(low - 1, end))
            end = max(end, high)
        return covered

    def stride(self, dim: int) -> isl.Val:
        """The step between values of a dimension, whatever later ones are."""
        if self.union is not None:
            return stride_of(self.union, self.places[dim])
        number, place = self.pieces[0].places[dim]
        return stride_of(self.pieces[0].factors[number], place)

    def fixed(self, dim: int, value: isl.Val) -> Points | None:
        """Those that have ``value`` in a dimension; None if there are none."""
        kept = tuple(found for each in self.pieces if (found := each.fixed(dim, value)) is not None)
        union = None if self.union is None else self.union.fix_val(_set, self.places[dim], value)
        return replace(self, pieces=kept, union=union) if kept else None


@remembered  # statements that follow each other have the same loops around them, at each size
def _points_of(points: isl.Set) -> Points:
    points = points.project_out(_param, 0, points.dim(_param))
    first = _first_of_equals(points)  # counters are, most often, what loops run over
    kept = sorted(set(first))
    position = {dim: place for place, dim in enumerate(kept)}
    places = tuple(position[each] for each in first)
    points = _projected(points, kept)
    pieces = points.get_basic_sets()
    if len(pieces) == 1:
        return Points((_product(points, places),), None, places)
    sets = [each.to_set() for each in pieces if not each.is_empty()]
    return Points(tuple(_product(each, places) for each in sets), points, places)


def _product(piece: isl.Set, places: Sequence[int]) -> Product:
    """A set of one piece whose dimensions are at ``places``, as the product of what is not related."""
    groups = _connected(piece)
    found = {dim: (number, place) for number, dims in enumerate(groups) for place, dim in enumerate(dims)}
    return Product(tuple(_projected(piece, dims) for dims in groups), tuple(found[each] for each in places))


def _narrowed(points: isl.Set, place: int) -> tuple[isl.Set, int]:
    """``points`` without dimensions that take no division to leave out, and where ``place`` is then.

    Most loops over tiles are such, where what is in the tiles remains.
    """
    count = points.dim(_set)
    if count < NARROWED_DIMENSIONS:
        return points, place
    divisions = _divisions(points)
    alone = points.project_out(_set, place + 1, count - place - 1).project_out(_set, 0, place)
    if _divisions(alone) <= divisions:  # most often, and in less than half the time of one after the other
        return alone, 0
    for dim in reversed(range(count)):
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
    if points.is_box():  # which isl sees at once
        return [[dim] for dim in range(points.dim(_set))]
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
