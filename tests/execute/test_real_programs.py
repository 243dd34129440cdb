"""What numeric programs are full of: conditional updates, structures, macros of subscripts, pragmas."""

from __future__ import annotations

import pytest
from region_programs import cases, check, compare

CASES = cases("real-programs")
TOP = """
#define FTNREF2D(i, j, s, a, b) ((s) * ((j) - (b)) + ((i) - (a)))
static double half(x, k) double x; int k; { return x / 2 + k; }
static void counted(v, n) double *v; { int i; for (i = 0; i < n; i++) v[i] = i; }
static double both(p, q) double *p, *q; { return *p + *q; }
static int lesser(i, k) int i, k; { return i < k ? i : k; }
static float third(x) float x; { return x / 3; }
struct matrix { int w, h; double *d; };
struct image { int width, height; double data[]; };
static struct image *image(int n, const double *x) {
  struct image *made = malloc(sizeof *made + n * n * sizeof *x);
  made->width = made->height = n;
  for (int i = 0; i < n * n; i++) made->data[i] = x[i];
  return made;
}
"""


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    return compare(tmp_path_factory.mktemp("real"), CASES, (1, 2, 3, 7, 16, 33), TOP)


@pytest.mark.parametrize("name", CASES)
def test_real_programs(comparison, name):
    check(comparison, CASES[name])
