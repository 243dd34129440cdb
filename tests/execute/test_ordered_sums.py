"""Sums in order, apart from the loops that compute their terms: the same to the bit, signs of zeros, too."""

from __future__ import annotations

import re

import pytest
from compiling import SANITIZED, output, write

from polybuild.driver.file import compile_source
from polybuild.options import Options

PROGRAM = """\
#include <math.h>
#include <stdio.h>
#include <string.h>
enum {{ MOST = 150, STEPS = 3 }};
typedef struct {{ double x, y, fx, fy; }} atom;
static double total, totals[STEPS], smallest;
static float narrow;
static atom p[MOST];
static int taken;
static void run(int n, double *e, double A[n][n], double B[n][n], double *restrict u, double *restrict v)
{{
#pragma scop
{body}
#pragma endscop
  (void)e; (void)A; (void)B; (void)u; (void)v;
}}
static double storage[4][MOST * MOST];
static void put(double value)
{{
  unsigned long long bits;
  memcpy(&bits, &value, sizeof bits);
  printf(" %llx", bits);
}}
int main(void)
{{
  static const int sizes[] = {{0, 1, 2, 7, 33, 100, 150}};
  static const double first[] = {{0.0, -0.0, 1e300, 0.1}};
  for (int s = 0; s < 7; s++)
    for (int f = 0; f < 4; f++) {{
      int n = sizes[s];
      unsigned seed = 1;
      double e = first[f];
      total = first[f], narrow = (float)first[3 - f], taken = 0, smallest = 1e9;
      for (int t = 0; t < STEPS; t++)
        totals[t] = first[f];
      for (int a = 0; a < 4; a++)
        for (int i = 0; i < n * n; i++)
          seed = seed * 1664525u + 1013904223u, storage[a][i] = (seed >> 8) / 16777216.0 - 0.5;
      for (int i = 0; i < n; i++)
        p[i] = (atom){{3 * storage[0][i], 3 * storage[1][i], 0, 0}};
      if (n > 0)
        run(n, &e, (void *)storage[0], (void *)storage[1], storage[2], storage[3]);
      printf("%d", n);
      put(e), put(total), put((double)narrow), put((double)taken), put(smallest);
      for (int t = 0; t < STEPS; t++)
        put(totals[t]);
      for (int i = 0; i < n; i++)
        put(storage[2][i]), put(storage[3][i]), put(p[i].fx), put(p[i].fy);
      printf("\\n");
    }}
  return 0;
}}
"""
PAIR = "double a = A[0][i] - A[0][j], b = B[0][i] - B[0][j], q = a * a + b * b;"
NEAR = """for (int i = 0; i < n; i++) { p[i].fx = p[i].fy = 0; for (int j = 0; j < n; j++) if (i != j) {
    double a = p[i].x - p[j].x, b = p[i].y - p[j].y, q = a * a + b * b; if (q < 1) {
    double w = 1 / (q + 0.1); p[i].fx += w * a; p[i].fy += w * b; total += w; } } }"""

