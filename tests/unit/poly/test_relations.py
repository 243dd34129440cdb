"""What isl's own functions do not do for us."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.poly.relations import largest, span


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("[n] -> { [(2 + n)/3] : n = 7 }", 3),
        ("[n] -> { [(2 + n)/3] : (2 + n) mod 3 = 0 and n <= 20 }", 7),
        ("[n] -> { [floor(n/3)] : n <= 8 }", 2),
    ],
)
def test_the_largest_value_of_fractions(value, expected):
    assert largest(isl.PwAff(value)).to_python() == expected


def test_the_largest_value_where_there_is_none():
    assert not largest(isl.PwAff("[n] -> { [(2 + n)/3] : n >= 1 }")).is_int()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ("{ S[i] -> [(i)] : 3 <= i < 10 }", 7),
        ("{ S[i] -> [((2 + i)/3)] : i mod 3 = 1 and 1 <= i <= 20; T[i] -> [(i)] : i = 9 }", 9),
        ("[n] -> { S[i] -> [(i)] : 0 <= i < n }", None),
    ],
)
def test_how_far_values_reach(values, expected):
    assert span(isl.UnionPwAff(values)) == expected
