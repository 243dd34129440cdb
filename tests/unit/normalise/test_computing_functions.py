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


PRODUCT = """static double dot(int m, double x[m][m], double y[m][m], int i, int j)
{ double s = 0; for (int k = 0; k < m; k++) s += x[i][k] * y[k][j]; return s; }"""
HALVES = """static double dot(int m, const double *x, const double *y)
{ double s = 0;
  for (int k = 0; k < 2; k++) s += x[k] * y[k];
  for (int k = 2; k < m; k++) s += x[k] * y[k];
  return s; }"""
COLUMN = """static double dot(int m, const double *x, double y[m][m], int j)
{ double s = 0; for (int k = 0; k < m; k++) { const double *p = &y[k][0]; s += x[k] * p[j]; } return s; }"""
LONGER = """static double dot(int n, double x[n + 1][n + 1], int i)
{ double s = 0; for (int k = 0; k < n; k++) s += x[i][k]; return s; }"""


@pytest.mark.parametrize(
    ("top", "call"),
    [
        (PRODUCT, "dot(n, a, b, i, j)"),
        (HALVES, "dot(n, &a[i][0], &b[j][0])"),
        (COLUMN, "dot(n, a[i], b, j)"),
    ],
)
def test_functions_of_matrices_and_rows(model, top, call):
    assert max(depths(model, top, f"{NEST} {{ double d = {call}; c[i][j] = d; }}")) == 3


AXPY = """static void axpy(int n, double t, const double *x, double *y)
{ for (int k = 0; k < n; k++) y[k] += t * x[k]; }"""


@pytest.mark.parametrize("call", ["axpy(n, a[i][j], b[j], c[i]);", "axpy(n, a[i][j], &b[j][0], &c[i][0]);"])
def test_loops_of_a_function_that_changes_elements(model, call):
    assert max(depths(model, AXPY, f"{NEST} {call}")) == 3


def test_an_argument_that_a_function_may_change_is_copied(model):
    scop = model("for (int i = 0; i < n; i++) axpy(n, c[i][0], b[0], c[i]);", PARAMETERS, top=AXPY).scop
    copy, update = scop.statements
    assert (len(copy.iterators), len(update.iterators)) == (1, 2)


def test_no_copy_of_the_value_is_left(model):
    scop = model(f"{NEST} {{ double d = dot(n, a[i], b[j]); c[i][j] = d; }}", PARAMETERS, top=DOT).scop
    assert [each.name for each in scop.arrays if each.is_scalar] == ["d"]


def test_a_matrix_with_rows_of_another_length_is_no_argument(read):
    body = f"{NEST} c[i][j] = dot(n, a, i);"
    text = f"{LONGER}\nvoid f({PARAMETERS}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    found = region(read(text))
    assert inline_calls(found) is found


SWAPPING = """static double swapped(double *x, int i)
{ double t = x[i]; x[i] = x[i + 1]; x[i + 1] = t; return t; }"""


@pytest.mark.parametrize(
    ("call", "inlined"),
    [
        ("y[0] = swapped(x, n);", True),
        ("double t = swapped(x, n); y[0] = t;", True),
        ("y[n] = swapped(x + 1, n);", True),
        ("y[0] += swapped(x, n);", False),  # the element may be read before the call, or after it
        ("y[0] = swapped(x, n) + x[1];", False),
        ("y[0] = swapped(x, n) + swapped(y, n);", False),
        ("y[at[0]] = swapped(x, n);", False),
        ("y[0] = 2 * swapped(x, n);", False),
    ],
)
def test_functions_that_change_elements_and_return_a_value(read, call, inlined):
    head = "void f(int n, int *at, double *x, double *y)"
    text = f"{SWAPPING}\n{head} {{\n#pragma scop\n{call}\n#pragma endscop\n}}"
    found = region(read(text))
    assert (inline_calls(found) is not found) is inlined


SORTED = """static int middle(const int *x)
{ int w[3]; for (int k = 0; k < 3; k++) w[k] = x[k];
  for (int a = 0; a < 2; a++) for (int b = a + 1; b < 3; b++)
    if (w[b] < w[a]) { int t = w[a]; w[a] = w[b]; w[b] = t; }
  return w[1]; }"""


@pytest.mark.parametrize(("kind", "inlined"), [("int w[3]", True), ("static int w[3]", False)])
def test_functions_with_arrays_of_their_own(read, kind, inlined):
    top, call = SORTED.replace("int w[3]", kind), "y[0] = 3 + middle(x);"
    text = f"{top}\nvoid f(int *x, int *y) {{\n#pragma scop\n{call}\n#pragma endscop\n}}"
    found = region(read(text))
    assert (inline_calls(found) is not found) is inlined


STEPS = """static int steps(double x, int most)
{ for (int k = 0; k < most; k++) { if (x > 4) return k; x = x * x; } return LAST; }"""


@pytest.mark.parametrize(("last", "statements"), [("most", 4), ("-1", 4), ("most + (x > 3)", 6)])
def test_functions_of_numbers_that_return_out_of_loops(model, last, statements):
    body = "for (int i = 0; i < n; i++) a[i][0] = steps(b[i][0], n);"
    scop = model(body, PARAMETERS, top=STEPS.replace("LAST", last)).scop
    assert len(scop.statements) == statements


def test_searches_in_memory_stay_calls(model):
    top = """static int find(int n, const double *x, double y)
    { for (int k = 0; k < n; k++) if (x[k] == y) return k; return -1; }"""
    scop = model("for (int i = 0; i < n; i++) a[i][0] = find(n, b[i], a[i][0]);", PARAMETERS, top=top).scop
    assert len(scop.statements) == 1
