from __future__ import annotations

import subprocess

from polybuild.source.excerpt import excerpts
from polybuild.source.preprocess import preprocess

FILE = """\
#include <stdio.h>
#define M 7
typedef double number;
struct point { number x, y; };
static const char *password = "secret";
static double twice(double x) { return 2 * x; }
static double hidden(double x) { return password[0] * x; }
static double table[M][M];

void kernel(int n, number a[restrict n][n], struct point *b)
{
  const char *note = password;
  double sum = 0, other = hidden(3);
  int k;
  if (note) {
    for (int t = 0; t < 3; t++) {
      number weight = t * 0.5;
      printf("%s\\n", note);
#pragma scop
      for (int i = 0; i < n; i++)
        for (k = 0; k < M; k++)
          sum += weight * twice(a[i][k]) / table[k][0]; /* a private comment */
#pragma endscop
    }
  }
  b->x = sum + other;
}

void other(int n, struct point *p)
{
#pragma scop
  for (int i = 0; i < n; i++)
    p[i].x = p[i].y;
#pragma endscop
}
"""


def found(tmp_path, text=FILE):
    (tmp_path / "in.c").write_text(text)
    return [*excerpts(preprocess(str(tmp_path / "in.c"), ["gcc"], []).text)]


def test_each_region_stands_alone(tmp_path):
    """The compiler takes it."""
    regions = found(tmp_path)
    assert len(regions) == 2
    for each in regions:
        (tmp_path / "alone.c").write_text(each)
        command = ["gcc", "-fsyntax-only", "-Wno-unknown-pragmas", str(tmp_path / "alone.c")]
        assert subprocess.run(command, check=False, capture_output=True, text=True).stderr == ""


def test_it_has_what_it_needs_and_nothing_else(tmp_path):
    kernel, other = found(tmp_path)
    for there in (
        "twice",
        "table[7][7]",
        "number a[restrict n][n]",
        "double sum = 0",
        "int k;",
        "number weight",
    ):
        assert there in kernel
    for away in ("secret", "password", "printf", "comment", "note", '# 1 "', "FILE"):
        assert away not in kernel
    assert "struct point { number x, y; };" in other
    assert "table" not in other


def test_a_file_without_regions_has_none(tmp_path):
    assert found(tmp_path, "int main(void) { return 0; }\n") == []
