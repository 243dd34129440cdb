"""Marked regions that no order is known of as a whole: the loops inside are transformed, the rest is kept."""

from __future__ import annotations

import pytest
from compiling import output, write

from polybuild.driver.file import compile_source
from polybuild.options import Options

QUIET = "unused-parameter", "unused-variable", "format-zero-length", "misleading-indentation"
FLAGS = ("-O2", *(f"-Wno-{each}" for each in QUIET))
PROGRAM = """\
#include <math.h>
#include <stdio.h>
enum {{ N = {size} }};
static double u[N][N], v[N][N];
static int solve(double tolerance, int limit) {{
  double error = 1.0;
  int steps = 0;
#pragma scop {clauses}
{loops}
#pragma endscop
  return steps;
}}
int main(void) {{
  double sum = 0;
  for (int i = 0; i < N; i++) u[i][0] = v[i][0] = u[0][i] = v[0][i] = (i % 7) / 3.0 - 1;
  int steps = solve(1e-3, 200);
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) sum += u[i][j] * ((i * 7 + j) % 13 + 1);
  printf("%d %.17g\\n", steps, sum);
  return 0;
}}
"""
STEP = """\
    error = 0;
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++) {
        v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
        double d = fabs(v[i][j] - u[i][j]);
        if (d > error) error = d;
      }
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        u[i][j] = v[i][j];
"""
UNTIL = {
    "while": f"  while (error > tolerance && steps < limit) {{\n{STEP}    steps++;\n  }}",
    "do while": f"  do {{\n{STEP}    steps++;\n  }} while (error > tolerance && steps < limit);",
    "for": f"  for (steps = 0; steps < limit && error > tolerance; steps++) {{\n{STEP}  }}",
    "break": f"  for (steps = 0; steps < limit; steps++) {{\n{STEP}    if (error < tolerance) break;\n  }}",
    "endless": f"  while (1) {{\n{STEP}    if (error < tolerance || ++steps >= limit) break;\n  }}",
    "flag": f"  int done = 0;\n  while (!done) {{\n{STEP}"
    "    done = error < tolerance || ++steps == limit;\n  }",
    "return": f"  for (;;) {{\n{STEP}    if (error < tolerance || ++steps >= limit) return steps;\n  }}",
    "nested": f"  while (limit-- > 0) {{\n    do {{\n{STEP}      steps++;\n    }} while (error > 1e-2);\n"
    "    if (steps > 20) break;\n  }",
}


def compiled(tmp_path, loops, clauses="", mark="#pragma scop", size=61, **options):
    path = tmp_path / "solver.c"
    text = PROGRAM.format(loops=loops, clauses=clauses, size=size)
    path.write_text(text.replace("#pragma scop", mark))
    result = compile_source(str(path), Options(**{"min_work": 0, **options}), ["gcc"], ["-O2"])
    assert output(write(tmp_path / "new.c", result.text), *FLAGS) == output(path, *FLAGS)
    return result


@pytest.mark.parametrize("name", UNTIL)
def test_loops_in_what_runs_until(name, tmp_path):
    result = compiled(tmp_path, UNTIL[name])
    whole, *inner = result.regions
    assert whole.status == "kept"
    assert not whole.detected
    assert inner
    assert all(each.detected and each.parallel_loops for each in inner)
    assert sum(each.parallel_loops for each in inner) >= 2
    (diagnostic,) = (each for each in result.diagnostics if each.code == whole.code)
    for each in inner:
        assert f"{each.line}-{each.end_line}" in diagnostic.message


ELIMINATION = """\
  for (int k = 0; k < N - 1; k++) {
    double p = u[k][k];
    if (p != 0.0) {
      if (p < 0)
        p = -p;
      for (int i = k + 1; i < N; i++)
        u[i][k] /= p;
      for (int j = k + 1; j < N; j++) {
        double s = 0;
        for (int i = k + 1; i < N; i++)
          s += u[i][k] * u[i][j];
        for (int i = k + 1; i < N; i++)
          u[i][j] -= s * u[i][k] / N;
      }
    }
  }"""


def test_loops_under_conditions_that_change(tmp_path):
    whole, *inner = compiled(tmp_path, ELIMINATION, size=700, min_work=Options().min_work).regions
    assert whole.status == "unchanged"
    assert any("taken by themselves" in each for each in whole.remarks)
    assert any(each.parallel_loops for each in inner)


def test_small_loops_inside_stay_for_compilers_to_join(tmp_path):
    results = compiled(tmp_path, ELIMINATION, min_work=Options().min_work).regions
    assert not any(each.parallel_loops for each in results)


def test_clauses_hold_inside(tmp_path):
    result = compiled(tmp_path, UNTIL["while"], "parallel(off)")
    assert [each.status for each in result.regions] == ["kept"] or not result.regions[1].parallel_loops


def test_what_is_required_is_required_of_the_whole(tmp_path):
    result = compiled(tmp_path, UNTIL["while"], require=("parallel",))
    assert "required" in [each.code for each in result.diagnostics]


def test_nothing_is_said_of_loops_that_gain_nothing(tmp_path):
    loops = """\
  while (error > tolerance) {
    for (int i = 1; i < N; i++)
      u[i][0] = u[i - 1][0];
    break;
  }"""
    result = compiled(tmp_path, loops)
    assert [each.status for each in result.regions] == ["kept"]
    assert "by themselves" not in result.regions[0].message


def test_temporary_arrays_of_the_whole_are_none_of_its_parts(tmp_path):
    loops = """\
  while (steps < 3) {
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        v[i][j] = u[i][j] + 1;
    if (steps == 1)
      printf("%d\\n", steps);
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        u[i][j] = v[i][j] * 0.5;
    steps += printf("") + 1;
  }"""
    assert len(compiled(tmp_path, loops).regions) == 3
    named = "#pragma polybuild temporary(v)\n#pragma scop"
    assert len(compiled(tmp_path, loops, contract_arrays="on", mark=named).regions) == 3
