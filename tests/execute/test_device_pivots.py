"""Steps that change a row and a column of what they read, as all shortest paths, have a few kernels."""

from __future__ import annotations

import re

import pytest

PROGRAM = r"""
#include <math.h>
#include <stdio.h>
enum { N = 37 };
static double d[N][N];
static int r[N][N], w[N][N], via[N][N];
static void by_choice(int n)
{
#pragma scop
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        d[i][j] = d[i][j] < d[i][k] + d[k][j] ? d[i][j] : d[i][k] + d[k][j];
#pragma endscop
}
static void by_condition(int n)
{
#pragma scop
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        if (d[i][k] + d[k][j] < d[i][j])
          d[i][j] = d[i][k] + d[k][j];
#pragma endscop
}
static void by_minimum(int n, double (*a)[N])
{
#pragma scop
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++) {
      double to = a[i][k];
      for (int j = 0; j < n; j++)
        a[i][j] = fmin(a[i][j], to + a[k][j]);
    }
#pragma endscop
}
static void with_ways(int n)
{
#pragma scop
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      if (w[i][k] < 90)
        for (int j = 0; j < n; j++)
          if (w[i][k] + w[k][j] < w[i][j]) {
            w[i][j] = w[i][k] + w[k][j];
            via[i][j] = k;
          }
#pragma endscop
}
static void from_one(int n)
{
#pragma scop
  for (int k = 1; k <= n; k++)
    for (int i = 1; i <= n; i++)
      for (int j = 1; j <= n; j++)
        r[i - 1][j - 1] |= r[i - 1][k - 1] & r[k - 1][j - 1];
#pragma endscop
}
static void closure(int n)
{
#pragma scop
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        w[i][j] = w[i][j] || (w[i][k] && w[k][j]);
#pragma endscop
}
static void begin(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      d[i][j] = i == j ? 0 : 1 + (i * 37 + j * 11) % 101;
      w[i][j] = i == j ? 0 : 1 + (i * 31 + j * 17) % 89;
      via[i][j] = -1, r[i][j] = (i * 7 + j * 3) % 11 == 0;
    }
}
static void show(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      printf("%a %d %d %d ", d[i][j], w[i][j], via[i][j], r[i][j]);
}
int main(void)
{
  const int sizes[] = {0, 1, 2, 3, 17, N};
  for (int s = 0; s < 6; s++) {
    const int n = sizes[s];
    begin(), by_choice(n), with_ways(n), from_one(n), show();
    begin(), by_condition(n), closure(n), show();
    begin(), by_minimum(n, d), show();
  }
  return 0;
}
"""
REGIONS = 6
STEPS = 0 + 1 + 2 + 3 + 17 + 37


@pytest.mark.parametrize("backend", ["cuda", pytest.param("opencl", marks=pytest.mark.opencl)])
def test_a_step_has_a_few_kernels(backend, workbench):
    for done in workbench.runs(PROGRAM, backend, REGIONS):
        kernels = [int(count) for count in re.findall(r"(\d+) kernels", done.stderr)]
        assert len(kernels) == REGIONS
        assert max(kernels) <= 9 * STEPS
