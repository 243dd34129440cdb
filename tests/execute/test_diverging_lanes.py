"""Loops that end when their iteration says so, in lanes: results equal those of the original to the bit."""

from __future__ import annotations

from pathlib import Path

import pytest
from compiling import write
from lane_programs import check_results, run, transformed

from polybuild.codegen.c.expressions import Operand
from polybuild.codegen.c.lane_bodies import LaneBodyPrinter

PROGRAM = """\
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
enum {{ MOST = 100 }};
typedef {type} real;
#define root {root}
#define size(x) {size}(x)
static real storage[3][MOST];
static int places[MOST];
{before}
static void run(int n, int max, real f, real *restrict u, real *restrict v, real *restrict w,
                int *restrict at)
{{
#pragma scop
{body}
#pragma endscop
  (void)max, (void)f, (void)u, (void)v, (void)w, (void)at;
}}
{sum}int main(void)
{{
  static const int sizes[] = {{0, 1, 2, 7, 33, 100}}, most[] = {{0, 1, 1000}};
  for (int s = 0; s < 6; s++)
    for (int m = 0; m < 3; m++) {{
      int n = sizes[s];
      unsigned seed = 1;
      for (int a = 0; a < 3; a++)
        for (int i = 0; i < MOST; i++) {{
          seed = seed * 1664525u + 1013904223u;
          storage[a][i] = (real)((seed >> 8) / 8388608.0 - 1);
        }}
      for (int i = 0; i < MOST; i++) {{
        seed = seed * 1664525u + 1013904223u;
        places[i] = (int)(seed >> 16) % 900 + 1;
      }}
      storage[0][1] = storage[0][40] = NAN;
      storage[0][4] = storage[0][31] = INFINITY;
      storage[1][5] = storage[1][32] = -INFINITY;
      storage[1][60] = NAN;
      storage[0][6] = storage[0][71] = -0.0;
      errno = 0;
      run(n, most[m], (real)0.01, storage[0], storage[1], storage[2], places);
      for (int a = 0; a < 3; a++)  /* which NaN an operation gives is not said */
        for (int i = 0; i < MOST; i++)
          if (storage[a][i] != storage[a][i])
            storage[a][i] = 77;
      printf("%d %d %d %llu %llu\\n", n, most[m], errno == EDOM, sum(storage, sizeof storage),
             sum(places, sizeof places));
    }}
  return 0;
}}
"""
ESCAPE = """for (int i = 0; i < n; i++) { real cr = 2 * u[i] - f, ci = v[i], x = 0, y = 0, t; int k = 0;
  while (x * x + y * y < 4 && k < max) { t = x * x - y * y + cr; y = 2 * x * y + ci; x = t; k++; }
  STORE }"""
