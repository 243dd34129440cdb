"""What is computed along columns, in strips that threads share, computes what it did."""

from __future__ import annotations

import pytest
from region_programs import cases, check, compare

CASES = cases("columns")


# What has tiles that begin with those along the columns, or no tiles, keeps them.
TILES_STAY = {"lower_triangle", "upper_triangle_from_one", "in_steps"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("columns")


@pytest.fixture(scope="module")
def comparison(folder):
    # strips of one line, several of them for two threads, and a part of one
    return compare(folder, CASES, (1, 2, 3, 7, 33, 129, 200, 257))


@pytest.mark.fast
@pytest.mark.parametrize("name", CASES)
def test_columns(comparison, name):
    check(comparison, CASES[name])


@pytest.mark.fast
@pytest.mark.usefixtures("comparison")
@pytest.mark.parametrize("name", CASES)
def test_threads_share_strips(folder, name):
    _, text = (folder / "out.c").read_text().split(f"void f_{name}(", 1)
    assert ("polybuild_strip(" in text.split("\nvoid f_", 1)[0]) is (name not in TILES_STAY)
