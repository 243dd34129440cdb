"""Intervals of integers, and what the operations of C make of them, without regard of overflow."""

from __future__ import annotations

Interval = tuple[int, int]
"""The least and the greatest value."""


def within(inner: Interval, outer: Interval) -> bool:
    """Whether all of ``inner`` is in ``outer``."""
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def hull(one: Interval | None, other: Interval | None) -> Interval | None:
    """The smallest interval that has both in it; None if one of them is not known."""
    return None if one is None or other is None else (min(one[0], other[0]), max(one[1], other[1]))


def negated(operand: Interval) -> Interval:
    """The interval of ``-operand``."""
    return -operand[1], -operand[0]


def combined(operator: str, left: Interval, right: Interval) -> Interval | None:
    """The interval of a sum, difference or product; None for other operators."""
    if operator == "+":
        return left[0] + right[0], left[1] + right[1]
    if operator == "-":
        return combined("+", left, negated(right))
    if operator == "*":
        products = [one * other for one in left for other in right]
        return min(products), max(products)
    return None
