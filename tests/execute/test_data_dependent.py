"""Data-dependent code: still one region, still the same results, parallel where that is possible."""

from __future__ import annotations

import pytest
from region_programs import cases, check, compare

CASES = cases("data-dependent")


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    return compare(tmp_path_factory.mktemp("data"), CASES, (1, 2, 3, 7, 16, 33))


@pytest.mark.parametrize("name", CASES)
def test_data_dependent_code(comparison, name):
    check(comparison, CASES[name])
