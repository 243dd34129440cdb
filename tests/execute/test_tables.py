"""Loops over tables of directions, with the same results as the original."""

from __future__ import annotations

import pytest
from region_programs import cases, check, compare

CASES = cases("tables")
TOP = """
enum { DIRECTIONS = 8 };
static const int ex[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
static int ey[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
static const double weight[9] = {4. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 36, 1. / 36, 1. / 36, 1. / 36};
static const int step[4][2] = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}};
static const signed char small[DIRECTIONS] = {-1, 0, 1, 0, 0, -1, 0, 1};
static const unsigned ahead[3] = {0, 1u, 2};
static const int pair[2] = {2};
static double around(int n, const double *p, int c, int w) {
  static const int dx[4] = {-1, 1, 0, 0};
  static const int dy[4] = {0, 0, -1, 1};
  double s = 0;
  for (int k = 0; k < 4; k++) s += p[c + dy[k] * w + dx[k]];
  return s * n;
}
"""


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    return compare(tmp_path_factory.mktemp("tables"), CASES, (1, 2, 3, 4, 7, 16, 33), TOP)


@pytest.mark.fast(name=["stencil_of_directions"])
@pytest.mark.parametrize("name", CASES)
def test_tables(comparison, name):
    check(comparison, CASES[name])
