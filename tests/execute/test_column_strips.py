"""What is computed along columns, in strips that threads share, computes what it did."""

from __future__ import annotations

import pytest
from region_programs import cases, check, compare

CASES = cases("columns")


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    # strips of one line, several of them for two threads, and a part of one
    return compare(tmp_path_factory.mktemp("columns"), CASES, (1, 2, 3, 7, 33, 129, 200, 257))


@pytest.mark.fast
@pytest.mark.parametrize("name", CASES)
def test_columns(comparison, name):
    check(comparison, CASES[name])
