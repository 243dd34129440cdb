"""Lanes that each go along a row: what they compute equals, to the bit, what the original computes."""

from __future__ import annotations

import re

import pytest
from compiling import write
from lane_programs import check_results, run, transformed
from test_lanes import WIDE

from polybuild.codegen.c import row_windows

PROGRAM = """\
#include <stdio.h>
#include <string.h>
enum {{ ROWS = 100, LONGEST = 300 }};
typedef {type} real;
struct coefficients {{ real b, a[2]; }};
struct image {{ int w, h; real *data; }};
static void run(int n, int m, real f, real A[n][m], real B[n][m], real *a, real *b, real **rows, real *u,
                struct image *im, struct coefficients *c)
{{
#pragma scop
{body}
#pragma endscop
  (void)f, (void)A, (void)B, (void)a, (void)b, (void)rows, (void)u, (void)im, (void)c;
}}
static real storage[2][ROWS * LONGEST + 1], vector[LONGEST], *pointers[ROWS];
int main(void)
{{
  static const int sizes[] = {{0, 1, 2, 7, 33, 100}}, lengths[] = {{1, 2, 7, 33, 64, 129, 300}};
  for (int s = 0; s < 6; s++)
    for (int l = 0; l < 7; l++) {{
      int n = sizes[s], m = lengths[l];
      unsigned seed = 1;
      struct image im = {{m, n, storage[0]}};
      struct coefficients c[] = {{{{(real)0.3, {{(real)-0.5, (real)0.2}}}},
                                 {{(real)0.7, {{(real)0.1, (real)0.3}}}}}};
      for (int a = 0; a < 2; a++)
        for (int i = 0; i <= ROWS * LONGEST; i++) {{
          seed = seed * 1664525u + 1013904223u;
          storage[a][i] = (real)((seed >> 8) / 16777216.0 - 0.5);
        }}
      for (int i = 0; i < LONGEST; i++)
        vector[i] = (real)(i % 7) / 8;
      for (int i = 0; i < n; i++)
        pointers[i] = storage[0] + (n - 1 - i) * m;
      if (n > 0)
        run(n, m, (real)0.3, (void *)storage[0], (void *)storage[1], storage[0], storage[1], pointers, vector,
            &im, c);
      unsigned long long found = 7;
      for (unsigned long i = 0; i < sizeof storage; i++)
        found = found * 31 + ((const unsigned char *)storage)[i];
      for (unsigned long i = 0; i < sizeof vector; i++)
        found = found * 31 + ((const unsigned char *)vector)[i];
      printf("%d %d %llu\\n", n, m, found);
    }}
  return 0;
}}
"""
ALONG_ROWS = {
    "smoothed forth and back": """for (int i = 0; i < n; i++) {
        for (int j = 1; j < m; j++) A[i][j] = A[i][j - 1] + f * (A[i][j] - A[i][j - 1]);
        for (int j = m - 2; j >= 0; j--) A[i][j] = A[i][j + 1] + f * (A[i][j] - A[i][j + 1]); }""",
    "flat": """for (int i = 0; i < n; i++) for (int j = 1; j < m; j++)
        a[i * m + j] += f * a[i * m + j - 1] - b[i * m + j];""",
    "pointers to rows": """for (int i = 0; i < n; i++) { real *row = a + i * m; const real *other = b + i * m;
        for (int j = 1; j < m; j++) row[j] = row[j - 1] * f + other[j]; }""",
    "pointers that go along": """for (int i = 0; i < n; i++) { real *p = a + i * m, s = 0;
        for (int j = 0; j < m; j++, p++) { real v = *p + s, q = v > f ? 1 : v < -f ? -1 : 0;
          s = v - q; *p = q; } }""",
    "rows anywhere": """for (int i = 0; i < n; i++) { real s = 0;
        for (int j = 0; j < m; j++) { s = f * rows[i][j] + (1 - f) * s; rows[i][j] = s; } }""",
    "sums of rows anywhere": """int i, j; for (i = 0; i < n; i++) { b[i] = 0;
        for (j = 0; j < m; j++) b[i] += rows[i][j] * u[j]; }""",
    "while": """int i = 0; while (i < n) { real s = a[i * m]; int j = 0;
        while (j < m) { if (a[i * m + j] < s) s = a[i * m + j]; b[i * m + j] = s; j++; } i++; }""",
    "two steps back": """for (int i = 0; i < n; i++) for (int j = 2; j < m; j++)
        B[i][j] = f * A[i][j] - B[i][j - 2];""",
    "filtered forth and back": """for (int i = 0; i < n; i++) {
        for (int j = 1; j < m; j++) B[i][j] = f * A[i][j] + (1 - f) * B[i][j - 1];
        for (int j = m - 3; j >= 0; j--) A[i][j] = B[i][j] - f * A[i][j + 1] + f / 2 * A[i][j + 2]; }""",
    "ahead": """for (int i = 0; i < n; i++) { real s = 0; for (int j = 0; j < m - 3; j++) {
        s = s * f + A[i][j + 3]; A[i][j] = s - A[i][j + 1]; } }""",
    "only written": """for (int i = 0; i < n; i++) { real s = u[i];
        for (int j = 0; j < m; j++) { s = s * f + u[j]; B[i][j] = s; } }""",
    "several passes": """for (int i = 0; i < n; i++) for (int k = 0; k < 2; k++) { real z = 0;
        for (int j = 0; j < m; j++) { real in = A[i][j], out = c[k].b * in + z;
          z = c[k].a[0] * in - c[k].a[1] * out; A[i][j] = out; } }""",
    "image": """for (int y = 0; y < im->h; y++) for (int x = 1; x < im->w; x++)
        im->data[y * im->w + x] = f * im->data[y * im->w + x - 1] + im->data[y * im->w + x];""",
    "transposed": """for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)
        b[j * n + i] = f * a[i * m + j];""",
    "transposed by columns": """for (int j = 0; j < m; j++) for (int i = 0; i < n; i++)
        b[j * n + i] = A[i][j];""",
    "systems": """for (int i = 0; i < n; i++) { real w;
        for (int j = 1; j < m; j++) { w = f / (3 - B[i][j - 1]); B[i][j] *= w;
          A[i][j] = (A[i][j] - f * A[i][j - 1]) * w; }
        for (int j = m - 2; j >= 0; j--) A[i][j] -= B[i][j] * A[i][j + 1]; }""",
}


