"""Loops that compute much and then update something in order, with the same results as the original."""

from __future__ import annotations

import pytest
from region_programs import cases, check, compare

CASES = cases("passed-values")


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    folder = tmp_path_factory.mktemp("passed-values")
    return compare(folder, CASES, (1, 2, 3, 4, 7, 16, 33), min_work=1)


@pytest.mark.fast(name=["nearest_counted"])
@pytest.mark.parametrize("name", CASES)
def test_passed_values(comparison, name):
    check(comparison, CASES[name])
