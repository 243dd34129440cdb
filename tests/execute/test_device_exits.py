"""Loops that may be left early, on devices: the host looks for exits before, and runs where there is one."""

from __future__ import annotations

import pytest
from device_programs import build, on, run, transform

PROGRAM = r"""
#include <assert.h>
#include <polybuild.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 50 };
static double x[N], y[N], X[N][N];
static int K[N][N];
static int by_return(int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    if (x[i] < 0)
      return -1 - i;
    for (int j = 0; j < n; j++)
      X[i][j] += x[i] * y[j];
  }
#pragma endscop
  return 0;
}
static int by_break(int n)
{
  int i;
#pragma scop
  for (i = 0; i < n; i++) {
    if (x[i] < 0)
      break;
    for (int j = 0; j < n; j++)
      X[i][j] += x[i] * y[j];
  }
#pragma endscop
  return i;
}
static int by_goto(int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      if (K[i][j] >= n)
        goto out;
      X[i][j] += x[K[i][j]];
    }
#pragma endscop
  return 1;
out:
  return 2;
}
static void by_assert(int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      assert(K[i][j] >= 0 && K[i][j] <= n);
      X[i][j] += x[K[i][j] % N];
    }
#pragma endscop
}
static int with_value(int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double far = y[j] - 55;
      if (far > 0)
        return i * n + j;
      X[i][j] -= far;
    }
#pragma endscop
  return -1;
}
static void of_rows(int n, int value)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    y[i] = -1;
    for (int j = 0; j < n; j++)
      if (K[i][j] == value) {
        y[i] = j;
        break;
      }
  }
#pragma endscop
}
static void negate(int n, double *v)
{
#pragma scop
  for (int i = 0; i < n; i++)
    v[i] = -v[i];
#pragma endscop
}
static void all(int n)
{
  int first = by_return(n), second = by_break(n), third = by_goto(n);
  by_assert(n), of_rows(n / 2, n / 3);
  printf("%d %d %d %d ", first, second, third, with_value(n));
  for (int i = 0; i < N * N; i++)
    printf("%a ", X[i / N][i % N]);
}
int main(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      x[i] = i / 3.0, y[j] = j, X[i][j] = i - j, K[i][j] = (i + j) % N;
  all(0), all(1), all(N);
  x[N / 2] = -1, y[N - 1] = 60, K[N - 2][3] = N;
  all(N);
  polybuild_resident(x, sizeof x);
  polybuild_resident(X, sizeof X);
  x[N / 2] = 1;
  polybuild_update_device(x);
  all(N);
  negate(N, x); /* on the device alone now */
  polybuild_update_host(X);
  all(N);
  negate(N, x);
  all(N);
  polybuild_release(x), polybuild_release(X);
  for (int i = 0; i < N; i++)
    printf("%a %a ", x[i], X[i][i]);
  return 0;
}
"""
REGIONS = 7
SOLVER = r"""
#include <polybuild.h>
#include <stdio.h>
enum { N = 60 };
static double bound[N], u[N][N];
static int step(int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    if (bound[i] < 0)
      return 0;
    for (int j = 0; j < n; j++)
      u[i][j] = 0.5 * u[i][j] + bound[i];
  }
#pragma endscop
  return 1;
}
int main(void)
{
  int done = 0;
  for (int i = 0; i < N; i++)
    bound[i] = i;
  polybuild_resident(bound, sizeof bound);
  polybuild_resident(u, sizeof u);
  for (int t = 0; t < 10; t++)
    done += step(N);
  polybuild_release(bound), polybuild_release(u);
  printf("%d %a\n", done, u[N - 1][3]);
  return 0;
}
"""


@pytest.mark.parametrize("backend", ["cuda", pytest.param("opencl", marks=pytest.mark.opencl)])
def test_early_exits_of_regions_with_kernels(backend, workbench):
    for done in workbench.runs(PROGRAM, backend, REGIONS):
        assert done.stderr.count("runs on the device") >= REGIONS
        assert done.stderr.count("runs on the host") == REGIONS - 3  # no assertion fails


def test_only_what_is_looked_at_comes_home(workbench, emulator):
    """The grid stays on the device while the host looks at the bounds."""
    result = transform(SOLVER, "cuda", workbench.folder, nvcc=emulator.nvcc)
    made = build(result, "solver", workbench.runtime, workbench.folder)
    assert run(made, environment=emulator.environment()).stdout == run(made, environment=on("host")).stdout
    copies = emulator.report([str(made)])["copies"]
    assert [copies[way][0] for way in ("in", "out")] == [2, 1]
