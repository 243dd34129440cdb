"""Members that lie side by side in a flat array: many of them, written under conditions on data."""

from __future__ import annotations

import pytest
from compiling import SANITIZED, output, write

from polybuild.driver.file import compile_source
from polybuild.options import Options

MEMBERS, STRIDE, ROW = 18, 20, 6
OFFSETS = [sum(part) * STRIDE for part in zip([0, ROW, -ROW] * 6, [0] * 6 + [1] * 6 + [-1] * 6, strict=True)]
PROGRAM = f"""\
#include <stdio.h>
#include <string.h>
enum {{{{ ROW = {ROW}, STRIDE = {STRIDE}, MARGIN = 8 * STRIDE, MOST = 50 }}}};
#define AT(grid, e) (grid)[i + (e)]
static float from[MOST * STRIDE + 2 * MARGIN], to[MOST * STRIDE + 2 * MARGIN];
static void run(int n, float *restrict dst, const float *restrict src)
{{{{
{{body}}
}}}}
int main(void)
{{{{
  static const int sizes[] = {{{{0, 1, 2, 7, 33, 50}}}};
  unsigned seed = 1, bits;
  unsigned long long sum = 0;
  for (int i = 0; i < (int)(sizeof from / sizeof *from); i++)
    seed = seed * 1664525u + 1013904223u, from[i] = (float)(seed >> 8) / 16777216.0f;
  for (int s = 0; s < 6; s++) {{{{
    run(sizes[s], to + MARGIN, from + MARGIN);
    for (int i = 0; i < (int)(sizeof to / sizeof *to); i++)
      memcpy(&bits, to + i, 4), sum = sum * 31 + bits;
    printf("%d %llu\\\\n", sizes[s], sum);
  }}}}
  return 0;
}}}}
"""


def members(target, source, written="{} = {};"):
    """Statements for a wall, which reflects all members, and for a cell, which moves them."""
    wall = " ".join(written.format(target(e + OFFSETS[e]), source((e + 7) % MEMBERS)) for e in range(MEMBERS))
    cell = " ".join(
        written.format(target(e + OFFSETS[e]), f"{source(e)} * 0.5f + rho * {e}.0f") for e in range(MEMBERS)
    )
    rho = " + ".join(source(e) for e in range(MEMBERS))
    return wall, cell, rho


def loop(head, target, source, flag, tail=""):
    wall, cell, rho = members(target, source)
    return f"{head} {{ float rho; if ({flag} > 0.7f) {{ {wall} }} else {{ rho = {rho}; {cell} }} {tail} }}"


FLAG = "src[i + 19]"
IN_STEPS = "for (int i = 0; i < STRIDE * n; i += STRIDE)"
FORMS = {
    "in steps": loop(IN_STEPS, "dst[i + {}]".format, "src[i + {}]".format, FLAG),
    "multiplied": loop(
        "for (int k = 0; k < n; k++)",
        "dst[STRIDE * k + {}]".format,
        "src[k * STRIDE + {}]".format,
        "src[20 * k + 19]",
    ),
    "by macros": loop(IN_STEPS, "AT(dst, {})".format, "AT(src, {})".format, "AT(src, 19)"),
    "while": "int k = 0; "
    + loop("while (k < n)", "dst[20 * k + {}]".format, "src[20 * k + {}]".format, "src[20 * k + 19]", "k++;"),
    "with pointers": loop(IN_STEPS, "*(dst + i + {})".format, "*(src + i + {})".format, "*(src + i + 19)"),
    "downwards": loop(
        "for (int i = STRIDE * (n - 1); i >= 0; i -= STRIDE)",
        "dst[i + {}]".format,
        "src[i + {}]".format,
        FLAG,
    ),
}
TOGETHER = loop(IN_STEPS, "dst[i / 2 + {}]".format, "src[i + {}]".format, FLAG)


def compiled(directory, loops):
    body = f"#pragma scop\n{loops}\n#pragma endscop"
    source = write(directory / "one.c", PROGRAM.format(body=body))
    return source, compile_source(str(source), Options(min_work=1), ["gcc"], ["-O3", "-march=haswell"])


def check(source, text):
    expected = output(source, "-O2", "-march=haswell")
    new = write(source.with_name("new.c"), text)
    for flags in (["-fopenmp"], SANITIZED):
        assert output(new, "-O2", "-march=haswell", *flags) == expected


@pytest.mark.fast(name=["in steps"])
@pytest.mark.parametrize("name", FORMS)
def test_threads_have_all_members(tmp_path, name):
    source, result = compiled(tmp_path, FORMS[name])
    assert [each.status for each in result.regions] == ["transformed"]
    assert "POLYBUILD_OMP(parallel" in result.text
    check(source, result.text)


def test_members_that_meet_stay_in_order(tmp_path):
    source, result = compiled(tmp_path, TOGETHER)
    assert [each.status for each in result.regions] == ["unchanged"]
    check(source, result.text)
