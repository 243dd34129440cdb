"""Norms after each ``k`` steps, where ``k`` is a variable: tiles over time between them, equal to the bit."""

from __future__ import annotations

import pytest
from compiling import output, transform, write

PROGRAM = """\
#include <stdio.h>
#define EACH for (int i = 1; i < h - 1; i++) for (int j = 1; j < w - 1; j++)
#define MEAN(p) (0.2 * (p[i][j] + p[i][j - 1] + p[i][j + 1] + p[i - 1][j] + p[i + 1][j]))
enum { MOST = 40, STEPS = 17 };
__attribute__((noipa)) static void f(int steps, int k, int h, int w, double a[restrict h][w],
  double b[restrict h][w], double u[restrict 2][h][w], double *restrict norm)
{
  double (*x)[w] = a, (*y)[w] = b, (*z)[w] = u[0], (*q)[w] = a;
  (void)z, (void)q;
#pragma scop
BODY
#pragma endscop
  norm[STEPS + 1] = x < y;
}
static double pool[4 * MOST * MOST], norm[STEPS + 2];
int main(void)
{
  static const int sizes[] = {1, 2, 3, 7, 32, MOST}, counts[] = {0, 1, 2, 7, 16, STEPS};
  static const int strides[] = {1, 2, 3, 4, 5, 16, 17, 30};
  for (int s = 0; s < 6; s++)
    for (int c = 0; c < 6; c++)
      for (int k = 0; k < 8; k++) {
        int h = sizes[s], w = h, n = h * w;
        unsigned long long sum = 0;
        for (int i = 0; i < 4 * MOST * MOST; i++)
          pool[i] = (i * 7 + i / 5) % 101 / 300.0;
        for (int i = 0; i <= STEPS + 1; i++)
          norm[i] = i;
        f(counts[c], strides[k], h, w, (void *)pool, (void *)(pool + n), (void *)(pool + 2 * n), norm);
        for (int i = 0; i < (int)sizeof pool; i++)
          sum = sum * 31 + ((unsigned char *)pool)[i];
        for (int i = 0; i < (int)sizeof norm; i++)
          sum = sum * 31 + ((unsigned char *)norm)[i];
        printf("%llu\\n", sum);
      }
  return 0;
}
"""
COPIES = "EACH b[i][j] = MEAN(a); EACH a[i][j] = b[i][j];"
FORMS = {
    "copies, at first after one step": f"""for (int t = 0; t < steps; t++) {{ {COPIES}
    if (t % k == 0) {{ double sum = 0; EACH sum += a[i][j] * a[i][j]; norm[t / k] = sum; }} }}""",
    "copies, stored by a count": f"""int count = 0;
  for (int t = 0; t < steps; t++) {{ {COPIES}
    if (0 == t % k) {{ double sum = 0; EACH sum += a[i][j]; norm[count] = sum; count++; }} }}""",
    "from one on": f"""for (int t = 1; t <= steps; t++) {{ {COPIES}
    if (!(t % k)) {{ double sum = 0; EACH sum += a[i][j]; norm[t / k] = sum; }} }}""",
    "the last of each few": f"""for (int t = 0; t < steps; ++t) {{ {COPIES}
    if (t % k == k - 1) {{ norm[t / k] = 0; EACH norm[t / k] += a[i][j]; }} }}""",
    "after each few": f"""for (int t = 0; t < steps; t++) {{ {COPIES}
    if ((t + 1) % k == 0) {{ double sum = 0; EACH sum += a[i][j]; norm[t] = sum; }} }}""",
    "at the start of a step": f"""for (int t = 0; t < steps; t++) {{
    if (t % k == 0) {{ double sum = 0; EACH sum += a[i][j]; norm[t / k] = sum; }} {COPIES} }}""",
    "at the start, and once more": """for (int t = 0; t <= steps - 1; t++) {
    if (!(t % k)) { norm[t] = 0; EACH norm[t] += u[t % 2][i][j]; }
    EACH u[(t + 1) % 2][i][j] = MEAN(u[t % 2]); }""",
    "two grids by turns": """for (int t = 0; t < steps; t++) {
    EACH u[(t + 1) % 2][i][j] = MEAN(u[t % 2]);
    if (t % k == 0) { double sum = 0; EACH sum += u[(t + 1) % 2][i][j]; norm[t] = sum; } }""",
    "two grids by turns, after each few": """for (int t = 0; t < steps; t++) {
    EACH u[1 - (t & 1)][i][j] = MEAN(u[t & 1]);
    if ((t + 1) % k == 0) { norm[t] = 0; EACH norm[t] += u[(t + 1) & 1][i][j] - u[t & 1][i][j]; } }""",
    "two grids by turns, from one on": """for (int t = 1; t <= steps; t++) {
    EACH u[t % 2][i][j] = MEAN(u[(t - 1) % 2]);
    if (t % k == 0) { double sum = 0; EACH sum += u[t % 2][i][j]; norm[t / k] = sum; } }""",
    "two grids by turns, which have names": """for (int t = 0; t < steps; t++) {
    int old = t % 2, now = 1 - old;
    EACH u[now][i][j] = MEAN(u[old]);
    if (t % k == k - 1) { double sum = 0; EACH sum += u[now][i][j] - u[old][i][j]; norm[t] = sum; } }""",
    "a name for the step": f"""for (int t = 0; t < steps; t++) {{
    int step = t + 1; {COPIES}
    if (t % k == 0) {{ double sum = 0; EACH sum += a[i][j]; norm[step - 1] = sum; }} }}""",
    "swapped": """for (int t = 0; t < steps; t++) {
    EACH y[i][j] = MEAN(x);
    q = x; x = y; y = q;
    if ((t + 1) % k == 0) { double sum = 0; EACH sum += x[i][j] - y[i][j]; norm[t] = sum; } }""",
    "before a swap": """for (int t = 0; t < steps; t++) {
    EACH y[i][j] = MEAN(x);
    if (t % k == 0) { double sum = 0; EACH sum += y[i][j] - x[i][j]; norm[t / k] = sum; }
    do { q = x; x = y; y = q; } while (0); }""",
    "before a swap, from one on": """for (int t = 1; t <= steps; t++) {
    EACH y[i][j] = MEAN(x);
    if (t % k == 0) {
      double most = 0; EACH { double d = y[i][j] - x[i][j]; if (d > most) most = d; } norm[t] = most; }
    double (*kept)[w] = y; y = x; x = kept; }""",
    "swapped three": """for (int t = 0; t < steps; t++) {
    EACH z[i][j] = MEAN(y) - x[i][j];
    q = x; x = y; y = z; z = q;
    if (t % k == k - 1) { double sum = 0; EACH sum += y[i][j] * x[i][j]; norm[t] = sum; } }""",
    "swapped, in loops of their own": """for (int o = 0; o < steps; o++) {
    for (int t = 0; t < k; t++) { EACH y[i][j] = MEAN(x); q = x; x = y; y = q; }
    double sum = 0; EACH sum += x[i][j] * x[i][j]; norm[o] = sum; }""",
    "swapped, in loops of their own behind a norm": """for (int o = 0; o < steps; o++) {
    double sum = 0; EACH sum += x[i][j] * y[i][j]; norm[o] = sum;
    for (int t = 1; t <= k; t++) { EACH y[i][j] = MEAN(x); q = y; y = x; x = q; } }""",
    "in place": """for (int t = 0; t < steps; t++) { EACH a[i][j] = MEAN(a);
    if (t % k == 0) { double most = 0; EACH if (a[i][j] > most) most = a[i][j]; norm[t] = most; } }""",
}


@pytest.mark.fast(name=["in place"])
@pytest.mark.parametrize("name", FORMS)
def test_tiles_between_norms(name, tmp_path):
    path = tmp_path / "in.c"
    (region,) = (result := transform(path, PROGRAM.replace("BODY", FORMS[name]))).regions
    assert region.tile_sizes, region
    assert any("stencil over time" in each for each in region.remarks) or name == "in place", region
    whole = transform(path, PROGRAM.replace("BODY", FORMS[name]), tile_sizes=(4, 8, 8), min_work=0).text
    expected = output(path)
    for made in (result.text, whole):
        assert output(write(tmp_path / "out.c", made), "-fopenmp") == expected
