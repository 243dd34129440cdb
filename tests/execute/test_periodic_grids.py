"""Steps over periodic grids, however neighbours or borders are written: tiles over time, equal to the bit."""

from __future__ import annotations

import pytest
from compiling import output, transform, write

TOP = """\
#include <stdio.h>
#include <stdlib.h>
#define LINE for (int i = 0; i < h; i++)
#define PLANE LINE for (int j = 0; j < w; j++)
#define ROW for (int j = 1; j <= w; j++)
#define COLUMN for (int i = 1; i <= h; i++)
#define INSIDE COLUMN ROW
"""
FUNCTION = """\
static void f{number}(int steps, int h, int w, double u[2][h + 2][w + 2], double v[restrict h + 2][w + 2],
                      double p[restrict h + 2][w + 2])
{{
#pragma scop
{body}
#pragma endscop
  (void)u; (void)v; (void)p;
}}
"""
MAIN = """\
typedef void solver(int, int, int, double *, double *, double *);
int main(void)
{
  static const int sizes[] = {1, 2, 3, 7, 33, 40}, counts[] = {0, 1, 2, 3, 9};
  solver *all[] = {FUNCTIONS};
  for (unsigned k = 0; k < sizeof all / sizeof *all; k++) {
    unsigned long long sum = 0;
    for (int s = 0; s < 36; s++)
      for (int c = 0; c < 5; c++) {
        int h = sizes[s / 6], w = sizes[s % 6], n = (h + 2) * (w + 2);
        double *u = malloc(4 * n * sizeof *u);
        for (int i = 0; i < 4 * n; i++)
          u[i] = (i * 7 + i / 5) % 101 / 3.0;
        all[k](counts[c], h, w, u, u + 2 * n, u + 3 * n);
        for (int i = 0; i < 4 * n * (int)sizeof *u; i++)
          sum = sum * 31 + ((unsigned char *)u)[i];
        free(u);
      }
    printf("%llu\\n", sum);
  }
  return 0;
}
"""
FORMS = {
    "remainders on a line": """
for (int t = 0; t < steps; t++) {
  for (int j = 0; j < w; j++) v[1][j] = 0.3 * (p[1][(j + w - 1) % w] + p[1][j] + p[1][(j + 1) % w]);
  for (int j = 0; j < w; j++) p[1][j] = v[1][j];
}""",
    "choices": """
for (int t = 0; t < steps; t++) {
  PLANE v[i][j] = 0.2 * (p[i][j] + p[i == 0 ? h - 1 : i - 1][j] + p[i == h - 1 ? 0 : i + 1][j]
    + p[i][j == 0 ? w - 1 : j - 1] + p[i][j == w - 1 ? 0 : j + 1]);
  PLANE p[i][j] = v[i][j];
}""",
    "names of neighbours": """
for (int t = 0; t < steps; t++) {
  LINE {
    const int up = (i + h - 1) % h, down = (i + 1) % h;
    for (int j = 0; j < w; j++) {
      int left = j - 1, right = j + 1;
      if (left < 0) left = w - 1;
      if (right >= w) right = 0;
      v[i][j] = 0.2 * (p[i][j] + p[up][j] + p[down][j] + p[i][left] + p[i][right]);
    }
  }
  PLANE p[i][j] = v[i][j];
}""",
    "conditions": """
for (int t = 0; t < steps; t++) {
  PLANE {
    double sum = p[i][j];
    if (i == 0) sum += p[h - 1][j]; else sum += p[i - 1][j];
    if (i < h - 1) sum += p[i + 1][j]; else sum += p[0][j];
    v[i][j] = 0.3 * sum;
  }
  PLANE p[i][j] = v[i][j];
}""",
    "alternating planes": """
for (int t = 0; t < steps; t++)
  PLANE u[(t + 1) % 2][i][j] = 0.2 * (u[t % 2][i][j] + u[t % 2][(i + h - 1) % h][j] + u[t % 2][(i + 1) % h][j]
    + u[t % 2][i][(j + w - 1) % w] + u[t % 2][i][(j + 1) % w]);""",
    "alternating lines": """
for (int t = 0; t < steps; t++)
  for (int j = 0; j < w; j++)
    u[(t + 1) % 2][1][j] = 0.5 * (u[t % 2][1][(j + w - 1) % w] + u[t % 2][1][(j + 1) % w]);""",
    "upwind": """
for (int t = 0; t < steps; t++) {
  PLANE v[i][j] = 0.5 * (p[i][j] + p[(i + h - 1) % h][j]);
  PLANE p[i][j] = v[i][j];
}""",
    "staggered": """
for (int t = 0; t < steps; t++) {
  PLANE v[i][j] = v[i][j] - 0.5 * (p[i][j] - p[(i + h - 1) % h][j]);
  PLANE p[i][j] = p[i][j] - 0.5 * (v[(i + 1) % h][j] - v[i][j]);
}""",
    "ghosts on a line": """
for (int t = 0; t < steps; t++) {
  p[1][0] = p[1][w];
  p[1][w + 1] = p[1][1];
  ROW v[1][j] = 0.3 * (p[1][j - 1] + p[1][j] + p[1][j + 1]);
  ROW p[1][j] = v[1][j];
}""",
    "ghost rows": """
for (int t = 0; t < steps; t++) {
  ROW p[0][j] = p[h][j];
  ROW p[h + 1][j] = p[1][j];
  INSIDE v[i][j] = 0.3 * (p[i - 1][j] + p[i][j] + p[i + 1][j]);
  INSIDE p[i][j] = v[i][j];
}""",
    "ghost rows and columns, with corners": """
for (int t = 0; t < steps; t++) {
  ROW { p[0][j] = p[h][j]; p[h + 1][j] = p[1][j]; }
  for (int i = 0; i <= h + 1; i++) { p[i][0] = p[i][w]; p[i][w + 1] = p[i][1]; }
  INSIDE v[i][j] = 0.2 * (p[i][j] + p[i - 1][j - 1] + p[i + 1][j + 1] + p[i][j - 1] + p[i + 1][j]);
  INSIDE p[i][j] = v[i][j];
}""",
    "ghosts after the step": """
for (int t = 0; t < steps; t++) {
  INSIDE v[i][j] = 0.2 * (p[i][j] + p[i - 1][j] + p[i + 1][j] + p[i][j - 1] + p[i][j + 1]);
  INSIDE p[i][j] = v[i][j];
  COLUMN { p[i][0] = p[i][w]; p[i][w + 1] = p[i][1]; }
  ROW { p[0][j] = p[h][j]; p[h + 1][j] = p[1][j]; }
}""",
}


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    folder = tmp_path_factory.mktemp("periodic-grids")
    functions = [FUNCTION.format(number=number, body=body) for number, body in enumerate(FORMS.values())]
    pointers = ", ".join(f"(solver *)f{number}" for number in range(len(FORMS)))
    text = TOP + "".join(functions) + MAIN.replace("FUNCTIONS", pointers)
    source = write(folder / "in.c", text)
    result = transform(source, text, "-O2", "-ffp-contract=off", tile_sizes=(3, 12, 8))
    transformed = write(folder / "out.c", result.text)
    lines = [output(each, "-Wno-cast-function-type", "-fopenmp").split() for each in (source, transformed)]
    return dict(zip(FORMS, zip(*lines, result.regions, strict=True), strict=True))


@pytest.mark.parametrize("form", FORMS)
def test_halves_start_together(outcome, form):
    before, after, region = outcome[form]
    assert after == before
    assert any("stencil over time" in each for each in region.remarks), region.remarks
