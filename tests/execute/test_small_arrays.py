"""Private arrays of a few elements, which loops sort or shift: in registers, and in lanes."""

from __future__ import annotations

import re

import pytest
from compiling import output, write

from polybuild.driver.file import compile_source
from polybuild.options import Options

PROGRAM = """\
#include <stdio.h>
enum {{ W = 83, H = 41 }};
static unsigned char in[H][W], out[H][W];
{before}
static void filter(void) {{
#pragma scop
  for (int y = 1; y < H - 1; y++)
    for (int x = 1; x < W - 1; x++) {{
{body}
    }}
#pragma endscop
}}
int main(void) {{
  unsigned seed = 1, sum = 0;
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++)
      seed = seed * 1664525u + 1013904223u, in[y][x] = seed >> 24;
  filter();
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++)
      sum = sum * 31 + out[y][x];
  printf("%u\\n", sum);
  return 0;
}}
"""
LOAD = """\
      unsigned char w[9];
      for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++)
          w[3 * (j + 1) + i + 1] = in[y + j][x + i];
"""
SWAP = "unsigned char t = w[a]; w[a] = w[b]; w[b] = t;"
SORTS = {
    "half of a selection sort": f"""{LOAD}
      for (int a = 0; a < 5; a++)
        for (int b = a + 1; b < 9; b++)
          if (w[b] < w[a]) {{ {SWAP} }}
      out[y][x] = w[4];""",
    "counted elements": f"""
      unsigned char w[9];
      int n = 0;
      for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++)
          w[n++] = in[y + j][x + i];
      for (int a = 0; a < 5; a++)
        for (int b = a + 1; b < 9; b++)
          if (w[b] < w[a]) {{ {SWAP} }}
      out[y][x] = w[4];""",
    "neighbours": f"""{LOAD}
      for (int round = 0; round < 8; round++)
        for (int a = 0; a < 8 - round; a++)
          if (w[a] > w[a + 1]) {{ unsigned char t = w[a]; w[a] = w[a + 1]; w[a + 1] = t; }}
      out[y][x] = w[4];""",
    "wider elements": f"""{LOAD.replace("unsigned char w", "int w")}
      for (int a = 0; a < 5; a++)
        for (int b = a + 1; b < 9; b++) {{
          int low = w[a] < w[b] ? w[a] : w[b], high = w[a] < w[b] ? w[b] : w[a];
          w[a] = low;
          w[b] = high;
        }}
      out[y][x] = w[4];""",
    "a function": f"""{LOAD}
      out[y][x] = middle(w);""",
    "a function with an array": """
      int found = median_at(y, x);
      out[y][x] = found;""",
}
IN_REGISTERS = {
    "half of a selection sort",
    "counted elements",
    "neighbours",
    "a function",
    "a function with an array",
}
FUNCTION = """\
static unsigned char middle(unsigned char *w) {
  for (int a = 0; a < 5; a++)
    for (int b = a + 1; b < 9; b++)
      if (w[b] < w[a]) { unsigned char t = w[a]; w[a] = w[b]; w[b] = t; }
  return w[4];
}
static int median_at(int y, int x) {
  int w[9], n = 0;
  for (int j = y - 1; j <= y + 1; j++)
    for (int i = x - 1; i <= x + 1; i++)
      w[n++] = in[j][i];
  for (int a = 0; a < 5; a++)
    for (int b = a + 1; b < 9; b++)
      if (w[b] < w[a]) { int t = w[a]; w[a] = w[b]; w[b] = t; }
  return w[4];
}"""
FLAGS = ("-O3", "-march=x86-64-v3", "-Wno-unused-function")


@pytest.mark.parametrize("name", SORTS)
def test_small_sorts(name, tmp_path):
    before = FUNCTION if "function" in name else ""
    source = write(tmp_path / "in.c", PROGRAM.format(body=SORTS[name], before=before))
    result = compile_source(str(source), Options(min_work=0), ["gcc"], FLAGS)
    (region,) = result.regions
    assert region.parallel_loops
    assert output(write(tmp_path / "out.c", result.text), *FLAGS) == output(source, *FLAGS)
    new = result.text.split("the new order")[1].split("the original loops")[0]
    if name in IN_REGISTERS:
        assert not re.search(r"private\(w|\bw\w*\[[^0-9]", new)
