"""Loops that may be left early: the new loops run where no exit happens, the original ones where one does."""

from __future__ import annotations

import pytest
from region_programs import cases, check, compare

CASES = cases("exits")


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    return compare(tmp_path_factory.mktemp("exits"), CASES, (1, 2, 3, 7, 16, 33), "#include <assert.h>")


@pytest.mark.parametrize("name", CASES)
def test_early_exits(comparison, name):
    check(comparison, CASES[name])
