"""Reductions on devices: in parts, with the same bits in every run and on every device."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from device_programs import HAS_OPENCL, build, is_close, on, run, transform

SIZES = (33, 3000)
PROGRAM = r"""
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
static double sum(int n, const double *a)
{
  double s = 1;
#pragma scop
  for (int i = 0; i < n; i++)
    s += a[i];
#pragma endscop
  return s;
}
static float dot(int n, const float *a, const float *b)
{
  float s = 0;
#pragma scop
  for (int i = n - 1; i >= 0; i--)
    s -= a[i] * b[i];
#pragma endscop
  return s;
}
static double everything(int n, int m, const double a[restrict n][m])
{
  double s = 0;
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      s += a[i][j] * a[i][j];
#pragma endscop
  return s;
}
static double largest(int n, const double *a)
{
  double s = 0;
#pragma scop
  for (int i = 0; i < n; i++)
    if (fabs(a[i]) > s)
      s = fabs(a[i]);
#pragma endscop
  return s;
}
static double least(int n, const double *a)
{
  double s = 5;
#pragma scop
  for (int i = 0; i < n; i++)
    s = fmin(s, a[i]);
#pragma endscop
  return s;
}
static unsigned bits(int n, const unsigned char *a)
{
  unsigned s = 7;
#pragma scop
  for (int i = 0; i < n; i++)
    s ^= a[i] * 1000003u;
#pragma endscop
  return s;
}
static short count(int n, const unsigned char *a)
{
  short s = 3;
#pragma scop
  for (int i = 0; i < n; i++)
    if (a[i] > 100)
      s += a[i];
#pragma endscop
  return s;
}
static void rows(int n, int m, const double a[restrict n][m], const double *restrict x, double *restrict y)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    y[i] = 1;
    for (int j = 0; j < m; j++)
      y[i] += a[i][j] * x[j];
  }
#pragma endscop
}
static void columns(int n, int m, const double a[restrict n][m], double *restrict y)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[j] += a[i][j];
#pragma endscop
}
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 1, m = n / 7;
  size_t all = (size_t)n + 7;
  double *a = malloc(all * sizeof *a), *y = calloc(all, sizeof *y), *z = calloc(all, sizeof *z);
  double *x = calloc(all, sizeof *x);
  float *b = malloc(all * sizeof *b);
  unsigned char *c = malloc(all);
  for (int i = 0; i < n; i++) {
    a[i] = x[i] = (i * 37 % 101) / 7.0 - 5;
    b[i] = (float)(i * 17 % 91) / 3 - 9;
    c[i] = (unsigned char)(i * i);
  }
  printf("%a %a %a %a %a %u %d\n", sum(n, a), (double)dot(n, b, b), everything(7, m, (void *)a),
         largest(n, a), least(n, a), bits(n, c), count(n, c));
  rows(7, m, (void *)a, x, y);
  columns(m, 7, (void *)a, z);
  for (int i = 0; i < 7 && i < n; i++)
    printf("%a %a\n", y[i], z[i]);
  free(a), free(b), free(c), free(x), free(y), free(z);
  return 0;
}
"""
PARALLEL = 9


def results(made: Path, environment: dict[str, str], size: int) -> list[str]:
    """What the program prints; its regions must have run on the device."""
    done = run(made, str(size), environment={**environment, "POLYBUILD_VERBOSE": "1"})
    assert done.stderr.count("1 runs on the device") == PARALLEL
    return done.stdout.split()


@pytest.fixture(scope="module")
def cuda(emulator, runtime, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("cuda")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NVCC", emulator.nvcc)
        result = transform(PROGRAM, "cuda", folder, allow_reassociation="on")
    assert [each.backend for each in result.regions] == ["cuda"] * PARALLEL
    return build(result, "reductions", runtime, folder)


def test_the_same_bits_in_every_order_and_language(cuda, emulator, runtime, tmp_path):
    programs = [(cuda, emulator.environment(order=order)) for order in ("ascending", "descending", "1")]
    if HAS_OPENCL:
        other = transform(PROGRAM, "opencl", tmp_path, allow_reassociation="on")
        programs.append((build(other, "opencl", runtime, tmp_path), on("opencl")))
    for size in SIZES:
        expected = run(cuda, str(size), environment=on("host")).stdout.split()
        found = [results(program, environment, size) for program, environment in programs]
        assert is_close(found[0], expected)
        assert all(each == found[0] for each in found)


def test_no_term_of_a_whole_tile_waits_for_a_condition(emulator, tmp_path, monkeypatch):
    """Whether all are there is asked once before them."""
    monkeypatch.setenv("NVCC", emulator.nvcc)
    monkeypatch.setenv("POLYBUILD_CACHE", "0")
    monkeypatch.setenv("POLYBUILD_EMULATOR_KEEP", str(tmp_path / "kernels.cu"))
    transform(PROGRAM, "cuda", tmp_path, allow_reassociation="on")
    text = (tmp_path / "kernels.cu").read_text()
    unrolled = re.findall(r"#pragma unroll.*\n *for .*\n *(.*)", text)
    assert len(unrolled) > PARALLEL
    assert not [each for each in unrolled if re.match(r"if \(pb_", each)]


def test_many_threads_share_a_sum_and_a_warp_each_row(cuda, emulator):
    kernels = emulator.report([str(cuda), "40000"])["kernels"]

    def reads(function: str) -> dict[str, int]:
        own = [each for name, each in kernels.items() if re.search(rf"_{function}_\d+_\d+$", name)]
        return max(own, key=lambda each: each["threads"] * bool(each["global_reads"]["accesses"]))

    assert reads("sum")["threads"] == 131072  # each begins a part, too
    for function in ("sum", "rows", "columns"):
        found = reads(function)["global_reads"]
        assert found["sectors"] < 1.3 * found["ideal"]  # rows of seven elements are not aligned


MATRICES = {
    "row sums": "{ y[i] = 0; for (int j = 0; j < m; j++) y[i] += a[i][j]; }",
    "row sums by a variable": "{ double s = 0; for (int j = 0; j < m; j++) s += a[i][j]; y[i] = s; }",
    "column sums": "for (int j = 0; j < m; j++) y[j] += a[i][j];",
    "product": "for (int j = 0; j < m; j++) y[i] += a[i][j] * x[j];",
    "transposed product": "for (int j = 0; j < m; j++) y[j] += a[i][j] * x[i];",
}


@pytest.mark.parametrize("name", MATRICES)
def test_matrices_are_read_in_whole_sectors_by_many_blocks(name, emulator, runtime, tmp_path, monkeypatch):
    """With 4000 rows there are 1000 blocks, more than four for each of 132 multiprocessors."""
    monkeypatch.setenv("NVCC", emulator.nvcc)
    text = f"""
