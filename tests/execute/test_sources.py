"""Waves from a source whose place is a parameter, and receivers: tiles over time, equal to the bit."""

from __future__ import annotations

import pytest
from compiling import QUICK, output, transform, write

PROGRAM = """\
#include <stdio.h>
#define EACH for (int i = 1; i < h - 1; i++) for (int j = 1; j < w - 1; j++)
#define LAPLACE(p) (p[i][j - 1] + p[i][j + 1] + p[i - 1][j] + p[i + 1][j] - 4 * p[i][j])
#define FLAT(p) (p[i * w + j - 1] + p[i * w + j + 1] + p[(i - 1) * w + j] + p[(i + 1) * w + j] \\
  - 4 * p[i * w + j])
static inline void inject(int w, double grid[][w], int x, int y, double by) { grid[x][y] += by; }
static void f(int steps, int h, int w, int x, int y, double u[restrict 3][h][w], double *restrict a,
              double *restrict b, double *restrict c, double *restrict speed, double *restrict wave,
              double *restrict trace)
{
  double *spare = 0;
  (void)inject, (void)x, (void)y;
  (void)u, (void)a, (void)b, (void)c, (void)speed, (void)wave, (void)trace, (void)spare;
#pragma scop
BODY
#pragma endscop
}
enum { MOST = 41, STEPS = 13 };
static double pool[7 * MOST * MOST], wave[STEPS], trace[STEPS * MOST];
int main(void)
{
  static const int sizes[] = {1, 3, 7, MOST}, counts[] = {0, 1, 2, 12, STEPS};
  static const int places[] = {1, 0, 3, MOST - 2, MOST - 1};
  for (int s = 0; s < 4; s++)
    for (int k = 0; k < 5; k++)
      for (int p = 0; p < 5; p++) {
        int h = sizes[s], w = h, n = h * w, x = places[p] % h, y = places[4 - p] % w;
        unsigned long long sum = 0;
        for (int i = 0; i < 7 * MOST * MOST; i++)
          pool[i] = (i * 7 + i / 5) % 101 / 300.0;
        for (int i = 0; i < STEPS; i++)
          wave[i] = i % 4 - 1.5;
        f(counts[k], h, w, x, y, (void *)pool, pool + 3 * n, pool + 4 * n, pool + 5 * n,
          pool + 6 * MOST * MOST, wave, trace);
        for (int i = 0; i < (int)sizeof pool; i++)
          sum = sum * 31 + ((unsigned char *)pool)[i];
        for (int i = 0; i < (int)sizeof trace; i++)
          sum = sum * 31 + ((unsigned char *)trace)[i];
        printf("%llu\\n", sum);
      }
  return 0;
}
"""
STEP = "c[i * w + j] = 2 * b[i * w + j] - a[i * w + j] + 0.1 * speed[i * w + j] * FLAT(b);"
TURN = "spare = a; a = b; b = c; c = spare;"
FORMS = {
    "two grids by turns": """for (int t = 0; t < steps; t++) {
      EACH u[(t + 1) % 2][i][j] += 0.1 * LAPLACE(u[t % 2]);
      u[(t + 1) % 2][x][y] += wave[t]; }""",
    "three grids by turns": """for (int t = 0; t < steps; t++) {
      EACH u[(t + 2) % 3][i][j] = 2 * u[(t + 1) % 3][i][j] - u[t % 3][i][j] + 0.1 * LAPLACE(u[(t + 1) % 3]);
      u[(t + 2) % 3][x][y] += wave[t]; }""",
    "pointers that rotate": f"""for (int t = 0; t < steps; t++) {{
      EACH {STEP}
      c[x * w + y] += wave[t];
      {TURN} }}""",
    "with a variable": f"""for (int t = 0; t < steps; t++) {{
      EACH {{ double q = FLAT(b); {STEP.replace("FLAT(b)", "q")} }}
      c[x * w + y] = c[x * w + y] + wave[t] * speed[x * w + y];
      {TURN} }}""",
    "a receiver": f"""for (int t = 0; t < steps; t++) {{
      EACH {STEP}
      trace[t] = c[x * w + y];
      {TURN} }}""",
    "a source and a receiver": f"""for (int t = 0; t < steps; t++) {{
      EACH {STEP}
      c[3 * w + y] += wave[t];
      {TURN}
      trace[t] = b[x * w + 2]; }}""",
    "the value of a source in a variable": f"""for (int t = 0; t < steps; t++) {{
      EACH {STEP}
      double pulse = 0.3 * wave[t];
      c[x * w + y] += pulse;
      {TURN} }}""",
    "a source, and a norm after some steps": """for (int t = 0; t < steps; t++) {
      EACH u[1][i][j] = u[0][i][j] + 0.1 * LAPLACE(u[0]);
      u[1][x][y] += wave[t];
      EACH u[0][i][j] = u[1][i][j];
      if (t % 4 == 0) { double norm = 0; EACH norm += u[0][i][j]; trace[t] = norm; } }""",
    "two sources and two receivers": """for (int t = 0; t < steps; t++) {
      EACH u[(t + 1) % 2][i][j] += 0.1 * LAPLACE(u[t % 2]);
      u[(t + 1) % 2][x][y] += wave[t];
      u[(t + 1) % 2][y][x] -= wave[t];
      trace[2 * t] = u[(t + 1) % 2][x][x];
      trace[2 * t + 1] = u[(t + 1) % 2][y][y]; }""",
    "a source and a receiver at parts of three grids by turns": """for (int t = 0; t < steps; t++) {
      EACH u[(t + 2) % 3][i][j] = 2 * u[(t + 1) % 3][i][j] - u[t % 3][i][j] + 0.1 * LAPLACE(u[(t + 1) % 3]);
      u[(t + 2) % 3][h / 2][w / 2] += wave[t];
      trace[t] = u[(t + 2) % 3][h / 3][w / 3]; }""",
    "a source and a receiver at parts of grids that rotate": f"""for (int t = 0; t < steps; t++) {{
      EACH {STEP}
      c[(h / 4) * w + w / 4] += wave[t];
      trace[t] = c[(h / 2) * w + w / 3];
      {TURN} }}""",
    "a source and two receivers at parts of two grids, copied": """for (int t = 0; t < steps; t++) {
      EACH u[1][i][j] = u[0][i][j] + 0.1 * LAPLACE(u[0]);
      u[1][h / 2][w / 2] += wave[t];
      trace[2 * t] = u[1][h / 3][w / 3];
      trace[2 * t + 1] = u[1][h / 2][w / 4];
      EACH u[0][i][j] = u[1][i][j]; }""",
    "a receiver beside a source that a function finds": """for (int t = 0; t < steps; t++) {
      EACH u[(t + 1) % 2][i][j] += 0.1 * LAPLACE(u[t % 2]);
      inject(w, u[(t + 1) % 2], h / 2, w / 2, wave[t]);
      trace[t] = u[(t + 1) % 2][x][w / 2]; }""",
    "two grids, copied": """for (int t = 0; t < steps; t++) {
      EACH u[1][i][j] = u[0][i][j] + 0.1 * LAPLACE(u[0]);
      u[1][x][y] += wave[t];
      EACH u[0][i][j] = u[1][i][j]; }""",
}


@pytest.mark.parametrize("name", FORMS)
def test_results_wherever_the_source_is(tmp_path, name):
    text = PROGRAM.replace("BODY", FORMS[name])
    source = write(tmp_path / "in.c", text)
    result = transform(source, text, "-O2", "-ffp-contract=off", tile_sizes=(4, 8, 8))
    (region,) = result.regions
    assert region.tile_sizes, region
    new = write(tmp_path / "out.c", result.text)
    flags = ("-Wno-unused-but-set-variable", "-fopenmp", *QUICK)
    assert output(new, *flags) == output(source, *flags)