APART = {
    "of rows": f"""for (int i = 0; i < n; i++) {{ double s = 0, w = 0; for (int j = 0; j < n; j++) {{ {PAIR}
        s += a / (q + 1); w += b / (q + 1); }} u[i] = s; total += w; }}""",
    "of pairs": f"""for (int i = 0; i < n; i++) {{ double s = 0; for (int j = 0; j < n; j++) {{ {PAIR}
        double w = 1 / (q + 1); s += w * a; total -= w; }} u[i] = s; }}""",
    "of near pairs": NEAR,
    "by a pointer": f"""for (int i = 0; i < n; i++) {{ double s = 0; for (int j = 0; j < n; j++) {{ {PAIR}
        if (q > 0.2) {{ s += a / q; *e += 1 / q; }} }} u[i] = s; }}""",
    "of no pairs": f"""for (int i = 0; i < n; i++) {{ double s = 0; for (int j = 0; j < n; j++) {{ {PAIR}
        s += a / (q + 1); if (q > 50) total += a * q; }} u[i] = s; }}""",
    "skipped": f"""for (int i = 0; i < n; i++) {{ u[i] = 0; for (int j = 0; j < n; j++) {{ {PAIR}
        if (j == i) continue; if (q > 0.1) continue; u[i] += q; total += a * q; }} }}""",
    "on both ways": f"""for (int i = 0; i < n; i++) {{ double s = 0; for (int j = 0; j < n; j++) {{ {PAIR}
        double w = 1 / sqrt(q + 1), c = w / (q + 2);
        if (q > 0.2) {{ s += w; total += a * c; }} else {{ s -= w; total -= b * c; }} }} u[i] = s; }}""",
    "of two kinds": f"""for (int i = 0; i < n; i++) {{ double s = 0; for (int j = 0; j < n; j++) {{ {PAIR}
        s += sqrt(q); if (q > 0.1) total += a * q; *e += b * q; }} u[i] = s; *e -= s; }}""",
    "of floats": f"""for (int i = 0; i < n; i++) {{ double s = 0; for (int j = 0; j < n; j++) {{ {PAIR}
        float w = (float)(1 / (q + 1)); s += w * a; narrow += w; }} u[i] = s; }}""",
    "of integers that a float rounds": f"""for (int i = 0; i < n; i++) {{ double s = 0, w = 0;
        for (int j = 0; j < n; j++) {{ {PAIR} s += a / (q + 1); w += b / (q + 1); }}
        u[i] = s; narrow += (int)(1e7 * w); }}""",
    "of the smallest": f"""for (int i = 0; i < n; i++) {{ double m = 1e30; int at = 0;
        for (int j = 0; j < n; j++) {{ {PAIR} if (q < m && j != i) {{ m = q; at = j; }} }}
        u[i] = at; total += m; }}""",
    "in steps": f"""for (int t = 0; t < STEPS; t++) {{ for (int i = 0; i < n; i++) {{ double s = 0;
        for (int j = 0; j < n; j++) {{ {PAIR} double w = u[j] / (q + 1); s += w * a; totals[t] += w; }}
        v[i] = s; }} for (int i = 0; i < n; i++) u[i] = v[i]; }}""",
    "of triangles": f"""for (int i = 0; i < n; i++) {{ double s = 0; for (int j = i + 1; j < n; j++) {{ {PAIR}
        double w = 1 / (q + 1); s += w; total += w * a; }} u[i] = s; }}""",
}
TOGETHER = {
    "read in the loop": f"""for (int i = 0; i < n; i++) {{ double s = 0; for (int j = 0; j < n; j++) {{ {PAIR}
        double w = 1 / (q + 1); s += w; total += w; }} u[i] = s + total; }}""",
    "reset": f"""for (int i = 0; i < n; i++) {{ double s = 0; total = 0; for (int j = 0; j < n; j++) {{ {PAIR}
        double w = 1 / (q + 1); s += w * a; total += w; }} u[i] = s; }}""",
    "of what they change": """for (int i = 0; i < n; i++) { double s = 0; for (int j = 0; j < n; j++)
        s += A[i][j] / (1 + total * total); total += s; u[i] = s; }""",
    "times something": f"""for (int i = 0; i < n; i++) {{ double s = 0; for (int j = 0; j < n; j++) {{ {PAIR}
        s += q / (q + 1); }} total *= s; u[i] = s; }}""",
}
QUIET = ("-Wno-float-conversion", "-Wno-misleading-indentation")
EVERY = {**APART, **TOGETHER}


def transformed(directory, body, **options):
    source = write(directory / "one.c", PROGRAM.format(body=body))
    chosen = Options(**{"min_work": 1, **options})
    result = compile_source(str(source), chosen, ["gcc"], ["-O3", "-mavx2"])
    assert [each.message for each in result.regions if each.status == "kept"] == []
    return source, result.text


def new_loops(text):
    return text[text.index("the new order") : text.index("/* the original loops */")]


@pytest.mark.parametrize("name", [*EVERY])
def test_results(tmp_path, name):
    source, text = transformed(tmp_path, EVERY[name])
    expected = output(source, "-O2", "-mavx2", *QUIET)
    new = write(tmp_path / "new.c", text)
    for flags in (["-fopenmp"], SANITIZED):
        assert output(new, "-O2", "-mavx2", *QUIET, *flags) == expected


@pytest.mark.parametrize("name", ["of rows", "of the smallest"])
def test_sums_stand_behind_what_computes_their_terms(tmp_path, name):
    loops = new_loops(transformed(tmp_path, APART[name])[1])
    assert "POLYBUILD_OMP(parallel" in loops
    added = re.findall(r"(?:total|totals\[t\]|e\[0\]|narrow) [-+]= (.*);", loops)
    assert added
    assert all("_expanded_buffer[" in each for each in added)


@pytest.mark.parametrize("name", ["of pairs", "of what they change", "times something"])
def test_sums_that_are_looked_at_stay(tmp_path, name):
    assert "total_term" not in transformed(tmp_path, EVERY[name])[1]
