"""Diamond tiling with concurrent start (thesis, section 6.1).

Tiles are bounded by hyperplanes along which no dependence goes back. All tiles of a wavefront can
start together along the face of a hyperplane ``f`` if ``f`` lies strictly inside the cone of the
tiling hyperplanes (section 6.1.2); here ``f`` is time. With the hyperplanes

    rise_i * t + s_i        for each dimension of space that is tiled so, and
    m * t - s_0 - s_1 ...   with the minimum m along which no dependence goes back,

their sum is a multiple of time. The default wavefront, the sum of all tile numbers, then depends on
time alone if the tile sizes are in proportion to the coefficients of space (section 6.1.4)::

    (t, i)      ->  [floor((t + i)/s), floor((t - i)/s)]                        # permutable
                ->  [floor((t + i)/s) + floor((t - i)/s)], [floor((t + i)/s)]   # the second coincident

The tiles of a wavefront run in the direction of the grid: threads that share a loop over its rows
and threads that share the tiles get the same parts of it.

Sizes that are multiples of the determinant of the hyperplanes give all tiles the same points.
Further dimensions of space can be cut by ``rise_i * t + s_i`` alone; they come below the parallel ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import islpy as isl

from polybuild.transform.tiling.phases import Phase, divided, insert_phases, times
from polybuild.transform.tiling.stencil import Stencil, cone_along

# Coefficients of time and of each dimension of space.
Hyperplane = tuple[int, ...]


def diamond(
    node: isl.ScheduleNode,
    stencil: Stencil,
    planes: Sequence[Hyperplane],
    size: int,
    strips: Sequence[int] = (),
) -> isl.ScheduleNode:
    """Tile the stencil whose loop over time is ``node``; returns the node that took its place.

    ``planes`` are those of ``diamond_planes``; tiles are ``size`` times the coefficients of space
    long. ``strips`` are widths in as many of the dimensions that the planes leave out.
    """
    return insert_phases(node, [diamond_phase(stencil, planes, size, strips)])


def diamond_phase(
    stencil: Stencil, planes: Sequence[Hyperplane], size: int, strips: Sequence[int] = ()
) -> Phase:
    """The one phase of all diamonds of a wavefront."""
    tiles = [
        divided(along(stencil, plane), each)
        for plane, each in zip(planes, tied_sizes(planes, size), strict=True)
    ]
    wave = tiles[0]
    for each in tiles[1:]:
        wave = wave.add(each)
    chunks = skewed_strips(stencil, len(planes) - 1, strips)
    return Phase(stencil.time.domain(), wave, tuple(tiles[:-1]), chunks, ())


def diamond_planes(stencil: Stencil, dims: int, dependences: isl.UnionMap) -> tuple[Hyperplane, ...]:
    """Hyperplanes whose cone holds time strictly inside, for the first ``dims`` dimensions of space.

    Raises ValueError if the dependences are not bounded so that there are any.
    """
    rises = [each.rise for each in stencil.cones[:dims]]
    if None in rises:
        raise ValueError("diamonds need dependences that are bounded on both sides")
    planes = [_plane(rise, position, stencil) for position, rise in enumerate(rises) if rise is not None]
    diagonal = stencil.space[0]
    for each in stencil.space[1:dims]:
        diagonal = diagonal.add(each)
    fall = cone_along(stencil.time, diagonal, dependences).fall
    if fall is None:
        raise ValueError("diamonds need dependences that are bounded on both sides")
    last = [fall.numerator, *([-fall.denominator] * dims), *([0] * (len(stencil.space) - dims))]
    return (*planes, tuple(last))


def tied_sizes(planes: Sequence[Hyperplane], size: int) -> tuple[int, ...]:
    """Tile sizes with which the sum of the tile numbers depends on time alone (section 6.1.4)."""
    return tuple(size * max(map(abs, plane[1:])) for plane in planes)


def determinant(planes: Sequence[Hyperplane]) -> int:
    """How many points in the space of the hyperplanes share one instance.

    Tiles all have the same points if their sizes are multiples of it (section 6.1.4). The
    dimensions that the planes leave out do not count.
    """
    rows = [[Fraction(each) for each in plane[: len(planes)]] for plane in planes]
    result = Fraction(1)
    while rows:
        pivot = next((row for row in rows if row[0]), None)
        if pivot is None:
            return 0
        result *= pivot[0]
        rows = [
            [value - row[0] / pivot[0] * top for value, top in zip(row[1:], pivot[1:], strict=True)]
            for row in rows
            if row is not pivot
        ]
    return abs(int(result))


def along(stencil: Stencil, plane: Hyperplane) -> isl.UnionPwAff:
    """The hyperplane as a function of the instances."""
    result = times(stencil.time, plane[0])
    for place, factor in zip(stencil.space, plane[1:], strict=True):
        if factor:
            result = result.add(times(place, factor))
    return result


def skewed_strips(stencil: Stencil, first: int, widths: Sequence[int]) -> tuple[isl.UnionPwAff, ...]:
    """Strips between hyperplanes ``rise * t + s``, from dimension ``first`` of space on."""
    strips = []
    for position, width in enumerate(widths, first):
        rise = stencil.cones[position].rise if position < len(stencil.cones) else None
        if rise is None:
            break
        strips.append(divided(along(stencil, _plane(rise, position, stencil)), width * rise.denominator))
    return tuple(strips)


def _plane(rise: Fraction, position: int, stencil: Stencil) -> Hyperplane:
    """The hyperplane ``rise * t + s`` of one dimension, times the denominator of ``rise``."""
    space = [rise.denominator if dim == position else 0 for dim in range(len(stencil.space))]
    return (rise.numerator, *space)
