"""Kernels of equal grids as one: results, in every order, and what that saves."""

from __future__ import annotations

from pathlib import Path

import pytest
from device_programs import build, is_close, on, run, transform

from tests.emulator.stand_ins import ORDERS

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
enum { N = 70 };
static double A[N][N], B[N][N], C[N][N], x[400], y[400], z[400];
static float least[400];
static void chain(int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    x[i] = 2 * y[i] + 1;
  for (int i = 0; i < n; i++)
    z[i] = x[i] * x[i];
  for (int i = 0; i < n; i++)
    y[i] = z[i] - x[i];
#pragma endscop
}
static void planes(int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      A[i][j] = A[i][j] * 0.5 + i;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      B[i][j] += A[i][j] - j;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      C[i][j] = A[i][j] + B[j][i];
#pragma endscop
}
static void mixed(int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    x[i] = y[i] - 1;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      C[i][j] += x[i] * 0.25;
  for (int i = 0; i < n; i++)
    z[i] = x[i] + 3;
  for (int i = 1; i < n; i++)
    y[i] = z[i - 1];
#pragma endscop
}
static double sum(int n)
{
  double s = 3;
#pragma scop
  for (int i = 0; i < n; i++)
    s += x[i] * z[i];
#pragma endscop
  return s;
}
static float smallest(int n)
{
  float s = 4;
#pragma scop
  for (int i = 0; i < n; i++)
    if (least[i] < s)
      s = least[i];
#pragma endscop
  return s;
}
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 0;
  for (int i = 0; i < 400; i++)
    y[i] = i % 17, x[i] = i % 5, z[i] = i % 7, least[i] = (float)(i * 37 % 91) / 8;
  for (int i = 0; i < N * N; i++)
    A[i / N][i % N] = i % 23, B[i / N][i % N] = i % 19, C[i / N][i % N] = i % 3;
  chain(n), planes(n % (N + 1)), mixed(n < N ? N : n);
  for (int i = 0; i < 400; i++)
    printf("%a %a %a ", x[i], y[i], z[i]);
  for (int i = 0; i < N * N; i++)
    printf("%a %a %a ", A[i / N][i % N], B[i / N][i % N], C[i / N][i % N]);
  printf("%a %a\n", sum(n), (double)smallest(n));
  return 0;
}
"""


@pytest.fixture(scope="module")
def made(emulator, runtime, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("fusion")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NVCC", emulator.nvcc)
        patch.setenv("POLYBUILD_CACHE", "0")
        result = transform(PROGRAM, "cuda", folder, allow_reassociation=True)
    assert [each.backend for each in result.regions] == ["cuda"] * 5
    return build(result, "program", runtime, folder)


@pytest.mark.parametrize("size", ["0", "1", "64", "399"])
def test_results_are_the_same(size, made, emulator):
    expected = run(made, size, environment=on("host")).stdout.split()
    for order in ORDERS:
        found = run(made, size, environment=emulator.environment(order=order)).stdout.split()
        assert is_close(found, expected)


def test_launches_are_fewer(made, emulator):
    kernels = emulator.report([str(made), "399"])["kernels"]
    launches = dict.fromkeys(("chain", "planes", "mixed", "sum", "smallest"), 0)
    for name, each in kernels.items():
        launches[name.split("_")[1]] += each["launches"]
    # the transposed plane, the matrix and what neighbours tell have kernels of their own; sums 131,072 parts
    # that become 4,096, 128, 4 and one
    assert launches == {"chain": 1, "planes": 2, "mixed": 3, "sum": 5, "smallest": 5}


def test_a_value_of_the_same_thread_is_read_from_no_memory(made, emulator):
    kernels = emulator.report([str(made), "399"])["kernels"]
    (chain,) = (each for name, each in kernels.items() if "_chain_" in name)
    assert chain["global_reads"]["accesses"] == 399
    assert chain["global_writes"]["accesses"] == 3 * 399
