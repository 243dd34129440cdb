"""Minimum and maximum of one loop, the second asked for only where the first stays: both on the device."""

from __future__ import annotations

import pytest

PROGRAM = r"""
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
static void of_all(int n, const double *restrict x, double *restrict out)
{
  double low = x[0], high = x[0];
#pragma scop
  for (int i = 1; i < n; i++)
    if (x[i] < low)
      low = x[i];
    else if (x[i] > high)
      high = x[i];
#pragma endscop
  out[0] = low, out[1] = high;
}
static void with_places(int n, const double *restrict x, double *restrict out)
{
  int least = 0, greatest = 0;
#pragma scop
  double low, high;
  low = high = x[0];
  for (int i = 1; i < n; i++) {
    double now = x[i];
    if (high <= now) {
      greatest = i;
      high = now;
    } else {
      if (low > now) {
        low = now;
        least = i;
      }
    }
  }
  out[2] = high - low;
#pragma endscop
  out[3] = least, out[4] = greatest;
}
static void of_rows(int n, const double *restrict x, double *restrict out)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double low = x[i * 40], high = low;
    for (int j = 1; j < 40; j++) {
      double now = x[i * 40 + j];
      if (now < low)
        low = now;
      else if (now > high)
        high = now;
    }
    out[5 + i] = high - low;
  }
#pragma endscop
}
static void of_rows_apart(int n, int m, const double *restrict x, double *restrict out)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double low = x[i * m], high = low;
    for (int j = 1; j < m; j++) {
      if (x[i * m + j] < low)
        low = x[i * m + j];
      if (x[i * m + j] > high)
        high = x[i * m + j];
    }
    out[n + 5 + i] = high - low;
  }
#pragma endscop
}
static void of_whole_numbers(int n, const short *restrict k, double *restrict out)
{
  int low = k[0], high = k[0];
#pragma scop
  for (int i = 1; i < n; i++)
    if (k[i] <= low)
      low = k[i];
    else if (k[i] >= high)
      high = k[i];
#pragma endscop
  out[0] -= low, out[1] += high;
}
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 1, way = argc > 2 ? atoi(argv[2]) : 0;
  double *x = malloc(n * 40 * sizeof *x), *out = calloc(2 * n + 5, sizeof *out);
  short *k = malloc(n * 40 * sizeof *k);
  for (int i = 0; i < 40 * n; i++) {
    x[i] = way == 1 ? i : way == 2 ? -i : i * 37 % 101 - 50.5;
    if (way == 3 && i % 5 == 2)
      x[i] = i % 3 ? NAN : -0.0;
    k[i] = isnan(x[i]) ? 7 : (short)x[i];
  }
  of_all(40 * n, x, out);
  with_places(40 * n, x, out);
  of_rows(n, x, out);
  of_rows_apart(n, 40, x, out);
  of_whole_numbers(40 * n, k, out);
  for (int i = 0; i < 2 * n + 5; i++)
    printf("%a ", out[i]);
  free(x), free(out), free(k);
  return 0;
}
"""
REGIONS = 5
RUNS = [(size, way) for size in ("1", "3", "140") for way in "0123"]


@pytest.mark.parametrize("backend", ["cuda", pytest.param("opencl", marks=pytest.mark.opencl)])
def test_minimum_or_maximum(backend, workbench):
    for done in workbench.runs(PROGRAM, backend, REGIONS, *RUNS):
        assert done.stderr.count("1 runs on the device") == REGIONS
