"""Hybrid tiling: hexagons in time and one dimension of space, parallelograms in the others.

Thesis, section 5.2.

Hexagons of one phase lie side by side and run at once; those of the other phase fill the space
between them, half a tile later. The strips that parallelograms cut a hexagon into run one after
the other and bound its working set::

    phase 0   T = floor((t + h+1) / (2h+2))
              S_0 = floor((s_0 + floor(fall*h) + w_0+1 + T*(floor(rise*h) - floor(fall*h))) / period)
    phase 1   T = floor(t / (2h+2)),  S_0 = floor((s_0 + T*(floor(rise*h) - floor(fall*h))) / period)
    both      S_i = floor((s_i + rise_i*u) / w_i),  u = t less where the tile of time starts

with ``period = 2*w_0 + 2 + floor(fall*h) + floor(rise*h)``. In equation (5) the thesis has
``floor(rise*h)`` for the first ``floor(fall*h)``; tiles then overlap where the two differ. The
left neighbour of a tile, by which its lower left side is cut, begins ``w_0 + 1 + floor(fall*h)``
before it, and so says the offset above.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import islpy as isl

from polybuild.transform.tiling.phases import (
    Phase,
    divided,
    insert_phases,
    lower_bounded,
    plus,
    skewed,
    times,
    upper_bounded,
)
from polybuild.transform.tiling.stencil import Cone, Stencil
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class Hexagons:
    """A tiling of the plane of time and space by hexagons, which are ``2*height + 2`` steps high.

    ``width`` + 1 is how many places the first and the last row of a hexagon have at least.
    Raises ValueError where the hexagons would not be convex (equation 3).
    """

    cone: Cone
    height: int
    width: int

    def __post_init__(self) -> None:
        if self.height < 0 or self.width < minimum_width(self.cone, self.height):
            raise ValueError("this hexagon is too narrow for its dependence cone")

    @property
    def steps(self) -> int:
        """How many steps of time a hexagon covers."""
        return 2 * self.height + 2

    @property
    def period(self) -> int:
        """The distance between two hexagons of one phase."""
        fall, rise = _sides(self.cone)
        return 2 * self.width + 2 + math.floor(fall * self.height) + math.floor(rise * self.height)

    def origin(self, phase: int) -> tuple[int, int]:
        """What to add to time and place so that tile ``(0, 0)`` of a phase starts at the origin."""
        if phase == 1:
            return 0, 0
        return self.height + 1, self.width + 1 + math.floor(_sides(self.cone)[0] * self.height)

    def bounds(self) -> tuple[tuple[Fraction, int, int, int], ...]:
        """The slanted sides, as ``low <= skew.denominator * sign*b + skew.numerator * a <= high``.

        ``a`` and ``b`` are counted from the corner of the box around a tile; entries are
        ``(skew, sign, low, high)``: equations (8), (10), (12) and (14).
        """
        fall, rise = _sides(self.cone)
        h, w = self.height, self.width
        down, up = math.floor(fall * h), math.floor(rise * h)
        top = 2 * h + 1
        return (
            (
                fall,
                -1,
                math.ceil(fall.denominator * (fall * h - down - w - up) - fall.denominator + 1),
                math.floor(fall.denominator * (top * fall - down)),
            ),
            (
                rise,
                1,
                math.ceil(rise.denominator * rise * h - rise.denominator + 1),
                math.floor(rise.denominator * (top * rise + down + w)),
            ),
        )


def minimum_width(cone: Cone, height: int) -> int:
    """The minimum width with which hexagons of ``height`` are convex (equation 3)."""
    sides = (side + (side * height) % 1 for side in _sides(cone))
    return max(0, math.ceil(max(sides) - 1))


def hybrid(
    node: isl.ScheduleNode, stencil: Stencil, height: int, width: int, strips: Sequence[int]
) -> isl.ScheduleNode:
    """Tile the stencil whose loop over time is ``node``; returns the node that took its place.

    ``height`` and ``width`` are those of the hexagons, in the first dimension of space; ``strips``
    are the widths in as many of the others, which need bounds on one side. The first dimension
    needs them on both. Tiles start with the same statement if ``height + 1`` is a multiple of
    ``stencil.steps``. Raises ValueError if the hexagons are too narrow.
    """
    return insert_phases(node, hybrid_phases(stencil, height, width, strips))


def hybrid_phases(stencil: Stencil, height: int, width: int, strips: Sequence[int]) -> list[Phase]:
    """The two phases of hybrid tiling, the one that runs first first."""
    hexagons = Hexagons(stencil.cones[0], height, width)
    return [_phase(stencil, hexagons, phase, strips) for phase in (0, 1)]


def _phase(stencil: Stencil, hexagons: Hexagons, phase: int, strips: Sequence[int]) -> Phase:
    fall, rise = _sides(hexagons.cone)
    in_time, in_space = hexagons.origin(phase)
    time = plus(stencil.time, in_time)
    wave = divided(time, hexagons.steps)
    drift = math.floor(rise * hexagons.height) - math.floor(fall * hexagons.height)
    place = plus(stencil.space[0], in_space).add(times(wave, drift))
    tile = divided(place, hexagons.period)
    step = time.sub(times(wave, hexagons.steps))
    point = place.sub(times(tile, hexagons.period))
    instances = stencil.time.domain()
    for skew, sign, low, high in hexagons.bounds():
        side = skewed(skew, step, times(point, sign))
        instances = instances.intersect(lower_bounded(side, low)).intersect(upper_bounded(side, high))
    chunks, points = cut(stencil, step, strips)
    lean = Fraction(drift, hexagons.period)
    return Phase(instances, wave, (tile,), chunks, (step, point, *points), lean)


def cut(
    stencil: Stencil, step: isl.UnionPwAff, widths: Sequence[int]
) -> tuple[tuple[isl.UnionPwAff, ...], tuple[isl.UnionPwAff, ...]]:
    """Parallelograms in all dimensions of space but the first: strips, and places in them (equations 16, 19).

    ``step`` is the time since the tile of time began.
    """
    strips, points = [], []
    for place, cone, width in zip(stencil.space[1:], stencil.cones[1:], widths, strict=False):
        if cone.rise is None:
            break
        moved = skewed(cone.rise, step, place)
        strips.append(divided(moved, width * cone.rise.denominator))
        points.append(moved.sub(times(strips[-1], width * cone.rise.denominator)))
    return tuple(strips), tuple(points)


def _sides(cone: Cone) -> tuple[Fraction, Fraction]:
    """``fall`` and ``rise`` of a cone that is closed."""
    if cone.fall is None or cone.rise is None:
        raise ValueError("hexagons need dependences that are bounded on both sides")
    return cone.fall, cone.rise
