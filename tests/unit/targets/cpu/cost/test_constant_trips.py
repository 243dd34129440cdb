"""Loops that have as many iterations wherever they run, by the time stamps of what they run."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.targets.cpu.cost.compilers_lanes import constant_trips_of


@pytest.mark.parametrize(
    ("stamps", "trips"),
    [
        ("[n] -> { A[i, j] -> [i, j] : 0 <= i < n and 0 <= j < 8 }", 8),
        ("[n] -> { A[i, j] -> [i, j] : 0 <= i < n and i <= j < i + 3 }", 3),
        ("[n] -> { A[i] -> [i, i] : 0 <= i < n }", 1),
        ("[n] -> { A[i] -> [t, i] : 0 <= t < n and 32t <= i < 32t + 32 }", 32),
        ("{ A[i, j] -> [i, j] : 0 <= i < 10 and 2 <= j < 6 }", 4),
        ("[n] -> { A[i, j] -> [i, j] : n <= 100 and 0 <= i < n and 0 <= j < 5 }", 5),
        ("[n] -> { A[i, j] -> [i, j] : n >= 2000 and 0 <= i < n and 0 <= j < 5 }", 5),
        ("[n] -> { A[i] -> [i] : 0 <= i < n }", None),
        ("[n] -> { A[i, j] -> [i, j] : 0 <= i < n and 0 <= j <= i }", None),
        ("{ A[i, j] -> [i, j] : 0 <= i < 10 and 0 <= j <= i }", None),
        ("[n] -> { A[i] -> [t, i] : 32t <= i < 32t + 32 and 0 <= i < n }", None),
        ("[n, m] -> { A[i, j] -> [i, j] : 0 <= i < n and 0 <= j < m and n >= 1 }", None),
        # as many at all sizes that are looked at, but not at others
        ("[n] -> { A[j] -> [j] : 0 <= j < 4 or (n = 7 and 0 <= j < 5) }", None),
        ("[n] -> { A[i, j] -> [i, j] : 0 <= i <= 1 and 0 <= j < 4 + 2i and n >= 0 }", None),
    ],
)
def test_trips_are_the_same_in_all_loops_around(stamps: str, trips: int | None) -> None:
    assert constant_trips_of(isl.UnionMap(stamps)) == trips
