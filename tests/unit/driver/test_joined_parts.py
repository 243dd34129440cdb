"""Private variables are judged beside the region without them, in which other statements may be joined."""

from __future__ import annotations

from polybuild.driver.file import compile_source
from polybuild.options import Options

REGION = """
void f(long n, unsigned long x[n + 2][n + 1], unsigned long y[restrict n + 1][n + 2],
       unsigned long z[restrict n + 1], unsigned long r[restrict n + 1][n + 1], unsigned long q[n + 1][n + 1],
       unsigned long *last)
{
  unsigned long b = *last, t = 1;
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      unsigned long a = 0;
      b = r[i][j];
      if (0 < n) {
        t = x[i + 1][0] - z[i];
        a = a * 3u + t * t;
        b = b + t * t;
      }
      for (int k = 1; k < n; k++) {
        t = x[i + 1][k] - z[i];
        a = a * 3u + t * t;
        b = b + t * t;
      }
      r[i][j] = (a + b) * 2u + r[i][j];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      unsigned long s = 1;
      for (int l = 0; l < n; l += 3)
        for (int k = l; k < (l + 3 < n ? l + 3 : n); k++)
          s += x[k][j + 1] * y[i][k];
      q[i][j] = s * 2u + q[i][j];
    }
#pragma endscop
  *last = b + t;
}
"""


def test_statements_that_are_joined_without_blocks(tmp_path):
    (tmp_path / "in.c").write_text(REGION)
    options = Options(min_work=0, schedule="pluto")
    (region,) = compile_source(str(tmp_path / "in.c"), options, ["gcc"], ["-O3"]).regions
    assert (region.code, region.message) == ("", "")
