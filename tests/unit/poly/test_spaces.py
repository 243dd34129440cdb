"""Dimensions of sets: what values they take."""

from __future__ import annotations

import islpy as isl

from polybuild.poly.spaces import stride_of


def test_strides_for_given_outer_counters():
    """Each colour of a board has every other point of a row, and both of them all rows."""
    board = isl.Set("{ [c, i, j] : 0 <= c < 2 and 0 <= i < 9 and 0 <= j < 9 and (c + i + j) mod 2 = 0 }")
    assert [stride_of(board, each).to_python() for each in range(3)] == [1, 1, 2]
