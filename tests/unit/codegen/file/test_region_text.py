"""What a region becomes: the new loops where its assumptions hold, the original elsewhere."""

from __future__ import annotations

import re

import pytest
from compiling import output, transform, write

MAIN = """
#include <stdio.h>
%s
int main(void) {
  static double data[600];
  for (int n = 0; n < 6; n++)
    for (int m = 0; m < 3; m++) {
      for (int k = 0; k < 600; k++) data[k] = (k * 37 %% 101) / 8.0;
      double r = f(n * n * 5, m * 4, data, data + 300);
      double s = f(n * n, m + 1, data + 1, data); /* they overlap */
      unsigned long long h = 1;
      for (int k = 0; k < 600; k++) h = h * 31 + (unsigned long long)(data[k] * 16);
      printf("%%d %%d %%f %%f %%llu\\n", n, m, r, s, h);
    }
  return 0;
}
"""

# bodies of: double f(int n, int m, double *a, double *b)
CASES = {
    "pointers that may overlap": """
#pragma scop
  for (int i = 0; i < n; i++) a[i] = b[i] + 1;
#pragma endscop
  return a[0];""",
    "a counter's last value": """
  int i, j = -5;
#pragma scop
  for (i = 3; i < n; i += 4)
    for (j = 0; j < m; j++) a[i + j] += 1;
#pragma endscop
  return i * 1000 + j;""",
    "a counter that goes down": """
  int i;
#pragma scop
  for (i = n - 1; i >= m; i--) a[i] = a[i] * 2 + b[i];
#pragma endscop
  return i;""",
    "variables of the loop": """
#pragma scop
  for (int i = 0; i < n; i++) {
    const double t = a[i];
    double u[2];
    u[0] = t * 2;
    u[1] = u[0] + m;
    b[i] = u[1] - t;
  }
#pragma endscop
  return b[1];""",
    "variables of the same name": """
  double t = 7;
#pragma scop
  for (int i = 0; i < n; i++) { double t = a[i]; a[i] = t * t; }
  for (int i = 0; i < n; i++) { int t = i; b[i] += t; }
#pragma endscop
  return t;""",
    "conditions": """
#pragma scop
  for (int i = 0; i < n; i++) {
    if (i < m && i % 3 == 0) a[i] = 1;
    else if (i == 5 || i > 2 * m) a[i] = 2;
    else a[i] += 3;
  }
#pragma endscop
  return a[2];""",
    "a single iteration": """
#pragma scop
  for (int i = m; i <= m; i++) for (int j = 0; j < n; j++) a[i + j] += i;
#pragma endscop
  return a[m];""",
    "a single iteration whose counter is not used": """
#pragma scop
  for (int i = m; i <= m; i++) for (int j = 1; j < n; j++) a[j] += a[j - 1];
#pragma endscop
  return a[m];""",
    "data-dependent": """
#pragma scop
  for (int i = 0; i < n; i++) {
    if (a[i] > 4) b[i] = 1;
    int k = 0;
    while (k < m && k * k < a[i]) k++;
    b[i] += k;
  }
#pragma endscop
  return b[1];""",
    "an unbraced if around it": """
  if (n > m)
#pragma scop
    for (int i = 0; i < n; i++) a[i] = m;
#pragma endscop
  else
    a[0] = -1;
  return a[0];""",
    "two regions and a loop around": """
  for (int round = 0; round < 3; round++) {
#pragma scop
    for (int i = 0; i < n; i++) a[i] += round;
#pragma endscop
#pragma scop
    for (int i = 0; i < n; i++) b[i] -= a[i];
#pragma endscop
  }
  return b[0];""",
    "a stencil in tiles": """
#pragma scop
  for (int t = 0; t < m; t++)
    for (int i = 1; i < n - 1; i++) a[i] = (a[i - 1] + a[i] + a[i + 1]) / 4;
#pragma endscop
  return a[1];""",
    "integer division": """
#pragma scop
  for (int i = -m; i < n; i++) a[i / 2 + m] += i % 4 + (i - 3) / 2;
#pragma endscop
  return a[m];""",
}


def program(body):
    signature = "double f(int n, int m, double *a, double *b)"
    return MAIN % f"{signature};\n{signature} {{\n  (void)m, (void)b;{body}\n}}\n"


@pytest.mark.parametrize("what", CASES)
def test_same_results(what, tmp_path):
    path = tmp_path / "in.c"
    result = transform(path, program(CASES[what]), tile_sizes=(3, 4, 5))
    source = write(tmp_path / "out.c", result.text)
    expected = output(path)
    assert output(source) == expected
    assert output(source, "-fopenmp") == expected


VALUES = {
    "two values of a variable": """
  double t;
#pragma scop
  t = 0;
  for (int i = 0; i < n; i++) b[i] = t * i;
  t = 1;
  for (int i = 0; i < n; i++) a[i] = t * i;
#pragma endscop
  return m;""",
    "values that enter loops": """
  double t[2];
#pragma scop
  for (int i = 0; i < 2; i++) t[i] = a[i];
  for (int i = 0; i < n; i++) b[i] = t[i % 2] + a[i];
  for (int i = 0; i < n; i++) { t[0] = a[i]; b[i] += t[0]; }
#pragma endscop
  return m;""",
    "a value that leaves its loop": """
  double t = 3;
#pragma scop
  for (int i = 0; i < n; i++) t = a[i];
  b[0] = t;
  for (int i = 0; i < n; i++) { t = a[i]; b[i] += t; }
#pragma endscop
  return m;""",
}


