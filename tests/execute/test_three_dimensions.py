"""Steps on grids of three dimensions, damped along borders or periodic: tiles over time, equal to the bit."""

from __future__ import annotations

import pytest
from compiling import QUICK, output, transform, write

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
#define EACH for (int i = 1; i < h - 1; i++) for (int j = 1; j < w - 1; j++) for (int l = 1; l < d - 1; l++)
#define ALL for (int i = 0; i < h; i++) for (int j = 0; j < w; j++) for (int l = 0; l < d; l++)
#define SUM(p) (0.15 * (p[i][j][l] + p[i][j][l - 1] + p[i][j][l + 1] + p[i][j - 1][l] + p[i][j + 1][l] \\
  + p[i - 1][j][l] + p[i + 1][j][l]))
#define AT(i, j, l) (((i) * w + (j)) * d + (l))
#define FLAT(p) (0.15 * (p[AT(i, j, l)] + p[AT(i, j, l - 1)] + p[AT(i, j, l + 1)] + p[AT(i, j - 1, l)] \\
  + p[AT(i, j + 1, l)] + p[AT(i - 1, j, l)] + p[AT(i + 1, j, l)]))
#define LAYER (i < 4 || i >= h - 4 || j < 4 || j >= w - 4 || l < 4 || l >= d - 4)
static void f(int steps, int h, int w, int d, double u[2][h][w][d], double a[restrict h][w][d],
              double b[restrict h][w][d], double *restrict p, double *restrict q, double *restrict m)
{
#pragma scop
BODY
#pragma endscop
  (void)u, (void)a, (void)b, (void)p, (void)q, (void)m;
}
int main(void)
{
  static const int sizes[] = {0, 1, 3, 7, 9, 10, 21}, counts[] = {0, 1, 2, 3, 9};
  for (int s = 0; s < 7 * 7 * 7; s += 3)
    for (int c = 0; c < 5; c++) {
      int h = sizes[s / 49], w = sizes[s / 7 % 7], d = sizes[s % 7], n = h * w * d;
      unsigned long long sum = 0;
      double *pool = malloc((7 * n + 1) * sizeof *pool);
      for (int i = 0; i < 7 * n; i++)
        pool[i] = (i * 7 + i / 5) % 101 / 3.0;
      f(counts[c], h, w, d, (void *)pool, (void *)(pool + 2 * n), (void *)(pool + 3 * n), pool + 4 * n,
        pool + 5 * n, pool + 6 * n);
      for (int i = 0; i < 7 * n * (int)sizeof *pool; i++)
        sum = sum * 31 + ((unsigned char *)pool)[i];
      printf("%llu\\n", sum);
      free(pool);
    }
  return 0;
}
"""
FORMS = {
    "damped as a choice": """
for (int t = 0; t < steps; t++) {
  EACH b[i][j][l] = SUM(a);
  EACH a[i][j][l] = LAYER ? 0.9 * b[i][j][l] : b[i][j][l];
}""",
    "damped under six conditions": """
for (int t = 0; t < steps; t++) EACH {
  double s = SUM(u[t % 2]);
  if (i < 4) s *= 0.9;
  if (i >= h - 4) s *= 0.9;
  if (j < 4) s *= 0.9;
  if (j >= w - 4) s = s * 0.9;
  if (l < 4) { s *= 0.9; }
  if (l >= d - 4) s -= 0.1 * s;
  u[(t + 1) % 2][i][j][l] = s;
}""",
    "damped under a condition": """
for (int t = 0; t < steps; t++) {
  EACH b[i][j][l] = SUM(a);
  EACH {
    a[i][j][l] = b[i][j][l];
    if (LAYER) a[i][j][l] *= 0.9;
  }
}""",
    "damped, of a variable": """
for (int t = 0; t < steps; t++) EACH {
  double s = SUM(u[t % 2]);
  if (LAYER) s *= 0.9;
  u[(t + 1) % 2][i][j][l] = s;
}""",
    "damped, between pointers": """
double *spare;
for (int t = 0; t < steps; t++) {
  EACH {
    q[AT(i, j, l)] = FLAT(p);
    if (!(i >= 4 && i < h - 4 && j >= 4 && j < w - 4)) q[AT(i, j, l)] *= 0.9;
  }
  spare = p; p = q; q = spare;
}""",
    "waves that look far, by a variable": """
double *spare;
for (int t = 0; t < steps; t++) {
  for (int i = 3; i < h - 3; i++) for (int j = 3; j < w - 3; j++) for (int l = 3; l < d - 3; l++) {
    double s = -2 * p[AT(i, j, l)];
    for (int r = 1; r <= 3; r++)
      s += 0.1 / r * (p[AT(i, j, l - r)] + p[AT(i, j, l + r)] + p[AT(i, j - r, l)] + p[AT(i, j + r, l)]
        + p[AT(i - r, j, l)] + p[AT(i + r, j, l)]);
    m[AT(i, j, l)] = 2 * p[AT(i, j, l)] - q[AT(i, j, l)] + 0.1 * s;
  }
  spare = q; q = p; p = m; m = spare;
}""",
    "periodic, copied": """
for (int t = 0; t < steps; t++) {
  ALL b[i][j][l] = 0.15 * (a[i][j][l] + a[i][j][l == 0 ? d - 1 : l - 1] + a[i][j][l == d - 1 ? 0 : l + 1]
    + a[i][j == 0 ? w - 1 : j - 1][l] + a[i][j == w - 1 ? 0 : j + 1][l] + a[i == 0 ? h - 1 : i - 1][j][l]
    + a[i == h - 1 ? 0 : i + 1][j][l]);
  ALL a[i][j][l] = b[i][j][l];
}""",
}


@pytest.mark.parametrize("form", FORMS)
def test_tiled_over_time(tmp_path, form):
    text = PROGRAM.replace("BODY", FORMS[form])
    source = write(tmp_path / "in.c", text)
    result = transform(source, text, "-O2", "-ffp-contract=off", tile_sizes=(2, 4, 4, 8))
    (region,) = result.regions
    assert any("stencil over time" in each for each in region.remarks), region.remarks
    new = write(tmp_path / "out.c", result.text)
    flags = ("-Wno-unused-but-set-variable", "-Wno-unused-but-set-parameter", "-fopenmp", *QUICK)
    assert output(new, *flags) == output(source, *flags)