DIVERGING = {
    "escape_time": ESCAPE.replace("STORE", "at[i] = k;"),
    "escape time and place": ESCAPE.replace("STORE", "at[i] = k; w[i] = x; u[i] = y + t * (k > 0);").replace(
        "y = 0, t;", "y = 0, t = 0;"
    ),
    "constants of another type": ESCAPE.replace("< 4", "< 4.0").replace("STORE", "at[i] = k;"),
    "smooth_colours": ESCAPE.replace("STORE", "w[i] = k < max ? k + 1 - (real)log(1 + x * x + y * y) : 0;"),
    "break_at_the_end": """for (int i = 0; i < n; i++) { real x = u[i], y = v[i]; int k;
        for (k = 0; k < max; k++) { real p = x * x, q = y * y; y = 2 * x * y + f; x = p - q - f;
        if (p + q > 4) break; } at[i] = k; w[i] = x; }""",
    "break_in_the_middle": """for (int i = 0; i < n; i++) { real x = u[i], y = v[i]; int k;
        for (k = 0; k < max; ++k) { real p = x * x, q = y * y; if (p + q > 4) break;
        y = 2 * x * y + f; x = p - q - f; } at[i] = k; w[i] = x - y; }""",
    "two_exits": """for (int i = 0; i < n; i++) { real x = u[i]; int k, c = 0;
        for (k = 0; k < max; k++) { x = x * x - v[i]; if (x > 2) break; if (x < 0) continue;
        c += 2; if (x < f) { c = -c; break; } } at[i] = k + c; w[i] = x; }""",
    "until_it_converges": """for (int i = 0; i < n; i++) { real a = size(u[i]), s = a > 1 ? a : 1, e;
        int k = 0;
        do { real old = s; s = (real)0.5 * (s + a / s); e = size(s - old); k++; } while (e > f && k < max);
        w[i] = s; at[i] = k; }""",
    "test_that_reads_an_element": """for (int i = 0; i < n; i++) { real x = 1; int k = 0;
        while (size(x * x - u[i]) > f && k < max) { x = (x + u[i] / x) / 2; k++; } w[i] = x; }""",
    "flag": """for (int i = 0; i < n; i++) { real t = 0, d; int hit = 0, k = 0;
        while (!hit && t < 9 && k < max) { real x = u[i] + t * f, y = v[i] + t; d = root(x * x + y * y) - 1;
        if (d < f) hit = 1; else t += d; k++; } w[i] = hit ? t : -1; at[i] = k; }""",
    "a flag that is a comparison": """for (int i = 0; i < n; i++) { real x = u[i];
        int going = 1, k = 0, c = 0;
        while (going) { x = x * x + v[i]; c += x > f; k++;
        going = size(x) < 2 && k < max; if (k == 3 && x < f) going = 0; } w[i] = x; at[i] = k + c; }""",
    "an endless loop": """for (int i = 0; i < n; i++) { real x = u[i]; int k = 0;
        for (;;) { if (k >= max) break; x = x * x - (real)0.75; if (!(size(x) < 2)) break; k++; }
        w[i] = x; at[i] = k; }""",
    "bisection": """for (int i = 0; i < n; i++) { real lo = 0, hi = 4, mid, c = size(u[i]);
        while (hi - lo > f) { mid = (lo + hi) / 2;
        if (mid * mid * mid - 2 * mid - c > 0) hi = mid; else lo = mid; } w[i] = lo; }""",
    "bisection_for_elements": """for (int i = 0; i < n; i++) { real lo = 0, hi = 4, mid;
        while (hi - lo > f) { mid = (lo + hi) / 2; real s = mid * mid - v[i];
        if (s > u[i]) hi = mid; else lo = mid; } w[i] = lo; }""",
    "loops_inside": """for (int i = 0; i < n; i++) { real x = u[i], s = 0; int k = 0, j;
        while (k < max && size(s) < 9) { real y = x;
        for (j = 0; j < 5; j++)
        { y = y * y - f; if (y > 3) break; s += y; }
        if (s > 8) { while (x > -1 && x < 9) { x -= (real)0.25; s -= f; } } else s += f;
        k++; x += (real)0.125; }
        w[i] = s; at[i] = k; }""",
    "loops_under_conditions": """for (int i = 0; i < n; i++) { real x = u[i]; int k = 0;
        if (v[i] > 0) { while (x < 2 && k < max) { x = x * x + f; k++; } x = -x; } else { x += 1;
        do { x = x / 2; k += 3; } while (x > f && x < 9); }
        w[i] = x; at[i] = k; }""",
    "numbers_of_steps": """for (int i = 0; i < n; i++) { long long c = at[i]; int k = 0;
        while (c != 1) { if (c % 2 == 0) c = c / 2; else c = 3 * c + 1; k++; } at[i] = k; }""",
    "bits": """for (int i = 0; i < n; i++) { int c = at[i], k = 0, p = 0;
        while (c && k < max) { p ^= c & 5; c -= (c | 7) - (c & ~7) > 6 ? 1 + c / 3 : 2;
        if (c < 0) break; k += 1; }
        at[i] = k * 8 + p; }""",
    "roots": """for (int i = 0; i < n; i++) { real x = u[i] - v[i]; int k = 0;
        while (k < max && x > f) { x = root(x) - (real)0.5; k++; } w[i] = x; at[i] = k; }""",
    "variables outside": "int k, i; real x, y, t; "
    """for (i = 0; i < n; i++) { x = 0; y = 0; for (k = 0; x * x + y * y < 4 && k < max; k++) {
        t = x * x - y * y + u[i] * 2; y = 2 * x * y + v[i]; x = t; } at[i] = k; }""",
    "two loops": """for (int i = 0; i < n; i++) { real x = u[i], y = v[i]; int k = 0, j = 0;
        while (x < 2 && k < max) { x = x * x + f; k++; } while (y > f && j < k + 7) { y = y * x - f; j++; }
        w[i] = x + y; at[i] = k - j; }""",
    "two loops of which one reads what the other made": """for (int i = 0; i < n; i++) {
        real x = u[i], y = v[i]; int k = 0, j = 0; while (x < 2 && k < max) { x = x * x + f; k++; }
        do { y = y * x - f; x = x / 2; j++; } while (y > f && j < k + 7); at[i] = k - j; }""",
    "truths": """for (int i = 0; i < n; i++) { real x = u[i]; bool done = false, far; int k = 0;
        while (!done && k < max) { x = x * x - v[i]; far = x > 2; bool near = x < f; if (near) k += 2;
        done = far || x < -3; k++; } w[i] = x; at[i] = done ? k : -k; }""",
    "tests_that_count": """for (int i = 0; i < n; i++) { real x = u[i]; int k = 0, j = max, c = 5;
        while (k++ < max && size(x) > f) x = x / 2 - v[i] * f;
        do { x = x * (real)0.75; if (++c > 9 + (x > f)) break; } while (size(x) > f && --j > 0);
        if (x > 0) while (c-- > 0) x += f; w[i] = x; at[i] = k * 100 + j + c; }""",
    "limits of another type": """for (int i = 0; i < n; i++) { real x = size(u[i]), y = v[i]; int k = 0;
        while (x > 1e-5 && -0.3 <= y && k < max) { x = x * (real)0.7; y -= (real)0.1;
        k++; if (0.1 > x) k += 3; }
        do { x += (real)0.1; k++; } while (x < 0.7 && y >= -0.9 && !(x <= -1e-3)); at[i] = k; }""",
    "narrow variables": """for (int i = 0; i < n; i++) { real x = u[i]; int k = 0;
        unsigned char c; short s = 3;
        while (x < 2 && k < max) { x = x * x + f; k++; }
        c = (unsigned char)k; s = (short)(s * c); at[i] = c + s; }""",
    "pixels": """for (int i = 0; i < n / 10; i++) for (int j = 0; j < 10; j++) {
        real cr = (j - 5) * (real)0.3, ci = i * (real)0.2 - 1, x = 0, y = 0, t; int k = 0;
        while (x * x + y * y < 4 && k < max) { t = x * x - y * y + cr; y = 2 * x * y + ci; x = t; k++; }
        at[i * 10 + j] = k; }""",
    "exits under conditions": """for (int i = 0; i < n; i++) { real x = u[i], y = 0; int k = 0;
        while (k < max) { if (x > 0)
        { if (x > 2) { y = 3; break; } x = x * x; if (x < f) { k += 2; continue; } y += x; }
        else { x = v[i] - x; if (x < -1) break; } k++; y -= f; } w[i] = y; at[i] = k; }""",
}

