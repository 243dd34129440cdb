"""Constants and tables that are static in regions and in what they call: the same results from new loops."""

from __future__ import annotations

import pytest
from compiling import SANITIZED, output, write

from polybuild.driver.file import compile_source
from polybuild.options import Options

PROGRAM = """\
#include <stdio.h>
enum {{ N = 60, K = 5, SCALE = 3 }};
typedef const double fixed;
typedef unsigned char byte;
struct tap {{ double weight; int at[2]; }};
static double x[N + 8], y[N], z[N];
{functions}
static void run(int n)
{{
#pragma scop
{body}
#pragma endscop
}}
int main(void)
{{
  double sum = 0;
  for (int i = 0; i < N + 8; i++) x[i] = (i * 37 % 101) / 9.0 - 2;
  run(N);
  run(N / 2);
  for (int i = 0; i < N; i++) sum += y[i] * (i % 7 + 1) + z[i];
  printf("%a\\n", sum);
  return 0;
}}
"""
LOOP = """\
  for (int i = 0; i < n; i++) {{
    double s = 0;
    {declared}
    for (int k = 0; k < 5; k++) s += {use};
    y[i] = s;
  }}"""
WEIGHTS = "{0.5, 1.0 / 6, -0.125, 1e-1, 7}"
TABLES = {
    "constant": (f"static const double w[5] = {WEIGHTS};", "w[k] * x[i + k]"),
    "constant, said later": (f"static double const w[K] = {WEIGHTS};", "w[k] * x[i + k]"),
    "of another type": (f"static fixed w[K] = {WEIGHTS};", "w[k] * x[i + k]"),
    "without its size": (f"static const float w[] = {WEIGHTS};", "w[(i + k) % 5] * x[i + k]"),
    "never changed": (f"static double w[] = {WEIGHTS};", "w[k] * x[i + k] + (w)[4 - k]"),
    "of two dimensions": (
        "static const double w[5][2] = {{1, 2}, {3, 4}, {0.1}, {5, -SCALE}, {(float)0.1, ~0u}};",
        "w[k][i % 2] * x[i + k]",
    ),
    "of two dimensions, in a row": ("static double w[][2] = {{1, 2}, {3}};", "w[k % 2][i % 2] * x[i]"),
    "of bytes": (
        "static const byte w[K] = {255, 256 - 1, 'a', '\\n', SCALE * 2};",
        "(byte)(w[k] * 2) + x[i]",
    ),
    "by its places": ("static const int w[5] = {[3] = 4, [0] = SCALE, [SCALE + 1] = -1};", "w[k] * x[i + k]"),
    "of structures": (
        "static const struct tap t[5] = {{1, {0, 2}}, {.weight = 2.5, .at = {1}}, {.at = {3, 1}}};",
        "t[k].weight * x[i + t[k].at[0]] + t[k].at[1]",
    ),
    "of structures without a name": (
        "static const struct { byte at; double w; } t[] = {{0, 1}, {4, .25}, {2, 3}};",
        "t[k % 3].w * x[i + t[k % 3].at]",
    ),
    "numbers": (
        "static const double half = 1 / 2.0; static byte six = 2 * SCALE; static float third = 1.0 / 3;",
        "half * x[i + k] + six / 4 + third",
    ),
    "bounds": ("static const int most = K, more = K + 1; (void)more;", "k < most ? x[i + most - k] : 2"),
    "a row of it": (
        "static const double w[2][5] = {{1, 2, 3, 4, 5}, {6, 7, 8, 9}}; const double *row = w[i % 2];",
        "row[k] * x[i + k]",
    ),
    "given to functions": (f"static const double w[5] = {WEIGHTS};", "total(w, k) * x[i]"),
    "beside namesakes": (
        f"""static const double w[5] = {WEIGHTS};
    {{ double w = 3; s += w; }}
    {{ static const double w = 4; s += w; }}""",
        "w[k] * x[i + k]",
    ),
}
TOTAL = """\
static double total(const double *a, int n) {
  double t = 0;
  for (int k = 0; k < n; k++) t += a[k];
  return t;
}"""
SMOOTH = f"""\
static double smooth(int i) {{
  static const double w[K] = {WEIGHTS};
  double s = 0;
  for (int k = 0; k < K; k++) s += w[k] * x[i + k];
  return s;
}}"""
PICK = """\
static double pick(double v, int i) {
  static const fixed w[] = {1, 2, 0.75};
  return w[i % 3] * v;
}"""
NAMESAKES = f"""\
static double one(int i) {{ static const double w[K] = {WEIGHTS}; return w[i % K]; }}
static double two(int i) {{ static const double w[2] = {{3, 4}}; return w[i % 2] * one(i + 1); }}"""
MARK = """\
static void mark(double *to, int i) {
  static const int at[3] = {2, 0, 1};
  to[3 * i + at[i % 3]] = x[i];
}"""
ROW = """\
static const double *row(int i) {
  static const double w[2][2] = {{1, 2}, {3, 4}};
  return w[i % 2];
}"""
FIND = f"""\
static double find(double v) {{
  static const double w[K] = {WEIGHTS};
  static const double eps = 1e-3;
  int k = 0;
  while (k < 4 && w[k] * v > eps) {{
    if (v < w[k]) return w[k] - v;
    k++;
  }}
  return w[k] + v;
}}"""
NESTED = """\
static double inner(int i) { static const double w[2] = {3, 4}; return w[i % 2]; }
static double outer(int i) {
  static const double h = 0.5;
  double s = 0;
  for (int k = 0; k < 3; k++) s += h * inner(k) * x[i + k];
  return s;
}"""
HALF = "static double half(double v) { static const double h = 0.5; return h * v; }"
CALLED = {
    "in a function": (SMOOTH, "y[i] = smooth(i);"),
    "in an expression": (PICK, "y[i] = pick(x[i], i) + pick(x[i + 1], i / 3);"),
    "a number in a function": (HALF, "y[i] = half(half(x[i]) + i);"),
    "of one name in two functions": (
        NAMESAKES,
        "y[i] = one(i) + two(i) * x[i]; z[i] = one(i) - two(i + 1);",
    ),
    "in a function that changes elements": (MARK, "if (i < N / 6) mark(z, i); y[i] = x[i];"),
    "a row that a function gives": (ROW, "y[i] = row(i)[1] * x[i];"),
    "in a function that stays a call": (FIND, "y[i] = find(x[i]);"),
    "in nested functions": (NESTED, "y[i] = outer(i);"),
}
KEPT = {
    "counts": ("", "static int calls; calls++; y[i] = calls;"),
    "changes": ("", "static double w[2] = {1, 2}; y[i] = w[i % 2]; w[0] = x[i];"),
    "may change by its address": (
        "static void set(double *p, double v) { *p = v; }",
        "static double w = 1; y[i] = w; set(&w, x[i]);",
    ),
    "remembers": (
        "static double last(double v) { static double old = 1; double is = old; old = v; return is; }",
        "y[i] = last(x[i]);",
    ),
}


