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
    SOON_SETTLED,
)
from polybuild.poly.budget import found_within
from polybuild.poly.integers import integer_of
from polybuild.poly.memory import remembered
from polybuild.schedule.pluto.redundancy import undominated
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
    rows = tuple(dict.fromkeys(_row(each, column) for each in constraints))
    point = _smallest(rows, len(kept))
    if isinstance(point, Unsettled):
        raise Unsettled
    if point is None:
        return None
    values = [0] * variables
    for position, index in column.items():
        values[position] = point[index]
    return values


# A constraint as PolyLib writes it: 1 for an inequality, the factors, the constant.
_Row = tuple[int, ...]


@remembered  # strategies have most of their programs in common
def _smallest(rows: tuple[_Row, ...], variables: int) -> tuple[int, ...] | Unsettled | None:
    """The smallest point of as many ``variables`` that fulfils ``rows``; None if there is none.

    Most programs are settled soon. Of others those constraints are left out that the rest implies, if that is
    most of them: it is the cuts among all of them that do not converge.
    """
    lines = variables + len(rows) + 1
    affordable = max(MINIMUM_PROGRAM_OPERATIONS, PROGRAM_COEFFICIENTS // (variables * lines + 1))
    maximum = min(PROGRAM_OPERATIONS, affordable) + CONSTRAINT_OPERATIONS * lines
    point = _found(rows, variables, max(1, maximum // SOON_SETTLED))
    if not isinstance(point, Unsettled):
        return point
    equalities = [each for each in rows if not each[0]]
    fewer = (*equalities, *undominated([each for each in rows if each[0]]))
    return _found(fewer if 2 * len(fewer) < len(rows) else rows, variables, maximum)


def _found(rows: Sequence[_Row], variables: int, operations: int) -> tuple[int, ...] | Unsettled | None:
    """The same if it takes no more than so many ``operations``."""
    lines = [f"{variables + len(rows)} {variables + 2}", *_orthant(variables)]
    lines += (" ".join(map(str, each)) for each in rows)
    # PolyLib's notation of a matrix is what isl takes in whole
    best = found_within(operations, isl.BasicSet("\n".join(lines) + "\n").lexmin)
    if best is None:
        return Unsettled()
    if best.is_empty():
        return None
    point = best.sample_point()
    return tuple(integer_of(point.get_coordinate_val(isl.dim_type.set, each)) for each in range(variables))


@cache
def _orthant(variables: int) -> tuple[str, ...]:
    """The rows that say of each variable that it is not negative."""
    return tuple(f"1 {'0 ' * each}1 {'0 ' * (variables - each - 1)}0" for each in range(variables))


def _row(constraint: Constraint, column: dict[int, int]) -> _Row:
    row = [int(not constraint.equality), *[0] * len(column), constraint.constant]
    for position, factor in constraint.terms:
        if position in column:
            row[1 + column[position]] += factor
    return tuple(row)
