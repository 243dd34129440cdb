"""Stages in tiles that overlap: what is computed equals, to the bit, what the original computes."""

from __future__ import annotations

import pytest
from compiling import output, transform, write

from polybuild.storage import overlapped_stages

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef {type} real;
static void run(int h, int w, real out[h + 1][w + 1], real more[h + 1][w + 1], real in[h + 8][w + 8],
                real (*t)[w + 8], real (*u)[w + 8])
{{
{before}
#pragma scop temporary(t, u)
{body}
#pragma endscop
  (void)out; (void)more; (void)t; (void)u;
}}
int main(void)
{{
  static const int sizes[][2] = {{
    {{0, 0}}, {{0, 5}}, {{1, 1}}, {{2, 2}}, {{7, 3}}, {{33, 100}}, {{100, 33}}, {{150, 2100}}, {{310, 40}}}};
  for (int s = 0; s < 9; s++) {{
    int h = sizes[s][0], w = sizes[s][1], n = (h + 8) * (w + 8);
    real *data[5];
    unsigned seed = 1;
    unsigned long long sum = 0;
    for (int a = 0; a < 5; a++) {{
      data[a] = malloc(n * sizeof(real));
      for (int i = 0; i < n; i++)
        seed = seed * 1664525u + 1013904223u, data[a][i] = (real)((seed >> 8) / 65536.0);
    }}
    run(h, w, (void *)data[0], (void *)data[1], (void *)data[2], (void *)data[3], (void *)data[4]);
    for (int a = 0; a < 3; a++)
      for (int i = 0; i < (int)(n * sizeof(real)); i++)
        sum = sum * 31 + ((unsigned char *)data[a])[i];
    printf("%d %d %llu\\n", h, w, sum);
    for (int a = 0; a < 5; a++)
      free(data[a]);
  }}
  return 0;
}}
"""
EACH = "for (int y = 0; y < {0}; y++) for (int x = 0; x < {1}; x++)"


def each(height: str, width: str) -> str:
    return EACH.format(height, width)


ROWS = f"{each('h + 4', 'w')} t[y][x] = in[y][x] + in[y][x + 1] - in[y][x + 4] / 2;"
SUM = f"""{each("h", "w")} {{
  real s = 0;
  for (int k = 0; k < 5; k++) s += t[y + k][x] * (real)(k + 1);
  out[y][x] = s;
}}"""
GRADIENTS = f"""{each("h + 2", "w + 2")} {{
  t[y][x] = in[y][x + 2] - in[y][x];
  u[y][x] = in[y + 2][x] - in[y][x];
}}"""

TILED = {
    "rows and columns": f"{ROWS}\n{SUM}",
    "sums in both": f"""
{each("h + 4", "w")} {{
  real s = 0;
  for (int k = 0; k < 5; k++) s += in[y][x + k] * (real)(5 - k);
  t[y][x] = s;
}}
{SUM}""",
    "nine terms": f"""
{each("h + 4", "w")} {{ real s = 0; for (int k = 0; k < 4; k++) s += in[y][x + k]; t[y][x] = s; }}
{each("h - 4", "w")} {{ real s = 0; for (int k = 0; k < 9; k++) s += t[y + k][x]; out[y][x] = s; }}""",
    "sums in elements": f"""
{each("h + 4", "w")} {{ t[y][x] = 0; for (int k = 0; k < 5; k++) t[y][x] += in[y][x + k]; }}
{each("h", "w")} {{ out[y][x] = 0; for (int k = 0; k < 5; k++) out[y][x] += t[y + k][x]; }}""",
    "two arrays": f"""{GRADIENTS}
{each("h", "w")} {{
  real a = 0, b = 0;
  for (int k = 0; k < 3; k++)
    for (int l = 0; l < 3; l++) {{ a += t[y + k][x + l] * u[y + k][x + l]; b += u[y + k][x + l]; }}
  out[y][x] = a - b;
}}""",
    "two results": f"""{ROWS}
{SUM}
{each("h", "w")} more[y][x] = t[y + 4][x] - in[y][x];""",
    "a result for a result": f"""{ROWS}
{SUM}
{each("h", "w")} more[y][x] = out[y][x] + t[y][x];""",
    "columns first": f"""