#include <stdlib.h>
static void run(int n, int m, double (*restrict a)[m], double *restrict x, double *restrict y)
{{
#pragma scop
  for (int i = 0; i < n; i++)
    {MATRICES[name]}
#pragma endscop
  (void)x;
}}
int main(void)
{{
  double *a = calloc(1200 * 64, sizeof *a), *x = calloc(1200, sizeof *x), *y = calloc(1200, sizeof *y);
  run(1200, 64, (void *)a, x, y);
  free(a), free(x), free(y);
  return 0;
}}
"""
    made = build(transform(text, "cuda", tmp_path, allow_reassociation="on"), "matrix", runtime, tmp_path)
    kernels = emulator.report([str(made)])["kernels"].values()
    for each in kernels:
        assert each["global_reads"]["sectors"] == each["global_reads"]["ideal"]
        assert each["global_writes"]["sectors"] == each["global_writes"]["ideal"]
    of_rows = ("sums" in name and "row" in name) or name == "product"
    assert max(each["blocks"] for each in kernels) == (1200 // 4 if of_rows else 16)


EXACT = r"""
#include <stdio.h>
static unsigned bits(int n, const unsigned char *a)
{
  unsigned s = 7;
#pragma scop
  for (int i = 0; i < n; i++)
    s ^= a[i] * 1000003u;
#pragma endscop
  return s;
}
static double sum(int n, const unsigned char *a)
{
  double s = 0;
#pragma scop
  for (int i = 0; i < n; i++)
    s += a[i] / 7.0;
#pragma endscop
  return s;
}
static double both(int n, double *a)
{
  double s = 0;
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] /= 2;
  for (int i = 0; i < n; i++)
    s += a[i];
#pragma endscop
  return s;
}
static double less(int n, int m, double *a, double b[restrict m][m])
{
  double s = 0;
#pragma scop
  for (int i = 0; i < n; i++)
    s += a[i];
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++)
      b[i][j] = b[i][j] / 2 + s;
#pragma endscop
  return s;
}
int main(void)
{
  static unsigned char a[5000];
  static double b[5000], c[3][3];
  for (int i = 0; i < 5000; i++)
    b[i] = a[i] = (unsigned char)(i * i);
  printf("%u %u %a %a %a\n", bits(0, a), bits(5000, a), sum(5000, a), both(5000, b), less(5000, 3, b, c));
  return 0;
}
"""


def test_without_leave_only_what_is_exact_is_reordered(emulator, runtime, tmp_path, monkeypatch):
    monkeypatch.setenv("NVCC", emulator.nvcc)
    result = transform(EXACT, "cuda", tmp_path)
    assert [each.backend for each in result.regions] == ["cuda", "openmp", "openmp", "cuda"]
    for region, line, why in (
        (result.regions[1], 17, "no loop of this region is parallel"),
        (result.regions[2], 28, "one thread of the device would run line 28 alone"),
    ):
        hint = f"--allow-reassociation on lets threads share what line {line} adds up or compares"
        assert any(each.endswith(f"{why} ({hint})") for each in region.remarks), region.remarks
    assert "on the device one thread runs line 37 alone" in result.regions[3].remarks
    made = build(result, "exact", runtime, tmp_path)
    expected = run(made, environment=on("host")).stdout
    assert run(made, environment=emulator.environment()).stdout == expected
    estimated = run(made, environment=emulator.environment(POLYBUILD_BACKEND="auto", POLYBUILD_VERBOSE="1"))
    assert estimated.stdout == expected
    assert "runs on the host: one thread of the device would do most of it alone" in estimated.stderr
