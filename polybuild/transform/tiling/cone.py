"""The dependence cone: skewing factors of tiling hyperplanes, and offsets of statements.

PLDI 2008, section 3.2.

A dependence between two statements is kept as the generators of its distances: corners
``(1, dt, ds)`` and directions ``(0, dt, ds)`` of a polyhedron, as Farkas' lemma needs them: a
hyperplane goes ahead along all distances if and only if it does along the generators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import islpy as isl

from polybuild.effort import CONE_OFFSET, CONE_ROUNDS
from polybuild.poly.integers import integer_of
from polybuild.poly.memory import remembered
from polybuild.values import dataclass

Number = int | Fraction
"""A rational number, an int where it is whole: most are, and fractions take ten times as long to compute."""


@dataclass(frozen=True, slots=True)
class Generator:
    """A corner (``corner`` is true) or a direction of the distances between two places."""

    corner: bool
    time: Number
    space: Number


@dataclass(frozen=True, slots=True)
class Distances:
    """The distances from one statement to another, one polyhedron per dimension of space."""

    source: str
    target: str
    space: tuple[tuple[Generator, ...], ...]


def generators(distances: isl.Set) -> tuple[Generator, ...]:
    """The generators of the hull of a set of ``(dt, ds)`` without parameters.

    They are the constraints on the coefficients of the hyperplanes that are nowhere negative.
    """
    found: dict[Generator, None] = {}
    for piece in distances.remove_divs().get_basic_sets():
        for constraint in piece.coefficients().flatten().get_constraints():
            weight, time, space = (
                integer_of(constraint.get_coefficient_val(isl.dim_type.set, dim)) for dim in range(3)
            )
            for sign in (1, -1) if constraint.is_equality() else (1,):
                if weight:
                    found[Generator(True, _quotient(time, weight), _quotient(space, weight))] = None
                else:
                    found[Generator(False, sign * time, sign * space)] = None
    # that the coefficient of the constant is not negative is no generator
    return tuple(each for each in found if each.corner or each.time or each.space)


def _quotient(dividend: Number, divisor: Number) -> Number:
    """The quotient of two rational numbers."""
    found = Fraction(dividend, divisor)
    return found.numerator if found.denominator == 1 else found


def minimum_skew(
    dependences: Sequence[Distances], dim: int, sign: int, maximum: int | None = None
) -> Fraction | None:
    """The minimum ``skew`` for which ``skew * t + sign * s`` can go ahead along all ``dependences``.

    Each statement may add an offset of its own, so what counts is circles of
    dependences: the one that moves farthest per step decides. None if some circle moves
    without advancing in time, or if the factor would be more than ``maximum``.
    """
    skew: Number = 0
    for each in dependences:
        for one in each.space[dim]:
            if not one.corner:
                if one.time <= 0 and sign * one.space + skew * one.time < 0:
                    return None
                if one.time > 0:
                    skew = max(skew, _quotient(-sign * one.space, one.time))
    for _ in range(CONE_ROUNDS):
        if maximum is not None and skew > maximum:
            return None
        circle = _bad_circle(dependences, dim, sign, skew)
        if circle is None:
            return Fraction(skew)
        time = sum(one.time for one in circle)
        if time <= 0:
            return None
        skew = _quotient(-sum(sign * one.space for one in circle), time)
    return None


def _bad_circle(
    dependences: Sequence[Distances], dim: int, sign: int, skew: Number
) -> list[Generator] | None:
    """A circle of dependences along which ``skew * t + sign * s`` goes back (Bellman-Ford)."""
    arcs: dict[tuple[str, str], tuple[Number, Generator]] = {}  # the one that goes back most
    for each in dependences:
        ends = each.source, each.target
        for one in each.space[dim]:
            ahead = skew * one.time + sign * one.space
            if one.corner and (ends not in arcs or ahead < arcs[ends][0]):
                arcs[ends] = ahead, one
    names = sorted({name for ends in arcs for name in ends})
    height: dict[str, Number] = dict.fromkeys(names, 0)
    came: dict[str, tuple[str, Generator]] = {}
    last: str | None = None
    for _ in range(len(names) + 1):
        last = None
        for (source, target), (ahead, one) in arcs.items():
            reached = height[source] - ahead
            if reached > height[target]:
                height[target] = reached
                came[target] = (source, one)
                last = target
        if last is None:
            return None
    at = last or ""
    for _ in names:  # back into the circle
        at = came[at][0]
    circle: list[Generator] = []
    start = at
    while not circle or at != start:
        at, one = came[at]
        circle.append(one)
    return circle


@remembered  # whoever tiles what was found to be a stencil asks again
def offsets(
    dependences: tuple[Distances, ...],
    names: tuple[str, ...],
    skews: tuple[tuple[Fraction | None, Fraction | None], ...],
    scales: tuple[int, int],
) -> Mapping[str, tuple[int, ...]] | None:
    """Offsets ``(in time, in space...)`` per statement that keep all dependences in the cone of ``skews``.

    ``skews`` are ``(fall, rise)`` per dimension; time and space are multiplied by ``scales``
    before the offsets are added. The minimum offsets in time are taken; None if there are none.
    """
    at = {
        (name, dim): f"x{index}_{1 + dim}"
        for index, name in enumerate(names)
        for dim in range(-1, len(skews))
    }
    # those in time first: the minimum offsets are the lexicographically smallest ones
    variables = [at[name, dim] for dim in range(-1, len(skews)) for name in names]
    constraints = [f"0 <= {each} <= {CONE_OFFSET * max(scales)}" for each in variables]
    for each in dependences:
        for dim, (fall, rise) in enumerate(skews):
            for one in each.space[dim]:
                gaps = [(-1, scales[0] * one.time), (dim, scales[1] * one.space)]
                if any(distance.denominator != 1 for _, distance in gaps):
                    return None  # the hull of integer distances has integer corners
                later, aside = (
                    f"({distance} + {int(one.corner)} * ({at[each.target, axis]} - {at[each.source, axis]}))"
                    for axis, distance in gaps
                )
                constraints.append(f"{later} >= 0")
                for skew, sign in ((rise, ""), (fall, "-")):
                    if skew is not None:
                        ratio = skew * scales[1] / scales[0]
                        side = f"{sign}{ratio.denominator} * {aside}"
                        constraints.append(f"{ratio.numerator} * {later} + {side} >= 0")
    chosen = isl.Set(f"{{ [{', '.join(variables)}] : {' and '.join(dict.fromkeys(constraints))} }}").lexmin()
    if chosen.is_empty():
        return None
    point = chosen.sample_point()
    values = {
        name: point.get_coordinate_val(isl.dim_type.set, position).to_python()
        for position, name in enumerate(variables)
    }
    return {name: tuple(values[at[name, dim]] for dim in range(-1, len(skews))) for name in names}
