"""Scalars that name values, walking pointers and loops that count: transformed, with the same results."""

from __future__ import annotations

import pytest
from region_programs import cases, check, compare

CASES = cases("normal-form") | cases("normal-form-edges")


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    return compare(tmp_path_factory.mktemp("normal"), CASES, (1, 2, 3, 7, 16, 33))


@pytest.mark.parametrize("name", CASES)
def test_normal_form(comparison, name):
    check(comparison, CASES[name])
