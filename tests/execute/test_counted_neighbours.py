"""Neighbours of a point that loops count, without the point itself: one expression, in vectors of bytes."""

from __future__ import annotations

import pytest
from compiling import messages, output, write

from polybuild.driver.file import compile_source
from polybuild.options import Options

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
typedef unsigned char u8;
{before}
static void step(int w, int h, {parameters})
{{
  {declared}
#pragma scop
  for ({int} y = {from}; y < h - {from}; y++)
    for ({int} x = {from}; x < w - {from}; x++) {{
{body}
    }}
#pragma endscop
}}
int main(void)
{{
  for (int w = 1; w < 60; w += 11)
    for (int h = 1; h < 20; h += 6) {{
      u8 *a = malloc((size_t)(w * h)), *b = calloc((size_t)(w * h), 1);
      u8 **rows = malloc(sizeof *rows * (size_t)h), **others = malloc(sizeof *others * (size_t)h);
      unsigned seed = 1, sum = 0;
      for (int k = 0; k < w * h; k++)
        seed = seed * 1664525u + 1013904223u, a[k] = seed >> 24 & {mask};
      for (int y = 0; y < h; y++)
        rows[y] = a + y * w, others[y] = b + y * w;
      step(w, h, {arguments});
      for (int k = 0; k < w * h; k++)
        sum = sum * 31 + b[k];
      printf("%u\\n", sum);
      free(rows);
      free(others);
      free(a);
      free(b);
    }}
  return 0;
}}
"""
FLAT = {
    "parameters": "const u8 *restrict a, u8 *restrict b",
    "arguments": "a, b",
    "declared": "",
    "before": "",
    "int": "int",
    "from": "1",
    "mask": "1",
}
OLD = {**FLAT, "declared": "int y, x, i, j, c;", "int": ""}
WRAPPED = {**FLAT, "from": "0"}
ROWS = {**OLD, "parameters": "u8 **a, u8 **b", "arguments": "rows, others"}
LIVES = "b[y * w + x] = c == 3 || (c == 2 && a[y * w + x]);"
WINDOW = "for (int j = -1; j <= 1; j++) for (int i = -1; i <= 1; i++)"
FORMS = {
    "a condition": (FLAT, f"int c = 0; {WINDOW} if (i || j) c += a[(y + j) * w + x + i]; {LIVES}"),
    "bits": (
        {**FLAT, "mask": "255"},
        (
            f"int c = 0; {WINDOW} if (i != 0 || j != 0) c += a[(y + j) * w + x + i] & 1;"
            " b[y * w + x] = c == 3 || (c == 2 && (a[y * w + x] & 1));"
        ),
    ),
    "continue": (
        FLAT,
        f"int c = 0; {WINDOW} {{ if (i == 0 && j == 0) continue; c += a[(y + j) * w + x + i]; }} {LIVES}",
    ),
    "wrapped": (
        WRAPPED,
        f"int c = 0; {WINDOW} if (i || j) c += a[(y + j + h) % h * w + (x + i + w) % w]; {LIVES}",
    ),
    "named places": (
        WRAPPED,
        (
            f"int c = 0; {WINDOW} {{ if (i == 0 && j == 0) continue;"
            f" int v = (y + j + h) % h, u = (x + i + w) % w; c += a[v * w + u]; }} {LIVES}"
        ),
    ),
    "counted from the point": (
        WRAPPED,
        (
            "int c = 0; for (int j = y - 1; j <= y + 1; j++) for (int i = x - 1; i <= x + 1; i++)"
            f" if (!(j == y && i == x) && a[(j + h) % h * w + (i + w) % w]) c++; {LIVES}"
        ),
    ),
    "declared before": (
        OLD,
        (
            "c = 0; for (j = -1; j <= 1; j++) for (i = -1; i <= 1; i++) if (i != 0 || j != 0)"
            f" c += a[(y + j) * w + x + i]; {LIVES}"
        ),
    ),
    "counted from the point, declared before": (
        OLD,
        (
            "c = 0; for (j = y - 1; j <= y + 1; j++) for (i = x - 1; i <= x + 1; i++) if (i != x || j != y)"
            f" c += a[j * w + i]; {LIVES}"
        ),
    ),
    "a condition of the grid": (
        {**OLD, "from": "0"},
        (
            "c = 0; for (j = -1; j <= 1; j++) for (i = -1; i <= 1; i++) { if (i == 0 && j == 0) continue;"
            " if (y + j < 0 || y + j >= h || x + i < 0 || x + i >= w) continue;"
            f" c += a[(y + j) * w + x + i]; }} {LIVES}"
        ),
    ),
    "four neighbours": (
        FLAT,
        f"int c = 0; {WINDOW} if (abs(i) + abs(j) == 1) c += a[(y + j) * w + x + i]; {LIVES}",
    ),
    "a function": (
        {
            **FLAT,
            "before": "static int around(const u8 *a, int w, int x, int y) { int i, j, c = 0;"
            " for (j = -1; j <= 1; j++) for (i = -1; i <= 1; i++) if (i || j) c += a[(y + j) * w + x + i];"
            " return c; }",
        },
        f"int c = around(a, w, x, y); {LIVES}",
    ),
    "pointers to rows": (
        ROWS,
        (
            "c = 0; for (j = -1; j < 2; j++) { for (i = -1; i < 2; i++) { if (!(i == 0 && j == 0)) {"
            " if (a[y + j][x + i]) c++; } } } b[y][x] = c == 3 || (c == 2 && a[y][x]);"
        ),
    ),
}
FLAGS = ("-O3", "-Wall", "-Wextra", "-Wshadow", "-Wvla", "-Werror")


@pytest.mark.parametrize("form", FORMS)
def test_counted_neighbours(form, tmp_path):
    settings, body = FORMS[form]
    source = write(tmp_path / "in.c", PROGRAM.format(body=body, **settings))
    result = compile_source(str(source), Options(min_work=0), ["gcc"], FLAGS)
    (region,) = result.regions
    assert region.parallel_loops
    assert "(simd)" in result.text or "POLYBUILD_SIMD for" in result.text
    new = result.text.split("the new order")[1].split("the original loops")[0]
    assert "for (long long i" not in new
    assert "for (long long pb_i" not in new
    out = write(tmp_path / "out.c", result.text)
    assert messages("gcc", out, *FLAGS, "-fopenmp") == (0, "")
    assert output(out, *FLAGS, "-fopenmp") == output(source, "-O1")


def test_rows_of_bytes_have_pointers(tmp_path):
    """Stores of bytes might change pointers to rows, for all that compilers know; they have variables."""
    settings, body = FORMS["pointers to rows"]
    source = write(tmp_path / "in.c", PROGRAM.format(body=body, **settings))
    text = compile_source(str(source), Options(min_work=0), ["gcc"], FLAGS).text
    new = text.split("the new order")[1].split("the original loops")[0]
    assert "const unsigned char *a_row = a[pb_y - 1];" in new or "const u8 *a_row = a[pb_y - 1];" in new
    assert "b_row[pb_x] = " in new


def test_counters_that_are_read_later_stay(tmp_path):
    """What a loop leaves in its counter is read behind it."""
    settings, body = FORMS["declared before"]
    source = write(tmp_path / "in.c", PROGRAM.format(body=f"{body} b[y * w + x] += i + j;", **settings))
    result = compile_source(str(source), Options(min_work=0), ["gcc"], FLAGS)
    assert output(write(tmp_path / "out.c", result.text), "-O2") == output(source, "-O1")


def test_values_of_an_earlier_run_stay(tmp_path):
    """A small array of the function keeps what one region sets for another one."""
    source = write(
        tmp_path / "in.c",
        """\
#include <stdio.h>
static unsigned char in[50][60], out[50][60];
static void filter(void)
{
  int x, y, k;
  unsigned char w[9];
#pragma scop
  for (y = 0; y < 1; y++)
    for (k = 0; k < 9; k++)
      w[k] = in[y][k];
#pragma endscop
#pragma scop
  for (y = 0; y < 50; y++)
    for (x = 0; x < 60; x++)
      out[y][x] = (unsigned char)(in[y][x] + w[x % 9]);
#pragma endscop
}
int main(void)
{
  unsigned sum = 0;
  for (int k = 0; k < 3000; k++)
    in[k / 60][k % 60] = (unsigned char)(k * 7);
  filter();
  for (int k = 0; k < 3000; k++)
    sum = sum * 31 + out[k / 60][k % 60];
  printf("%u\\n", sum);
  return 0;
}
""",
    )
    result = compile_source(str(source), Options(min_work=0), ["gcc"], ("-O2",))
    assert "w_own" not in result.text
    assert output(write(tmp_path / "out.c", result.text), "-O2") == output(source, "-O1")
