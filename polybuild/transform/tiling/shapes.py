"""The tiles of a stencil by the name of their shape (thesis, chapters 4 to 6), for all targets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import islpy as isl

from polybuild.transform.tiling.diamond import determinant, diamond_phase, diamond_planes
from polybuild.transform.tiling.hexagonal import hexagonal_phases
from polybuild.transform.tiling.hybrid import Hexagons, hybrid_phases, minimum_width
from polybuild.transform.tiling.phases import Phase
from polybuild.transform.tiling.split import minimum_split_width, split_phases
from polybuild.transform.tiling.stencil import Stencil


def phases_of(stencil: Stencil, shape: str, sizes: Sequence[int], dependences: isl.UnionMap) -> list[Phase]:
    """The phases of tiles of a ``shape``: ``diamond``, ``hexagonal``, ``hybrid`` or ``split``.

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
    planes = diamond_planes(stencil, 1, dependences)
    size = _diamond_size(stencil, planes, height)
    if shape == "diamond":
        return [diamond_phase(stencil, planes, size, widths[1:])]
    stretch = max(0, widths[0] - cone.spread * height // 2)
    return hexagonal_phases(stencil, planes, size, math.ceil(stretch / 2), widths[1:])


def _diamond_size(stencil: Stencil, planes: Sequence[tuple[int, ...]], height: int) -> int:
    """The size, a multiple of the determinant, of diamonds of about ``height``."""
    unit = determinant(planes)
    wanted = Fraction(height) * stencil.cones[0].spread / len(planes)
    return unit * max(1, round(wanted / unit))
