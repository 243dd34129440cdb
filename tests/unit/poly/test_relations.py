"""What isl's own functions do not do for us."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.poly.relations import largest


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
