"""A file without marks: its loops are found, transformed where they should be, and compute the same."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from polybuild.cli.commands import run as run_command
from polybuild.driver.file import compile_source
from polybuild.options import Options

PROGRAM = """\
#include <math.h>
#include <stdio.h>
#define N 60
static double A[N][N], B[N][N], C[N][N];
static int few[4];
void product(int n) {
  int i, j;
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++) {
      A[i][j] = i + j;
      B[i][j] = i - j;
    }
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++) {
      double s = 0;
      for (int k = 0; k < n; k++)
        s += A[i][k] * B[k][j];
      C[i][j] = s;
    }
  printf("%d %d\\n", i, j);
}
void show(int n, double *x) {
  for (int t = 0; t < 3; t++) {
    printf("%d\\n", t);
    for (int i = 0; i < n; i++)
      x[i] = x[i] * 2 + sin(t);
  }
  for (int i = 0; i < 4; i++)
    few[i] = i;
  if (n > 3)
    for (int i = 1; i < n - 1; i++)
      x[i] += 1;
  else
    x[0] = 0;
  for (int i = 0; i < n; i++)
    printf("%g ", x[i] + C[i][n - i] + few[i % 4]);
}
int main(void) {
  double x[40] = {1, 2, 3};
  product(N);
  show(40, x);
  return 0;
}
"""


def run(source, *flags):
    program = source.with_suffix("")
    command = ["gcc", "-O2", "-Wall", "-Werror", "-Wno-unknown-pragmas", "-Wno-maybe-uninitialized", *flags]
    subprocess.run([*command, str(source), "-o", str(program), "-lm"], check=True)
    return subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout


def test_loops_are_found_and_compute_the_same(tmp_path):
    path = tmp_path / "plain.c"
    path.write_text(PROGRAM)
    result = compile_source(str(path), Options(autodetect=True, min_work=0), ["gcc"], ["-O2"])
    assert [(each.line, each.end_line, each.status) for each in result.regions] == [
        (8, 19, "transformed"),
        (25, 26, "transformed"),
        (28, 29, "transformed"),
        (31, 32, "transformed"),
    ]
    assert all(each.detected for each in result.regions)
    assert {each.diagnostic.code for each in result.refused} == {"call"}
    assert not result.diagnostics
    (tmp_path / "found.c").write_text(result.text)
    assert run(tmp_path / "found.c", "-fopenmp") == run(path)


# a sum in a variable over rows, a loop that does little, one that needs its order, one in lanes
LOOPS = {
    "sums": "for (int i = 0; i < n; i++) { double s = 0;"
    " for (int j = 0; j < n; j++) s += a[i][j]; b[i] = s; }",
    "few": "for (int i = 0; i < 4; i++) b[i] = i;",
    "recurrence": "for (int i = 1; i < n; i++) b[i] = b[i - 1] * c[i] + 1;",
    "offsets": "for (int i = 1; i < n - 1; i++) b[i] = c[i - 1] + c[i + 1];",
    "product": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)"
    " a[i][j] += d[i][k] * e[k][j];",
}


@pytest.mark.parametrize("flag", ["-O2", "-Ofast"])
@pytest.mark.parametrize("name", LOOPS)
def test_what_is_found_is_what_marks_would_gain(tmp_path, name, flag):
    head = "void f(int n, double a[n][n], double *restrict b, double *restrict c,"
    head += " double d[n][n], double e[n][n]) {\n"
    path = tmp_path / "loop.c"
    path.write_text(f"{head}{LOOPS[name]}\n}}\n")
    found = compile_source(str(path), Options(autodetect=True), ["gcc"], [flag]).regions
    path.write_text(f"{head}#pragma scop\n{LOOPS[name]}\n#pragma endscop\n}}\n")
    (marked,) = compile_source(str(path), Options(), ["gcc"], [flag]).regions
    assert [each.gains for each in found] == ([marked.gains] if marked.gains else [])


def test_why_loops_are_left_alone_is_reported(tmp_path, capsys):
    path = tmp_path / "plain.c"
    path.write_text(PROGRAM)
    words = ["compile", str(path), "--autodetect", "on", "-o", str(tmp_path / "out.c")]
    assert run_command([*words, "--report", str(tmp_path / "report.json")]) == 0
    assert not capsys.readouterr().err
    said = json.loads((tmp_path / "report.json").read_text())["diagnostics"]
    alone = {(each["severity"], each["code"], each["line"]) for each in said}
    assert alone == {("remark", "call", 24), ("remark", "not-worthwhile", 28), ("remark", "call", 36)}
    assert run_command([*words, "-v"]) == 0
    assert "not taken by itself: the function 'printf'" in capsys.readouterr().err


def test_without_the_option_nothing_is_touched(tmp_path):
    path = tmp_path / "plain.c"
    path.write_text(PROGRAM)
    assert compile_source(str(path), Options(), ["gcc"], []).text == PROGRAM


SHARED = """\
#include <stdio.h>
static double a[200][200], b[200][200];
double steps(int n, int m) {
  double t, sum = 0;
  int i, j;
  for (int k = 0; k < m; k++) {
#pragma omp parallel for private(j, t) schedule(static) \\
        collapse(1) if (n > 10)
    for (i = 1; i < n - 1; i++)
      for (j = 1; j < n - 1; j++) {
        t = a[i - 1][j] + a[i + 1][j];
        b[i][j] = t + a[i][j - 1] + a[i][j + 1];
      }
#pragma omp parallel for firstprivate(k) shared(a, b) num_threads(2)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) a[i][j] = 0.25 * b[i][j];
  }
#pragma omp parallel for reduction(+ : sum)
  for (i = 0; i < n; i++)
    sum += a[i][i];
  return sum;
}
double team(int n) {
  double most = 0;
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < n; i++)
      b[i][0] = a[i][0] * 2;
  }
  for (int i = 0; i < n; i++)
    most = b[i][0] > most ? b[i][0] : most;
  return most;
}
int main(void) {
  for (int i = 0; i < 200; i++)
    for (int j = 0; j < 200; j++)
      a[i][j] = (i * 7 + j * 3) % 64;
  printf("%.17g ", steps(200, 8));
  printf("%.17g\\n", team(200));
  return 0;
}
"""


@pytest.mark.parametrize(("openmp", "found"), [("keep", set()), ("use", {"steps", "team"})])
def test_loops_of_openmp_are_kept_or_used(tmp_path, openmp, found):
    source = tmp_path / "shared.c"
    source.write_text(SHARED)
    result = compile_source(
        str(source), Options(autodetect=True, openmp=openmp, min_work=0), ["gcc"], ["-O2"]
    )
    taken = {each.function for each in result.regions if each.status == "transformed"}
    assert taken & {"steps", "team"} == found
    (tmp_path / "out.c").write_text(result.text)
    printed = set()
    for name, flags in (("shared.c", ()), ("out.c", ("-fopenmp",)), ("out.c", ())):
        program = tmp_path / "program"
        command = ["gcc", "-O2", "-ffp-contract=off", *flags, str(tmp_path / name), "-o", str(program), "-lm"]
        subprocess.run(command, check=True, timeout=120)
        printed.add(subprocess.run([str(program)], check=True, capture_output=True, timeout=60).stdout)
    assert len(printed) == 1 or openmp == "keep"


TEAM_HEAD = """\
#include <stdio.h>
static double a[200][200], b[200][200], c[200];
void member(int n) {
#pragma omp for
  for (int i = 0; i < n; i++) c[i] += a[i][1] * 2;
}
"""
TEAM_MAIN = """
int main(void) {
  for (int i = 0; i < 200; i++)
    for (int j = 0; j < 200; j++)
      a[i][j] = (i * 7 + j * 3) % 64;
  f(200);
  double s = 0;
  for (int i = 0; i < 200; i++)
    for (int j = 0; j < 200; j++)
      s += b[i][j] * (i - j) + c[i];
  printf("%.17g\\n", s);
  return 0;
}
"""
TWO_LOOPS = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) b[i][j] = a[j][i] + a[i][j];"
# the body of f, and whether a region is found in it
TEAMS = {
    "block": ("#pragma omp parallel\n  {\n#pragma omp for\n  LOOPS\n  }", True),
    "block_behind_its_directive": (
        (
            "int i, j;\n#pragma omp parallel default(shared) private(i, j) if (n > 3)\n  {\n"
            "#pragma omp for schedule(static) nowait\n"
            "  for (i = 0; i < n; i++)\n    for (j = 0; j < n; j++) b[i][j] = a[j][i];\n"
            "#pragma omp for private(j)\n"
            "  for (i = 0; i < n; i++)\n#pragma ivdep\n    for (j = 1; j < n; j++) c[i] += a[i][j];\n  }"
        ),
        True,
    ),
    "one_loop_for_a_team": (
        (
            "int k;\n#pragma omp parallel private(k)\n  for (k = 0; k < 4; k++) {\n"
            "#pragma omp for\n  LOOPS\n#pragma omp single\n    c[k] = k;\n  }"
        ),
        True,
    ),
    "choice": (
        (
            "#pragma omp parallel\n  {\n  if (n > 100) {\n#pragma omp for\n  LOOPS\n  } else {\n"
            "#pragma omp for\n  for (int i = 0; i < n; i++) c[i] = a[i][0] * 3;\n  }\n  }"
        ),
        True,
    ),
    "block_of_a_block": (
        "{\n#pragma omp parallel num_threads(2)\n  { {\n#pragma omp for\n  LOOPS\n  } }\n  }",
        True,
    ),
    "work_of_callers": ("#pragma omp parallel\n  member(n);", False),
    "tasks": (
        "#pragma omp parallel\n  {\n#pragma omp single\n#pragma omp task\n  {\n  LOOPS\n  }\n  }",
        False,
    ),
    "loop_of_a_called_function": (
        "#pragma omp parallel\n  {\n  member(n);\n#pragma omp for\n  LOOPS\n  }",
        False,
    ),
}


@pytest.mark.parametrize("name", TEAMS)
def test_blocks_of_teams_are_found_as_a_whole(tmp_path, name):
    body, taken = TEAMS[name]
    body = body.replace("LOOPS", TWO_LOOPS)
    source = tmp_path / "team.c"
    source.write_text(f"{TEAM_HEAD}void f(int n) {{\n{body}\n}}\n{TEAM_MAIN}")
    options = Options(autodetect=True, openmp="use", min_work=0)
    result = compile_source(str(source), options, ["gcc"], ["-O2"])
    found = [each for each in result.regions if each.function == "f" and each.status == "transformed"]
    assert bool(found) == taken
    assert not [each for each in result.regions if each.function == "member"]
    (tmp_path / "out.c").write_text(result.text)
    assert run(tmp_path / "out.c", "-fopenmp") == run(source, "-fopenmp") == run(tmp_path / "out.c")


def test_a_part_of_a_team_is_no_region(tmp_path):
    source = tmp_path / "part.c"
    source.write_text(
        "void f(int n, double *a) {\n#pragma omp parallel\n{\n#pragma scop\n#pragma omp for\n"
        "for (int i = 0; i < n; i++) a[i] *= 2;\n#pragma endscop\n}\n}\n"
    )
    result = compile_source(str(source), Options(), ["gcc"], ["-O2"])
    assert [each.code for each in result.diagnostics] == ["openmp-team"]
    assert result.text.count("omp parallel") == 1


CONDITIONALS = """\
#include <stdio.h>
static double a[3000], b[3000], c[3000];
void f(int n) {
  for (int i = 0; i < n; i++) {
#ifdef WIDE
#ifdef NEVER
#include "body_of_the_loop.h"
#endif
    a[i] = b[i] * 2;
#else
    a[i] = b[i] * 3 + c[i];
#endif
  }
}
void g(int n) {
  for (int i = 0; i < n; i++) {
    b[i] += a[i];
#ifdef WIDE
    c[i] += 1; }
#else
  }
