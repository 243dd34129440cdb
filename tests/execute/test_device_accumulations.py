"""What users of devices try first, each as they write it: sums, maxima, histograms and sparse rows."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from device_programs import HAS_OPENCL, build, on, run, transform

from polybuild.targets.gpu.nvcc import build_image
from tests.emulator.stand_ins import ORDERS

FUNCTIONS = {
    "sum": """static unsigned sum(int n, const unsigned *a)
{
  unsigned s = 1;
#pragma scop
  for (int i = 0; i < n; i++)
    s += a[i];
#pragma endscop
  return s;
}
""",
    "dot": """static long dot(int n, const int *a, const int *b)
{
  long s = 0;
#pragma scop
  for (int i = 0; i < n; i++)
    s += (long)a[i] * b[i];
#pragma endscop
  return s;
}
""",
    "max": """static double largest(int n, const double *x)
{
  double m = x[0];
#pragma scop
  for (int i = 1; i < n; i++)
    m = x[i] > m ? x[i] : m;
#pragma endscop
  return m;
}
""",
    "arg-max": """static int place(int n, const double *x)
{
  int where = 0;
  double best = x[0];
#pragma scop
  for (int i = 1; i < n; i++)
    if (x[i] > best) {
      best = x[i];
      where = i;
    }
#pragma endscop
  return where;
}
""",
    "histogram": """static void histogram(int n, const unsigned char *a, int *h)
{
#pragma scop
  for (int i = 0; i < n; i++)
    h[a[i]]++;
#pragma endscop
}
""",
    "csr": """static void csr(int n, const int *row, const int *col, const double *val, const double *x,
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
""",
    "ell": """static void ell(int n, int w, const int *col, const double *val, const double *x, double *y)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int k = 0; k < w; k++)
      s += val[k * n + i] * x[col[k * n + i]];
    y[i] = s;
  }
#pragma endscop
}
""",
    "hog": """static void hog(int cells, const int *start, const int *bin, const float *size,
                float (*restrict h)[9])
{
#pragma scop
  for (int c = 0; c < cells; c++) {
    for (int b = 0; b < 9; b++)
      h[c][b] = 0;
    for (int p = start[c]; p < start[c + 1]; p++)
      h[c][bin[p]] += size[p];
  }
#pragma endscop
}
""",
    "equake": """static void equake(int n, const int *row, const int *col, const double (*restrict a)[3][3],
                   const double (*restrict v)[3], double (*restrict w)[3])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double s0 = 0, s1 = 0, s2 = 0;
    for (int j = row[i]; j < row[i + 1]; j++) {
      s0 += a[j][0][0] * v[col[j]][0] + a[j][0][1] * v[col[j]][1] + a[j][0][2] * v[col[j]][2];
      s1 += a[j][1][0] * v[col[j]][0] + a[j][1][1] * v[col[j]][1] + a[j][1][2] * v[col[j]][2];
      s2 += a[j][2][0] * v[col[j]][0] + a[j][2][1] * v[col[j]][1] + a[j][2][2] * v[col[j]][2];
    }
    w[i][0] += s0;
    w[i][1] += s1;
    w[i][2] += s2;
  }
#pragma endscop
}
""",
}
MAIN = r"""
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 1, all = 0;
  int *row = malloc((n + 1) * sizeof *row), h[256] = {0};
  for (int i = 0; i < n; i++)
    row[i] = all, all += i * i % 7 + (i == 2) * 100;
  row[n] = all;
  int *col = malloc((all + 9 * n) * sizeof *col), *bin = malloc((all + 1) * sizeof *bin);
  unsigned *u = malloc(n * sizeof *u);
  unsigned char *c = malloc(n);
  double *x = malloc(3 * n * sizeof *x), *y = calloc(3 * n, sizeof *y), *val = malloc((9 * all + 9 * n) * 8);
  float *size = malloc((all + 1) * sizeof *size), *bins = malloc(9 * n * sizeof *bins);
  for (int i = 0; i < 3 * n; i++)
    x[i] = (i * 37 % 101) / 7.0 - 5;
  for (int i = 0; i < n; i++)
    u[i] = i * 1000003u, c[i] = (unsigned char)(i * i);
  for (int j = 0; j < all; j++)
    bin[j] = j % 9, size[j] = (float)(j % 17) / 3;
  for (int j = 0; j < 9 * all + 9 * n; j++)
    val[j] = j % 13 - 6.5;
  for (int j = 0; j < all + 9 * n; j++)
    col[j] = j * 7 % n;
  printf("%u %ld %a %d\n", sum(n, u), dot(n, (int *)u, (int *)u), largest(n, x), place(n, x));
  histogram(n, c, h);
  csr(n, row, col, val, x, y);
  for (int i = 0; i < n; i++)
    printf("%a %d ", y[i], h[i % 256]);
  ell(n, 9, col, val, x, y);
  for (int i = 0; i < n; i++)
    printf("%a ", y[i]);
  hog(n, row, bin, size, (void *)bins);
  equake(n, row, col, (void *)val, (void *)x, (void *)y);
  for (int i = 0; i < 3 * n; i++)
    printf("%a %a ", y[i], bins[3 * i]);
  return 0;
}
"""
PROGRAM = "#include <stdio.h>\n#include <stdlib.h>\n" + "".join(FUNCTIONS.values()) + MAIN
SIZES = ("33", "500", "3001", "1")


@pytest.mark.parametrize("backend", ["cuda", pytest.param("opencl", marks=pytest.mark.opencl)])
def test_the_bits_of_the_original(backend, emulator, runtime, tmp_path, monkeypatch):
    monkeypatch.setenv("NVCC", emulator.nvcc)
    monkeypatch.setenv("POLYBUILD_CACHE", "0")
    monkeypatch.setenv("POLYBUILD_EMULATOR_KEEP", str(tmp_path / "kernels.cu"))
    result = transform(PROGRAM, backend, tmp_path)
    found = dict(zip(FUNCTIONS, result.regions, strict=True))
    assert {name: each.remarks for name, each in found.items() if each.backend != backend} == {}
    made = build(result, "accumulations", runtime, tmp_path)
    runs = list(zip(SIZES, map(_in_order(emulator), ORDERS), strict=True)) if backend == "cuda" else []
    runs += [(size, on("opencl")) for size in SIZES] if backend == "opencl" and HAS_OPENCL else []
    for size, environment in runs:
        expected = run(made, size, environment=on("host")).stdout
        done = run(made, size, environment={**environment, "POLYBUILD_VERBOSE": "1"})
        assert done.stdout == expected
        assert done.stderr.count("1 runs on the device") >= len(FUNCTIONS) - 2 * (size == "1"), done.stderr
    if backend == "cuda" and shutil.which("nvcc"):
        image = build_image(Path(tmp_path / "kernels.cu").read_text(), "nvcc", (90,), contract=True)
        assert {each.kernel: each.spills for each in image.usage if each.spills} == {}


def _in_order(emulator):
    return lambda order: emulator.environment(order=order)
