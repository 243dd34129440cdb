"""Memory that functions allocate themselves: what it is not need not be checked, and results are the same."""

from __future__ import annotations

import pytest
from compiling import SANITIZED, output, write

from polybuild.driver.file import compile_source
from polybuild.options import Options

PROGRAM = """\
#define _ISOC11_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static double given[40 * 40];
static int rows[40];
static double run(int n, double *a)
{{
  double sum = 0;
  size_t size = (size_t)(n * n + 1) * sizeof(double);
  {declared}
  if (!u || !v || !at)
    exit(1);
  for (int i = 0; i < n; i++)
    at[i] = rows[i] % n;
  for (int i = 0; i < n * n; i++)
    u[i] = given[i], v[i] = 0;
#pragma scop
{body}
#pragma endscop
  for (int i = 0; i < n * n; i++)
    sum += u[i] + 3 * v[i] + a[i];
  free(u), free(at);
  {freed}
  return sum;
}}
int main(void)
{{
  static const int sizes[] = {{0, 1, 2, 7, 33}};
  static double own[40 * 40];
  for (int s = 0; s < 5; s++) {{
    unsigned seed = 1;
    for (int i = 0; i < 40 * 40; i++)
      seed = seed * 1664525u + 1013904223u, given[i] = (seed >> 8) / 16777216.0, own[i] = 1 - given[i];
    for (int i = 0; i < 40; i++)
      seed = seed * 1664525u + 1013904223u, rows[i] = (int)(seed >> 8);
    printf("%d %a\\n", sizes[s], run(sizes[s], own));
  }}
  return 0;
}}
"""
DECLARED = {
    "in declarations": """double *u = malloc(size), *v = malloc(size);
  int *at = malloc((size_t)(n + 1) * sizeof *at);""",
    "in assignments": """double *u, *v; int *at = NULL;
  u = (double *)malloc(size); v = (double *)calloc(1, size);
  at = (int *)malloc((size_t)(n + 1) * sizeof(int));""",
    "in conditions": """double *u = 0, *v = 0; int *at;
  if (!(u = malloc(size)) || !(v = malloc(size))) return 0;
  at = malloc((size_t)(n + 1) * sizeof *at);""",
    "aligned": """double *u = aligned_alloc(64, (size + 63) / 64 * 64);
  double *v = aligned_alloc(64, (size + 63) / 64 * 64);
  int *at = calloc((size_t)n + 1, sizeof *at);""",
    "again": """double *u = malloc(size), *v = malloc(size);
  int *at = malloc((size_t)(n + 1) * sizeof *at);
  free(v); v = malloc(size);""",
}
GATHER = """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)
  v[i * n + j] = u[at[i] * n + j] + a[i * n + at[j]] * 2 - given[i * n + j];"""
ALIASES = {
    "of each other": "double *u = malloc(size), *v = u; int *at = malloc((size_t)(n + 1) * sizeof *at);",
    "of the argument": "double *u = malloc(size), *v = a; int *at = malloc((size_t)(n + 1) * sizeof *at);",
    "of both": """double *u = malloc(size), *v = malloc(size); int *at = malloc((size_t)(n + 1) * sizeof *at);
  free(v); v = u;""",
}


def compiled(directory, declared, freed):
    source = write(directory / "one.c", PROGRAM.format(declared=declared, freed=freed, body=GATHER))
    return source, compile_source(str(source), Options(min_work=1), ["gcc"], ["-O3", "-march=haswell"])


@pytest.mark.fast(name=["in declarations"])
@pytest.mark.parametrize("name", DECLARED)
def test_own_memory_needs_no_checks(tmp_path, name):
    source, result = compiled(tmp_path, DECLARED[name], "free(v);")
    assert [each.status for each in result.regions] == ["transformed"]
    assert "must not overlap" not in result.text
    expected = output(source, "-O2", "-march=haswell")
    new = write(tmp_path / "new.c", result.text)
    for flags in (["-fopenmp"], SANITIZED):
        assert output(new, "-O2", "-march=haswell", *flags) == expected


@pytest.mark.parametrize("name", ALIASES)
def test_other_pointers_are_not_trusted(tmp_path, name):
    source, result = compiled(tmp_path, ALIASES[name], "")
    assert "must not overlap" in result.text
    expected = output(source, "-O2", "-march=haswell")
    new = write(tmp_path / "new.c", result.text)
    for flags in (["-fopenmp"], SANITIZED):
        assert output(new, "-O2", "-march=haswell", *flags) == expected
