"""Loops whose bounds are data, inside of threads: rows of sparse matrices."""

from __future__ import annotations

import shutil

import pytest
from device_programs import HAS_OPENCL, build, on, run, transform

from polybuild.targets.gpu.nvcc import build_image
from tests.emulator.stand_ins import ORDERS

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
static void with_a_variable(int n, const int *row, const int *col, const double *val, const double *x,
                            double *y)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int j = row[i]; j < row[i + 1]; j++)
      s += val[j] * x[col[j]];
    y[i] = s;
  }
#pragma endscop
}
static void with_elements(int n, const int *row, const int *col, const double *val, const double *x,
                          double *y)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    y[i] = 1;
    for (int j = row[i]; j < row[i + 1]; j++)
      y[i] -= val[j] * x[col[j]];
  }
#pragma endscop
}
static void backwards(int n, const int *restrict row, const double *restrict val, double *restrict y)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = row[i + 1] - 1; j >= row[i]; j--)
      if (val[j] > 0)
        y[i] = y[i] / 2 + val[j];
#pragma endscop
}
static void unsigned_rows(unsigned n, const unsigned *restrict row, const double *restrict val,
                          double *restrict y)
{
#pragma scop
  for (unsigned i = 0; i < n; i++)
    for (unsigned j = row[i]; j < row[i + 1]; j++)
      y[i] += val[j] * 3;
#pragma endscop
}
static void blocks(int n, const int *restrict row, const int *restrict col, const double (*restrict val)[2],
                   const double (*restrict x)[2], double (*restrict y)[2])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = row[i]; j < row[i + 1]; j++)
      for (int k = 0; k < 2; k++)
        y[i][k] += val[j / 2][k] * x[col[j]][k];
#pragma endscop
}
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 0, all = 0;
  int *row = malloc((n + 1) * sizeof *row), *col;
  for (int i = 0; i < n; i++)
    row[i] = all, all += i % 5 == 3 ? 0 : i * i % 7 + (i == 2) * 200;
  row[n] = all;
  double *val = malloc((all + 2) * sizeof *val), *x = malloc((n + 2) * 2 * sizeof *x);
  double *y = calloc(2 * n + 1, sizeof *y);
  col = malloc((all + 1) * sizeof *col);
  for (int j = 0; j < all + 2; j++)
    val[j] = j % 13 - 6.5;
  for (int j = 0; j < all; j++)
    col[j] = j * 7 % n;
  for (int i = 0; i < 2 * n + 4; i++)
    x[i] = i / 3.0;
  with_a_variable(n, row, col, val, x, y);
  for (int i = 0; i < n; i++)
    printf("%a ", y[i]);
  with_elements(n, row, col, val, x, y);
  for (int i = 0; i < n; i++)
    printf("%a ", y[i]);
  backwards(n, row, val, y);
  unsigned_rows((unsigned)n, (unsigned *)row, val, y);
  blocks(n, row, col, (void *)val, (void *)x, (void *)y);
  for (int i = 0; i < 2 * n; i++)
    printf("%a ", y[i]);
  free(row), free(col), free(val), free(x), free(y);
  return 0;
}
"""
REGIONS = 5


@pytest.mark.parametrize("backend", ["cuda", pytest.param("opencl", marks=pytest.mark.opencl)])
def test_a_thread_for_each_row(backend, emulator, runtime, tmp_path, monkeypatch):
    monkeypatch.setenv("NVCC", emulator.nvcc)
    monkeypatch.setenv("POLYBUILD_CACHE", "0")
    monkeypatch.setenv("POLYBUILD_EMULATOR_KEEP", str(tmp_path / "kernels.cu"))
    result = transform(PROGRAM, backend, tmp_path)
    assert [each.backend for each in result.regions] == [backend] * REGIONS, result.regions
    made = build(result, "rows", runtime, tmp_path)
    environments = [emulator.environment(order=order) for order in ORDERS] if backend == "cuda" else []
    environments += [on("opencl")] if backend == "opencl" and HAS_OPENCL else []
    for size in ("0", "1", "300"):
        expected = run(made, size, environment=on("host")).stdout
        for environment in environments:
            done = run(made, size, environment={**environment, "POLYBUILD_VERBOSE": "1"})
            assert done.stdout == expected
            assert done.stderr.count("1 runs on the device") == REGIONS, done.stderr
    if backend == "cuda" and shutil.which("nvcc"):
        build_image((tmp_path / "kernels.cu").read_text(), "nvcc", (90,), contract=False)


def test_no_launches_inside_of_a_loop_whose_bounds_are_data(tmp_path):
    text = """
void run(int n, int *restrict steps, double a[restrict n])
{
#pragma scop
  for (int t = steps[0]; t < steps[1]; t++)
    for (int i = 0; i < n; i++)
      a[i] = a[n - 1 - i] / 2 + t;
#pragma endscop
}
void sum(int n, int *restrict steps, double a[restrict n])
{
#pragma scop
  for (int t = steps[0]; t < steps[1]; t++)
    for (int i = 0; i < n; i++)
      a[i] = a[i] / 2 + t;
#pragma endscop
}
"""
    first, second = transform(text, "opencl", tmp_path).regions
    assert (first.backend, second.backend) == ("openmp", "opencl")
