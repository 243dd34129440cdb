"""Steps that keep two grids or three, however that is written: tiles over time, equal to the bit."""

from __future__ import annotations

import pytest
from compiling import output, transform, write

TOP = """\
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#define EACH for (int i = 1; i < h - 1; i++) for (int j = 1; j < w - 1; j++)
#define AT(u, i, j) u[(i)*w + (j)]
#define MEAN(p) (0.2 * (p[i][j] + p[i][j - 1] + p[i][j + 1] + p[i - 1][j] + p[i + 1][j]))
#define FLAT(p) (0.2 * (AT(p, i, j) + AT(p, i, j - 1) + AT(p, i, j + 1) + AT(p, i - 1, j) + AT(p, i + 1, j)))
"""
FUNCTION = """\
static void f{number}(int steps, int h, int w, double u[4][h][w], double *restrict v)
{{
#pragma scop
{body}
#pragma endscop
  (void)u; (void)v;
}}
"""
MAIN = """\
typedef void solver(int, int, int, double *, double *);
int main(void)
{
  static const int sizes[] = {3, 4, 7, 33, 100}, counts[] = {0, 1, 2, 3, 7, 10};
  solver *all[] = {FUNCTIONS};
  for (unsigned k = 0; k < sizeof all / sizeof *all; k++) {
    unsigned long long sum = 0;
    for (int s = 0; s < 5; s++)
      for (int c = 0; c < 6; c++) {
        int h = sizes[s], w = sizes[4 - s], n = 4 * h * w;
        double *u = malloc(2 * n * sizeof *u);
        for (int i = 0; i < 2 * n; i++)
          u[i] = (i * 7 + i / 5) % 101 / 3.0;
        all[k](counts[c], h, w, u, u + n);
        for (int i = 0; i < 2 * n * (int)sizeof *u; i++)
          sum = sum * 31 + ((unsigned char *)u)[i];
        free(u);
      }
    printf("%llu\\n", sum);
  }
  return 0;
}
"""
FORMS = {
    "remainders": "for (int t = 0; t < steps; t++) EACH u[(t + 1) % 2][i][j] = MEAN(u[t % 2]);",
    "a line": """
for (int t = 0; t < steps; t++)
  for (int j = 1; j < w - 1; j++)
    u[(t + 1) % 2][1][j] = 0.3 * (u[t % 2][1][j - 1] + u[t % 2][1][j] + u[t % 2][1][j + 1]);""",
    "masks": "for (int t = 0; t < steps; t++) EACH u[(t + 1) & 1][i][j] = MEAN(u[t & 1]);",
    "exclusive or": "for (int t = 0; t < steps; t++) EACH u[(t & 1) ^ 1][i][j] = MEAN(u[t & 1]);",
    "differences": "for (int t = 0; t < steps; t++) EACH u[1 - t % 2][i][j] = MEAN(u[t % 2]);",
    "steps from one": "for (int t = 1; t <= steps; t++) EACH u[t % 2][i][j] = MEAN(u[(t - 1) % 2]);",
    "names of grids": """
for (int t = 0; t < steps; t++) {
  const int now = t % 2, next = 1 - now;
  EACH u[next][i][j] = MEAN(u[now]);
}""",
    "conditions": """
for (int t = 0; t < steps; t++) {
  if (t % 2 == 0) { EACH u[1][i][j] = MEAN(u[0]); }
  else { EACH u[0][i][j] = MEAN(u[1]); }
}""",
    "choices": """
for (int t = 0; t < steps; t++)
  EACH u[t % 2 ? 0 : 1][i][j] = MEAN(u[t % 2 == 0 ? 0 : 1]);""",
    "flat subscripts": """
for (int t = 0; t < steps; t++)
  EACH AT(v, (t + 1) % 2 * h + i, j) = 0.2 * (AT(v, t % 2 * h + i, j) + AT(v, t % 2 * h + i, j - 1)
    + AT(v, t % 2 * h + i, j + 1) + AT(v, t % 2 * h + i - 1, j) + AT(v, t % 2 * h + i + 1, j));""",
    "pointers to grids": """
for (int t = 0; t < steps; t++) {
  double *from = v + t % 2 * h * w, *to = v + (t + 1) % 2 * h * w;
  EACH AT(to, i, j) = FLAT(from);
}""",
    "three grids": """
for (int t = 1; t <= steps; t++)
  EACH u[(t + 1) % 3][i][j] = 2 * u[t % 3][i][j] - u[(t - 1) % 3][i][j] + 0.1 * MEAN(u[t % 3]);""",
    "four grids": """
for (int t = 0; t < steps; t++)
  EACH u[(t + 1) % 4][i][j] = MEAN(u[t % 4]) - u[(t + 2) % 4][i][j];""",
    "the time itself": """
for (int t = 0; t < steps; t++) {
  EACH u[(t + 1) % 2][i][j] = MEAN(u[t % 2]) + 0.01 * t;
  u[(t + 1) % 2][1][1] += sin(t);
}""",
    "a condition on the time": """
for (int t = 0; t < steps; t++)
  EACH u[(t + 1) % 2][i][j] = MEAN(u[t % 2]) + (t < 3 ? 1.5 : 0);""",
    "two statements": """
for (int t = 0; t < steps; t++) {
  EACH u[2 + t % 2][i][j] = u[2 + (t + 1) % 2][i][j] - 0.5 * (u[t % 2][i][j] - u[t % 2][i - 1][j - 1]);
  EACH u[(t + 1) % 2][i][j] = u[t % 2][i][j] - 0.7 * (u[2 + t % 2][i + 1][j + 1] - u[2 + t % 2][i][j]);
}""",
    "two steps": """
for (int t = 0; t < steps; t++) {
  EACH u[1][i][j] = MEAN(u[0]);
  EACH u[0][i][j] = MEAN(u[1]);
}""",
    "repeated": """
for (int round = 1; round < 4; round++)
  for (int t = 0; t < steps; t++)
    EACH u[(t + 1) % 2][i][j] = MEAN(u[t % 2]) / round;""",
    "copies": """
for (int t = 0; t < steps; t++) {
  EACH u[1][i][j] = MEAN(u[0]);
  EACH u[0][i][j] = u[1][i][j];
}""",
}


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    folder = tmp_path_factory.mktemp("time-storage")
    functions = [FUNCTION.format(number=number, body=body) for number, body in enumerate(FORMS.values())]
    pointers = ", ".join(f"(solver *)f{number}" for number in range(len(FORMS)))
    text = TOP + "".join(functions) + MAIN.replace("FUNCTIONS", pointers)
    source = write(folder / "in.c", text)
    result = transform(source, text, "-O2", "-ffp-contract=off", tile_sizes=(3, 10, 8))
    transformed = write(folder / "out.c", result.text)
    lines = [output(each, "-Wno-cast-function-type", "-fopenmp").split() for each in (source, transformed)]
    return dict(zip(FORMS, zip(*lines, result.regions, strict=True), strict=True))


@pytest.mark.parametrize("form", FORMS)
def test_tiled_over_time(outcome, form):
    before, after, region = outcome[form]
    assert after == before
    assert any("stencil over time" in each for each in region.remarks)
