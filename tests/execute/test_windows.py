"""Loops of few iterations: the same results, unrolled inside of what threads share."""

from __future__ import annotations

import pytest
from region_programs import cases, check, compare

CASES = cases("windows")


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    return compare(tmp_path_factory.mktemp("windows"), CASES, (1, 2, 3, 5, 6, 16, 33))


@pytest.mark.parametrize("name", CASES)
def test_windows(comparison, name):
    check(comparison, CASES[name])
