"""Loops that call functions by pointers: results are those of the original, whatever the pointers lead to."""

from __future__ import annotations

import subprocess

import pytest

from polybuild.driver.file import compile_source
from polybuild.options import Options

HEAD = """\
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
typedef double unary(double);
typedef double (*unary_pointer)(double);
struct layer { int n; unary_pointer f; double (*weigh)(double, int); };
static double half(double x) { return x / 2; }
static double third(double x) { double s = 0; for (int k = 0; k < 3; k++) s += x / 9; return s; }
static double limited(double x) { if (x > 3) return 3; return x < -3 ? -3 : x; }
static double by_place(double x, int i) { return x * i; }
static double from_place(double x, int i) { return x - i; }
static void doubled(double *p, int i) { *p = *p * 2 + i; }
static void moved(double *p, int i) { *p += i; }
static double (*const fixed)(double) = half;
static const unary_pointer fixed_by_a_name = &third;
static unary_pointer chosen_in_main = limited;
static double (*const table[])(double) = {half, limited, sqrt};
static const unary_pointer table_by_a_name[2] = {limited, &half};
static double applied(double (*f)(double), double x) { return f(x) + 1; }
static void each(double *y, int n, double (*f)(double)) { for (int k = 0; k < n; k++) y[k] = f(y[k]); }
static double summed(unary_pointer f, int n, const double *x) {
  double s = 0;
  for (int k = 0; k < n; k++) s += f(x[k]);
  return s;
}
static void each_of_both(double *y, int n, unary_pointer f, unary_pointer g) {
  for (int k = 0; k < n; k++) y[k] = f(y[k]) - g(k);
}
static void each_twice(double *y, int n, unary_pointer f) { each(y, n, f); each(y, n, &half); }
static void each_of_a_layer(const struct layer *p, double *y, int n) {
  for (int k = 0; k < n; k++) y[k] = p->f(y[k]) - p->n;
}
static void each_of_a_copy(struct layer q, double *y, int n) {
  for (int k = 0; k < n; k++) { double v = q.f(y[k]); y[k] = v > 1 ? v : q.weigh(v, k); }
}
static void each_changed(double *y, int n, void (*change)(double *, int)) {
  for (int k = 0; k < n; k++) change(y + k, k);
}
static void each_of_the_file(double *y, int n) { for (int k = 0; k < n; k++) y[k] = chosen_in_main(y[k]); }
static void rows(unary_pointer f, int n, double a[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i][j] = f(a[i][j]) + j;
#pragma endscop
}
"""
MAIN = """
static double from_below(double x) { return x * 5; }
static double a[64][64], b[64];
int main(void) {
  unary_pointer functions[] = {half, third, limited, from_below, sqrt};
  static const int sizes[] = {0, 1, 2, 7, 33, 64};
  for (int choice = 0; choice < 5; choice++) {
    for (int i = 0; i < 64 * 64; i++) a[i / 64][i % 64] = i * 0.5 - 9 + choice;
    for (int i = 0; i < 64; i++) b[i] = i % 11;
    unary_pointer f = functions[choice];
    struct layer q = {64, f, choice % 2 ? by_place : from_place};
    chosen_in_main = functions[(choice + 2) % 5];
    for (int k = 0; k < 6; k++) {
      int n = sizes[k];
      run(n, (double (*)[n])a, b, f, n ? &q : 0, q, choice % 2 ? doubled : moved, choice);
      rows(half, n, (double (*)[n])a);
    }
    double sum = 0;
    for (int i = 0; i < 64 * 64; i++) sum += a[i / 64][i % 64] * (i % 7 + 1) + b[i / 64];
    printf("%.17g\\n", sum);
  }
  return 0;
}
"""
LOOPS = {
    "constant": "a[i][j] = fixed(a[i][j]) + b[j];",
    "constant_of_a_named_type": "a[i][j] = fixed_by_a_name(a[i][j]) + b[j];",
    "variable_of_the_file": "a[i][j] = chosen_in_main(a[i][j]) * 2;",
    "parameter": "a[i][j] += f(b[j]);",
    "parameter_with_an_asterisk": "a[i][j] += (*f)(b[j]) - (**f)(b[i]);",
    "parameter_as_a_function": "a[i][j] += g(b[j]);",
    "local_that_sizes_choose": "a[i][j] = c(a[i][j]) + b[j];",
    "local_that_is_constant": "a[i][j] = d(a[i][j]) + b[j];",
    "member": "a[i][j] = q.f(a[i][j]) + q.weigh(b[j], i);",
    "member_behind_a_pointer": "a[i][j] = p->f(a[i][j]) + (*p->weigh)(b[j], i);",
    "argument": "a[i][j] = applied(f, a[i][j]) - applied(half, b[j]);",
    "member_as_an_argument": "a[i][j] = applied(p->f, a[i][j]);",
    "within_others": "a[i][j] = f(half(f(b[j])) + f(a[i][j]));",
    "under_a_condition": "if (j > i) a[i][j] = f(a[i][j]); else if (k > 1) a[i][j] -= g(b[i]);",
    "element_of_a_table": "a[i][j] = table[k % 3](b[j] + 1) + a[i][j];",
    "element_that_loops_choose": "a[i][j] = table[j % 3](b[j] + 1) + table_by_a_name[i & 1](a[i][j]);",
    "that_changes_elements": "change(&a[i][j], j); (*change)(a[i] + j, k);",
}
ROWS = {
    "rows_by_a_pointer": "each(a[i], n, f);",
    "rows_by_a_name": "each(a[i], n, half); each(a[i], n, &limited);",
    "rows_by_a_name_of_the_library": "each(&b[i], 1, sqrt);",
    "rows_by_a_constant": "each(a[i], n, fixed);",
    "rows_by_a_local": "each(a[i], n, c);",
    "rows_by_a_member": "each(a[i], n, q.f);",
    "rows_by_a_member_behind_a_pointer": "each(a[i], n, p->f);",
    "rows_by_an_element_of_a_table": "each(a[i], n, table[k % 2]);",
    "rows_of_two_functions": "each_of_both(a[i], n, limited, half); each_of_both(a[i], n, f, half);",
    "rows_under_a_condition": "if (i > k) each(a[i], n, f); else each(a[i], n, half);",
    "rows_that_are_passed_on": "each_twice(a[i], n, f); (void)each_twice(a[i], n, half);",
    "rows_of_a_layer": "each_of_a_layer(p, a[i], n);",
    "rows_of_a_copied_layer": "each_of_a_copy(q, a[i], n);",
    "rows_that_are_changed": "each_changed(a[i], n, change); each_changed(a[i], n, moved);",
    "rows_by_a_variable_of_the_file": "each_of_the_file(a[i], n);",
    "sum_of_a_row": "b[i] = summed(f, n, a[i]);",
    "sum_of_a_row_that_is_declared": "double s = summed(f, n, a[i]) + 1; b[i] = s * s;",
    "sum_of_a_row_by_a_name": "b[i] += summed(half, n, a[i]) - 2 * summed(limited, n, a[i]);",
}
ARRAYS = {name: f"for (int j = 0; j < n; j++) {{ {loop} }}" for name, loop in LOOPS.items()} | ROWS


