"""Remainders by choice: the same as C's where they are defined."""

from __future__ import annotations

import math

import islpy as isl
import pytest

from polybuild.scop.remainders import is_far, quotient_near_zero, remainder


@pytest.mark.parametrize("floor", [False, True])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_quotient_and_remainder(floor, size):
    value = isl.PwAff("{ [i] -> [i] }")
    divisor = isl.PwAff(f"{{ [i] -> [{size}] }}")
    reached = isl.Set("{ [i] : -20 <= i <= 20 }")
    far = is_far(value, divisor, floor=floor)
    quotient = quotient_near_zero(value, divisor, reached, floor=floor)
    rest = remainder(value, divisor, quotient)
    near = 0
    for number in range(-20, 21):
        point = isl.Set(f"{{ [{number}] }}")
        if not point.is_disjoint(far):
            assert point.is_disjoint(quotient.domain())
            continue
        near += 1
        expected = number // size if floor else math.trunc(number / size)
        assert quotient.intersect_domain(point).max_val().to_python() == expected
        assert rest.intersect_domain(point).max_val().to_python() == number - expected * size
    assert near == (3 * size if floor else 4 * size - 1)


def test_no_quotient_by_what_is_not_positive():
    value, size = isl.PwAff("[n] -> { [i] -> [i] }"), isl.PwAff("[n] -> { [i] -> [n] }")
    assert isl.Set("[n] -> { [i] : n <= 0 }").is_subset(is_far(value, size, floor=False))
