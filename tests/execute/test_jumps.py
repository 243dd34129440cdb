"""Jumps forward to labels of the block around them: as conditions, with the same results."""

from __future__ import annotations

import pytest
from region_programs import cases, check, compare

CASES = cases("forward-jumps")


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    return compare(tmp_path_factory.mktemp("jumps"), CASES, (1, 2, 7, 16, 33))


@pytest.mark.parametrize("name", CASES)
def test_jumps_forward(comparison, name):
    check(comparison, CASES[name])
