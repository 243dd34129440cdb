"""Tables of a function that threads read: declared for them again, with the same results."""

from __future__ import annotations

import pytest
from compiling import SANITIZED, output, write

from polybuild.driver.file import compile_source
from polybuild.options import Options

PROGRAM = """\
#include <stdio.h>
enum {{ MOST = 40, COUNT = 5 }};
#define WEIGHTS 0.5, 1.0 / 6.0, 1.0 / 8.0, 1.0 / 12.0, -1.0 / 3.0
typedef const double fixed;
static void run(int n, double (*restrict y)[MOST], double (*restrict x)[MOST])
{{
  {declared}
#pragma scop
{body}
#pragma endscop
}}
int main(void)
{{
  static const int sizes[] = {{0, 1, 2, 7, 33}};
  static double x[MOST][MOST], y[MOST][MOST];
  unsigned seed = 1;
  for (int i = 0; i < MOST; i++)
    for (int j = 0; j < MOST; j++)
      seed = seed * 1664525u + 1013904223u, x[i][j] = (seed >> 8) / 16777216.0;
  for (int s = 0; s < 5; s++) {{
    double sum = 0;
    run(sizes[s], y, x);
    for (int i = 0; i < MOST; i++)
      for (int j = 0; j < MOST; j++)
        sum += y[i][j] * (1 + i + 3 * j);
    printf("%d %a\\n", sizes[s], sum);
  }}
  return 0;
}}
"""
BODY = """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) if (x[i][j] > 0.1) {
  double part[COUNT], s = 0;
  for (int k = 0; k < COUNT; k++) part[k] = w[k] * x[i][j] * (1 + x[i][j] * w[COUNT - 1 - k]);
  for (int k = 0; k < COUNT; k++) s += part[k] / (1 + s * s);
  y[i][j] = s; }"""
PLANE = BODY.replace("w[k]", "w[k][0]").replace("w[COUNT - 1 - k]", "w[COUNT - 1 - k][1]")
WEIGHED = "0.5, 1.0 / 6.0, 1.0 / 8.0, 1.0 / 12.0, -1.0 / 3.0"

REGIONS = {
    "constant": (f"const double w[COUNT] = {{{WEIGHED}}};", BODY),
    "without its size": (f"double const w[] = {{{WEIGHED}}};", BODY),
    "of a macro": ("const double w[COUNT] = { WEIGHTS };", BODY),
    "of another type": ("fixed w[5] = { (float)0.25, 1, -2, +3, 4 };", BODY),
    "never changed": (f"double w[COUNT] = {{{WEIGHED}}};", BODY),
    "of pairs": ("const double w[COUNT][2] = {{1, 2}, {3, 4}, {0.1}, {5, -6}};", PLANE),
}
OTHERS = {
    "that changes": (f"double w[COUNT] = {{{WEIGHED}}}; w[n % 3] = n;", BODY),
    "of what is computed": ("const double w[COUNT] = {n, 2.0 * n, 1.0 / 8.0};", BODY),
    "that is static": (f"static const double w[COUNT] = {{{WEIGHED}}};", BODY),
}
EVERY = {**REGIONS, **OTHERS}


@pytest.mark.fast(name=["constant"])
@pytest.mark.parametrize("name", EVERY)
def test_tables_of_threads(tmp_path, name):
    declared, body = EVERY[name]
    source = write(tmp_path / "one.c", PROGRAM.format(declared=declared, body=body))
    result = compile_source(str(source), Options(min_work=1), ["gcc"], ["-O3", "-march=haswell"])
    assert [each.status for each in result.regions] == ["transformed"]
    loops = result.text[result.text.index("the new order") : result.text.index("/* the original loops */")]
    assert "POLYBUILD_OMP(parallel" in loops
    assert ("  static const " in loops or "  static fixed " in loops) == (name in REGIONS)
    expected = output(source, "-O2", "-march=haswell")
    new = write(tmp_path / "new.c", result.text)
    for flags in (["-fopenmp"], SANITIZED):
        assert output(new, "-O2", "-march=haswell", *flags) == expected
