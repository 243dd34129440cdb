"""Copies of private variables live as long as the iterations they belong to, whatever loops isl makes."""

from __future__ import annotations

from compiling import output, transform, write

LAST_VALUE = """\
#include <stdio.h>
static void f(int n, int m, unsigned char A[7][12]) {
  unsigned char x = 1;
#pragma scop
  for (int i = 0; i < (m + 1) / 3; i += 5)
    for (int j = n - 3; j < m; j++) {
      for (int k = 1; k < i + 4; k++) x = A[j + 2][2 * k + 3];
      A[i + 1][j + 2] = x;
    }
#pragma endscop
}
int main(void) {
  unsigned char A[7][12];
  unsigned sum = 0;
  for (int i = 0; i < 84; i++) A[i / 12][i % 12] = (unsigned char)(i * i);
  f(1, 5, A);
  for (int i = 0; i < 84; i++) sum = sum * 31 + A[i / 12][i % 12];
  printf("%u\\n", sum);
  return 0;
}
"""
ROWS = """\
static double c[1000], d[1000], u[1000][1000], b[1000][1000];
void sweep(int h, int w, double a) {
#pragma scop
  for (int j = 0; j < h; j++) {
    c[0] = a / (1 + 2 * a);
    d[0] = b[j][0] / (1 + 2 * a);
    for (int i = 1; i < w; i++) {
      double m = 1.0 / (1 + 2 * a - a * c[i - 1]);
      c[i] = a * m;
      d[i] = (b[j][i] + a * d[i - 1]) * m;
    }
    u[j][w - 1] = d[w - 1];
    for (int i = w - 2; i >= 0; i--) u[j][i] = d[i] + c[i] * u[j][i + 1];
  }
#pragma endscop
}
"""
KNOWN = """\
void f(double *restrict a) {{
#pragma scop
  for (int i = 1; i < {size}; i++)
    for (int t = 0; t < 50; t++) a[i] = 0.5 / a[i] + t;
#pragma endscop
}}
"""


def test_a_value_that_leaves_the_loop_behind_which_its_reader_stands(tmp_path):
    """The reader runs in the last iteration of the writer's loop; isl puts it behind that loop."""
    result = transform(tmp_path / "in.c", LAST_VALUE, tile_sizes=(4,), parallel=False)
    assert "private" not in result.text
    written = write(tmp_path / "out.c", result.text)
    expected = output(tmp_path / "in.c", "-O2")
    assert output(written, "-O2", "-fopenmp") == expected


def test_the_last_iteration_behind_a_loop_has_its_own_variables(tmp_path):
    """It uses what is private in the loop, and is none of the iterations that the loop runs."""
    result = transform(tmp_path / "rows.c", ROWS, "-O2", min_work=20000, simd=False)
    assert "private(c_own, d_own, m)" in result.text
    assert result.regions[0].parallel_loops == 1


def test_conditions_of_constants_are_decided_here(tmp_path):
    large = transform(tmp_path / "large.c", KNOWN.format(size=100000), min_work=20000, tile=False)
    assert ">= 20000" not in large.text
    assert "if(1.0" not in large.text
    assert large.regions[0].parallel_loops == 1
