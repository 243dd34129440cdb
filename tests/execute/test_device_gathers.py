"""Elements that data choose, of arrays of unknown extent: what is copied is found by looking at the data."""

from __future__ import annotations

import pytest
from device_programs import transform

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <polybuild.h>
static void ell(int n, int w, const double *val, const int *col, const double *x, double *y)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    y[i] = 0;
    for (int k = 0; k < w; k++)
      y[i] += val[k * n + i] * x[col[k * n + i]];
  }
#pragma endscop
}
static void count(int n, const int *a, int *h)
{
#pragma scop
  for (int i = 0; i < n; i++)
    h[a[i]]++;
#pragma endscop
}
static void gather(int n, const int *restrict a, const double *restrict x, double *restrict y)
{
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] = x[a[i]] - x[a[i] - 2] + x[i + 40];
#pragma endscop
}
static void renumber(int n, int *a)
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = (a[i] * 7 + 3) % 90 + 5;
#pragma endscop
}
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 0, w = 5;
  double *x = malloc(100 * sizeof *x), *val = malloc(n * w * sizeof *val + 1), *y = calloc(n + 1, sizeof *y);
  int *col = malloc(n * w * sizeof *col + 1), *h = calloc(100, sizeof *h);
  for (int i = 0; i < 100; i++)
    x[i] = i / 7.0;
  for (int i = 0; i < n * w; i++)
    val[i] = i % 13 - 6, col[i] = 9 + i * i % 60;
  ell(n, w, val, col, x, y);
  for (int i = 0; i < n; i++)
    printf("%a ", y[i]);
  polybuild_resident(col, (size_t)n * sizeof *col);
  renumber(n, col);
  count(n, col, h);
  gather(n, col, x, y);
  polybuild_release(col);
  for (int i = 0; i < 100; i++)
    printf("%d ", h[i]);
  for (int i = 0; i < n; i++)
    printf("%a ", y[i]);
  free(x), free(val), free(y), free(col), free(h);
  return 0;
}
"""
REGIONS = 4


@pytest.mark.parametrize("backend", ["cuda", pytest.param("opencl", marks=pytest.mark.opencl)])
def test_only_what_is_there_is_copied(backend, workbench):
    for done in workbench.runs(PROGRAM, backend, REGIONS, ("0",), ("1",), ("57",)):
        assert done.stderr.count("1 runs on the device") == REGIONS


def test_what_the_region_changes_is_not_looked_at(tmp_path):
    text = """
void run(int n, int *restrict a, double *restrict x)
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = a[i] + i;
  for (int i = 0; i < n; i++)
    x[i] = x[a[i]];
#pragma endscop
}
"""
    (region,) = transform(text, "opencl", tmp_path).regions
    assert region.backend == "openmp"
