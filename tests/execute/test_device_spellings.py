"""Sums, counts and maxima as people write them: all on the device, with the values of the host."""

from __future__ import annotations

from pathlib import Path

import pytest
from device_programs import build, is_close, on, run, transform

PROGRAM = r"""
#include <float.h>
#include <math.h>
#include <stdio.h>
static double a[3000], b[3000], x[50][60];
static unsigned char mask[3000];
static int label[3000];
static double skipped(int n)
{
  double s = 0;
#pragma scop
  for (int i = 0; i < n; i++) {
    if (!mask[i])
      continue;
    s += a[i];
  }
#pragma endscop
  return s;
}
static double both_sides(int n)
{
  double up = 0, down = 0;
#pragma scop
  for (int i = 0; i < n; i++)
    if (a[i] > 0)
      up += a[i];
    else
      down += a[i];
#pragma endscop
  return up - 2 * down;
}
static double fused(int n)
{
  double s = 0;
#pragma scop
  for (int i = 0; i < n; i++)
    s = fma(a[i], b[i], s);
#pragma endscop
  return s;
}
static int bits(int n)
{
  int s = 0;
#pragma scop
  for (int i = 0; i < n; i++)
    s += __builtin_popcount(label[i] * 2654435761u) + __builtin_parityl(label[i] - 7L);
#pragma endscop
  return s;
}
static double pooled(void)
{
  double s = 0;
#pragma scop
  for (int i = 0; i < 50; i++) {
    double best = -DBL_MAX;
    for (int j = 0; j < 60; j++)
      best = x[i][j] > best ? x[i][j] : best;
    b[i] = best;
  }
  for (int i = 0; i < 50; i++)
    s += b[i];
#pragma endscop
  return s;
}
static double relaxed(int n)
{
  double worst = 0;
#pragma scop
  for (int i = 1; i < n - 1; i++) {
    double now = 0.5 * (b[i - 1] + b[i + 1]), off = fabs(now - a[i]);
    if (off > worst)
      worst = off;
    a[i] = now;
  }
#pragma endscop
  return worst;
}
static double relaxed_before(int n)
{
  double worst = 0;
#pragma scop
  for (int i = 1; i < n - 1; i++) {
    double now = 0.25 * (b[i - 1] + b[i + 1]), off = fabs(now - a[i]);
    a[i] = now;
    if (off > worst)
      worst = off;
  }
#pragma endscop
  return worst;
}
static int relabelled(int n)
{
  int changed = 0;
#pragma scop
  for (int i = 0; i < n; i++) {
    int now = (int)(b[i] * 4);
    if (label[i] != now) {
      label[i] = now;
      changed++;
    }
  }
#pragma endscop
  return changed;
}
static void add_to(double *s, double v) { *s += v; }
static void raise_to(double *m, double v)
{
  if (v > *m)
    *m = v;
}
static double sum_of(const double *v, int n)
{
  double s = 0;
  for (int i = 0; i < n; i++)
    s += v[i];
  return s;
}
static double larger(double p, double q)
{
  if (p > q)
    return p;
  return q;
}
static double by_functions(int n)
{
  double s = 0, m = -9, t, u = -9;
#pragma scop
  for (int i = 0; i < n; i++) {
    add_to(&s, a[i]);
    raise_to(&m, b[i]);
  }
#pragma endscop
#pragma scop
  t = sum_of(b, n);
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++)
    u = larger(a[i], u);
#pragma endscop
  return s + 8 * m + 64 * t + 4096 * u;
}
static double chosen_or_not(int n)
{
  double s = 0, t = 0;
  int c = 0;
#pragma scop
  for (int i = 0; i < n; i++) {
    s = a[i] > b[i] ? s + a[i] : s;
    c = label[i] < 3 ? c : c + 1;
  }
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++) {
    double v = a[i];
    if (v < 0)
      v = -v;
    t += v;
  }
#pragma endscop
  return s - t + c;
}
int main(void)
{
  for (int i = 0; i < 3000; i++) {
    a[i] = (i * 37 % 101) / 7.0 - 5;
    b[i] = (i * 17 % 91) / 3.0 - 9;
    mask[i] = i % 3 != 0;
    label[i] = (int)(b[i] * 4) + (i % 5 == 0);
    x[i / 60][i % 60] = a[i] * b[i];
  }
  printf("%a %a %a %d ", skipped(2999), both_sides(2999), fused(2999), bits(2999));
  printf("%a %a %a %d\n", pooled(), relaxed(2999), relaxed_before(2998), relabelled(2999));
  printf("%a %a\n", by_functions(2990), chosen_or_not(2991));
  for (int i = 0; i < 3000; i++)
    printf("%a %d\n", a[i], label[i]);
  return 0;
}
"""
REGIONS = 13


@pytest.fixture(scope="module")
def cuda(emulator, runtime, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("spellings")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NVCC", emulator.nvcc)
        result = transform(PROGRAM, "cuda", folder, allow_reassociation="on")
    assert [each.backend for each in result.regions] == ["cuda"] * REGIONS
    return build(result, "spellings", runtime, folder)


def _results(made: Path, environment: dict[str, str]) -> list[str]:
    done = run(made, environment={**environment, "POLYBUILD_VERBOSE": "1"})
    assert done.stderr.count("1 runs on the device") == REGIONS
    return done.stdout.split()


def test_on_the_device_with_the_values_of_the_host(cuda, emulator):
    expected = run(cuda, environment=on("host")).stdout.split()
    found = [_results(cuda, emulator.environment(order=each)) for each in ("ascending", "descending", "1")]
    assert is_close(found[0], expected)
    assert found[1] == found[0]
    assert found[2] == found[0]


@pytest.mark.opencl
def test_in_opencl_as_in_cuda(cuda, emulator, runtime, tmp_path):
    other = transform(PROGRAM, "opencl", tmp_path, allow_reassociation="on")
    assert [each.backend for each in other.regions] == ["opencl"] * REGIONS
    made = build(other, "opencl", runtime, tmp_path)
    assert _results(made, on("opencl")) == _results(cuda, emulator.environment())
