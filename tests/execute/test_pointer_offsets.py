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
static const float *rows[H];
static struct point {{ float x, y; int at[2]; }} points[H];
static struct picture {{ int width; const float *pixels; }} picture = {{ W, image }}, pictures[H];
static float (*const grid)[W] = (float (*)[W])image;
static float between(const float *p, int last) {{ return 0.25f * p[-1] + *p + (last ? 0 : 0.5f * p[1]); }}
static float total(const float *p, int n) {{ float s = 0; for (int k = 0; k < n; k++) s += p[k]; return s; }}
static int inside(int v, int last) {{ return v < 0 ? 0 : v > last ? last : v; }}
static void warp(float shift) {{
  {before}
#pragma scop
{body}
#pragma endscop
  (void) shift; (void) inside; (void) rows; (void) points; (void) picture; (void) pictures; (void) grid;
  (void) between; (void) total;
  {after}
}}
int main(void) {{
  double sum = 0;
  for (int i = 0; i < H; i++) {{
    lines[i] = (i * 7 + 3) % H;
    rows[i] = image + (H - 1 - i) * W;
    points[i] = (struct point) {{i * 3 % 7, i * 5 % 11 / 4.0f, {{i, i * 11 % H}}}};
    pictures[i] = (struct picture) {{W, image + i * 9 % H * W}};
  }}
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
    "of a row that data choose": LOOPS.format(
        set=f"{ROW} = image + (lines[y] + H - 1) % H * W, *next = row + W, *before = next - 2 * W + W;",
        use="row[x] - next[x - W + 1] + before[x] * 0.5f",
    ),
    "from an offset": LOOPS.format(
        set=f"const unsigned at = (unsigned)lines[y] * W; {ROW} = image + at;", use=BETWEEN
    ),
    "constant itself": LOOPS.format(
        set="const float *const row = &(image + 2)[lines[y] * W - 2];", use=BETWEEN
    ),
    "in a table of rows": LOOPS.format(set=f"{ROW} = rows[lines[y]];", use=BETWEEN),
    "in a table of rows, moved": LOOPS.format(
        set=f"{ROW} = &rows[lines[lines[y]]][1];", use="row[x - 1] + *row"
    ),
    "in a matrix": LOOPS.format(set=f"{ROW} = grid[lines[y]] + 1;", use="row[x - 1] - row[x - 2]"),
    "of a structure": LOOPS.format(set=f"{ROW} = picture.pixels + lines[y] * picture.width;", use=BETWEEN),
    "of a structure that data choose": LOOPS.format(set=f"{ROW} = pictures[lines[y]].pixels;", use=BETWEEN),
    "to a structure": LOOPS.format(
        set="const struct point *p = &points[lines[y]];", use="image[x] * p->x + (*p).y - p->at[1]"
    ),
    "to a member": LOOPS.format(set="const int *p = points[lines[y]].at;", use="image[x] * p[0] + p[1]"),
    "walked": """\
  for (int y = 0; y < H; y++) {
    const float *row = image + lines[y] * W;
    float *out = to + y * W, *end = out + W;
    while (out < end) *out++ = *row++ + 1;
  }""",
    "in a header": """\
  for (int y = 0; y < H; y++) {
    const float *row = image + lines[y] * W;
    float sum = 0;
    for (const float *p = row, *end = row + W; p < end; p++) sum += *p;
    to[y] = sum;
  }""",
    "given to a function": LOOPS.format(
        set=f"{ROW} = image + lines[y] * W;", use="between(row + x, 0) + between(rows[y] + x, 1)"
    ),
    "given to a function with a loop": """\
  for (int y = 0; y < H; y++)
    to[y] = total(image + lines[y] * W, W) + total(rows[lines[y]] + 2, W - 2);""",
    "set on a condition": LOOPS.format(
        set=f"{ROW}; if (lines[y] > 4) row = image + lines[y] * W; else row = image + y * W;", use=BETWEEN
    ),
    "set on a condition, and others from it": LOOPS.format(
        set=f"""{ROW} = image; unsigned back = W;
    if (lines[y] > 4) {{ row = &image[lines[y] * W]; }}
    else if (y % 2) row = image + (H - 1) * W - y % 2 - back;
    const float *next = row + 1;""",
        use="row[x - 1] - *next + row[x]",
    ),
    "to a structure, set on a condition": LOOPS.format(
        set="const struct point *p = points + y; if (lines[y] > 4) p = points + lines[y] - 1;",
        use="image[x] * p->x + p->at[1]",
    ),
    "of two places": LOOPS.format(
        set=f"{ROW} = lines[y] > H / 2 ? image + lines[y] * W : &image[lines[H - 1 - y] * W];", use=BETWEEN
    ),
    "to where it may change": """\
  for (int y = 0; y < H; y++) {
    const float *row = image + lines[y] * W;
    const struct point *p = points + lines[y];
    lines[y] = y / 2;
    for (int x = 0; x < W; x++) to[y * W + x] = row[x] - p->x;
    to[y * W] += lines[y];
  }""",
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


WRITTEN = {
    "a row": """\
  for (int y = 0; y < H; y++) {
    float *row = to + lines[y] / 2 * W;
    for (int x = 0; x < W; x++)
      row[x] = image[y * W + x] + 1;
  }""",
    "a row and the next": """\
  for (int y = 0; y < H; y++) {
    float *row = &to[lines[y] / 2 * W], *next = row + W;
    for (int x = 0; x < W; x++) {
      row[x] += image[y * W + x];
      next[x] = row[x] * 0.5f;
    }
  }""",
    "structures": """\
  for (int y = 0; y < H; y++) {
    struct point *p = points + lines[y] / 2;
    p->x += image[y];
    p->at[1] = y;
  }
  for (int y = 0; y < H; y++)
    to[y] = points[y].x + points[y].at[1];""",
    "what says where": """\
  for (int y = 0; y < H; y++) {
    int *line = &lines[lines[y]];
    *line = (*line + y) % H;
    to[y] = lines[y];
  }""",
    "a row that is read": """\
  for (int y = 0; y < H; y++) {
    const float *row = to + lines[y] * W;
    for (int x = 0; x < W; x++)
      to[y * W + x] = row[W - 1 - x] + image[y * W + x];
  }""",
}


@pytest.mark.parametrize("name", WRITTEN)
def test_rows_that_are_written_stay_in_order(name, tmp_path):
    source = write(tmp_path / "in.c", PROGRAM.format(body=WRITTEN[name], before="", after=""))
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
