"""Names that users give beside those of generated kernels: of variables in bodies, parameters, arrays."""

from __future__ import annotations

import pytest

PROGRAM = r"""
#include <stdio.h>
enum { N = 300, M = 40 };
static double x[N], y[N], own_t[N], at[M][M], own[M][M], vector[M][M];
static int K[M][M];
static double scaled(double half, double t0)
{
  double kernel = half * t0;
  while (kernel > 10) {
    double lanes = 2;
    kernel /= lanes;
  }
  return kernel;
}
static void as_indices(int n, double c0)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double z = 0;
    int k;
    for (k = 0; k < 50; k++) {
      double t0 = z * z + y[i] * c0, b0 = t0, x_first = 1;
      z = t0 * x_first + b0 - t0;
      if (z > 4)
        break;
    }
    x[i] = k + z;
  }
#pragma endscop
}
static void as_arrays(int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double t = x[i];
    int global = 3;
    while (t > 0.5) {
      double x = 0.5;
      t *= x;
      global++;
    }
    own_t[i] = t + global;
  }
#pragma endscop
}
static void as_counters(int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    int s = i % 5;
    while (s < 10) {
      int q = s;
      {
        double i = 3, q = 1;
        s += (int)i + (int)q;
      }
      s += q % 2;
    }
    y[i] += s;
  }
#pragma endscop
}
static void as_parameters(int b0, int c0, int t0)
{
#pragma scop
  for (int i = 0; i < b0; i++)
    for (int j = 0; j < c0; j++)
      for (int c1 = 0; c1 < t0; c1++)
        at[i][j] += own[i][c1] * vector[c1][j];
#pragma endscop
}
static void in_functions(int n, double *c0, double *restrict t0)
{
#pragma scop
  for (int i = 0; i < n; i++)
    c0[i] += scaled(t0[i], 3 + i);
#pragma endscop
}
static void escapes(int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double zr = 0, zi = 0, cr = -2 + 3.0 * j / n, ci = -1.5 + 3.0 * i / n;
      int k;
      for (k = 0; k < 50; k++) {
        double t = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = t;
        if (zr * zr + zi * zi > 4)
          break;
      }
      K[i][j] = k;
    }
#pragma endscop
}
int main(void)
{
  for (int i = 0; i < N; i++)
    x[i] = i / 70.0, y[i] = i / 150.0;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < M; j++)
      at[i][j] = i, own[i][j] = i - j, vector[i][j] = i * j % 7;
  as_indices(N, 0.5), as_arrays(N - 1), as_counters(N);
  as_parameters(M, M, M), as_parameters(7, M - 1, 3);
  in_functions(N - 1, x, y), escapes(M);
  for (int i = 0; i < N; i++)
    printf("%a %a %a ", x[i], y[i], own_t[i]);
  for (int i = 0; i < M * M; i++)
    printf("%a %d ", at[i / M][i % M], K[i / M][i % M]);
  return 0;
}
"""
REGIONS = 6


@pytest.mark.parametrize("backend", ["cuda", pytest.param("opencl", marks=pytest.mark.opencl)])
def test_kernels_tell_apart_what_users_and_generators_name(backend, workbench):
    """Tiles of the product are larger than its arrays, too: the emulator sees what leaves shared memory."""
    for done in workbench.runs(PROGRAM, backend, REGIONS):
        assert "runs on the host" not in done.stderr
