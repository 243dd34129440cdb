"""Lanes whose elements lie among others: real parts of complex numbers, channels, every third sample."""

from __future__ import annotations

import pytest
from compiling import SANITIZED, in_turn, output, write

from polybuild.codegen.file import interleaved_loads
from polybuild.driver.file import compile_source
from polybuild.options import Options

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
typedef {type} real;
typedef struct {{ real re, im; }} number;
typedef struct {{ real r, g, b; }} colour;
typedef struct {{ real x, y; }} __attribute__((aligned(16))) apart;
typedef struct {{ real h[2]; real x, y; }} mixed;
{elements}
static void run(int n, int m, const elements *restrict x, const elements *restrict h, real *restrict y)
{{
#pragma scop
{body}
#pragma endscop
}}
int main(void)
{{
  static const int sizes[] = {{1, 2, 7, 33, 100}};
  for (int s = 0; s < 5; s++)
    for (int m = 1; m < 10; m += 4) {{
      int n = sizes[s], count = (int)(sizeof(elements) / sizeof(real));
      unsigned long all = (unsigned long)({extent});
      /* exactly as much as is read */
      elements *x = malloc(all * sizeof *x), *h = malloc(32 * sizeof *h);
      real *y = malloc((unsigned long)n * 4 * sizeof *y), total = 0;
      for (unsigned long i = 0; i < all * (unsigned long)count; i++)
        ((real *)x)[i] = (real)(i * 37 % 101) / 7;
      for (int i = 0; i < 32 * count; i++)
        ((real *)h)[i] = (real)(i * 53 % 97) / 3;
      for (int i = 0; i < 4 * n; i++)
        y[i] = 0;
      run(n, m, x, h, y);
      for (int i = 0; i < 4 * n; i++)
        total += y[i] * (real)(i % 7);
      printf("%d %d %.17g\\n", n, m, (double)total);
      free(x), free(h), free(y);
    }}
  return 0;
}}
"""
COMPLEX = """for (int i = 0; i < n; i++) { real a = 0, b = 0;
  for (int k = 0; k < m; k++) { a += x[i + k].re * h[k].re - x[i + k].im * h[k].im;
    b += x[i + k].re * h[k].im + x[i + k].im * h[k].re; }
  y[2 * i] = a; y[2 * i + 1] = b; }"""
PAIRS = """for (int i = 0; i < n; i++) { real a = 0, b = 0;
  for (int k = 0; k < m; k++) { a += x[2 * (i + k)] * h[2 * k] - x[2 * (i + k) + 1] * h[2 * k + 1];
    b += x[2 * (i + k)] * h[2 * k + 1] + x[2 * (i + k) + 1] * h[2 * k]; }
  y[2 * i] = a; y[2 * i + 1] = b; }"""
EVERY = """for (int i = 0; i < n; i++) { real a = 0;
  for (int k = 0; k < m; k++) a += x[STEP * i + k] * h[k];
  y[i] = a; }"""
GREY = """for (int i = 0; i < n; i++) { real a = 0, b = 0;
  for (int k = 0; k < m; k++) { a += (x[i + k].r + 2 * x[i + k].g + x[i + k].b) * h[k].g;
    b += (x[i + k].r - x[i + k].b) * h[k].r; }
  y[2 * i] = a; y[2 * i + 1] = b; }"""
POINTS = """for (int i = 0; i < n; i++) { real a = 0, b = 0;
  for (int k = 0; k < m; k++) { a += (x[i + k].x - h[k].y) * (x[i + k].y - h[k].x);
    b += x[i + k].x * h[k].y; }
  y[2 * i] = a; y[2 * i + 1] = b; }"""
CASES = {
    "structures": ("typedef number elements;", COMPLEX, "n + m - 1", "2"),
    "pairs": ("typedef real elements;", PAIRS, "2 * (n + m - 1)", "2"),
    "every second": ("typedef real elements;", EVERY.replace("STEP", "2"), "2 * (n - 1) + m", "2"),
    "colours": ("typedef colour elements;", GREY, "n + m - 1", "3"),
    "longer than their members": ("typedef apart elements;", POINTS, "n + m - 1", "2"),
    "with an array": ("typedef mixed elements;", POINTS, "n + m - 1", ""),
}
SINGLE = {
    "every third": ("typedef real elements;", EVERY.replace("STEP", "3"), "3 * (n - 1) + m", "3"),
    "every fourth": ("typedef real elements;", EVERY.replace("STEP", "4"), "4 * (n - 1) + m", "4"),
    "every fifth": ("typedef real elements;", EVERY.replace("STEP", "5"), "5 * (n - 1) + m", ""),
}


def transformed(directory, case, kind, *flags):
    elements, body, extent, _ = case
    source = directory / "one.c"
    source.write_text(PROGRAM.format(type=kind, body=body, elements=elements, extent=extent))
    result = compile_source(str(source), Options(min_work=0), ["gcc"], ["-O3", *flags])
    assert [each.message for each in result.regions if each.status != "transformed"] == []
    return source, result.text


def check(directory, case, kind, compiler, *flags):
    source, text = transformed(directory, case, kind, *flags)
    step = case[-1]
    near = bool(step) and int(step) * (4 if kind == "float" else 8) <= 16
    assert (f"polybuild_every{step}" in text) is near
    expected = output(source, "-Wno-misleading-indentation", *flags)
    new = write(directory / "new.c", text)
    assert output(new, "-O2", *flags, "-fopenmp", compiler=compiler) == expected
    assert output(new, *flags, *SANITIZED, compiler=compiler) == expected


TURNS = [("float", "gcc"), ("double", "clang")], [("double", "gcc"), ("float", "clang")]


@pytest.mark.parametrize(("name", "kind", "compiler"), in_turn(CASES, *TURNS))
def test_results(tmp_path, name, kind, compiler):
    check(tmp_path, CASES[name], kind, compiler, "-mavx2")


@pytest.mark.parametrize("name", SINGLE)
def test_farther_apart(tmp_path, name):
    check(tmp_path, SINGLE[name], "float", "gcc", "-mavx2")


@pytest.mark.parametrize("name", ["structures", "pairs"])
def test_vectors_of_any_machine(tmp_path, name):
    check(tmp_path, CASES[name], "float", "gcc")


def test_a_wrong_member_is_seen(tmp_path, monkeypatch):
    place = interleaved_loads.InterleavedLoad._shuffles

    def of_the_next(self):
        return [each.replace("{0, ", "{1, ") for each in place(self)]

    monkeypatch.setattr(interleaved_loads.InterleavedLoad, "_shuffles", of_the_next)
    source, text = transformed(tmp_path, CASES["structures"], "float", "-mavx2")
    new = write(tmp_path / "new.c", text)
    assert output(new, "-O2", "-mavx2", "-fopenmp") != output(source, "-mavx2")
