"""Searches along rows that end at their first match: a thread for each row, which leaves it there, too."""

from __future__ import annotations

import pytest

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
static void left(int n, int w, const int *restrict k, int wanted, int *restrict at)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    at[i] = -1;
    for (int j = 0; j < w; j++)
      if (k[i * w + j] == wanted) {
        at[i] = j;
        break;
      }
  }
#pragma endscop
}
static void counted(int n, int w, int k[restrict n][w], int wanted, int *restrict at)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    int j = 0;
    while (j < w && k[i][j] != wanted)
      j++;
    at[i] += 10 * j;
  }
#pragma endscop
}
static void declared(int n, int w, int k[restrict n][w], int wanted, int *restrict at)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    int found = w;
    for (int j = 0; j < w && found == w; j++)
      if (k[i][j] > wanted)
        found = j;
    at[i] += 1000 * found;
  }
#pragma endscop
}
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 1, w = 9;
  int *k = malloc(n * w * sizeof *k), *at = malloc(n * sizeof *at);
  for (int i = 0; i < n * w; i++)
    k[i] = i * 29 % 31;
  left(n, w, k, 17, at);
  counted(n, w, (int(*)[w])k, 4, at);
  declared(n, w, (int(*)[w])k, 25, at);
  for (int i = 0; i < n; i++)
    printf("%d ", at[i]);
  free(k), free(at);
  return 0;
}
"""
REGIONS = 3


@pytest.mark.parametrize("backend", ["cuda", pytest.param("opencl", marks=pytest.mark.opencl)])
def test_each_row_is_left_at_its_first_match(backend, workbench):
    for done in workbench.runs(PROGRAM, backend, REGIONS, ("1",), ("7",), ("140",)):
        assert done.stderr.count("1 runs on the device") == REGIONS
