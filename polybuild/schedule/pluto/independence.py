"""Linear independence of a statement's hyperplanes (PLDI 2008, section 3.2, equation 6)."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from polybuild.poly.matrices import matrix_of, rows_of
from polybuild.schedule.pluto.model import Row


def rank(rows: Sequence[Row]) -> int:
    """The number of linearly independent rows."""
    return _matrix(rows).rank() if rows else 0


def orthogonal_basis(rows: Sequence[Row], depth: int) -> list[tuple[int, ...]]:
    """Vectors that span what is orthogonal to ``rows``; the next row must not be orthogonal to them all.

    Each has a positive first component (after zeros), and they are ordered by the
    position of it, outermost loop first.
    """
    if not rows:
        return [tuple(int(each == loop) for each in range(depth)) for loop in range(depth)]
    vectors = zip(*rows_of(_matrix(rows).right_kernel()), strict=True)
    return sorted((_ascending(each) for each in vectors), reverse=True)


def _ascending(vector: tuple[int, ...]) -> tuple[int, ...]:
    leading = next((each for each in vector if each), 0)
    return tuple(-each for each in vector) if leading < 0 else vector


def _matrix(rows: Sequence[Row]) -> isl.Mat:
    return matrix_of([row.coefficients for row in rows], len(rows[0].coefficients))
