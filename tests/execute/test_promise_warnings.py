"""Directives of OpenMP that share out iterations which are not independent, told where that is asked for."""

from __future__ import annotations

import pytest

from polybuild.driver.file import compile_source
from polybuild.options import Options

FUNCTION = """\
void f(int n, int m, int s, double *restrict a, double *restrict b, double c[n][n], const int *at)
{{
  int i, j; double t = 0;
#pragma scop
{body}
#pragma endscop
  b[0] = t;
}}
"""
FALSE = {
    "an element of another iteration": (
        """#pragma omp parallel for
  for (int i = s; i < n; i++) a[i] = a[i - s] * 0.5 + i;""",
        "",
    ),
    "a value that is passed on": (
        """#pragma omp parallel for schedule(static)
  for (int i = 1; i < n; i++) a[i] = a[i - 1] * 0.5;""",
        "what line 6 computes in one is used by another in line 6",
    ),
    "a variable of all threads": (
        """#pragma omp parallel for
  for (i = 0; i < n; i++) {
    t = a[i] * a[i];
    b[i] = t + 1;
  }""",
        "'t' is one variable for all of them, which line 7 changes",
    ),
    "a variable of the region": (
        """double u;
#pragma omp parallel for
  for (i = 0; i < n; i++) { u = a[i] * a[i]; b[i] = u + 1; }""",
        "'u' is one variable for all of them, which line 7 changes",
    ),
    "a sum without its clause": (
        """#pragma omp parallel for
  for (int i = 0; i < n; i++) t += a[i];""",
        "'t' is one variable for all of them, which line 6 changes",
    ),
    "a counter of all threads": (
        """#pragma omp parallel for
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++) c[i][j] = 1;""",
        "'j' is one variable for all of them, which line 7 changes",
    ),
    "collapsed loops": (
        """#pragma omp parallel for collapse(2)
  for (int i = 0; i < n; i++)
    for (int k = 1; k < n; k++) c[i][k] = c[i][k - 1];""",
        "an element of 'c' that one writes in line 7 is accessed by another in line 7",
    ),
    "a loop of a team": (
        """#pragma omp parallel private(j)
  {
#pragma omp for \\
    nowait
    for (i = 0; i < n; i++)
      for (j = 0; j < m; j++) a[i] += b[j];
#pragma omp for
    for (i = 1; i < n; i++) b[i - 1] = a[i] + b[i];
  }""",
        "an element of 'b' that one writes in line 12 is accessed by another in line 12",
    ),
}
TRUE = {
    "independent": """#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = b[i] + 1;""",
    "variables with clauses": """#pragma omp parallel for private(j) lastprivate(t)
  for (i = 0; i < n; i++) { t = a[i]; for (j = 0; j < n; j++) c[i][j] = t; }""",
    "variables of a team": """#pragma omp parallel
  {
    double u; int k;
#pragma omp for
    for (i = 0; i < n; i++) { u = a[i]; for (k = 0; k < n; k++) c[i][k] = u; }
  }""",
    "a sum with its clause": """#pragma omp parallel for reduction(+ : t)
  for (int i = 0; i < n; i++) t += a[i];""",
    "inside a loop in order": """for (int k = 1; k < n; k++)
#pragma omp parallel for
    for (int i = 0; i < n; i++) c[k][i] = c[k - 1][i];""",
    "steps between two grids": """for (int k = 0; k < m; k++) {
#pragma omp parallel for
    for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1];
#pragma omp parallel for
    for (int i = 1; i < n - 1; i++) a[i] = b[i];
  }""",
    "in turn": """#pragma omp parallel for
  for (int i = 0; i < n; i++) {
#pragma omp atomic
    t += a[i];
  }""",
    "as data say": """#pragma omp parallel for
  for (int i = 0; i < n; i++) a[at[i]] = b[i];""",
    "perhaps": """#pragma omp parallel for
  for (int i = 0; i < n; i++) if (a[i] > 3) t = 1;""",
    "collapsed loops": """#pragma omp parallel for collapse(2)
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++) c[i][j] += 1;""",
    "lanes": """#pragma omp simd
  for (int i = 4; i < n; i++) a[i] = a[i - 4];""",
}


def told(tmp_path, body, **options):
    """The messages about false promises."""
    source = tmp_path / "in.c"
    source.write_text(FUNCTION.format(body=f"  {body}" if not body.startswith("#") else body))
    result = compile_source(str(source), Options(**options), ["gcc"], ("-O2", "-fopenmp"))
    assert [each.status for each in result.regions] != ["kept"]
    return [each.message for each in result.diagnostics if each.code == "openmp-race"]


@pytest.mark.parametrize("openmp", ["keep", "use"])
@pytest.mark.parametrize("form", FALSE)
def test_false_promises_are_told(form, openmp, tmp_path):
    body, message = FALSE[form]
    (found,) = told(tmp_path, body, verify=True, openmp=openmp)
    assert message in found
    assert "lets threads share iterations that are not independent" in found


@pytest.mark.parametrize("form", TRUE)
def test_other_promises_are_not(form, tmp_path):
    assert told(tmp_path, TRUE[form], verify=True) == []


def test_nothing_is_told_unless_asked_for(tmp_path):
    body, _ = FALSE["a sum without its clause"]
    assert told(tmp_path, body) == []