@pytest.mark.parametrize("fusion", ["min", "max", "depth"])
@pytest.mark.parametrize("what", VALUES)
def test_values_of_private_variables(what, fusion, tmp_path):
    path = tmp_path / "in.c"
    source = write(tmp_path / "out.c", transform(path, program(VALUES[what]), fusion=fusion).text)
    assert output(source, "-fopenmp") == output(path)


def test_generated_code_runs_where_its_conditions_hold_and_only_there(tmp_path):
    path = tmp_path / "in.c"
    text = transform(path, program(CASES["pointers that may overlap"])).text
    generated, _, original = text.partition("} else { /* the original loops */")
    assert "a[i] = b[i] + 1" in generated
    assert "a[i] = b[i] + 1" in original
    broken = generated.replace("a[i] = b[i] + 1", "a[i] = -99")
    assert output(write(tmp_path / "a.c", f"{broken}}} else {{{original}")) != output(path)
    broken = original.replace("a[i] = b[i] + 1", "a[i] = -99")
    assert output(write(tmp_path / "b.c", f"{generated}}} else {{{broken}")) != output(path)


def test_little_work_runs_the_original(tmp_path):
    path = tmp_path / "in.c"
    text = transform(path, program(CASES["a counter that goes down"]), min_work=1000000).text
    generated, _, original = text.partition("} else { /* the original loops */")
    broken = generated.replace("] * 2", "] * 3")
    assert broken != generated
    assert output(write(tmp_path / "out.c", f"{broken}}} else {{{original}")) == output(path)


ROWS = """
#include <stdio.h>
#include <omp.h>
void f(int n, const int *at, const int *column, const double *x, double *y) {
#pragma scop
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int p = at[i]; p < at[i + 1]; p++) s += x[column[p]];
    y[i] = s;
  }
#pragma endscop
}
int main(void) {
  static int at[1001], column[8000];
  static double x[1000], y[1000];
  for (int k = 0; k <= 1000; k++) at[k] = 8 * k;
  for (int k = 0; k < 8000; k++) column[k] = k * 7919 % 1000, x[k % 1000] = k;
  omp_set_num_threads(THREADS);
  f(1000, at, column, x, y);
  printf("%f\\n", y[7]);
  return 0;
}
"""


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_few_threads_do_not_look_at_all_the_data(tmp_path, threads):
    program = ROWS.replace("THREADS", str(threads))
    path = tmp_path / "in.c"
    text = transform(path, program, min_work=1000).text
    generated, _, original = text.partition("} else { /* the original loops */")
    broken = generated.replace("s += x[column[p]]", "s += 2 * x[column[p]]")
    assert broken != generated
    same = output(write(tmp_path / "out.c", f"{broken}}} else {{{original}"), "-fopenmp") == output(
        path, "-fopenmp"
    )
    assert same == (threads < 3)


def test_conditions_name_their_reason_and_line(tmp_path):
    path = tmp_path / "in.c"
    result = transform(path, program(CASES["pointers that may overlap"]), min_work=30)
    start = result.regions[0].line
    reasons = re.findall(r"/\* line (\d+): (.*?) \*/", result.text)
    assert (str(start), "less work is not worth threads") in reasons
    assert (str(start + 1), "'a' and 'b' must not overlap") in reasons


def test_statements_name_their_lines(tmp_path):
    path = tmp_path / "in.c"
    source = program(CASES["conditions"])
    lines = source.split("\n")
    text = transform(path, source).text.partition("/* the original loops */")[0]
    found = re.findall(r"^#line (\d+)\n\s*(a\[.*;)", text, flags=re.MULTILINE)
    assert found
    for line, row in found:
        for statement in row.rstrip(";").split("; "):
            assert statement.split("=")[1].strip() in lines[int(line) - 1]


def test_the_same_text_every_time(tmp_path):
    texts = {transform(tmp_path / "in.c", program(CASES["conditions"])).text for _ in range(3)}
    assert len(texts) == 1


RING = """
void ring(int n, int steps, double A[restrict n][n], double B[restrict n][n])
{
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        B[i][j] = A[(i + n - 1) % n][j] + A[(i + 1) % n][j] + A[i][(j + n - 1) % n] + A[i][(j + 1) % n];
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) A[i][j] = 2 * B[i][j];
  }
#pragma endscop
}
"""


def test_folded_tiles_have_their_rows_once_and_choose_them_before(tmp_path):
    """Each of the two statements has rows of two halves below each other, each of them in two halves."""
    text = transform(tmp_path / "in.c", RING, "-O2").text.partition("} else { /* the original loops */")[0]
    assert len(re.findall(r"^\s*(?:POLYBUILD_SIMD )?for \(long long j = ", text, flags=re.MULTILINE)) == 8
    inside = re.findall(r"^\s*B\[.*\]\[j\] = .*;$", text, flags=re.MULTILINE)
    assert len(inside) == 4
    assert not any("?" in each for each in inside)
    assert len(re.findall(r"const long long chosen\d* = .* \? .* : .*;", text)) == 4
