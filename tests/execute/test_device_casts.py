"""Pointers that are cast where they are followed, as arrays of kernels."""

from __future__ import annotations

import pytest

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
typedef struct { int width, height, step; char *data; } image;
typedef struct { float r, g; } pixel;
enum { W = 70, H = 45 };
#define AT(im, y, x) (((float *)((im)->data + (y) * (im)->step))[x])
static void blur(const image *from, image *to)
{
#pragma scop
  for (int y = 1; y < from->height - 1; y++)
    for (int x = 1; x < from->width - 1; x++)
      AT(to, y, x) = (AT(from, y - 1, x) + AT(from, y + 1, x) + AT(from, y, x - 1) + AT(from, y, x + 1)) / 4;
#pragma endscop
}
static void scaled(int n, void *to, const void *from)
{
#pragma scop
  for (int i = 0; i < n; i++)
    ((double *)to)[i] = 3 * ((const float *)from)[i];
#pragma endscop
}
static void turned(image *im)
{
#pragma scop
  for (int y = 0; y < im->height; y++)
    for (int x = 0; x < im->width / 2; x++) {
      pixel *p = (pixel *)(im->data + y * im->step) + x;
      p->r = p->g + 1;
    }
#pragma endscop
}
int main(void)
{
  float *a = calloc(W * H, sizeof *a), *b = calloc(W * H, sizeof *b);
  double *c = calloc(W * H, sizeof *c);
  image from = {W - 5, H, W * sizeof *a, (char *)a}, to = {W - 5, H, W * sizeof *b, (char *)b};
  for (int i = 0; i < W * H; i++)
    a[i] = i % 37 / 8.0f;
  blur(&from, &to), scaled(W * H, c, b), turned(&to);
  for (int i = 0; i < W * H; i++)
    printf("%a %a ", b[i], c[i]);
  return 0;
}
"""
REGIONS = 3


@pytest.mark.parametrize("backend", ["cuda", pytest.param("opencl", marks=pytest.mark.opencl)])
def test_kernels_follow_pointers_that_are_cast(backend, workbench):
    for done in workbench.runs(PROGRAM, backend, REGIONS):
        assert "runs on the host" not in done.stderr
