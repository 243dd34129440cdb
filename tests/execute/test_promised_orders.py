"""Sums in any order where a clause of OpenMP says so: the same bits, as all terms are small whole numbers."""

from __future__ import annotations

import subprocess

import pytest

from polybuild.driver.file import compile_source
from polybuild.options import Options

HEAD = """\
#include <math.h>
#include <stdio.h>
#define LOOP(i, n) for (int i = 0; i < n; i++)
#define ADD(s, value) s += value
static double x[6000], y[6000], A[60][100], h[4];
static int rows[61], columns[6000];
"""
FUNCTION = "double f{number}(int n, int m) {{\n  double s = 1;\n  int i, j;\n{body}\n  return s;\n}}\n"
MAIN = """\
int main(void) {{
  for (int i = 0; i < 6000; i++)
    x[i] = i % 7 - 2, y[i] = i % 5, columns[i] = i * 31 % 6000;
  for (int i = 0; i < 60; i++)
    for (int j = 0; j < 100; j++) A[i][j] = (i + j) % 3;
  for (int i = 0; i < 60; i++) rows[i + 1] = rows[i] + i * 7 % 100;
{calls}
  return 0;
}}
"""
FREE = {
    "sum": "#pragma omp parallel for reduction(+:s)\nfor (i = 0; i < n; i++) s += x[i] * y[i];",
    "long form": "#pragma omp parallel for reduction( + : s ) schedule(static)\nLOOP(k, n) s = s + x[k];",
    "from the right": "#pragma omp parallel for reduction(-:s)\nfor (int k = 0; k < n; k++) s = x[k] + s;",
    "condition": (
        "#pragma omp parallel for reduction(+:s)\n"
        "for (i = 0; i < n; i++) { if (x[i] > 0) s += x[i]; else s -= y[i]; }"
    ),
    "nest": (
        "#pragma omp parallel for private(j) reduction(+:s)\n"
        "for (i = 0; i < m; i++) { double e = 0; for (j = 0; j < 100; j++) e += A[i][j]; s += e * e; }"
    ),
    "all of a nest": (
        "#pragma omp parallel for collapse(2) reduction(default, +:s)\n"
        "for (i = 0; i < m; i++) for (j = 0; j < 100; j++) ADD(s, A[i][j]);"
    ),
    "team": (
        "#pragma omp parallel\n{\n#pragma omp for reduction(+:s)\n"
        "for (i = 0; i < n; i++) s += sqrt(y[i]*y[i]);\n}"
    ),
    "section of an array": (
        "#pragma omp parallel for reduction(+:h[0:2])\n"
        "for (i = 0; i < n; i++) { h[0] += x[i]; h[1] += y[i] * 2; }\ns += h[0] - h[1];"
    ),
    "sparse rows": (
        "#pragma omp parallel for private(j) reduction(+:s)\n"
        "for (i = 0; i < m; i++) for (j = rows[i]; j < rows[i + 1]; j++) s += x[columns[j]];"
    ),
    "lanes": "#pragma omp simd reduction(+:s)\nfor (i = 0; i < n; i++) s += x[i];",
    "maximum": "#pragma omp parallel for reduction(max:s)\nfor (i = 0; i < n; i++) if (x[i] > s) s = x[i];",
    "larger of both": "#pragma omp parallel for reduction(max:s)\nfor (i = 0; i < n; i++) s = fmax(s, x[i]);",
    "two": (
        "double t = 0;\n#pragma omp parallel for reduction(+:s, t)\n"
        "for (i = 0; i < n; i++) { s += x[i]; t += y[i]; }\ns -= t;"
    ),
    "while": (
        "#pragma omp parallel\n{\n#pragma omp for reduction(+:s)\nfor (i = 0; i < n; i++) { s += x[i]; }\n"
        "#pragma omp for\nfor (j = 0; j < n; j++) y[j] = x[j] + 1;\n}"
    ),
}
KEPT = {
    "no clause": "#pragma omp parallel for\nfor (i = 0; i < n; i++) s += x[i];",
    "another operator": "#pragma omp parallel for reduction(*:s)\nfor (i = 0; i < n; i++) s += x[i];",
    "another variable": (
        "double t = 0;\n#pragma omp parallel for reduction(+:t)\nfor (i = 0; i < n; i++) s += x[i];\ns += t;"
    ),
    "one of that name": (
        "#pragma omp parallel for private(j) reduction(+:s)\n"
        "for (i = 0; i < 1; i++) { double s = 0; for (j = 0; j < n; j++) s += x[j]; h[0] = s; }"
    ),
    "another loop": (
        "#pragma omp parallel\n{\n#pragma omp for reduction(+:s)\nfor (i = 0; i < 1; i++) s += x[i];\n"
        "#pragma omp single\nfor (j = 1; j < n; j++) s += x[j];\n}"
    ),
}


def _compiled(folder, bodies, *, marked=False, **options):
    functions = [
        FUNCTION.format(number=number, body=f"#pragma scop\n{body}\n#pragma endscop" if marked else body)
        for number, body in enumerate(bodies.values())
    ]
    calls = "\n".join(f'  printf("%.17g\\n", f{number}(6000, 60));' for number in range(len(bodies)))
    path = folder / "in.c"
    path.write_text(HEAD + "".join(functions) + MAIN.format(calls=calls))
    given = Options(min_work=0, autodetect=not marked, **options)
    result = compile_source(str(path), given, ["gcc"], ["-O2", "-std=gnu99", "-fopenmp"])
    (folder / "out.c").write_text(result.text)
    places = {each.function: each.parallel_loops for each in result.regions if each.function != "main"}
    return {name: places.get(f"f{number}", 0) for number, name in enumerate(bodies)}


def _printed(folder, name):
    command = ["gcc", "-O2", "-std=gnu99", "-ffp-contract=off", "-fopenmp", name, "-o", "program", "-lm"]
    subprocess.run(command, check=True, cwd=folder, timeout=120)
    done = subprocess.run(
        ["./program"], check=True, capture_output=True, cwd=folder, timeout=60, env={"OMP_NUM_THREADS": "3"}
    )
    return done.stdout.split()


@pytest.mark.parametrize("marked", [False, True])
def test_sums_of_clauses_are_shared(tmp_path, marked):
    found = _compiled(tmp_path, FREE, marked=marked, openmp="use")
    assert [name for name, loops in found.items() if not loops] == []
    assert _printed(tmp_path, "out.c") == _printed(tmp_path, "in.c")


@pytest.mark.parametrize("options", [{"openmp": "keep"}, {"openmp": "use", "allow_reassociation": False}])
def test_without_leave_they_stay_in_order(tmp_path, options):
    found = _compiled(tmp_path, FREE, marked=True, **options)
    # beside the sum; and a maximum that is kept by a comparison is the same in every order
    assert {name for name, loops in found.items() if loops} <= {"nest", "while", "maximum"}
    assert _printed(tmp_path, "out.c") == _printed(tmp_path, "in.c")


def test_what_a_clause_would_allow_is_told(tmp_path):
    path = tmp_path / "in.c"
    body = f"#pragma scop\n{FREE['sum']}\n#pragma endscop"
    path.write_text(HEAD + FUNCTION.format(number=0, body=body))
    (region,) = compile_source(str(path), Options(), ["gcc"], ["-O2", "-std=gnu99"]).regions
    (told,) = (each.message for each in region.advice if each.kind == "reassociation")
    assert told.endswith("keeps the loop serial; with --openmp use threads would share it")


def test_clauses_count_for_what_they_name(tmp_path):
    found = _compiled(tmp_path, KEPT, marked=True, openmp="use")
    assert not any(found.values())
