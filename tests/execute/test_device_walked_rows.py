"""Sparse rows that counters and pointers walk along, and rows with lengths: each has a kernel."""

from __future__ import annotations

import pytest

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
static void counted(int n, const int *restrict row, const int *restrict col, const double *restrict v,
                    const double *restrict x, double *restrict y)
{
  int k;
#pragma scop
  for (int i = 0; i < n; i++) {
    int end = row[i + 1];
    double s = 0;
    k = row[i];
    while (k < end) {
      s += v[k] * x[col[k]];
      ++k;
    }
    y[i] = s;
  }
#pragma endscop
}
static void pointed(int n, const int *restrict row, const int *restrict col, const double *restrict v,
                    const double *restrict x, double *restrict y)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    const double *p = v + row[i], *end = v + row[i + 1];
    const int *q = &col[row[i]];
    double s = 0;
    while (p != end)
      s += *p++ * x[*q++];
    y[i] += s;
  }
#pragma endscop
}
static void pointed_in_headers(int n, const int *restrict row, const int *restrict col,
                               const double *restrict v, const double *restrict x, double *restrict y)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    const int *q = col + row[i];
    for (const double *p = v + row[i]; p < v + row[i + 1]; p++, q++)
      y[i] -= *p * x[*q];
  }
#pragma endscop
}
static void counted_down(int n, const int *restrict row, const int *restrict col, const double *restrict v,
                         const double *restrict x, double *restrict y)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    const double *p = v + row[i];
    const int *q = col + row[i];
    int left = row[i + 1] - row[i];
    double s = 0;
    while (left-- > 0)
      s += *p++ * x[*q++];
    y[i] += s / 2;
  }
#pragma endscop
}
static void lengths(int n, int w, const int *restrict len, const int *restrict col, const double *restrict v,
                    const double *restrict x, double *restrict y)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int k = 0; k < len[i]; k++)
      s += v[i * w + k] * x[col[i * w + k]];
    y[i] += s;
  }
#pragma endscop
}
static void lengths_by_rows(int n, int w, const int *restrict len, const int *restrict col,
                            const double *restrict v, const double *restrict x, double *restrict y)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    const double *p = v + i * w;
    const int *q = col + i * w, m = len[i];
    for (int k = 0; k < m; k++)
      y[i] -= p[k] * x[q[k]];
  }
#pragma endscop
}
static void lengths_by_columns(int n, const int *restrict len, const int *restrict col,
                               const double *restrict v, const double *restrict x, double *restrict y)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int k = 0; k < len[i]; k++)
      s += v[k * n + i] * x[col[k * n + i]];
    y[i] += s;
  }
#pragma endscop
}
static void lengths_in_steps(int n, const int *restrict len, const int *restrict col,
                             const double *restrict v, const double *restrict x, double *restrict y)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double s = 0;
    int at = i;
    for (int k = 0; k < len[i]; k++) {
      s += v[at] * x[col[at]];
      at += n;
    }
    y[i] += 3 * s;
  }
#pragma endscop
}
static void going_on(int n, const int *restrict end, const int *restrict col, const double *restrict v,
                     const double *restrict x, double *restrict y)
{
#pragma scop
  int k = 0;
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (; k < end[i]; k++)
      s += v[k] * x[col[k]];
    y[i] += s;
  }
#pragma endscop
}
static void going_on_by_names(int n, const int *restrict row, const int *restrict col,
                              const double *restrict v, const double *restrict x, double *restrict y)
{
  int i, k = row[0];
#pragma scop
  for (i = 0; i < n; i++) {
    const int end = row[i + 1];
    while (k < end) {
      y[i] += v[k] * x[col[k]];
      k++;
    }
  }
#pragma endscop
}
static void scaled(int n, const int *restrict len, const double *restrict x, double *restrict v)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int k = 0; k < len[i]; k++)
      v[k * n + i] *= x[i];
#pragma endscop
}
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 0, w = 6, m = n * w;
  double *x = malloc((n + 1) * sizeof *x), *v = malloc((m + 1) * sizeof *v), *y = calloc(n + 1, sizeof *y);
  int *col = malloc((m + 1) * sizeof *col), *row = malloc((n + 1) * sizeof *row);
  int *len = malloc((n + 1) * sizeof *len);
  row[0] = 0;
  for (int i = 0; i < n; i++)
    len[i] = i * 5 % (w + 1), row[i + 1] = row[i] + len[i], x[i] = i % 17 / 7.0;
  for (int i = 0; i < m; i++)
    v[i] = i % 13 - 6.25, col[i] = (i * i + 3 * i) % n;
  counted(n, row, col, v, x, y);
  pointed(n, row, col, v, x, y);
  pointed_in_headers(n, row, col, v, x, y);
  counted_down(n, row, col, v, x, y);
  lengths(n, w, len, col, v, x, y);
  lengths_by_rows(n, w, len, col, v, x, y);
  lengths_by_columns(n, len, col, v, x, y);
  lengths_in_steps(n, len, col, v, x, y);
  going_on(n, row + 1, col, v, x, y);
  going_on_by_names(n, row, col, v, x, y);
  scaled(n, len, x, v);
  for (int i = 0; i < n; i++)
    printf("%a ", y[i]);
  for (int i = 0; i < m; i++)
    printf("%a ", v[i]);
  free(x), free(v), free(y), free(col), free(row), free(len);
  return 0;
}
"""
REGIONS = 11


@pytest.mark.parametrize("backend", ["cuda", pytest.param("opencl", marks=pytest.mark.opencl)])
def test_rows_that_are_walked(backend, workbench):
    for done in workbench.runs(PROGRAM, backend, REGIONS, ("1",), ("2",), ("7",), ("33",), ("130",)):
        assert done.stderr.count("1 runs on the device") == REGIONS


def test_rows_that_end_before_they_start_stay_on_the_host(workbench):
    text = PROGRAM.replace("  going_on(n,", "  row[n / 2] = row[n - 1], row[n - 1] = 0;\n  going_on(n,")
    for done in workbench.runs(text, "cuda", REGIONS, ("33",)):
        assert done.stderr.count("1 runs on the device") == REGIONS - 2
