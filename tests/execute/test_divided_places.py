"""Rows whose places divide, as of pictures that are enlarged: results equal the original's, to the bit."""

from __future__ import annotations

import pytest
from compiling import SANITIZED, output, write

from polybuild.driver.file import compile_source
from polybuild.options import Options

PROGRAM = """\
#include <stdio.h>
#include <string.h>
enum {{ MOST = 101 }};
static void run(int n, int m, const float *a, float *b, const unsigned char *c, unsigned char *d, int *e)
{{
#pragma scop
{body}
#pragma endscop
  (void)m, (void)a, (void)b, (void)c, (void)d, (void)e;
}}
static float a[4 * MOST * MOST], b[4 * MOST * MOST];
static unsigned char c[4 * MOST * MOST], d[4 * MOST * MOST];
static int e[4 * MOST * MOST];
static unsigned long long sum(const void *data, unsigned long size)
{{
  unsigned long long found = 7;
  for (unsigned long i = 0; i < size; i++)
    found = found * 31 + ((const unsigned char *)data)[i];
  return found;
}}
int main(void)
{{
  static const int sizes[] = {{0, 1, 2, 7, 33, 100}};
  for (int s = 0; s < 6; s++)
    for (int m = 0; m < 11; m += 5) {{
      for (int i = 0; i < 4 * MOST * MOST; i++)
        a[i] = (float)(i % 97) / 7, b[i] = (float)(i % 5), c[i] = (unsigned char)(i * 7), d[i] = 1, e[i] = i;
      run(sizes[s], m, a, b, c, d, e);
      printf("%llu %llu %llu\\n", sum(b, sizeof b), sum(d, sizeof d), sum(e, sizeof e));
    }}
  return 0;
}}
"""
BODIES = {
    "nearest": "for (int y = 0; y < 2 * n; y++) for (int x = 0; x < 2 * n; x++)"
    " b[y * 2 * n + x] = a[(y / 2) * n + x / 2];",
    "with an even width": "for (int y = 0; y < m; y++) for (int x = 0; x < n; x++)"
    " b[y * n + x] = a[(y >> 1) * (n / 2) + (x >> 1)];",
    "from one": "for (int x = 1; x < n; x++) b[x] = a[x / 2] + 0.25f * a[(x + 1) / 2];",
    "thirds": "for (int x = 0; x < 3 * n; x++) b[x] = a[x / 3] * (float)(x % 3);",
    "between neighbours": "for (int y = 0; y < m; y++) for (int x = 0; x < 2 * n - 2; x++) {"
    " int at = x / 2, part = x % 2; float p = a[y * n + at], q = a[y * n + at + 1];"
    " b[y * 2 * n + x] += ((2 - part) * p + part * q) / 2; }",
    "halves of bytes": "for (int x = 0; x < 2 * n; x++)"
    " d[x] = (unsigned char)(x & 1 ? c[x / 2] >> 4 : c[x / 2] & 15);",
    "colours for two": "for (int y = 0; y < n; y++) for (int x = 0; x < n; x++) {"
    " int t = c[y * n + x] + c[(y / 2) * n + x / 2]; d[y * n + x] = (unsigned char)(t > 255 ? 255 : t); }",
    "kinds in turn": "for (int x = 0; x < n; x++)"
    " if (x % 2 == 0) b[x] = a[x] * 2; else b[x] = a[x - 1] + a[x];",
    "four filters": "for (int y = 1; y < m - 1; y++) for (int x = 1; x < n - 1; x++) {"
    " if (y % 2 == 0) { if (x % 2 == 0) d[y * n + x] = c[y * n + x];"
    " else d[y * n + x] = (unsigned char)((c[y * n + x - 1] + c[y * n + x + 1]) / 2); }"
    " else { if (x % 2 == 0) d[y * n + x] = (unsigned char)((c[(y - 1) * n + x] + c[(y + 1) * n + x]) / 2);"
    " else d[y * n + x] = c[(y - 1) * n + x - 1]; } }",
    "downwards": "for (int x = 2 * n - 1; x >= 0; x--) b[x] = a[x / 2] - (float)(x % 2);",
    "written in place": "for (int x = 1; x < n; x++) b[x] = b[x / 2] + a[x];",
    "a last value": "int k = 3;"
    " for (int x = 0; x < n; x++) { k = x / 2; e[x] = e[k + MOST] + k; } e[0] += k;",
}


@pytest.mark.parametrize("flags", [["-O3"], ["-O3", "-mavx2"]], ids=["sse2", "avx2"])
@pytest.mark.parametrize("name", [*BODIES])
def test_results(tmp_path, name, flags):
    source = write(tmp_path / "one.c", PROGRAM.format(body=BODIES[name]))
    result = compile_source(str(source), Options(min_work=0), ["gcc"], flags)
    assert [each.message for each in result.regions if each.status != "transformed"] == []
    new = write(tmp_path / "new.c", result.text)
    quiet = "-Wno-misleading-indentation"
    expected = output(source, quiet, *flags)
    assert output(new, quiet, *flags, "-fopenmp") == expected
    assert output(new, quiet, *flags, *SANITIZED) == expected


def test_no_division_is_left_in_the_new_loops(tmp_path):
    source = write(tmp_path / "one.c", PROGRAM.format(body=BODIES["halves of bytes"]))
    text = compile_source(str(source), Options(), ["gcc"], ["-O3"]).text
    assert "polybuild_team() > 1" not in text  # it pays on one thread: compilers leave the original scalar
    assert "c[x] >> 4" in text
    assert "c[x] & 15" in text