def results(tmp_path, functions: str, body: str):
    """The regions of a program, whose new text does what the old one does."""
    source = write(tmp_path / "in.c", PROGRAM.format(functions=functions, body=body))
    result = compile_source(str(source), Options(min_work=0), ["gcc"], ["-O2"])
    expected = output(source, "-O2")
    new = write(tmp_path / "out.c", result.text)
    strict = ["-Wvla"] if "w = 3" in body else ["-Wvla", "-Wshadow"]
    assert output(new, "-O2", "-fopenmp", *strict) == expected
    assert output(new, *SANITIZED) == expected
    return result.regions


@pytest.mark.fast(name=["constant", "of structures"])
@pytest.mark.parametrize("name", TABLES)
def test_tables_in_regions(name, tmp_path):
    declared, use = TABLES[name]
    functions = TOTAL if "total" in use else ""
    regions = results(tmp_path, functions, LOOP.format(declared=declared, use=use))
    assert [each.status for each in regions] == ["transformed"]


def test_tables_before_the_loops_of_a_region(tmp_path):
    body = f"  static const double w[] = {WEIGHTS};\n" + LOOP.format(declared="", use="w[k] * x[i + k]")
    assert [each.status for each in results(tmp_path, "", body)] == ["transformed"]


@pytest.mark.parametrize("name", CALLED)
def test_tables_in_functions(name, tmp_path):
    functions, body = CALLED[name]
    regions = results(tmp_path, functions, f"  for (int i = 0; i < n; i++) {{ {body} }}")
    assert [each.status for each in regions] == ["transformed"]


@pytest.mark.parametrize("name", KEPT)
def test_variables_that_keep_what_they_are_set_to_are_refused(name, tmp_path):
    functions, body = KEPT[name]
    (region,) = results(tmp_path, functions, f"  for (int i = 0; i < n; i++) {{ {body} }}")
    assert region.status == "kept"
    assert "is declared 'static'" in region.message
