"""Rows of a fixed capacity: in parallel where none is longer, and as they stand where one is."""

from __future__ import annotations

import pytest
from region_programs import cases, check, compare

CASES = cases("row-capacities")


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    return compare(tmp_path_factory.mktemp("rows"), CASES, (1, 2, 7, 16, 33))


@pytest.mark.parametrize("name", CASES)
def test_rows_of_a_fixed_capacity(comparison, name):
    check(comparison, CASES[name])
