"""Constraints that others imply where no variable is negative: programs have hundreds of these."""

from __future__ import annotations

from collections.abc import Sequence

# An inequality: the factors of all variables, and the constant; their sum with them is not negative.
Inequality = tuple[int, ...]


def undominated(rows: Sequence[Inequality]) -> list[Inequality]:
    """Those of ``rows`` that no other is below in all numbers, in their order.

    ``2 x + y >= 0`` says nothing that ``x >= 0`` does not, as ``x`` and ``y`` are not negative. Rows are
    compared as a single large number each, with a bit between its numbers that tells which one is larger.
    """
    smallest = min((min(each) for each in rows), default=0)
    bits = (max((max(each) for each in rows), default=0) - smallest).bit_length() + 1
    borders = sum(1 << (bits * position + bits - 1) for position in range(len(rows[0]) if rows else 0))
    kept: dict[int, Inequality] = {}
    for row in sorted(rows, key=sum):  # nothing is below what is smaller in all
        packed = borders
        for position, each in enumerate(row):
            packed += (each - smallest) << (bits * position)
        if not any((packed - below) & borders == borders for below in kept):
            kept[packed - borders] = row
    left = set(kept.values())
    return [each for each in rows if each in left]
