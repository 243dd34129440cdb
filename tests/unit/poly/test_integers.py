"""isl's integers, whatever their size."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.poly.integers import integer_of


@pytest.mark.parametrize(
    "number", [0, 1, -1, 2**31, 2**62, 2**63 - 1, -(2**63), 2**63, 2**64, -(2**70), 10**30]
)
def test_integers_are_what_they_were(number):
    assert integer_of(isl.Val(str(number))) == number