RETURNS = {
    "return_of_a_number": """static int steps(real x, real y, int max) { int k;
        for (k = 0; k < max; k++) { real p = x * x, q = y * y;
        if (p + q > 4) return k; y = 2 * x * y + (real)0.1;
        x = p - q; } return max; }""",
    "return_of_two_values": """static int steps(real x, real y, int max) { int k = 0; while (k < max) {
        if (x > 2) return k; if (x < -2) { k = -k; return k - 1; } x = x * x - y; k++; } y = x - y;
        return y > 0 ? k + 7 : k; }""",
    "return_of_loops_inside": """static int steps(real x, real y, int max) { int k = 0; do { int j;
        for (j = 0; j < 4; j++) { if (x > 2) return k * j; x = x * x - y; } if (x < -1) break;
        k++; } while (k < max);
        k = 3 * k; return k + 1; }""",
    "return_of_a_real": """static real away(real x, real y, int max) { for (int k = 0; k < max; k++) {
        if (x > 2) return x - k; x = x * x - y; } return -1; }
        static int steps(real x, real y, int max) { real d = away(x, y, max); return d > 0 ? 3 : d < -9; }""",
}


@pytest.mark.parametrize("kind", ["double", "float"])
@pytest.mark.parametrize("name", [*DIVERGING])
def test_results(tmp_path, name, kind):
    source, text = transformed(tmp_path, PROGRAM, kind, "-mavx2", body=DIVERGING[name], before="")
    assert "polybuild_any_" in text
    check_results(source, text)


@pytest.mark.parametrize("name", [*RETURNS])
def test_functions(tmp_path, name):
    body = "for (int i = 0; i < n; i++) at[i] = steps(u[i], v[i], max);"
    source, text = transformed(tmp_path, PROGRAM, "double", "-mavx2", body=body, before=RETURNS[name])
    assert "polybuild_any_" in text
    check_results(source, text)


@pytest.mark.clang
@pytest.mark.parametrize("name", ["escape_time", "exits under conditions", "bisection_for_elements", "roots"])
@pytest.mark.parametrize("flag", ["-mavx2", "-mavx512dq", "-msse2"])
def test_other_vectors(tmp_path, name, flag):
    if flag == "-mavx512dq" and not WIDE:
        pytest.skip("the machine has no vectors of 512 bits")
    source, text = transformed(tmp_path, PROGRAM, "float", flag, body=DIVERGING[name], before="")
    assert "polybuild_any_" in text
    expected = run("gcc", source, flag)
    new = write(tmp_path / "new.c", text)
    for compiler in ("gcc", "clang"):
        assert run(compiler, new, flag, "-fopenmp") == expected


WIDE = "avx512dq" in Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else False


def test_lanes_that_left_and_are_changed_are_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(LaneBodyPrinter, "_select", lambda *arguments: Operand(arguments[3], 0))
    source, text = transformed(
        tmp_path, PROGRAM, "double", "-mavx2", body=DIVERGING["escape time and place"], before=""
    )
    new = write(tmp_path / "new.c", text)
    assert run("gcc", new, "-mavx2") != run("gcc", source, "-mavx2")
