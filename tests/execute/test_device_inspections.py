"""What a look at data on the host found counts as long as the data stay on a device, and do not change."""

from __future__ import annotations

import pytest
from device_programs import HAS_OPENCL, build, on, run, transform

PROGRAM = r"""
#include <assert.h>
#include <polybuild.h>
enum { N = 60, M = 500 };
static int col[N + 1], row[N + 1];
static double x[M], y[N];
static void gather(int n, const int *restrict at, const double *restrict from, double *restrict to)
{
#pragma scop
  for (int i = 0; i < n; i++)
    to[i] = from[at[i]];
#pragma endscop
}
static void sums(int n, const int *restrict begin, const double *restrict from, double *restrict to)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    to[i] = 0;
    for (int k = begin[i]; k < begin[i + 1]; k++)
      to[i] += from[k];
  }
#pragma endscop
}
static void move(int n, int *restrict at, int by)
{
#pragma scop
  for (int i = 0; i < n; i++)
    at[i] += by;
#pragma endscop
}
static void set(int first)
{
  for (int i = 0; i < N; i++)
    col[i] = first + i;
}
int main(void)
{
  for (int i = 0; i < M; i++)
    x[i] = i;
  set(10);
  polybuild_resident(col, sizeof col);
  polybuild_resident(y, sizeof y);
  gather(N, col, x, y), polybuild_update_host(y);
  assert(y[5] == 15);
  set(300); /* nobody is told */
  gather(N, col, x, y), polybuild_update_host(y);
  assert(y[5] == 15);
  polybuild_update_device(col);
  gather(N, col, x, y), polybuild_update_host(y);
  assert(y[5] == 305);
  move(N, col, 100);
  gather(N, col, x, y), polybuild_update_host(y);
  assert(y[5] == 405);
  gather(N / 2, col, x, y), polybuild_update_host(y);
  polybuild_release(col);
  set(20);
  polybuild_resident(col, sizeof col);
  gather(N, col, x, y), polybuild_update_host(y);
  assert(y[5] == 25);
  polybuild_release(col);
  set(7);
  gather(N, col, x, y), polybuild_update_host(y);
  assert(y[5] == 12);
  set(8); /* it does not stay there */
  gather(N, col, x, y), polybuild_update_host(y);
  assert(y[5] == 13);
  for (int i = 0; i <= N; i++)
    row[i] = 3 * i;
  polybuild_resident(row, sizeof row);
  for (int round = 0; round < 2; round++) {
    sums(N, row, x, y), polybuild_update_host(y);
    assert(y[2] == 6 + 7 + 8);
  }
  move(N + 1, row, 6);
  sums(N, row, x, y), polybuild_update_host(y);
  assert(y[2] == 12 + 13 + 14);
  polybuild_release(row), polybuild_release(y);
  return 0;
}
"""


@pytest.mark.parametrize("backend", ["cuda", pytest.param("opencl", marks=pytest.mark.opencl)])
def test_data_that_did_not_change_on_the_device_are_not_looked_at_again(
    backend, emulator, runtime, tmp_path, monkeypatch
):
    """Of elements that were not copied the emulator knows that nothing may read them."""
    monkeypatch.setenv("NVCC", emulator.nvcc)
    result = transform(PROGRAM, backend, tmp_path)
    assert [each.backend for each in result.regions] == [backend] * 3
    made = build(result, "inspections", runtime, tmp_path)
    environment = emulator.environment() if backend == "cuda" else on("opencl")
    if backend == "cuda" or HAS_OPENCL:
        run(made, environment={**environment, "POLYBUILD_BACKEND": backend})


def test_what_a_function_says_is_asked_for_each_time(tmp_path):
    text = """
int place(int) __attribute__((pure));
void run(int n, const int *restrict at, const double *restrict x, double *restrict y)
{
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] = x[at[i]];
#pragma endscop
}
"""
    result = transform(text, "opencl", tmp_path)
    assert "polybuild_recall(" in result.text
    other = transform(text.replace("x[at[i]]", "x[place(at[i])]"), "opencl", tmp_path)
    assert "polybuild_recall(" not in other.text
