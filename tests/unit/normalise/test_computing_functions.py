"""Functions that compute a value in loops, written where they are called."""

from __future__ import annotations

import pytest
from reading import region

from polybuild.normalise.inlining import inline_calls

DOT = """static double dot(int n, const double *x, const double *y)
{ double s = 0; for (int k = 0; k < n; k++) s += x[k] * y[k]; return s; }"""
WALK = """static double dot(int n, const double *x, const double *y)
{ double s = 0; while (n-- > 0) s += *x++ * *y++; return s; }"""
PARAMETERS = "int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n]"
NEST = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"


def depths(model, top, body):
    scop = model(body, PARAMETERS, top=top).scop
    return [len(each.iterators) for each in scop.statements]


@pytest.mark.parametrize("top", [DOT, WALK])
@pytest.mark.parametrize(
    "body",
    [
        f"{NEST} c[i][j] = dot(n, a[i], b[j]);",
        f"{NEST} c[i][j] += 2 * dot(n, a[i], b[j]);",
        f"{NEST} {{ double d = dot(n, a[i], b[j]); c[i][j] = d; }}",
    ],
)
def test_loops_of_a_function_are_loops_of_the_region(model, top, body):
    assert max(depths(model, top, body)) == 3


@pytest.mark.parametrize(
    "top",
    [
        "static double dot(int n, double *x, double *y) { double s = 0; x[0] = n; s += y[0]; return s; }",
        "static double dot(int n, double *x, double *y) { if (n < 3) return x[0]; return y[0]; }",
        "static double dot(int n, double *x, double *y) { static double s; s += x[0] * y[n - 1]; return s; }",
        "static double sum; static double dot(int n, double *x, double *y) { sum += x[n - 1]; return y[0]; }",
    ],
)
def test_other_functions_stay_calls(read, top):
    body = f"{NEST} c[i][j] = dot(n, a[i], b[j]);"
    text = f"{top}\nvoid f({PARAMETERS}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    found = region(read(text))
    assert inline_calls(found) is found
