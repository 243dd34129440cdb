"""Vectors of one row are loaded by a pointer to it, in register tiles and in lanes."""

from __future__ import annotations

import re

import pytest

from polybuild.driver.file import compile_source
from polybuild.options import Options

LANES = """
void f(int n, float p[restrict n + 8][n + 8], float w[restrict 7][7], float q[restrict n][n])
{
#pragma scop
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) {
      float s = 0;
      for (int i = 0; i < 7; i++)
        for (int j = 0; j < 7; j++)
          s += w[i][j] * p[y + i][x + j];
      q[y][x] = s;
    }
#pragma endscop
}
"""
REGISTERS = """
void f(int n, float w[restrict 16][8][3][3], float p[restrict 8][n + 2][n + 2], float q[restrict 16][n][n])
{
#pragma scop
  for (int o = 0; o < 16; o++)
    for (int y = 0; y < n; y++)
      for (int x = 0; x < n; x++) {
        q[o][y][x] = 0;
        for (int c = 0; c < 8; c++)
          for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
              q[o][y][x] += w[o][c][i][j] * p[c][y + i][x + j];
      }
#pragma endscop
}
"""
POINTER = re.compile(r"const (?:float|double) \*(row_\w+) = &(\w+)\[")


@pytest.fixture
def text(tmp_path):
    """What becomes of a file."""

    def make(source):
        path = tmp_path / "rows.c"
        path.write_text(source)
        return compile_source(str(path), Options(), ["gcc"], ["-O3", "-mavx2"]).text

    return make


def test_all_vectors_in_lanes_are_found_from_the_first(text):
    made = text(LANES)
    names = dict(POINTER.findall(made))
    assert set(names.values()) == {"p"}
    (name,) = names
    # four vectors of eight, each at seven places
    loaded = {int(each) for each in re.findall(rf"\({name} \+ (\d+)\)", made)}
    assert loaded == {8 * vector + place for vector in range(4) for place in range(7)} - {0}


def test_vectors_of_register_tiles_are_found_from_the_first(text):
    made = text(REGISTERS)
    assert {array for _, array in POINTER.findall(made)} == {"p"}
    assert "(row_p + 8)" in made
