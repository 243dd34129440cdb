"""Rows behind pointers (``double **a``): apart as the model has them, or the original loops run."""

from __future__ import annotations

import pytest
from region_programs import cases, check, compare

CASES = cases("pointer-rows")
TOP = """
typedef double **matrix;
struct rows { double **v; int n; };
static double **rows_of(double *x, int count, int n) {
  double **v = malloc((count + 1) * sizeof *v);
  for (int i = 0; i < count; i++) v[i] = x + i * n;
  return v;
}
static double **rows_apart(int count, int n, int first) {
  double **v = malloc((count + 1) * sizeof *v);
  for (int i = first; i < count; i++) v[i] = malloc(n * sizeof **v);
  return v;
}
static void drop(double **v, int count) {
  for (int i = 0; i < count; i++) free(v[i]);
  free(v);
}
static double dot(const double *p, const double *q, int n) {
  double s = 0;
  for (int k = 0; k < n; k++) s += p[k] * q[k];
  return s;
}
"""


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    return compare(tmp_path_factory.mktemp("rows"), CASES, (1, 2, 3, 7, 16, 33), TOP)


@pytest.mark.parametrize("name", CASES)
def test_rows_behind_pointers(comparison, name):
    check(comparison, CASES[name])
