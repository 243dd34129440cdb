"""Parallel loops that others run again and again have a version for one thread, others have none."""

import itertools

import pytest
from compiling import output, transform, write

PROGRAM = """\
#include <stdio.h>
static double pool[12 * 1000], weights[1000 * 1000];
static void run(int n, int m, double a[n][m], double c[m][m])
{{
#pragma scop
{body}
#pragma endscop
}}
int main(void)
{{
  static const int sizes[][2] = {{{{1, 4}}, {{2, 8}}, {{7, 28}}, {{33, 132}}, {{12, 1000}}}};
  for (int k = 0; k < 5; k++) {{
    int n = sizes[k][0], m = sizes[k][1];
    double sum = 0;
    for (int i = 0; i < m * m; i++)
      weights[i] = i % 7 / (8.0 * m), pool[i % (n * m)] = i % 11;
    run(n, m, (double (*)[m])pool, (double (*)[m])weights);
    for (int i = 0; i < n * m; i++)
      sum = sum / 2 + pool[i];
    printf("%.17g\\n", sum + weights[m]);
  }}
  return 0;
}}
"""
OFTEN = {
    "products": "for (int t = 1; t < n; t++) for (int j = 0; j < m; j++)"
    " for (int k = 0; k < m; k++) a[t][j] += a[t-1][k] * c[k][j];",
    "the largest": "for (int t = 1; t < n; t++) for (int j = 0; j < m; j++) { double best = -1e30;"
    " for (int k = 0; k < m; k++) { double v = a[t-1][k] + c[k][j]; if (v > best) best = v; }"
    " a[t][j] = best; }",
}
ONCE = {
    "a loop": "for (int j = 0; j < m; j++) for (int k = 0; k < m; k++) c[j][k] = 2 * c[j][k] + a[0][k];",
    "products": "for (int t = 0; t < n; t++) for (int j = 0; j < m; j++)"
    " for (int k = 0; k < m; k++) c[t][j] += a[t][k] * a[0][j];",
}
ASKED = {"min_work": 20000}
ALL = {**{f"often: {name}": body for name, body in OFTEN.items()}, **ONCE}


@pytest.mark.parametrize("name", ALL)
def test_results_are_the_original_ones(tmp_path, name):
    result = transform(tmp_path / "in.c", PROGRAM.format(body=ALL[name]), "-O2", "-fopenmp", **ASKED)
    written = write(tmp_path / "out.c", result.text)
    expected = output(tmp_path / "in.c", "-O2")
    assert [output(written, "-O2", *flags) for flags in ((), ("-fopenmp",))] == [expected, expected]


@pytest.mark.parametrize(
    ("name", "often"), [*itertools.product(OFTEN, [True]), *itertools.product(ONCE, [False])]
)
def test_which_have_one(tmp_path, name, often):
    body = (OFTEN if often else ONCE)[name]
    text = transform(tmp_path / "in.c", PROGRAM.format(body=body), "-O2", "-fopenmp", **ASKED).text
    assert ("const int team = " in text) == often
    assert ("num_threads(team)" in text) == often


def test_arrays_of_threads_have_the_team_that_numbers_them(tmp_path):
    """In a parallel region of the program the number of a thread is none of this team."""
    rows = """
    void f(int steps, int n, int m, double u[restrict steps + 1][n][m], double *restrict w)
    {
    #pragma scop
      for (int t = 0; t < steps; t++)
        for (int j = 0; j < n; j++) {
          for (int i = 0; i < m; i++) w[i] = u[t][n - 1 - j][i] / 2 + u[t][j][i];
          for (int i = 1; i < m; i++) u[t + 1][j][i] = w[i - 1] + w[m - 1 - i];
        }
    #pragma endscop
    }
    """
    text = transform(tmp_path / "in.c", rows, "-O2", "-fopenmp", **ASKED).text
    assert text.count("= w_own_all + (unsigned long long)polybuild_thread() * w_own_size;") == 1
    assert "num_threads(team)" not in text


SMALL = """
void sums(int n, int m, double a[restrict n][m], double *restrict s)
{
#pragma scop
  for (int j = 0; j < m; j++) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i][j];
    s[j] = sum;
  }
#pragma endscop
}
"""


@pytest.mark.parametrize(("minimum", "has"), [(1000, True), (10**6, False)])
def test_loops_for_one_thread_have_one_where_entering_them_tells(tmp_path, minimum, has):
    text = transform(tmp_path / "in.c", SMALL, "-O3", "-mavx2", "-fopenmp", min_work=minimum).text
    assert f">= {minimum} /*" in text
    assert ("num_threads(team)" in text) == has
