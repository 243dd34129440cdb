"""Split tiling for any number of space dimensions (thesis, chapter 4).

Time is cut into bands of ``height`` steps. In a band, every dimension of space has upright
trapezoids, which shrink as time goes on, and inverted ones between them, which grow::

    t = 2      . . o o o x x x x x . .
    t = 1      . o o o o o x x x o . .        o  upright, runs first
    t = 0      o o o o o o o x o o o .        x  inverted

An instance has one of 2^n colours: in which dimensions it lies in an inverted trapezoid. The
bases are rectangles (section 4.3.2), so that every dimension can be looked at by itself. A
dependence never leaves an inverted trapezoid for an upright one, nor goes from one tile to
another of the same colour: so the colours run one after the other, those with fewer inverted
dimensions first, and all tiles of a colour at once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

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
from polybuild.transform.tiling.stencil import Stencil


def split(node: isl.ScheduleNode, stencil: Stencil, height: int, widths: Sequence[int]) -> isl.ScheduleNode:
    """Tile the stencil whose loop over time is ``node``; returns the node that took its place.

    ``widths`` are the distances of the tiles, one per dimension of space. Raises ValueError if the
    dependence cone is open or the tiles too narrow.
    """
    return insert_phases(node, split_phases(stencil, height, widths))


def minimum_split_width(stencil: Stencil, dim: int, height: int) -> int:
    """The minimum width in ``dim`` with which upright trapezoids reach the top of a band."""
    cone = stencil.cones[dim]
    if cone.fall is None or cone.rise is None:
        raise ValueError("split tiling needs dependences that are bounded on both sides")
    return 2 + math.ceil(cone.fall * (height - 1)) + math.ceil(cone.rise * (height - 1))


def split_phases(stencil: Stencil, height: int, widths: Sequence[int]) -> list[Phase]:
    """One phase per colour, in the order in which they run."""
    dims = range(len(stencil.space))
    if any(widths[dim] < minimum_split_width(stencil, dim, height) for dim in dims):
        raise ValueError("tiles of this height need wider bases")
    band = divided(stencil.time, height)
    step = stencil.time.sub(times(band, height))
    sides = [_trapezoids(stencil, dim, height, widths[dim], step) for dim in dims]
    phases = []
    for colour in sorted(itertools.product((0, 1), repeat=len(dims)), key=sum):
        instances = stencil.time.domain()
        for side, inverted in zip(sides, colour, strict=True):
            instances = instances.intersect(side[inverted][0])
        tiles = tuple(side[inverted][1] for side, inverted in zip(sides, colour, strict=True))
        points = tuple(side[inverted][2] for side, inverted in zip(sides, colour, strict=True))
        phases.append(Phase(instances, band, tiles, (), (step, *points)))
    return phases


# Instances, which trapezoid, and the place within it.
_Side = tuple[isl.UnionSet, isl.UnionPwAff, isl.UnionPwAff]


def _trapezoids(
    stencil: Stencil, dim: int, height: int, width: int, step: isl.UnionPwAff
) -> tuple[_Side, _Side]:
    """The upright and the inverted trapezoids in one dimension.

    An upright one has ``width - 1`` places at the bottom; the one that is left begins the
    inverted one to its right.
    """
    cone, place = stencil.cones[dim], stencil.space[dim]
    assert cone.fall is not None and cone.rise is not None  # noqa: S101, PT018 - asked for by the caller
    tile = divided(place, width)
    point = place.sub(times(tile, width))
    left = skewed(cone.fall, step.neg(), point)
    right = skewed(cone.rise, step, point)
    upright = lower_bounded(left, 0).intersect(upper_bounded(right, (width - 2) * cone.rise.denominator))
    # an inverted one lies between the sides of two upright ones, and parts where the right one ends
    middle = math.ceil(cone.fall * (height - 1))
    moved = plus(place, -middle)
    next_tile = divided(moved, width)
    across = moved.sub(times(next_tile, width))
    after = skewed(cone.rise, step, across)
    before = skewed(cone.fall, step.neg(), across)
    inverted = lower_bounded(after, (width - 2 - middle) * cone.rise.denominator + 1).intersect(
        upper_bounded(before, (width - middle) * cone.fall.denominator - 1)
    )
    return (upright, tile, point), (inverted, next_tile, across)
