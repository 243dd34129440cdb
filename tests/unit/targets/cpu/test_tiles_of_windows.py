"""Tiles of loops along windows begin where these loops do: no vector is cut at their beginning."""

from __future__ import annotations

import re

import pytest

from polybuild.driver.file import compile_source
from polybuild.options import Options

SOURCE = """
void f(int n, float w[8][8][5][5], float p[8][n + 8][n + 8], float q[8][n + 8][n + 8])
{
#pragma scop
  for (int o = 0; o < 8; o++)
    for (int y = BEGIN; y < n + BEGIN; y++)
      for (int x = BEGIN; x < n + BEGIN; x++) {
        float s = 0;
        for (int c = 0; c < 8; c++)
          for (int i = 0; i < 5; i++)
            for (int j = 0; j < 5; j++)
              s += w[o][c][i][j] * p[c][y + i - BEGIN][x + j - BEGIN];
        q[o][y][x] = s;
      }
#pragma endscop
}
"""


@pytest.mark.parametrize("begin", [0, 1, 3])
def test_tiles_begin_where_loops_do(begin, tmp_path):
    path = tmp_path / "layer.c"
    path.write_text(SOURCE.replace("BEGIN", str(begin)))
    text = compile_source(str(path), Options(tile_sizes=(16, 16)), ["gcc"], ["-O3"]).text
    (first,) = re.findall(r"long long x = (.*?);", text)
    assert first == "16 * tile_x"