@pytest.mark.parametrize("name", ARRAYS)
def test_results_are_the_original_ones(tmp_path, name):
    source = tmp_path / "called.c"
    loops = f"for (int i = 0; i < n; i++) {{ {ARRAYS[name]} }}"
    parameters = (
        "int n, double a[n][n], double *restrict b, unary_pointer f, struct layer *p, struct layer q,"
        " void (*change)(double *, int), int k"
    )
    locals_ = "unary *g = f; double (*c)(double) = n > 20 ? half : third; unary *const d = third;"
    source.write_text(
        f"{HEAD}void run({parameters}) {{\n{locals_}\n#pragma scop\n{loops}\n#pragma endscop\n"
        f"(void)g; (void)c; (void)d;\n}}\n{MAIN}"
    )
    result = compile_source(str(source), Options(min_work=0), ["gcc"], ["-O2"])
    assert ["parallel" in each.gains for each in result.regions] == [True, True]
    (tmp_path / "out.c").write_text(result.text)
    printed = set()
    for path, flags in ((source, ()), (tmp_path / "out.c", ("-fopenmp", "-fsanitize=address,undefined"))):
        command = [
            "gcc",
            "-O1",
            "-ffp-contract=off",
            *flags,
            str(path),
            "-o",
            str(path.with_suffix("")),
            "-lm",
        ]
        subprocess.run(command, check=True, timeout=120)
        printed.add(subprocess.run([str(path.with_suffix(""))], check=True, capture_output=True).stdout)
    assert len(printed) == 1


@pytest.mark.parametrize(
    "loop",
    [
        "a[i] = f(a[i]); if (a[i] > 3) f = half;",
        "a[i] = functions[k](a[i]);",
        "a[i] = unknown()(a[i]);",
        "a[i] = changing(f, 3, a);",
        "a[i] = counting(f, 3, a);",
    ],
)
def test_other_pointers_are_refused(tmp_path, loop):
    source = tmp_path / "other.c"
    source.write_text(
        "static double half(double x) { return x / 2; }\ndouble (*functions[2])(double) = {half, half};\n"
        "double (*unknown(void))(double);\n"
        "static double changing(double (*f)(double), int n, const double *x)"
        " { double s = 0; for (int k = 0; k < n; k++) { s += f(x[k]); f = half; } return s; }\n"
        "static double counting(double (*f)(double), int n, const double *x)"
        " { static int count; double s = count++; for (int k = 0; k < n; k++) s += f(x[k]); return s; }\n"
        f"void other(int n, int k, double *a, double (*f)(double)) {{\n#pragma scop\n"
        f"for (int i = 0; i < n; i++) {{ {loop} }}\n#pragma endscop\n}}\n"
    )
    result = compile_source(str(source), Options(min_work=0), ["gcc"], ["-O2"])
    assert [each.status for each in result.regions] != ["transformed"]
    assert result.diagnostics[0].code == "call"
