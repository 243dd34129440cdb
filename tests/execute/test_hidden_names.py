"""What generated code declares beside what conditions on data became: no name hides another."""

from __future__ import annotations

import pytest
from compiling import SANITIZED, output, write

from polybuild.driver.file import compile_source
from polybuild.options import Options

PROGRAM = """\
#include <stdio.h>
enum {{ MOST = 40 }};
#define rim(i) ((i) == 0 ? n - 1 : (i) - 1)
typedef float grid[MOST][MOST];
static double run(int n, grid out, grid in, int wall[MOST][MOST])
{{
  double total = 0;
#pragma scop
{body}
#pragma endscop
  return total;
}}
int main(void)
{{
  static const int sizes[] = {{0, 1, 2, 7, 33}};
  static grid in, out;
  static int wall[MOST][MOST];
  unsigned seed = 1;
  for (int i = 0; i < MOST; i++)
    for (int j = 0; j < MOST; j++) {{
      seed = seed * 1664525u + 1013904223u;
      in[i][j] = (float)(seed >> 8) / 16777216.0f;
      wall[i][j] = seed >> 30 == 0;
    }}
  for (int s = 0; s < 5; s++) {{
    double total = run(sizes[s], out, in, wall), sum = 0;
    for (int i = 0; i < MOST; i++)
      for (int j = 0; j < MOST; j++)
        sum += out[i][j] * (1 + i + 3 * j);
    printf("%d %a %a\\n", sizes[s], total, sum);
  }}
  return 0;
}}
"""
LOOPS = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
SQUARES = "float e = here * here + there * there; out[i][j] = e; total += e;"

REGIONS = {
    "a row": f"""{LOOPS} if (!wall[i][j]) {{
        int s = i == 0 ? n - 1 : i - 1; float here = in[i][j], there = in[s][j]; {SQUARES} }}""",
    "a row by a macro": f"""{LOOPS} if (wall[i][j] == 0) {{
        float here = in[i][j], there = in[rim(i)][j]; {SQUARES} }}""",
    "a row by if": f"""{LOOPS} if (!wall[i][j]) {{ int s; if (i == 0) s = n - 1; else s = i - 1;
        float here = in[i][j], there = in[s][j]; {SQUARES} }}""",
    "a row before the loop": f"""for (int i = 0; i < n; i++) {{ int s = i == 0 ? n - 1 : i - 1;
        for (int j = 0; j < n; j++) {{ if (wall[i][j]) continue; float here = in[i][j], there = in[s][j];
        {SQUARES} }} }}""",
    "a row and a column": f"""{LOOPS} {{ if (!wall[i][j]) {{ int s = rim(i), w = rim(j);
        float here = in[i][w], there = in[s][j]; {SQUARES} }} }}""",
    "a row by pointers": f"""{LOOPS} {{ float *up = in[rim(i)], *at = in[i]; if (!wall[i][j]) {{
        float here = at[j], there = up[j]; {SQUARES} }} }}""",
}


@pytest.mark.fast(name=["a row"])
@pytest.mark.parametrize("name", REGIONS)
def test_nothing_is_hidden(tmp_path, name):
    source = write(tmp_path / "one.c", PROGRAM.format(body=REGIONS[name]))
    result = compile_source(str(source), Options(min_work=1), ["gcc"], ["-O3", "-march=haswell"])
    assert [each for each in result.regions if each.status == "kept"] == []
    expected = output(source, "-O2", "-march=haswell", "-ffp-contract=off")
    new = write(tmp_path / "new.c", result.text)
    for flags in (["-fopenmp"], SANITIZED):
        assert output(new, "-O2", "-march=haswell", "-ffp-contract=off", *flags) == expected