for (int x = 0; x < w; x++) for (int y = 0; y < h + 4; y++) t[y][x] = in[y][x] + in[y][x + 1];
{SUM}""",
    "elements left and above": """
for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) t[y][x] = in[y][x] * 2;
for (int y = 2; y < h; y++) for (int x = 1; x < w; x++) out[y][x] = t[y - 2][x] + t[y][x - 1] - t[y][x];""",
    "every second element": f"""
{each("h + 7", "w + 7")} t[y][x] = in[y][x] + in[y + 1][x + 1];
{each("h / 2", "w / 2")} out[y][x] = t[2 * y][2 * x] + t[2 * y + 1][2 * x] - t[2 * y][2 * x + 1];""",
    "elements far apart": f"""
{each("h + 7", "w + 7")} t[y][x] = in[y][x] + in[y + 1][x + 1];
{each("h", "w")} out[y][x] = t[y][x] + t[y + 6][x + 6];""",
}
IN_STRIPS = {
    "three stages": f"""{ROWS}
{each("h + 2", "w")} u[y][x] = t[y][x] - t[y + 2][x];
{each("h", "w")} out[y][x] = u[y][x] + u[y + 1][x] * t[y + 4][x];""",
    "a border": f"""
{each("h", "w")} t[y][x] = in[y][x] + in[y][x + 1];
{each("h", "w")} if (y == 0 || x == 0) out[y][x] = in[y][x]; else out[y][x] = t[y - 1][x] + t[y][x - 1];""",
}
AS_THEY_ARE = {
    "in the same place": f"""
{each("h", "w")} t[y][x] = in[y][x] + in[y][x + 1];
{each("h", "w")} in[y][x] = t[y][x] + t[y][x + 1 < w ? x + 1 : x];""",
    "over what it was made of": f"""
{each("h", "w")} t[y][x] = in[y][x] + in[y][x + 1];
for (int y = 1; y < h; y++) for (int x = 1; x < w; x++) in[y][x] = t[y - 1][x] + t[y][x - 1];""",
    "a stage that counts on": """
for (int y = 1; y < h; y++) for (int x = 1; x < w; x++) t[y][x] = in[y][x] + (y > 1 ? t[y - 1][x] : 0);
for (int y = 2; y < h; y++) for (int x = 1; x < w; x++) out[y][x] = t[y][x] - t[y - 1][x];""",
    "a result that is read apart": f"""
{each("h", "w")} {{ t[y][x] = in[y][x] * 3; more[y][x] = t[y][x] + 1; }}
for (int y = 1; y < h; y++) for (int x = 0; x < w; x++) out[y][x] = t[y][x] + more[y - 1][x];""",
    "all of a column": f"""
{each("h", "w")} t[y][x] = in[y][x] + 1;
{each("h", "w")} {{ real s = 0; for (int k = 0; k < h; k++) s += t[k][x]; out[y][x] = s; }}""",
}
EVERY = TILED | IN_STRIPS | AS_THEY_ARE


def program(body: str, kind: str = "float", before: str = "") -> str:
    return PROGRAM.format(type=kind, body=body, before=before)


@pytest.mark.fast(name=["sums in both", "over what it was made of"])
@pytest.mark.parametrize("name", [*EVERY])
def test_results_are_equal(tmp_path, name):
    flags = ("-O3", "-mavx2", "-Wno-unknown-pragmas")
    text = program(EVERY[name])
    original = write(tmp_path / "original.c", text)
    new = write(tmp_path / "new.c", transform(tmp_path / "source.c", text, *flags).text)
    assert output(new, *flags, "-fopenmp") == output(original, *flags)


@pytest.mark.parametrize("name", [*EVERY])
def test_stages_are_in_tiles(tmp_path, name):
    text = transform(tmp_path / "source.c", program(EVERY[name]), "-O3", "-mavx2").text
    assert ("t_tile_buffer[" in text) is (name in TILED)


def test_a_tile_that_lacks_an_element_is_seen(tmp_path, monkeypatch):
    """What a stage reads must have been computed in its tile: that is proved, however sizes are found."""
    hull = overlapped_stages._hull
    monkeypatch.setattr(
        overlapped_stages, "_hull", lambda points: hull(points).subtract(hull(points).lexmax())
    )
    text = transform(tmp_path / "source.c", program(TILED["two arrays"]), "-O3", "-mavx2").text
    assert "t_tile_buffer[" not in text
