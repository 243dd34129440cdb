"""Sums of functions that are dear to compute, from few of their values."""

from __future__ import annotations

from collections.abc import Callable

from polybuild.effort import SUMMED_CLOSE, SUMMED_VALUES


def summed(value: Callable[[int], tuple[float, ...]], low: int, high: int) -> tuple[float, ...]:
    """The sum of ``value`` from ``low`` to ``high``, of functions that are polynomials in most places.

    Adaptive Simpson's rule: a part is halved until its value at both ends and in the middle say the same as
    those of its halves. What differs at one end of the range alone is found.
    """
    known: dict[int, tuple[float, ...]] = {}

    def at(position: int) -> tuple[float, ...]:
        if position not in known:
            known[position] = value(position)
        return known[position]

    def simpson(first: int, last: int) -> tuple[float, ...]:
        ends = zip(at(first), at((first + last) // 2), at(last), strict=True)
        return tuple((last - first + 1) * (low + 4 * middle + high) / 6 for low, middle, high in ends)

    def total(first: int, last: int) -> tuple[float, ...]:
        if last - first < SUMMED_VALUES:
            return _added(*(at(each) for each in range(first, last + 1)))
        middle = (first + last) // 2
        halves = _added(simpson(first, middle), simpson(middle + 1, last))
        pairs = zip(simpson(first, last), halves, strict=True)
        if all(abs(one - two) <= SUMMED_CLOSE * abs(two) for one, two in pairs):
            return halves
        return _added(total(first, middle), total(middle + 1, last))

    return total(low, high) if low <= high else ()


def _added(*rows: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(map(sum, zip(*rows, strict=True)))
