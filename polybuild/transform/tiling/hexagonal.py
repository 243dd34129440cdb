"""Stretched hexagonal tiling: diamonds drawn out along the concurrent start face (thesis, section 6.2).

In the space of the two diamond hyperplanes ``d = (d_0, d_1)`` tiles are rectangles of ``s_0`` by
``s_1``. They are stretched by a vector ``v`` along the face of concurrent start, with ``v_0 < 0 <
v_1`` and ``n . v = 0`` for the normal ``n``, spaced accordingly, and cut along that face at
their lowest and highest points (equation 24)::

    s_0*T_0 + o_0 + v_0 <= d_0 < s_0*(T_0 + 1) + o_0             o = v * (T_1 - T_0)
    s_1*T_1 + o_1       <= d_1 < s_1*(T_1 + 1) + o_1 + v_1
    c*(T_0 + T_1) <= n . d < c*(T_0 + T_1 + 2)

The sizes are tied, so ``c_0 = n_0*s_0`` and ``c_1 = n_1*s_1`` are one number ``c``: what the text has
beyond that in ``c_0`` and ``c_1`` is ``n . v``, which is zero. Wavefronts ``W = T_0 + T_1`` overlap
by half their height, so even and odd ones are the two phases of a hexagonal tiling, and in a
wavefront ``T_1 = floor((d_1 + v_1*W) / (s_1 + 2*v_1))``.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from polybuild.transform.tiling.diamond import Hyperplane, along, skewed_strips, tied_sizes
from polybuild.transform.tiling.phases import (
    Phase,
    divided,
    insert_phases,
    lower_bounded,
    plus,
    times,
    upper_bounded,
)
from polybuild.transform.tiling.stencil import Stencil


def hexagonal(
    node: isl.ScheduleNode,
    stencil: Stencil,
    planes: Sequence[Hyperplane],
    size: int,
    *,
    stretch: int,
    strips: Sequence[int] = (),
) -> isl.ScheduleNode:
    """Tile the stencil whose loop over time is ``node``; returns the node that took its place.

    ``planes`` are two of ``diamond_planes``, ``size`` is as for diamonds, ``stretch`` the length of
    ``v`` in units of ``(-n_1, n_0)``; with 0 the tiles are diamonds. ``strips`` are widths in
    the other dimensions of space.
    """
    return insert_phases(node, hexagonal_phases(stencil, planes, size, stretch, strips))


def hexagonal_phases(
    stencil: Stencil, planes: Sequence[Hyperplane], size: int, stretch: int, strips: Sequence[int] = ()
) -> list[Phase]:
    """The even wavefronts, and the odd ones that follow them."""
    first, second = (along(stencil, plane) for plane in planes)
    sizes = tied_sizes(planes, size)
    normal = (abs(planes[1][1]), abs(planes[0][1]))  # of time: space cancels in the sum
    vector = (-stretch * normal[1], stretch * normal[0])
    height = normal[0] * sizes[0]
    time_stamp = times(first, normal[0]).add(times(second, normal[1]))
    chunks = skewed_strips(stencil, 1, strips)
    phases = []
    for odd in (0, 1):
        wave = divided(plus(time_stamp, -odd * height), 2 * height)
        front = plus(times(wave, 2), odd)
        period = sizes[1] + 2 * vector[1]
        moved = second.add(times(front, vector[1]))
        tile = divided(moved, period)
        across = moved.sub(times(tile, period))
        aside = first.add(times(front, vector[0] - sizes[0])).add(times(tile, sizes[0] - 2 * vector[0]))
        instances = (
            upper_bounded(across, sizes[1] + vector[1] - 1)
            .intersect(lower_bounded(aside, vector[0]))
            .intersect(upper_bounded(aside, sizes[0] - 1))
        )
        point = (time_stamp.sub(times(front, height)), across)
        # in the direction of the grid, as threads share its rows elsewhere
        phases.append(Phase(instances, wave, (tile.neg(),), chunks, point))
    return phases
