"""Constraints that others imply are left out of programs whose variables are not negative."""

from __future__ import annotations

import itertools
import random

from polybuild.schedule.pluto.redundancy import undominated


def test_a_constraint_that_asks_for_less_than_another_one_is_left_out():
    assert undominated([(1, -1, 0), (2, -1, 0), (1, 0, 3), (1, -1, 0)]) == [(1, -1, 0), (1, -1, 0)]
    assert undominated([(0, 1, -2), (1, 0, -2)]) == [(0, 1, -2), (1, 0, -2)]
    assert undominated([]) == []


def test_what_is_left_has_the_same_points():
    draw = random.Random(3)  # noqa: S311 -- wants to be repeatable
    for _ in range(20):
        rows = [tuple(draw.randint(-3, 3) for _ in range(4)) for _ in range(12)]
        left = undominated(rows)
        assert left == [each for each in rows if each in left]
        for x in itertools.product(range(4), repeat=3):
            point = (*x, 1)
            fulfilled = [
                all(sum(a * b for a, b in zip(row, point, strict=True)) >= 0 for row in some)
                for some in (rows, left)
            ]
            assert fulfilled[0] == fulfilled[1]


def test_no_constraint_is_left_that_another_one_is_below():
    draw = random.Random(5)  # noqa: S311 -- wants to be repeatable
    rows = list({tuple(draw.randint(-50, 50) for _ in range(3)) for _ in range(200)})
    left = undominated(rows)
    for one, other in itertools.permutations(left, 2):
        assert any(a > b for a, b in zip(one, other, strict=True))
    for each in set(rows) - set(left):
        assert any(all(a <= b for a, b in zip(one, each, strict=True)) for one in left)
