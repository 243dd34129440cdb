"""Arrays that a region declares with values, in rows, by subscripts, or as zero."""

from __future__ import annotations

import pytest
from region_programs import cases, check, compare

CASES = cases("initial-values")
TOP = """
#define HALF 6
enum { SIDES = 2 };
static double folded(const double *p, int m) {
  double s[16] = {0.0}, t[4][4] = {{0}}, all = 0;
  for (int k = 0; k < m; k++) { s[k % 16] += p[k]; t[k % 4][k / 4 % 4] -= p[k]; }
  for (int k = 0; k < 16; k++) all += s[k] * t[k / 4][k % 4];
  return all;
}
"""


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    return compare(tmp_path_factory.mktemp("initial-values"), CASES, (1, 2, 7, 16, 33), TOP)


@pytest.mark.parametrize("name", CASES)
def test_values(comparison, name):
    check(comparison, CASES[name])
