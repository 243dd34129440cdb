"""Factorisations and solvers: tiles that begin with what is done in other blocks, full ones and partial ones.

What a block computes from its own elements stays in loops, after its steps in registers.
"""

from __future__ import annotations

import pytest
from compiling import output, write

from polybuild.driver.file import compile_source
from polybuild.options import Options

PROGRAM = """\
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void run(int n, int m, double *a, double *b, double **row)
{{
  (void)m; (void)a; (void)b; (void)row;
#pragma scop
{body}
#pragma endscop
}}
static double next(unsigned *seed) {{ return (*seed = *seed * 1664525u + 1013904223u) / 4294967296.0; }}
int main(void)
{{
  unsigned long long sum = 0, bits = 0;
  unsigned seed = 1;
  for (int n = 1; n <= 40; n += 1 + n / 9)
    for (int m = 1; m <= 17; m += 4) {{
      /* no element more than there is, so that a sanitizer sees what is read beyond */
      double *a = malloc(sizeof(double) * n * n), *b = malloc(sizeof(double) * n * m);
      double **row = malloc(sizeof(double *) * n);
      for (int i = 0; i < n; i++) row[i] = a + i * n;
      for (int i = 0; i < n * n; i++) a[i] = next(&seed) + (i % (n + 1) ? 0 : 2 * n);
      for (int i = 0; i < n * m; i++) b[i] = next(&seed);
      run(n, m, a, b, row);
      for (int i = 0; i < n * n; i++) memcpy(&bits, &a[i], 8), sum = sum * 31 + bits;
      for (int i = 0; i < n * m; i++) memcpy(&bits, &b[i], 8), sum = sum * 31 + bits;
      free(a), free(b), free(row);
    }}
  printf("%llu\\n", sum);
  return 0;
}}
"""
FORMS = {
    "Cholesky by columns": """for (int j = 0; j < n; j++) {
    for (int k = 0; k < j; k++) a[j * n + j] -= a[j * n + k] * a[j * n + k];
    a[j * n + j] = sqrt(a[j * n + j]);
    for (int i = j + 1; i < n; i++) {
      for (int k = 0; k < j; k++) a[i * n + j] -= a[i * n + k] * a[j * n + k];
      a[i * n + j] /= a[j * n + j];
    }
  }""",
    "Cholesky by rows, sums in a variable": """for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double s = a[i * n + j];
      for (int k = 0; k < j; k++) s -= a[i * n + k] * a[j * n + k];
      if (i == j) a[i * n + i] = sqrt(s);
      else a[i * n + j] = s / a[j * n + j];
    }""",
    "Cholesky, pointers to rows": """for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++) row[i][j] -= row[i][k] * row[j][k];
      row[i][j] /= row[j][j];
    }
    for (int k = 0; k < i; k++) row[i][i] -= row[i][k] * row[i][k];
    row[i][i] = sqrt(row[i][i]);
  }""",
    "Cholesky of what is left": """for (int k = 0; k < n; k++) {
    a[k * n + k] = sqrt(a[k * n + k]);
    for (int i = k + 1; i < n; i++) a[i * n + k] /= a[k * n + k];
    for (int j = k + 1; j < n; j++)
      for (int i = j; i < n; i++) a[i * n + j] -= a[i * n + k] * a[j * n + k];
  }""",
    "LU by steps": """for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++) {
      a[i * n + k] /= a[k * n + k];
      for (int j = k + 1; j < n; j++) a[i * n + j] -= a[i * n + k] * a[k * n + j];
    }""",
    "LU by rows": """for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++) a[i * n + j] -= a[i * n + k] * a[k * n + j];
      a[i * n + j] /= a[j * n + j];
    }
    for (int j = i; j < n; j++)
      for (int k = 0; k < i; k++) a[i * n + j] -= a[i * n + k] * a[k * n + j];
  }""",
    "LU by columns, a factor in a variable": """for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++) {
      double f = a[k * n + i] / a[k * n + k];
      a[k * n + i] = f;
      for (int j = k + 1; j < n; j++) a[j * n + i] -= f * a[j * n + k];
    }""",
    "LDL": """for (int j = 0; j < n; j++) {
    for (int k = 0; k < j; k++) a[j * n + j] -= a[j * n + k] * a[j * n + k] * a[k * n + k];
    for (int i = j + 1; i < n; i++) {
      for (int k = 0; k < j; k++) a[i * n + j] -= a[i * n + k] * a[j * n + k] * a[k * n + k];
      a[i * n + j] /= a[j * n + j];
    }
  }""",
    "lower triangle of many right sides": """for (int j = 0; j < m; j++)
    for (int i = 0; i < n; i++) {
      for (int k = 0; k < i; k++) b[i * m + j] -= a[i * n + k] * b[k * m + j];
      b[i * m + j] /= a[i * n + i];
    }""",
    "upper triangle of many right sides": """for (int i = n - 1; i >= 0; i--)
    for (int j = 0; j < m; j++) {
      double s = b[i * m + j];
      for (int k = i + 1; k < n; k++) s -= a[i * n + k] * b[k * m + j];
      b[i * m + j] = s / a[i * n + i];
    }""",
    "right sides in rows": """for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      for (int k = 0; k < j; k++) b[i * n + j] -= b[i * n + k] * a[j * n + k];
      b[i * n + j] /= a[j * n + j];
    }""",
    "inverse in place": """for (int k = 0; k < n; k++) {
    double p = 1 / a[k * n + k];
    for (int j = 0; j < n; j++) a[k * n + j] *= p;
    a[k * n + k] = p;
    for (int i = 0; i < n; i++) if (i != k) {
      double f = a[i * n + k];
      a[i * n + k] = 0;
      for (int j = 0; j < n; j++) a[i * n + j] -= f * a[k * n + j];
    }
  }""",
}
ELSEWHERE = {
    "LU by columns, a factor in a variable",
    "LDL",
    "upper triangle of many right sides",
    "inverse in place",
}
"""Forms that are not in register tiles, or read nothing that their block holds."""
FLAGS = ("-O2", "-ffp-contract=off")
TOLD = "a partial tile as a full one"


def transformed(tmp_path, form, **options):
    """The program and what it became."""
    source = write(tmp_path / "in.c", PROGRAM.format(body=f"  {FORMS[form]}"))
    result = compile_source(str(source), Options(min_work=0, paranoid=True, **options), ["gcc"], FLAGS)
    assert [each.status for each in result.regions] == ["transformed"]
    return source, write(tmp_path / "out.c", result.text)


@pytest.mark.fast(form=["Cholesky by columns"])
@pytest.mark.parametrize("form", FORMS)
def test_all_sizes_are_equal_to_the_original(form, tmp_path):
    source, new = transformed(tmp_path, form, vector_size=32)
    assert (TOLD in new.read_text()) == (form not in ELSEWHERE)
    sanitized = ("-fsanitize=address,undefined", "-fno-sanitize=alignment", "-fno-sanitize-recover=all")
    assert output(new, *FLAGS, *sanitized, "-lm") == output(source, *FLAGS, "-lm")


@pytest.mark.fast(form=["LU by rows"])
@pytest.mark.parametrize("form", FORMS)
def test_small_tiles_are_equal_to_the_original(form, tmp_path):
    source, new = transformed(tmp_path, form, tile_sizes=(12, 8, 8), vector_size=64)
    assert output(new, *FLAGS, "-fopenmp", "-lm") == output(source, *FLAGS, "-lm")
