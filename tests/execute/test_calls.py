"""Calls in regions: inlined, summarised from their bodies, or taken by their declarations."""

from __future__ import annotations

from pathlib import Path

import pytest
from region_programs import cases, check, compare

CASES = cases("calls")
FUNCTIONS = Path(__file__).parent / "regions"


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    top = (FUNCTIONS / "calls-top.c").read_text()
    bottom = (FUNCTIONS / "calls-bottom.c").read_text()
    return compare(tmp_path_factory.mktemp("calls"), CASES, (1, 2, 5, 16, 33), top, bottom)


@pytest.mark.parametrize("name", CASES)
def test_call(comparison, name):
    check(comparison, CASES[name])
