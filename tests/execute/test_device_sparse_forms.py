"""Products with sparse matrices as people write them: bounds with names, padded rows, diagonals left out."""

from __future__ import annotations

import pytest

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
struct rows { int n; const int *start, *col; const double *val; };
static void named(int n, const int *restrict row, const int *restrict col, const double *restrict v,
                  const double *restrict x, double *restrict y)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    int first = row[i], end = row[i + 1];
    double s = 0;
    for (int k = first; k < end; k++)
      s += v[k] * x[col[k]];
    y[i] = s;
  }
#pragma endscop
}
static void set_before(int n, const int *restrict row, const int *restrict col, const double *restrict v,
                       const double *restrict x, double *restrict y)
{
  long k, k0, k1;
#pragma scop
  for (int i = 0; i < n; i++) {
    k0 = row[i];
    k1 = row[i + 1];
    for (k = k0; k < k1; ++k)
      y[i] += v[k] * x[col[k]];
  }
#pragma endscop
}
static void counted(struct rows a, const double *restrict x, double *restrict y)
{
#pragma scop
  for (int i = 0; i < a.n; i++) {
    const int first = a.start[i], count = a.start[i + 1] - first;
    double s = y[i];
    for (int k = first; k < first + count; k++)
      s -= a.val[k] * x[a.col[k]];
    y[i] = count > 2 ? s / count : s;
  }
#pragma endscop
}
static void twice(int n, const int *restrict row, const double *restrict v, double *restrict y)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    int b = row[i], e = row[i + 1];
    for (int k = b; k < e; k++)
      y[i] += v[k];
  }
  for (int i = 0; i < n; i++) {
    int b = row[i], e = row[i + 1];
    for (int k = b; k < e; k++)
      y[i] += 2 * v[k];
  }
#pragma endscop
}
static void padded(int n, int w, const int *restrict col, const double *restrict v, const double *restrict x,
                   double *restrict y)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int k = 0; k < w; k++) {
      int j = col[i * w + k];
      if (j >= 0)
        s += v[i * w + k] * x[j];
    }
    y[i] += s;
  }
#pragma endscop
}
static void chosen(int n, int w, const int *restrict col, const double *restrict x, double *restrict y)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int k = 0; k < w; k++)
      y[i] += col[i * w + k] < 0 ? 1 : x[col[i * w + k]];
#pragma endscop
}
static void jacobi(int n, const int *restrict row, const int *restrict col, const double *restrict v,
                   const double *restrict x, double *restrict y)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double s = 1, d = 1;
    for (int k = row[i]; k < row[i + 1]; k++)
      if (col[k] == i)
        d = v[k];
      else
        s -= v[k] * x[col[k]];
    y[i] = s / d;
  }
#pragma endscop
}
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 0, w = 5, m = n * w;
  double *x = malloc(100 * sizeof *x), *v = malloc(m * sizeof *v + 1), *y = calloc(n + 1, sizeof *y);
  int *col = malloc(m * sizeof *col + 1), *row = malloc((n + 1) * sizeof *row);
  for (int i = 0; i < 100; i++)
    x[i] = i / 7.0;
  for (int i = 0; i <= n; i++)
    row[i] = i == n ? m : i * w - i % 3;
  for (int i = 0; i < m; i++)
    v[i] = i % 13 - 6.25, col[i] = i % 4 == 3 ? i / w % 100 : i * i % 100;
  if (n > 0)
    row[0] = 0;
  named(n, row, col, v, x, y);
  set_before(n, row, col, v, x, y);
  counted((struct rows){n, row, col, v}, x, y);
  twice(n, row, v, y);
  for (int i = 0; i < m; i += 3)
    col[i] = -1000000000;
  padded(n, w, col, v, x, y);
  chosen(n, w, col, x, y);
  for (int i = 0; i < n; i++)
    printf("%a ", y[i]);
  for (int i = 0; i < m; i++)
    col[i] = i % 5 == 2 ? i / w : i * i % 100;
  for (int i = 0; i < m && n > 100; i++)
    col[i] = i % 5 == 2 ? i / w : i % 90;
  jacobi(n, row, col, v, x, y);
  for (int i = 0; i < n; i++)
    printf("%a ", y[i]);
  free(x), free(v), free(y), free(col), free(row);
  return 0;
}
"""
REGIONS = 7


@pytest.mark.parametrize("backend", ["cuda", pytest.param("opencl", marks=pytest.mark.opencl)])
def test_sparse_rows_however_they_are_written(backend, workbench):
    for done in workbench.runs(PROGRAM, backend, REGIONS, ("0",), ("1",), ("2",), ("7",), ("33",), ("130",)):
        assert done.stderr.count("1 runs on the device") == REGIONS