#endif
}
int main(void) {
  double s = 0;
  for (int i = 0; i < 3000; i++) { b[i] = i; c[i] = i % 7; }
  f(3000);
  g(3000);
  for (int i = 0; i < 3000; i++)
    s += a[i] + b[i] * 2 + c[i];
  printf("%g\\n", s);
  return 0;
}
"""


@pytest.mark.parametrize("flags", [(), ("-DWIDE",)])
def test_loops_with_whole_conditionals_in_them_are_found(tmp_path, flags):
    source = tmp_path / "chosen.c"
    source.write_text(CONDITIONALS)
    options = Options(autodetect=True, min_work=0)
    result = compile_source(str(source), options, ["gcc"], ["-O2", *flags])
    assert {each.function for each in result.regions} & {"f", "g"} == {"f"}
    (tmp_path / "out.c").write_text(result.text)
    assert run(tmp_path / "out.c", "-fopenmp", *flags) == run(source, *flags)


OLD_STYLE = """\
#include <stdio.h>
static double x[90], y[90], z[90][90];
static double scaled(v, k)
int k;
double v;
{
  return v * k;
}
void smooth(n, in, out, grid)
int n;
double *in, out[];
double grid[90][90];
{
  int i, j;
#pragma scop
  for (i = 1; i < n - 1; i++)
    out[i] = in[i - 1] + in[i + 1] + scaled(in[i], i);
#pragma endscop
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      grid[i][j] = grid[i][j] * 2 + in[i];
}
int main()
{
  for (int i = 0; i < 90; i++)
    x[i] = i;
  smooth(90, x, y, z);
  for (int i = 0; i < 90; i++)
    printf("%g %g\\n", y[i], z[i][3]);
  return 0;
}
"""


def test_loops_of_functions_in_the_old_style_are_found(tmp_path):
    source = tmp_path / "old.c"
    source.write_text(OLD_STYLE.replace("#pragma scop\n", "").replace("#pragma endscop\n", ""))
    marked = tmp_path / "marked.c"
    marked.write_text(OLD_STYLE)
    for path, functions in ((source, {"smooth", "main"}), (marked, {"smooth"})):
        options = Options(autodetect=path == source, min_work=0)
        result = compile_source(str(path), options, ["gcc"], ["-O2"])
        assert {each.function for each in result.regions if each.parallel_loops} == functions
        (tmp_path / "out.c").write_text(result.text)
        assert run(tmp_path / "out.c", "-fopenmp") == run(source)


FALSE_PROMISES = {
    "recurrence": "y[i + 1] = y[i] * 0.5 + x[i];",
    "elements_that_meet": "y[k[i]] = y[k[i]] * 0.5 + x[i];",
    "sum_without_a_clause": "y[0] += x[i] * 0.5;",
    "variable_of_all": "last = last * 0.5 + x[i]; y[i] = last;",
    "rows_that_meet": "for (int j = 1; j < 40; j++) y[i + j] = y[i + j - 1] * 0.5 + x[i + j];",
}


@pytest.mark.parametrize("name", FALSE_PROMISES)
def test_false_promises_of_openmp_are_not_believed(tmp_path, name):
    source = tmp_path / "promised.c"
    source.write_text(
        "#include <stdio.h>\nstatic double x[3000], y[3000], last;\nstatic int k[3000];\n"
        "void run(int n) {\n#pragma scop\n#pragma omp parallel for\n"
        f"for (int i = 0; i < n; i++) {{ {FALSE_PROMISES[name]} }}\n#pragma endscop\n}}\n"
        "int main(void) {\n"
        "  static const int sizes[] = {0, 1, 2, 7, 33, 2900};\n"
        "  for (int i = 0; i < 3000; i++) { x[i] = i % 37 * 0.1; k[i] = i * 7 % 50; }\n"
        "  for (int s = 0; s < 6; s++) run(sizes[s]);\n"
        "  double sum = last;\n"
        "  for (int i = 0; i < 3000; i++) sum += y[i] * (i % 5 + 1);\n"
        '  printf("%.17g\\n", sum);\n  return 0;\n}\n'
    )
    result = compile_source(str(source), Options(min_work=0), ["gcc"], ["-O2"])
    (tmp_path / "out.c").write_text(result.text)
    printed = set()
    for path, flags in ((source, ()), (tmp_path / "out.c", ("-fopenmp",))):
        program = tmp_path / "program"
        command = ["gcc", "-O2", "-ffp-contract=off", *flags, str(path), "-o", str(program), "-lm"]
        subprocess.run(command, check=True, timeout=120)
        threads = {**os.environ, "OMP_NUM_THREADS": "4"}
        done = subprocess.run([str(program)], env=threads, check=True, capture_output=True, timeout=60)
        printed.add(done.stdout)
    assert len(printed) == 1
