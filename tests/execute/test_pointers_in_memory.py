"""Bytes that might be the pointers and sizes that lead to them: the original loops run where they are."""

from __future__ import annotations

import pytest
from compiling import QUICK, output, transform, write

PROGRAM = """\
#include <stdio.h>
#include <string.h>
typedef unsigned char byte;
struct image {{ int w, h; byte *p; struct image *next; }};
static byte *grid, first[60 * 50], second[60 * 50];
static int width, height;
static void f(struct image *a, struct image *b, struct image *c, byte **rows, int n)
{{
  (void)a, (void)b, (void)c, (void)rows, (void)n;
#pragma scop
  {body}
#pragma endscop
}}
static unsigned long sum(const byte *p, int n)
{{
  unsigned long s = 7;
  for (int i = 0; i < n; i++)
    s = s * 31 + p[i];
  return s;
}}
int main(void)
{{
  struct image b = {{60, 50, second, 0}}, a = {{60, 50, first, &b}};
  byte *rows[] = {{first, second}};
  for (int i = 0; i < 3000; i++)
    first[i] = (byte)(i * 7), second[i] = (byte)(i * 5);
  grid = first, width = 60, height = 50;
  f(&a, &b, &a, rows, 3000);
  printf("%lu %lu\\n", sum(first, 3000), sum(second, 3000));
  /* bytes that are a structure: its width is set while the loops run */
  struct image own = {{24, 1, 0, &b}};
  own.p = (byte *)&own;
  f(&own, &own, &a, (byte **)&own.p, (int)sizeof own.w);
  printf("%d %d\\n", own.w, own.h);
  return 0;
}}
"""
BODIES = {
    "members": "for (int i = 0; i < b->h; i++) for (int j = 0; j < b->w; j++) b->p[i * b->w + j] /= 2;",
    "of_two": "for (int i = 0; i < 4; i++) b->p[i] = (byte)(a->p[i] + c->p[i]);",
    "behind_another": "for (int i = 0; i < 20; i++) c->next->p[i] = (byte)(b->p[i] + i);",
    "of_the_file": "for (int i = 0; i < height; i++) for (int j = 0; j < width; j++)"
    " grid[i * width + j] ^= 5;",
    "an_element": "for (int i = 0; i < n; i++) rows[0][i] = (byte)(i % 25);",
}


@pytest.mark.parametrize("name", BODIES)
def test_results_where_bytes_are_pointers(tmp_path, name):
    text = PROGRAM.format(body=BODIES[name])
    source = write(tmp_path / "in.c", text)
    result = transform(source, text, "-O2")
    (region,) = result.regions
    assert region.parallel_loops, result.diagnostics
    new = write(tmp_path / "out.c", result.text)
    assert output(new, "-fopenmp", *QUICK) == output(source, *QUICK)


def test_what_is_compared_is_told(tmp_path):
    text = PROGRAM.format(body=BODIES["members"])
    result = transform(write(tmp_path / "in.c", text), text, "-O2")
    told = " ".join(result.regions[0].assumptions)
    assert "'b->p' and the pointer 'b->p' must not overlap" in told
    assert "'b->p' and 'b->w' must not overlap" in told
