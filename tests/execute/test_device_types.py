"""Structures, enumeration constants, typedefs and functions of the user's in kernels."""

from __future__ import annotations

import shutil

import pytest
from device_programs import HAS_OPENCL, build, on, run, transform

from polybuild.codegen.file.module import kernel_file
from polybuild.targets.gpu.nvcc import build_image

PROGRAM = r"""
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
enum { TERMS = 6, BIAS = 7 };
typedef double real;
typedef struct { char kind; real x, y; short tag; } particle;
struct cell { float rho; struct { double u[2]; int flags; } row[5]; int id; };
static real square(real v) { return v * v; }
static double factor(int k)
{
  switch (k % 3) {
  case 0: return 1.5;
  case 1: return -2;
  default: return k;
  }
}
static double series(double x)
{
  const double scale[2] = {0.5, BIAS};
  double sum = 0;
  for (int k = 0; k < TERMS; k++)
    sum = sum * x * scale[k & 1] + factor(k);
  return sum;
}
static int steps(unsigned v)
{
  int n = 0;
  while (v > 1) {
    v = v & 1 ? 3 * v + 1 : v / 2;
    n++;
  }
  return n;
}
static void move(int n, particle *restrict p, const real *restrict f)
{
#pragma scop
  for (int i = 1; i < n; i++) {
    p[i].x += f[i] * BIAS;
    p[i].y = p[i].y - square(f[i]) + p[i].tag;
    p[i].tag = (short)(p[i].tag + i);
  }
#pragma endscop
}
static void nested(int n, int m, struct cell *restrict c, particle *restrict q, const int *restrict which)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 1; j < 5; j++)
      c[i].row[j].u[1] = c[i].rho + c[i].row[j].u[0] * 2 + c[i].row[j].flags;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      q[i * m + j].x = q[i * m + j].y + which[j];
#pragma endscop
}
static void called(int n, double *restrict a, int *restrict c)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    a[i] = series(a[i] / 100) + BIAS;
    c[i] = steps((unsigned)i + 1u);
  }
#pragma endscop
}
int main(void)
{
  int n = 37, m = 6;
  particle *p = calloc((size_t)(n * m), sizeof *p);
  struct cell *c = calloc((size_t)n, sizeof *c);
  real f[100], out[100];
  int which[100];
  for (int i = 0; i < 100; i++)
    f[i] = i / 7.0, out[i] = i, which[i] = i * 5 % n;
  for (int i = 0; i < n * m; i++)
    p[i] = (particle){(char)i, i * 0.3, (double)i * i, (short)i};
  for (int i = 0; i < n; i++) {
    c[i].rho = (float)i;
    c[i].id = i;
    for (int j = 0; j < 5; j++)
      c[i].row[j].u[0] = i + j, c[i].row[j].u[1] = -1, c[i].row[j].flags = j;
  }
#pragma polybuild resident(p[0:n * m])
  {
    move(n, p, f);
    move(n, p, f);
    nested(n, m, c, p, which);
  }
  called(37, out, which);
  for (int i = 0; i < n * m; i++)
    printf("%d %a %a %d\n", p[i].kind, p[i].x, p[i].y, p[i].tag);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 5; j++)
      printf("%a %a %d %d\n", c[i].row[j].u[0], c[i].row[j].u[1], c[i].row[j].flags, c[i].id);
  for (int i = 0; i < 100; i++)
    printf("%a %d\n", out[i], which[i]);
  free(p);
  free(c);
  return 0;
}
"""


def made(backend, runtime, folder):
    # small tiles: PoCL takes its time over large ones
    result = transform(PROGRAM, backend, folder, tile_sizes=(8, 8), block_sizes=(4, 8))
    assert [each.backend for each in result.regions] == [backend] * 3
    assert not result.diagnostics
    return build(result, f"types-{backend}", runtime, folder)


def test_emulated_cuda(emulator, runtime, tmp_path, monkeypatch):
    monkeypatch.setenv("NVCC", emulator.nvcc)
    program = made("cuda", runtime, tmp_path)
    expected = run(program, environment=on("host")).stdout
    for order in ("descending", "2"):
        done = run(program, environment=emulator.environment(order=order, POLYBUILD_VERBOSE="1"))
        assert done.stdout == expected
        assert done.stderr.count("runs on the device") == 3


@pytest.mark.skipif(not HAS_OPENCL, reason="needs an OpenCL platform")
def test_opencl(runtime, tmp_path):
    program = made("opencl", runtime, tmp_path)
    done = run(program, environment={**on("opencl"), "POLYBUILD_VERBOSE": "1"})
    assert done.stdout == run(program, environment=on("host")).stdout
    assert done.stderr.count("runs on the device") == 3


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
def test_nvcc(tmp_path):
    result = transform(PROGRAM, "cuda", tmp_path, cuda_arch=(90,))
    assert [each.backend for each in result.regions] == ["cuda"] * 3
    text = kernel_file([each.text.kernels for each in result.details]).text
    image = build_image(text, "nvcc", (90,), contract=True)
    assert {each.spills for each in image.usage} == {0}
    assert text.index("polybuild_factor(int own_k)") < text.index("polybuild_series(double own_x)")
    assert "square" not in text  # it was written out in the model
    assert text.count("steps(unsigned int own_v)") == 1


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        ("static double f(int i) { long double s = 1; while (i > 9) i--, s *= 2; return s; }", "this type"),
        (
            "static long double f(int i) { while (i > 9) i--; return i; }",
            "'f' takes or gives what is no number",
        ),
    ],
)
def test_functions_that_stay_on_the_host(tmp_path, function, reason):
    loop = "for (int i = 0; i < n; i++) a[i] = f(i);"
    text = f"{function}\nvoid go(int n, double *restrict a)\n{{\n#pragma scop\n{loop}\n#pragma endscop\n}}\n"
    (region,) = transform(text, "opencl", tmp_path).regions
    assert (region.status, region.backend) == ("transformed", "openmp")
    assert any(reason in remark for remark in region.remarks), region.remarks


def test_functions_that_read_variables_of_the_file_are_read_through(tmp_path):
    function = "static double g[3]; static double f(int i) { while (i > 9) i -= g[1] > 0; return i; }"
    loop = "for (int i = 0; i < n; i++) a[i] = f(i);"
    text = f"{function}\nvoid go(int n, double *restrict a)\n{{\n#pragma scop\n{loop}\n#pragma endscop\n}}\n"
    (region,) = transform(text, "opencl", tmp_path).regions
    assert region.backend == "opencl"
