"""Updates of elements that data choose, where the order of additions shows: parts, the same in every run."""

from __future__ import annotations

from pathlib import Path

import pytest
from device_programs import HAS_OPENCL, build, is_close, on, run, transform

from tests.emulator.stand_ins import ORDERS

PROGRAM = r"""
#include <stdio.h>
enum { N = 2600, BINS = 20 };
static unsigned char a[N];
static int key[N], from[N], to[N + 1], grid[N / 4][4];
static double w[N], h[BINS], g[BINS], p[BINS][3], late[BINS];
static float f[BINS], most[BINS];
static short narrow[BINS];
static double product[BINS];
static void weights(int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    h[a[i] % BINS] += w[i];
#pragma endscop
}
static void through_a_variable(int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    const int k = a[i] % BINS;
    if (w[i] > 0.25)
      g[k] = g[k] - w[i] * w[i];
  }
#pragma endscop
}
static void of_floats(int n, float *where)
{
#pragma scop
  for (int i = n - 1; i >= 0; i--)
    where[a[i] % BINS] += 1.0f / (float)(i + 1);
#pragma endscop
}
static void in_two_dimensions(int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    p[key[i]][i % 3] += w[i];
#pragma endscop
}
static void nested(int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 4; j++)
      g[grid[i][j]] += w[4 * i + j];
#pragma endscop
}
static void edges(int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    g[from[i]] += w[i];
    g[to[i]] -= w[i];
  }
#pragma endscop
}
static void in_steps(int steps, int n)
{
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 0; i < n; i++)
      late[key[i]] += w[i] * t;
    for (int b = 0; b < BINS; b++)
      late[b] *= 0.5;
  }
#pragma endscop
}
static void largest(int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    if ((float)w[i] > most[key[i]])
      most[key[i]] = (float)w[i];
#pragma endscop
}
static void products(int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    product[key[i]] *= 1 + w[i] / 64;
#pragma endscop
}
static void counted(int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    narrow[key[i]]++;
#pragma endscop
}
static void of_unknown_extents(int n, double *restrict into, const int *restrict at, const double *by)
{
#pragma scop
  for (int i = 0; i < n; i++)
    into[at[i]] += by[i];
#pragma endscop
}
static void in_rows(int n, double (*restrict into)[3], const int *restrict at)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 3; k++)
      into[at[i]][k] -= w[i] * (k + 1);
#pragma endscop
}
int main(void)
{
  for (int i = 0; i < N; i++) {
    a[i] = (unsigned char)(i * i / 3), key[i] = (i * 7 + i / 5) % BINS, w[i] = (i % 101) / 100.0;
    from[i] = i * 3 % BINS, to[i] = (i * 11 + 5) % (BINS - 5), grid[i / 4][i % 4] = i * 13 % BINS;
  }
  for (int b = 0; b < BINS; b++)
    product[b] = 1, late[b] = b;
  h[3] = 1e3, most[5] = 0.995f;
  weights(N), through_a_variable(N), of_floats(N, f), in_two_dimensions(N), nested(N / 4), edges(N);
  in_steps(2, N), largest(N), products(N), counted(N);
  weights(0), edges(1);
  of_unknown_extents(N, g, key, w), of_unknown_extents(N, g + 5, to + 1, w), of_unknown_extents(0, g, key, w);
  in_rows(N, p, from);
  for (int i = 0; i < N; i++)
    key[i] -= 3;
  of_unknown_extents(N, g + 3, key, w); /* places below the pointer: on the host */
  for (int b = 0; b < BINS; b++)
    printf("%a %a ", h[b], (double)f[b]);
  for (int b = 0; b < BINS; b++)
    printf("%a %a %a %a %d %a ", g[b], p[b][b % 3], late[b], product[b], narrow[b], (double)most[b]);
  return 0;
}
"""
REGIONS = 12
EXACT = """
static double h[99];
static int key[5000];
static double w[5000];
void sums(int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    h[key[i]] += w[i];
#pragma endscop
}
void by_leave(int n)
{
#pragma scop
#pragma omp parallel for reduction(+ : h[:99])
  for (int i = 0; i < n; i++)
    h[key[i]] += w[i];
#pragma endscop
}
"""


MAIN = """
#include <stdio.h>
int main(void)
{
  for (int i = 0; i < 5000; i++)
    key[i] = i * 17 % 99, w[i] = (i % 89) / 100.0;
  sums(5000);
  for (int i = 0; i < 99; i++)
    printf("%a ", h[i]);
  return 0;
}
"""


@pytest.fixture(scope="module")
def cuda(emulator, runtime, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("scattered")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NVCC", emulator.nvcc)
        patch.setenv("POLYBUILD_CACHE", "0")
        result = transform(PROGRAM, "cuda", folder, allow_reassociation=True)
    assert [each.backend for each in result.regions] == ["cuda"] * REGIONS
    return build(result, "scattered", runtime, folder)


def test_the_same_bits_in_every_order(cuda, emulator):
    expected = run(cuda, environment=on("host")).stdout.split()
    found = set()
    for order in ORDERS:
        done = run(cuda, environment=emulator.environment(order=order, POLYBUILD_VERBOSE="1"))
        assert done.stderr.count("runs on the device") >= REGIONS
        found.add(done.stdout)
    (only,) = found
    assert is_close(only.split(), expected)


@pytest.mark.skipif(not HAS_OPENCL, reason="needs OpenCL")
def test_the_same_bits_in_every_language(emulator, runtime, tmp_path, monkeypatch):
    monkeypatch.setenv("NVCC", emulator.nvcc)
    found = set()
    for backend, environment in (("cuda", emulator.environment()), ("opencl", on("opencl"))):
        result = transform(EXACT + MAIN, backend, tmp_path, allow_reassociation=True)
        assert [each.backend for each in result.regions] == [backend] * 2
        done = run(build(result, backend, runtime, tmp_path), environment=environment)
        assert done.stdout
        found.add(done.stdout)
    assert len(found) == 1


def test_sums_keep_their_order_without_leave(tmp_path):
    result = transform(EXACT, "opencl", tmp_path, allow_reassociation=False, openmp="use")
    assert [each.backend for each in result.regions] == ["openmp"] * 2
    hint = "--allow-reassociation on lets threads share what line 9 adds up or compares"
    assert any(hint in each for each in result.regions[0].remarks)


def test_a_clause_gives_leave(tmp_path):
    result = transform(EXACT, "opencl", tmp_path, openmp="use")
    assert [each.backend for each in result.regions] == ["openmp", "opencl"]
