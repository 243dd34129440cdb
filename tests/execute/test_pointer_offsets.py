"""Pointers at places that data choose: the same results in parallel, however they are written."""

from __future__ import annotations

import pytest
from compiling import output, write

from polybuild.driver.file import compile_source
from polybuild.options import Options

PROGRAM = """\
#include <math.h>
#include <stdio.h>
enum {{ W = 53, H = 31 }};
static float image[H * W], to[H * W];
static int lines[H];
static int inside(int v, int last) {{ return v < 0 ? 0 : v > last ? last : v; }}
static void warp(float shift) {{
  {before}
#pragma scop
{body}
#pragma endscop
  (void) shift; (void) inside;
  {after}
}}
int main(void) {{
  double sum = 0;
  for (int i = 0; i < H; i++) lines[i] = (i * 7 + 3) % H;
  for (int i = 0; i < H * W; i++) image[i] = (i * 37 % 101) / 9.0f;
  warp(0.3f);
  for (int i = 0; i < H * W; i++) sum += to[i] * (i % 13 + 1);
  printf("%.17g\\n", sum);
  return 0;
}}
"""
ROW = "const float *row"
LOOPS = """\
  for (int y = 0; y < H; y++) {{
    {set}
    for (int x = 1; x < W - 1; x++)
      to[y * W + x] = {use};
  }}"""
BETWEEN = "0.25f * row[x - 1] + row[x] + 0.5f * row[x + 1]"
FORMS = {
    "a line that is looked up": LOOPS.format(set=f"{ROW} = image + lines[y] * W;", use=BETWEEN),
    "its address": LOOPS.format(set=f"{ROW} = &image[lines[y] * W];", use=BETWEEN),
    "from its end": LOOPS.format(set=f"{ROW} = image + H * W - (lines[y] + 1) * W;", use=BETWEEN),
    "followed": LOOPS.format(
        set=f"{ROW} = image + lines[y] * W + 1;", use="*row + *(row + x - 2) + *(row + 1)"
    ),
    "of a position": LOOPS.format(
        set=f"int at = (int) floorf(y * 0.9f + shift); {ROW} = image + inside(at, H - 1) * W;", use=BETWEEN
    ),
    "set later": LOOPS.format(set=f"{ROW};\n    row = image + lines[y] * W;", use=BETWEEN),
    "of several": LOOPS.format(
        set=f"{ROW} = image + lines[y] * W, *next = image + lines[(y + 1) % H] * W;",
        use="row[x] - next[x + 1]",
    ),
    "beside a namesake": """\
  for (int y = 0; y < H; y++) {
    const float *row = image + lines[y] * W;
    for (int x = 1; x < W - 1; x++) {
      float image = 0.5f;
      to[y * W + x] = image * row[x];
    }
  }""",
    "of the function": LOOPS.format(set="line = image + lines[y] * W;", use=BETWEEN.replace("row", "line")),
    "read after the region": LOOPS.format(
        set="last = image + lines[y] * W;", use=BETWEEN.replace("row", "last")
    ),
}
BEFORE = {"of the function": "const float *line;", "read after the region": "const float *last = image;"}
AFTER = {"read after the region": "to[0] = last[3];"}


@pytest.mark.parametrize("name", FORMS)
def test_pointers_that_data_choose(name, tmp_path):
    before, after = BEFORE.get(name, ""), AFTER.get(name, "")
    source = write(tmp_path / "in.c", PROGRAM.format(body=FORMS[name], before=before, after=after))
    result = compile_source(str(source), Options(min_work=0), ["gcc"], ["-O2"])
    assert output(write(tmp_path / "out.c", result.text), "-O2") == output(source, "-O2")
    (region, *_) = result.regions
    if name in {"read after the region", "beside a namesake"}:
        assert region.status == "kept"
    else:
        assert region.gains


WRITTEN = """\
  for (int y = 0; y < H; y++) {
    float *row = to + lines[y] * W;
    for (int x = 0; x < W; x++)
      row[x] = image[y * W + x] + 1;
  }"""


def test_rows_that_are_written_stay_in_order(tmp_path):
    source = write(tmp_path / "in.c", PROGRAM.format(body=WRITTEN, before="", after=""))
    result = compile_source(str(source), Options(min_work=0), ["gcc"], ["-O2"])
    assert output(write(tmp_path / "out.c", result.text), "-O2") == output(source, "-O2")


CHANGED = """\
  const float *row = image;
  for (int y = 0; y < H; y++) {
    for (int x = 0; x < W; x++)
      to[y * W + x] = row[x];
    row += lines[y] % 2 * W;
  }"""


def test_pointers_that_move_by_data_are_kept(tmp_path):
    source = write(tmp_path / "in.c", PROGRAM.format(body=CHANGED, before="", after=""))
    result = compile_source(str(source), Options(min_work=0), ["gcc"], ["-O2"])
    assert result.regions[0].status == "kept"
    assert output(write(tmp_path / "out.c", result.text), "-O2") == output(source, "-O2")
