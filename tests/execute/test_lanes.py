"""Loops in the lanes of vectors: what they compute equals, to the bit, what the original computes."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from compiling import write
from lane_programs import check_results, run, transformed

from polybuild.codegen.c.lane_bodies import LaneBodyPrinter
from polybuild.driver.file import compile_source
from polybuild.options import Options

PROGRAM = """\
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
enum {{ MOST = 150 }};
typedef {type} real;
#define root {root}
#define size(x) {size}(x)
struct body {{ real x, y, m, u, v; }};
static void run(int n, int m, real f, real A[n][m], real B[n][m], real *u, real *v, int *at, struct body *p)
{{
#pragma scop
{body}
#pragma endscop
  (void)f, (void)A, (void)B, (void)u, (void)v, (void)at, (void)p;
}}
static real storage[2][MOST * 9], vectors[2][MOST];
static int places[MOST];
static struct body bodies[MOST];
{sum}int main(void)
{{
  static const int sizes[] = {{0, 1, 2, 7, 33, 100, 150}};
  for (int s = 0; s < 7; s++)
    for (int m = 1; m < 10; m += 4) {{
      int n = sizes[s];
      unsigned seed = 1;
      for (int a = 0; a < 4; a++)
        for (int i = 0; i < (a < 2 ? n * m : n); i++) {{
          seed = seed * 1664525u + 1013904223u;
          *(a < 2 ? storage[a] + i : vectors[a - 2] + i) = (real)((seed >> 8) / 16777216.0 - 0.5);
        }}
      for (int i = 0; i < n; i++) {{
        places[i] = -i;
        bodies[i] = (struct body){{storage[0][i], storage[1][i], vectors[0][i], 0, 0}};
      }}
      errno = 0;
      if (n > 0)
        run(n, m, (real)0.01, (void *)storage[0], (void *)storage[1], vectors[0], vectors[1], places, bodies);
      printf("%d %d %d %llu %llu %llu %llu\\n", n, m, errno == EDOM, sum(storage, sizeof storage),
             sum(vectors, sizeof vectors), sum(places, sizeof places), sum(bodies, sizeof bodies));
    }}
  return 0;
}}
"""
NEAREST = """for (int i = 0; i < n; i++) { int k = 0; real least = (real)9;
  for (int j = 0; j < n; j++) { real s = 0;
    for (int q = 0; q < m; q++) { real t = A[i][q] - B[j][q]; s += t * t; }
    CHOICE }
  at[i] = k; STORE }"""


def nearest(choice, store=""):
    return NEAREST.replace("CHOICE", choice).replace("STORE", store)


BODIES = """for (int i = 0; i < n; i++) { real a = 0, b = 0;
  for (int j = 0; j < n; j++) { real x = p[j].x - p[i].x, y = p[j].y - p[i].y;
    real r = x * x + y * y + f; real w = p[j].m / (r * root(r)); a += w * x; b += w * y; }
  p[i].u = a; p[i].v = b; }"""
IN_LANES = {
    "nearest": nearest("if (s < least) { least = s; k = j; }"),
    "nearest, and how far": nearest("if (s < least) { least = s; k = j; }", "u[i] = least;"),
    "nearest by choices": nearest("k = s < least ? j : k; least = s < least ? s : least;"),
    "nearest or first": nearest("if (j == 0 || s < least) { least = s; k = j; }").replace("j == 0", "k < 0"),
    "second nearest": nearest(
        "if (s < least) { least = s; k = j; } else if (s < f) k = -1; else { k += 2; }"
    ),
    "not farther": nearest("if (!(s >= least && s > f)) { least = size(s); k = j; }"),
    "variables outside": "int k; real least, s, t; "
    + nearest("if (s < least) { least = s; k = j; }")
    .replace("int k = 0; real least = ", "k = 0; least = ")
    .replace("real s = 0", "s = 0")
    .replace("real t = ", "t = "),
    "first of the row": """for (int i = 0; i < n; i++) { real s = A[i][0]; int k = 0;
        for (int j = 1; j < m; j++) if (A[i][j] > s) { s = A[i][j]; k = j; } u[i] = s; at[i] = k; }""",
    "while": """int i = 0; while (i < n) { real s = A[i][0]; int j = 1;
        while (j < m) { if (A[i][j] < s) s = A[i][j]; j++; } v[i] = s; i++; }""",
    "bodies": BODIES,
    "bodies in arrays": """for (int i = 0; i < n; i++) { real a = 0, b = 0;
        for (int j = 0; j < n; j++) { real x = A[j][0] - A[i][0], y = B[j][0] - B[i][0];
        real r = root(x * x + y * y + f); real w = 1 / (r * r * r); a += w * x; b += w * y; }
        u[i] = a; v[i] = b; }""",
    "nearest to a copied row": """for (int i = 0; i < n; i++) { real least = 1e30; int place = 0; real row[m];
        for (int k = 0; k < m; k++) row[k] = A[i][k];
        for (int j = 0; j < n; j++) { real s = 0;
        for (int k = 0; k < m; k++) { real t = row[k] - B[j][k]; s += t * t; }
        if (s < least) { least = s; place = j; } }
        at[i] = place; }""",
    "all_but_itself": """for (int i = 0; i < n; i++) { real a = 0, b = 0;
        for (int j = 0; j < n; j++) if (i != j) {
        real x = u[j] - u[i], y = v[j] - v[i], r = root(x * x + y * y);
        real w = A[j][0] / (r * r * r); a += w * x; b += w * y; }
        p[i].u = a; p[i].v = b; }""",
    "all_but_itself_and_near": """for (int i = 0; i < n; i++) { real s = 0; int k = 0;
        for (int j = 0; j < n; j++) { if (j == i) continue; real x = p[j].x - p[i].x, r = x * x;
        if (r < 4 * f) { s += 1 / r; k++; } } u[i] = s; at[i] = k; }""",
    "within a distance": """for (int i = 0; i < n; i++) { real s = 0;
        for (int j = 0; j < n; j++) { real x = p[j].x - p[i].x, y = p[j].y - p[i].y, r = x * x + y * y;
        if (r < 4 * f) { real q = 4 * f - r; s += q * q * q; } } u[i] = s; }""",
    "within one of two distances": """for (int i = 0; i < n; i++) { real s = 0; int k = 0;
        for (int j = 0; j < n; j++) { real x = p[j].x - p[i].x, r = x * x;
        if (r < f) { real q = f - r; int q2 = k + 1; s += q; k = q2; }
        else if (r < 9 * f) { int q = 2 * j - k; real w; w = q * f; if (j > i) w = -w; s -= w; k = -q - 1; } }
        u[i] = s; at[i] = k; }""",
    "closest sphere": """for (int i = 0; i < n; i++) { real least = 9; int k = -1;
        for (int j = 0; j < n; j++) { real b = p[j].x * p[i].u + p[i].y, d = b * b - p[j].m;
        if (d > 0) { real t = b - root(d); if (t > 0 && t < least) { least = t; k = j; } } }
        u[i] = least; at[i] = k; }""",
    "roots that choices ask for": """for (int i = 0; i < n; i++) { real s = 0; int k = 0;
        for (int j = 0; j < n; j++) { real d = v[j] - v[i]; s += d >= 0 ? root(d) : d;
        if (d > f && root(d - f) < f) k += 1; if (d < 0 || root(d) > f) k -= 2; }
        u[i] = s; at[i] = k; }""",
    "counters as numbers": """for (int i = 0; i < n; i++) { real s = i, w = (i - n / 2) / (real)3;
        for (int j = 0; j < m; j++) { s += (i - j) * f; if (i * j > 4) s -= (real)i; w = i > j ? w : i; }
        u[i] = s + w; at[i] = 3 * i - n; }""",
    "rows of windows": """for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { real s = 0;
        for (int k = 0; k < n; k++) { real t = (j - 4) * f + A[k][j]; if (t > 0) s += root(t); else s -= t; }
        B[i][j] = s + i; }""",
    "nearest, and a function of it": nearest(
        "if (s < least) { least = s; k = j; }", "u[i] = (real)exp(least) + k;"
    ),
    "nearest, and an element by data": nearest(
        "if (s < least) { least = s; k = j; }", "u[i] = least + B[i][at[i] % m];"
    ),
    "starts with a function": """for (int i = 0; i < n; i++) { real s = (real)exp(u[i]);
        for (int j = 0; j < n; j++) { real t = v[j] - s; if (t > f) s += t; } p[i].u = s / 3; }""",
    "masses within a distance": """for (int i = 0; i < n; i++) { real s = 0;
        for (int j = 0; j < n; j++) { real x = p[i].x - p[j].x, r = x * x + f;
        if (r < 4 * f) s += p[j].m * p[i].m / r; } p[i].u = s; }""",
    "masses of all but itself within a distance": """for (int i = 0; i < n; i++) { real s = 0;
        for (int j = 0; j < n; j++) { if (i == j) continue; real x = p[i].x - p[j].x, r = x * x + f;
        if (r < 4 * f && r > f) { real w = p[j].m * (p[i].y + p[j].y) / (2 * p[j].m); s += w * x; } }
        p[i].u = s; }""",
    "elements within a distance": """for (int i = 0; i < n; i++) { real s = 0;
        for (int j = 0; j < n; j++) { real x = u[i] - u[j];
        if (x * x < 4 * f) { s += v[j] * x; if (x > 0) s -= v[i]; } } p[i].u = s; }""",
    "negative": """for (int i = 0; i < n; i++) { real a = 0;
        for (int j = 0; j < n; j++) { real x = v[j] - v[i]; a += root(x); } u[i] = a != a ? f : a; }""",
}


OWN_ARRAYS = {
    "work array": """for (int i = 0; i < n; i++) { real w[9]; w[0] = A[i][0] + f;
        for (int j = 1; j < m; j++) w[j] = A[i][j] - w[j - 1] * u[i];
        for (int j = m - 1; j > 0; j--) w[j - 1] += w[j] / (u[i] + 2);
        v[i] = w[0]; }""",
    "work arrays of the function": """real w[9], c[12]; int i, j;
        for (i = 0; i < n; i++) { c[0] = B[i][0] / (A[i][0] + 4); w[0] = u[i] / (A[i][0] + 4);
        for (j = 1; j < m; j++) { real t = 1 / (A[i][j] + 4 - B[i][j] * c[j - 1]);
        c[j] = B[i][j] * t; w[j] = (A[i][j] - B[i][j] * w[j - 1]) * t; }
        for (j = m - 2; j >= 0; j--) w[j] -= c[j] * w[j + 1];
        v[i] = w[0] + w[m - 1]; }""",
    "chosen elements": """for (int i = 0; i < n; i++) { real w[9], s = 0;
        for (int j = 0; j < m; j++) { real t = A[i][j] - s; if (t < 0) w[j] = f; else w[j] = t; s += t * f; }
        for (int j = 1; j < m; j++) if (w[j] > w[j - 1]) w[j] = w[j - 1] - f;
        for (int j = 0; j < m; j++) s += w[j] * (j + 1);
        v[i] = s; }""",
    "two rows": """for (int i = 0; i < n; i++) { real q[2][9], s = 0; q[0][0] = u[i]; q[1][0] = v[i];
        for (int t = 1; t < m; t++) {
        q[0][t] = q[1][t - 1] * f - s; q[1][t] = q[0][t - 1] + s; s += q[0][t]; }
        for (int t = 0; t < m; t++) s += q[0][t] * q[1][m - 1 - t];
        p[i].u = s; }""",
}


@pytest.mark.parametrize("kind", ["double", "float"])
@pytest.mark.parametrize("name", [*OWN_ARRAYS])
def test_each_lane_has_arrays_of_its_own(tmp_path, name, kind):
    source, text = transformed(tmp_path, PROGRAM, kind, "-mavx2", body=OWN_ARRAYS[name])
    assert "_lanes_0[" in text
    check_results(source, text)


def test_large_arrays_are_no_arrays_of_lanes(tmp_path):
    """They would take the caches that rows are in, and the stacks of threads."""
    body = OWN_ARRAYS["work array"].replace("w[9]", "w[99999]")
    _, text = transformed(tmp_path, PROGRAM, "double", "-mavx2", body=body)
    assert "_lanes_0[" not in text


SUMS_IN_MEMORY = {
    "columns": """for (int x = 0; x < n; x++) { v[x] = u[x];
        for (int k = 0; k < m; k++) v[x] = v[x] * f + B[k % 5][0] * u[x]; }""",
    "no iteration": """for (int x = 0; x < n; x++) { v[x] = f;
        for (int k = 3; k < m; k++) { v[x] -= A[0][k - 3] * u[x]; v[x] *= f; } }""",
    "two sums": """for (int x = 0; x < n; x++) { u[x] = 0; v[x] = 0;
        for (int k = 0; k < m; k++) { v[x] += A[0][k] * f; u[x] += v[x] * A[0][k]; } }""",
}


@pytest.mark.parametrize("kind", ["double", "float"])
@pytest.mark.parametrize("name", [*SUMS_IN_MEMORY])
def test_sums_in_memory_are_vectors(tmp_path, name, kind):
    """An element that a loop inside adds to is a vector while that loop runs, as a variable would be."""
    options = Options(min_work=0, schedule="original", tile=False, registers=False)
    source, text = transformed(tmp_path, PROGRAM, kind, "-mavx2", options=options, body=SUMS_IN_MEMORY[name])
    assert re.search(r"[uv]_lanes_0 = POLYBUILD_[DF]\d+\([uv]\[x\]\)", text)
    check_results(source, text)


@pytest.mark.parametrize("kind", ["double", "float"])
@pytest.mark.parametrize("name", [*IN_LANES])
def test_results(tmp_path, name, kind):
    source, text = transformed(tmp_path, PROGRAM, kind, "-mavx2", body=IN_LANES[name])
    assert "_lanes_0" in text or "polybuild_sqrt" in text
    check_results(source, text)


def test_variables_that_wrap(tmp_path):
    """The integers of lanes are wider than a ``short``."""
    body = """for (int i = 0; i < n; i++) { real s = 0; short w = (short)(7000 + at[i]);
      for (int j = 0; j < n; j++) { w = w + 9000; if (w < at[i]) s += v[j]; } u[i] = s; }"""
    source, text = transformed(tmp_path, PROGRAM, "float", "-mavx2", body=body)
    assert run("gcc", write(tmp_path / "new.c", text), "-mavx2", "-fopenmp") == run("gcc", source, "-mavx2")


@pytest.mark.parametrize("name", ["nearest, and how far", "second nearest", "negative"])
@pytest.mark.parametrize("kind", ["double", "float"])
def test_vectors_of_any_machine(tmp_path, name, kind):
    source, text = transformed(tmp_path, PROGRAM, kind, body=IN_LANES[name])
    new = write(tmp_path / "new.c", text)
    assert run("gcc", new, "-fopenmp") == run("gcc", source)


WIDE = "avx512f" in Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else False


@pytest.mark.skipif(not WIDE, reason="the machine has no vectors of 512 bits")
@pytest.mark.parametrize("name", ["nearest, and how far", "second nearest", "negative"])
@pytest.mark.parametrize("kind", ["double", "float"])
def test_wide_vectors(tmp_path, name, kind):
    source, text = transformed(tmp_path, PROGRAM, kind, "-mavx512f", body=IN_LANES[name])
    new = write(tmp_path / "new.c", text)
    assert run("gcc", new, "-mavx512f", "-fopenmp") == run("gcc", source)


CHOSEN = """\
#include <stdio.h>
static double A[9][1];
static void run(int n, int m)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      A[(i ? i - 1 : n - 1) + 1][0] = 0.125;
#pragma endscop
}
int main(void)
{
  run(7, 1);
  for (int i = 0; i < 9; i++)
    printf("%g\\n", A[i][0]);
  return 0;
}
"""


def test_each_lane_chooses_its_row(tmp_path):
    source = write(tmp_path / "one.c", CHOSEN)
    options = Options(min_work=0, schedule="original", tile=False)
    text = compile_source(str(source), options, ["gcc"], ["-O3"]).text
    assert "polybuild_double2" in text
    new = write(tmp_path / "new.c", text)
    assert run("gcc", new, "-fopenmp") == run("gcc", source)


def test_a_lane_that_sees_the_variable_of_another_is_seen(tmp_path, monkeypatch):
    read = LaneBodyPrinter._read

    def of_next_vector(self, node):
        found = read(self, node)
        if not self._bodies.operands[id(node)].variable:
            return found
        stem, copy = found.text.rsplit("_", 1)
        return replace(found, text=f"{stem}_{(int(copy) + 1) % self._lanes.copies}")

    monkeypatch.setattr(LaneBodyPrinter, "_read", of_next_vector)
    source, text = transformed(tmp_path, PROGRAM, "double", "-mavx2", body=IN_LANES["nearest, and how far"])
    assert "_lanes_1" in text
    new = write(tmp_path / "new.c", text)
    assert run("gcc", new, "-mavx2", "-fopenmp") != run("gcc", source, "-mavx2")
