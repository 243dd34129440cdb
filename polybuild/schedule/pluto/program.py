"""Integer programs: the lexicographically smallest point without negative coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

import islpy as isl

from polybuild.effort import (
    CONSTRAINT_OPERATIONS,
    MINIMUM_PROGRAM_OPERATIONS,
    PROGRAM_COEFFICIENTS,
    PROGRAM_OPERATIONS,
)
from polybuild.poly.budget import found_within
from polybuild.poly.integers import integer_of
from polybuild.values import dataclass

# A linear expression of the program's variables: their positions and factors.
Terms = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Constraint:
    """``terms`` plus ``constant`` is not negative, or is zero if this is an ``equality``."""

    terms: tuple[tuple[int, int], ...]
    constant: int = 0
    equality: bool = False


class TooLarge(Exception):
    """The programs of a search together are larger than they may be."""


class Unsettled(Exception):
    """Whether a program has a solution would take too long to find out."""


class Effort:
    """How large the programs of one search may be together, in coefficients.

    isl needs up to a microsecond for each, and counts few of its operations while it does.
    """

    def __init__(self, maximum: int) -> None:
        self._left = maximum

    def spend(self, coefficients: int) -> None:
        """Take on a program of that many ``coefficients``; raises TooLarge."""
        self._left -= coefficients
        if self._left < 0:
            raise TooLarge


def scale(terms: Terms, factor: int) -> Terms:
    """``factor`` times a linear expression."""
    return [(position, each * factor) for position, each in terms]


def smallest(
    variables: int, constraints: Iterable[Constraint], zeros: Iterable[int] = ()
) -> list[int] | None:
    """The smallest point that fulfils ``constraints``, with zero for ``zeros``; None if there is none.

    Raises Unsettled.
    """
    fixed = frozenset(zeros)
    kept = [each for each in range(variables) if each not in fixed]
    column = {position: index for index, position in enumerate(kept)}
    rows = {_row(each, column): None for each in constraints}
    lines = [f"{len(kept) + len(rows)} {len(kept) + 2}", *_orthant(len(kept)), *rows]
    # PolyLib's notation of a matrix is what isl takes in whole
    points = isl.BasicSet("\n".join(lines) + "\n")
    affordable = max(MINIMUM_PROGRAM_OPERATIONS, PROGRAM_COEFFICIENTS // (len(kept) * len(lines) + 1))
    maximum = min(PROGRAM_OPERATIONS, affordable) + CONSTRAINT_OPERATIONS * len(lines)
    best = found_within(maximum, points.lexmin)
    if best is None:
        raise Unsettled
    if best.is_empty():
        return None
    point = best.sample_point()
    values = [0] * variables
    for position, index in column.items():
        values[position] = integer_of(point.get_coordinate_val(isl.dim_type.set, index))
    return values


@cache
def _orthant(variables: int) -> tuple[str, ...]:
    """The rows that say of each variable that it is not negative."""
    return tuple(f"1 {'0 ' * each}1 {'0 ' * (variables - each - 1)}0" for each in range(variables))


def _row(constraint: Constraint, column: dict[int, int]) -> str:
    """A row in PolyLib's notation: 1 for an inequality, the factors, the constant."""
    factors: dict[int, int] = {}
    for position, factor in constraint.terms:
        if position in column:
            place = column[position]
            factors[place] = factors.get(place, 0) + factor
    texts = ["0"] * len(column)
    for place, factor in factors.items():
        texts[place] = str(factor)
    return f"{int(not constraint.equality)} {' '.join(texts)} {constraint.constant}"
