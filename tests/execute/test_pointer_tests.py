"""Loops that test pointers: null or not, results are those of the original."""

from __future__ import annotations

import subprocess

import pytest

from polybuild.driver.file import compile_source
from polybuild.options import Options

HEAD = """\
#include <stdio.h>
#include <stdlib.h>
typedef double unary(double);
struct part { int n; double *w; const double *h; unary *f; };
static double half(double x) { return x / 2; }
static double third(double x) { return x / 3; }
static double slope(unary *f, double y) {
  if (f == half) return 0.5;
  if (f == third) return y > 2 ? 0.25 : 0.125;
  return y;
}
static double pick(const double *w, int i) { return w ? w[i] : 1.0; }
"""
MAIN = """
static double a[64][64], b[64 * 64], v[64 * 64], w[64 * 64];
int main(void) {
  for (int choice = 0; choice < 8; choice++) {
    for (int i = 0; i < 64 * 64; i++) {
      a[i / 64][i % 64] = i * 0.5;
      b[i] = i % 11;
      v[i] = i * 0.25;
      w[i] = i % 5;
    }
    struct part p = {64, choice & 1 ? b : 0, choice & 2 ? v : 0, choice & 4 ? half : 0};
    if (choice & 2) p.f = third;
    static const int sizes[] = {0, 1, 2, 7, 33, 64};
    for (int k = 0; k < 6; k++)
      f(sizes[k], (double (*)[sizes[k]])a, p.w, choice & 2 ? v : 0, choice & 4 ? w : 0, &p, p, p.f);
    double sum = 0;
    for (int i = 0; i < 64 * 64; i++)
      sum += a[i / 64][i % 64] * (i % 7) + b[i] + v[i] * 3 + w[i];
    printf("%.17g\\n", sum);
  }
  return 0;
}
"""
LOOPS = {
    "tested_in_a_condition": "if (b) b[i * n + j] += a[i][j]; if (v != NULL) a[i][j] *= v[i];",
    "chosen_from": "a[i][j] += (w ? w[i] : 2) * (v == 0 ? 1 : v[j]);",
    "tested_with_others": "if (!b || j == i || w == NULL) a[i][j] = 1; else a[i][j] = b[i] * w[j];",
    "tested_in_a_variable": "double s = a[i][j]; if (w) s *= w[i]; if (NULL == w) s += 1; a[i][j] = s;",
    "member_of_a_structure": "if (q.w) a[i][j] += q.w[i]; if (q.h) a[i][j] *= q.h[j];",
    "member_behind_a_pointer": "if (p->w) a[i][j] += p->w[i * n + j];",
    "in_a_called_function": "a[i][j] += pick(w, i);",
    "member_that_is_a_function": "a[i][j] = p->f == half ? a[i][j] * 3 : a[i][j] - 1;",
    "function_of_an_argument": "if (g != third && w) a[i][j] += w[i]; else if (third == g) a[i][j] -= 2;",
    "function_by_its_address": "if (!(q.f == &half)) a[i][j] *= 3;",
    "function_in_a_called_function": "a[i][j] = slope(p->f, a[i][j] * 0.01) + slope(g, a[i][j]);",
    "function_asked_for_beside_a_walk": "double *r = a[i]; r += j; *r = p->f == half ? 1 : slope(q.f, *r);",
    "pointer_that_is_another": "if (b == v) a[i][j] += 1; else a[i][j] -= b != w ? 2 : 3;",
    "written_if_given": "if (b && v) { b[i * n + j] += v[i * n + j]; v[i * n + j] = 0; }",
}


@pytest.mark.parametrize("name", LOOPS)
def test_results_are_the_original_ones(tmp_path, name):
    source = tmp_path / "tested.c"
    loops = f"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {{ {LOOPS[name]} }}"
    parameters = (
        "int n, double a[n][n], double *b, double *v, double *w, struct part *p, struct part q, unary *g"
    )
    source.write_text(f"{HEAD}void f({parameters}) {{\n#pragma scop\n{loops}\n#pragma endscop\n}}\n{MAIN}")
    result = compile_source(str(source), Options(min_work=0), ["gcc"], ["-O2"])
    assert ["parallel" in each.gains for each in result.regions] == [True]
    (tmp_path / "out.c").write_text(result.text)
    printed = set()
    for path, flags in ((source, ()), (tmp_path / "out.c", ("-fopenmp", "-fsanitize=address,undefined"))):
        command = ["gcc", "-O1", "-ffp-contract=off", *flags, str(path), "-o", str(path.with_suffix(""))]
        subprocess.run(command, check=True, timeout=120)
        printed.add(subprocess.run([str(path.with_suffix(""))], check=True, capture_output=True).stdout)
    assert len(printed) == 1


def test_pointers_that_change_are_no_numbers(tmp_path):
    source = tmp_path / "list.c"
    source.write_text(
        "struct item { double x; struct item *next; };\n"
        "double f(struct item *p, double *a, int n) {\n  double s = 0;\n#pragma scop\n"
        "  for (int i = 0; i < n; i++) {\n    if (p) s += p->x;\n    p = p->next;\n  }\n#pragma endscop\n"
        "  return s + a[0];\n}\n"
    )
    result = compile_source(str(source), Options(min_work=0), ["gcc"], ["-O2"])
    assert [each.status for each in result.regions] != ["transformed"]