@pytest.mark.parametrize("kind", ["double", "float"])
@pytest.mark.parametrize("name", [*ALONG_ROWS])
def test_results(tmp_path, name, kind):
    source, text = transformed(tmp_path, PROGRAM, kind, "-mavx2", body=ALONG_ROWS[name])
    assert "_window[" in text
    check_results(source, text)


@pytest.mark.parametrize("name", ["smoothed forth and back", "rows anywhere", "systems"])
@pytest.mark.parametrize(
    "flags", [[], pytest.param(["-mavx512f"], marks=pytest.mark.skipif(not WIDE, reason="narrow"))]
)
def test_vectors_of_any_machine(tmp_path, name, flags):
    source, text = transformed(tmp_path, PROGRAM, "float", *flags, body=ALONG_ROWS[name])
    assert "_window[" in text
    new = write(tmp_path / "new.c", text)
    for compiler in ("gcc", "clang"):
        assert run(compiler, new, *flags, "-fopenmp") == run("gcc", source, *flags)


def test_a_stretch_that_is_stored_too_late_is_seen(tmp_path, monkeypatch):
    """Planted: each stretch leaves out its last element."""
    transfer = row_windows.RowWindowPrinter._transfer

    def one_less(self, rows, called, columns, *, stores):
        first, end = columns
        return transfer(self, rows, called, (first, f"{end} - 1" if stores else end), stores=stores)

    monkeypatch.setattr(row_windows.RowWindowPrinter, "_transfer", one_less)
    source, text = transformed(tmp_path, PROGRAM, "double", "-mavx2", body=ALONG_ROWS["flat"])
    new = write(tmp_path / "new.c", text)
    assert run("gcc", new, "-mavx2", "-fopenmp") != run("gcc", source, "-mavx2")


ELSEWHERE = {
    "rows of planes": """int h = m / 2; for (int k = 0; k < n; k++) { real s = 0, q = 0;
        for (int i = 0; i < 2; i++) for (int j = 0; j < h; j++) {
          real v = b[(i * n + k) * h + j]; q += v; s += v * (a[(i * n + k) * h + j] - u[0]); }
        for (int i = 0; i < 2; i++) for (int j = 0; j < h; j++)
          a[(i * n + k) * h + j] = f * b[(i * n + k) * h + j] - q - s; }""",
    "under a condition": """for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {
        real v = rows[i][j]; if (j >= 5) v += f * B[i][j - 5]; B[i][j] = v; }""",
}
"""Loops along rows of which stretches would be too much, or do not tell all."""


@pytest.mark.parametrize("name", [*ELSEWHERE])
def test_results_of_others(tmp_path, name):
    source, text = transformed(tmp_path, PROGRAM, "float", "-mavx2", body=ELSEWHERE[name])
    if name == "under a condition":
        assert "_window[" not in text
    check_results(source, text)


def test_what_iterations_before_wrote_is_not_loaded(tmp_path):
    """But for what the first ones read, on the side where they begin."""
    _, text = transformed(tmp_path, PROGRAM, "double", "-mavx2", body=ALONG_ROWS["filtered forth and back"])
    loads = re.findall(r"load_rows_double4\((\w)_window\d*\[0\], \d, [^;]*rows\d*, ([^;]*)\);", text)
    assert ("B", "0, 1") in loads  # one column at the start of a stretch
    assert any(name == "A" and re.search(r"_from \+ 1, .*_from \+ 3", columns) for name, columns in loads)


def test_short_rows_are_gathered(tmp_path):
    """No square is filled for rows of three elements."""
    body = """for (int i = 0; i < n; i++) { real s = 0; for (int j = 0; j < 3; j++) {
      s = s * f + a[i * 3 + j]; a[i * 3 + j] = s; } }"""
    _, text = transformed(tmp_path, PROGRAM, "float", "-mavx2", body=body)
    assert "_window[" not in text
