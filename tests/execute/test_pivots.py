"""Steps that change a row and a column of what they read, as all shortest paths: results are the same."""

from __future__ import annotations

import os
import subprocess

import pytest
from compiling import SANITIZED, write

from polybuild.driver.file import compile_source
from polybuild.options import Options

INNER = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
# what a step k does, and whether threads share loops of it: variables make too many statements
STEPS = {
    "shorter": (f"{INNER} if (d[i][k] + d[k][j] < d[i][j]) d[i][j] = d[i][k] + d[k][j];", True),
    "shorter_by_a_choice": (
        f"{INNER} d[i][j] = d[i][j] < d[i][k] + d[k][j] ? d[i][j] : d[i][k] + d[k][j];",
        True,
    ),
    "shorter_by_a_variable": (
        f"{INNER} {{ int t = d[i][k] + d[k][j]; if (t < d[i][j]) d[i][j] = t; }}",
        False,
    ),
    "wider": (
        f"{INNER} {{ int w = d[i][k] < d[k][j] ? d[i][k] : d[k][j]; if (w > d[i][j]) d[i][j] = w; }}",
        False,
    ),
    "with_ways": (
        f"{INNER} if (d[i][k] + d[k][j] < d[i][j]) {{ d[i][j] = d[i][k] + d[k][j]; w[i][j] = k; }}",
        True,
    ),
    "with_first_nodes": (
        f"{INNER} if (d[i][k] + d[k][j] < d[i][j]) {{ d[i][j] = d[i][k] + d[k][j]; w[i][j] = w[i][k]; }}",
        True,
    ),
    "of_any_sign": (
        f"{INNER} {{ int t = (d[i][k] - d[k][j]) / 2; if (t < d[i][j]) d[i][j] = t; }}",
        False,
    ),
    "next_row": (f"{INNER} d[i][j] ^= (d[(k + 1) % n][j] + d[i][k]) & 255;", False),
    "eliminated": (f"{INNER} if (i != k) x[i][j] -= x[i][k] * x[k][j] * 1e-3;", True),
}
PARAMETERS = "int n, int d[restrict n][n], int w[restrict n][n], double x[restrict n][n]"
HEAD = """\
#include <stdio.h>
enum { N = 41 };
static int d[N * N], w[N * N];
static double x[N * N];
"""
MAIN = """
typedef void function(PARAMETERS);
static void test(const char *name, function *f) {
  for (int n = 1; n <= N; n += n < 4 ? 1 : 37) {
    unsigned state = 7 + n, sum = 0;
    double all = 0;
    for (int i = 0; i < N * N; i++) {
      state = state * 1664525u + 1013904223u;
      d[i] = (int)(state >> 20), w[i] = i, x[i] = (state >> 12) / 4096.0;
    }
    f(n, (void *)d, (void *)w, (void *)x);
    for (int i = 0; i < N * N; i++) {
      sum = sum * 31 + (unsigned)d[i] * 7 + (unsigned)w[i];
      all += x[i] * (i % 13);
    }
    printf("%s %u %.17g\\n", name, sum, all);
  }
}
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The file of all steps, what it became, and how its regions are told."""
    folder = tmp_path_factory.mktemp("pivots")
    functions = (
        f"static void f_{name}({PARAMETERS})\n{{\n  (void)d; (void)w; (void)x;\n"
        f"#pragma scop\nfor (int k = 0; k < n; k++)\n{body}\n#pragma endscop\n}}"
        for name, (body, _) in STEPS.items()
    )
    calls = "\n".join(f'  test("{name}", f_{name});' for name in STEPS)
    main = f"{MAIN.replace('PARAMETERS', PARAMETERS)}int main(void) {{\n{calls}\n}}\n"
    source = write(folder / "in.c", "\n".join([HEAD, *functions, main]))
    result = compile_source(str(source), Options(min_work=1), ["gcc"], ["-O3", "-march=haswell"])
    return source, write(folder / "out.c", result.text), result


@pytest.mark.parametrize("threads", [1, 3])
def test_results_are_the_same(compiled, threads):
    printed = []
    for path in compiled[:2]:
        program = path.with_suffix(".exe")
        warnings = ("-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas")
        subprocess.run(["gcc", *SANITIZED, *warnings, "-fopenmp", str(path), "-o", str(program)], check=True)
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
        done = subprocess.run([str(program)], check=True, capture_output=True, text=True, env=environment)
        printed.append(done.stdout)
    assert len(printed[0].splitlines()) == 5 * len(STEPS)
    assert printed[0] == printed[1]


def test_pivots_are_by_themselves_where_that_gains(compiled):
    regions = (each for each in compiled[2].regions if not each.detected)
    shared = {each.function.removeprefix("f_"): each.parallel_loops > 0 for each in regions}
    assert shared == {name: wanted for name, (_, wanted) in STEPS.items()}
