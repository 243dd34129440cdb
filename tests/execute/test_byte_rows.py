"""Rows of bytes behind pointers in memory, which stores of bytes might change: these are in variables."""

from __future__ import annotations

import pytest
from compiling import messages, output, write

from polybuild.driver.file import compile_source
from polybuild.options import Options

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
typedef unsigned char u8;
typedef struct {{ int w, h; u8 *data; }} image;
u8 *picture;
static u8 get(const image *im, int x, int y)
{{
  x = x < 0 ? 0 : x >= im->w ? im->w - 1 : x;
  y = y < 0 ? 0 : y >= im->h ? im->h - 1 : y;
  return im->data[y * im->w + x];
}}
static void step(int w, int h, u8 **a, u8 **b, const image *in, image *out, u8 *plain, int t)
{{
  (void)w, (void)h, (void)a, (void)b, (void)in, (void)out, (void)plain, (void)t, (void)get;
#pragma scop
{body}
#pragma endscop
}}
int main(void)
{{
  for (int w = 1; w < 70; w += 17)
    for (int h = 1; h < 20; h += 6) {{
      u8 *a = malloc((size_t)(w * h)), *b = calloc((size_t)(w * h), 1), *c = calloc((size_t)(w * h), 1);
      u8 **rows = malloc(sizeof *rows * (size_t)h), **others = malloc(sizeof *others * (size_t)h);
      image in = {{w, h, a}}, out = {{w, h, b}};
      unsigned seed = 1, sum = 0;
      for (int k = 0; k < w * h; k++)
        seed = seed * 1664525u + 1013904223u, a[k] = seed >> 24;
      for (int y = 0; y < h; y++)
        rows[y] = a + y * w, others[y] = b + y * w;
      picture = c;
      step(w, h, rows, others, &in, &out, a, 100);
      for (int k = 0; k < w * h; k++)
        sum = sum * 31 + 7u * b[k] + c[k];
      printf("%u\\n", sum);
      free(rows);
      free(others);
      free(a);
      free(b);
      free(c);
    }}
  return 0;
}}
"""
FORMS = {
    "both sides of a choice": (
        (
            "for (int y = 0; y < h; y++) for (int x = 0; x < w; x++)"
            " if (a[y][x] > t) b[y][x] = 255; else b[y][x] = 0;"
        ),
        "unsigned char *b_row = b[y];",
    ),
    "one side of a choice": (
        "for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) if (a[y][x] > t) b[y][x] = 255;",
        "const unsigned char *a_row = a[y];",
    ),
    "rows around": (
        (
            "for (int y = 1; y < h - 1; y++) for (int x = 0; x < w; x++)"
            " b[y][x] = (u8)((a[y - 1][x] + 2 * a[y][x] + a[y + 1][x]) / 4);"
        ),
        "const unsigned char *a_row2 = a[y + 1];",
    ),
    "a structure": (
        (
            "for (int y = 0; y < out->h; y++) for (int x = 0; x < out->w; x++)"
            " out->data[y * out->w + x] = (u8)(255 - in->data[y * out->w + x]);"
        ),
        "= out->data;",
    ),
    "a function of a structure": (
        (
            "for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) { int s = 0;"
            " for (int j = -1; j <= 1; j++) for (int i = -1; i <= 1; i++) s += get(in, x + i, y + j);"
            " out->data[y * w + x] = (u8)((s + 4) / 9); }"
        ),
        "= in->data;",
    ),
    "a pointer of the file": (
        "for (int k = 0; k < w * h; k++) picture[k] = (u8)(plain[k] / 2 + 1);",
        "= picture;",
    ),
}
FLAGS = ("-O3", "-Wall", "-Wextra", "-Wshadow", "-Wvla", "-Werror")


@pytest.mark.parametrize("form", FORMS)
def test_rows_of_bytes(form, tmp_path):
    body, pointer = FORMS[form]
    source = write(tmp_path / "in.c", PROGRAM.format(body=body))
    result = compile_source(str(source), Options(min_work=0), ["gcc"], FLAGS)
    (region,) = result.regions
    assert region.parallel_loops
    new = result.text.split("the new order")[1].split("the original loops")[0]
    assert pointer in new
    out = write(tmp_path / "out.c", result.text)
    assert messages("gcc", out, *FLAGS, "-fopenmp") == (0, "")
    assert output(out, *FLAGS, "-fopenmp") == output(source, "-O1")
