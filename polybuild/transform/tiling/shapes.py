"""The tiles of a stencil by the name of their shape (thesis, chapters 4 to 6), for all targets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import islpy as isl

from polybuild.transform.tiling.diamond import Hyperplane, determinant, diamond_phase, diamond_planes
from polybuild.transform.tiling.hexagonal import hexagonal_phases
from polybuild.transform.tiling.hybrid import Hexagons, hybrid_phases, minimum_width
from polybuild.transform.tiling.phases import Phase
from polybuild.transform.tiling.split import minimum_split_width, split_phases
from polybuild.transform.tiling.stencil import Stencil


def phases_of(stencil: Stencil, shape: str, sizes: Sequence[int], dependences: isl.UnionMap) -> list[Phase]:
    """The phases of tiles of a ``shape`` of ``--tile-shape``, but for ``auto`` and ``rectangular``.

    ``sizes`` are iterations of the loops over time and over each dimension of space, of which tiles have
    about so many; ``dependences`` are those of the stencil. Raises ValueError if it has no such tiles.
    """
    height = sizes[0] * stencil.steps
    widths = [each * stencil.scale for each in sizes[1:]]
    cone = stencil.cones[0]
    if shape == "split":
        minimum = [minimum_split_width(stencil, dim, height) for dim in range(len(stencil.space))]
        return split_phases(stencil, height, [max(pair) for pair in zip(widths, minimum, strict=True)])
    if shape == "hybrid":
        half = max(0, height // 2 - 1)
        spare = widths[0] - Hexagons(cone, half, minimum_width(cone, half)).period
        width = minimum_width(cone, half) + max(0, spare // 2)
        return hybrid_phases(stencil, half, width, widths[1:])
    planes = planes_of(stencil, shape, dependences)
    size = diamond_size(planes, height)
    if shape in {"diamond", "diamond-2d"}:
        return [diamond_phase(stencil, planes, size, widths[len(planes) - 1 :])]
    stretch = max(0, widths[0] - cone.spread * height // 2)
    return hexagonal_phases(stencil, planes, size, math.ceil(stretch / 2), widths[1:])


def planes_of(stencil: Stencil, shape: str, dependences: isl.UnionMap) -> tuple[Hyperplane, ...]:
    """The hyperplanes that bound the diamonds of a ``shape``; none of those made from the cone alone.

    Raises ValueError if the ``dependences`` leave none.
    """
    if shape in {"split", "hybrid"}:
        return ()
    return diamond_planes(stencil, min(2, len(stencil.space)) if shape == "diamond-2d" else 1, dependences)


def diamond_size(planes: Sequence[Hyperplane], height: int) -> int:
    """The size, a multiple of the determinant, of diamonds of about ``height``."""
    unit = determinant(planes)
    # the sum of all planes is a multiple of time, which grows by the size of each of them within a tile
    speed = sum(Fraction(each[0], max(map(abs, each[1:]))) for each in planes)
    wanted = height * speed / len(planes)
    return unit * max(1, round(wanted / unit))
