"""Parameters that every call gives other arrays: nothing is to be compared at run time."""

from __future__ import annotations

import pytest
from compiling import output, write

from polybuild.driver.file import compile_source
from polybuild.options import Options
from polybuild.source.fingerprint import Fingerprints
from polybuild.source.reader import read_source

FUNCTION = """
static void add(int n, double *p, double q[]) {
#pragma scop
  for (int i = 0; i < n; i++)
    p[i] += 2 * q[i];
#pragma endscop
}
"""
ARRAYS = "static double a[99], b[99], m[9][99];\n"


def called(*statements: str, before: str = ARRAYS) -> str:
    return f"{before}{FUNCTION}int main(void) {{\n  " + "\n  ".join(statements) + "\n  return 0;\n}\n"


APART = {
    "arrays of the file": called("add(9, a, b);"),
    "several calls": called("add(9, a, b);", "add(9, b, a);", "add(9, a, m[1]);"),
    "addresses of elements": called("add(9, &a[3], &b[0]);"),
    "sums": called("add(9, a + 3, b + 1);"),
    "local arrays": called("double a[9] = {0}, b[9] = {0};", "add(9, a, b);", before=""),
    "rows": called("add(9, m[2], &a[0]);"),
    "a prototype": called("add(9, a, b);", before=f"{ARRAYS}static void add(int, double *, double *);\n"),
    "a macro": called("ADD(a, b);", before=f"{ARRAYS}#define ADD(x, y) add(9, (x), (y))\n"),
    "extern arrays": called("add(9, a, b);", before="extern double a[], b[];\n"),
}
NOT_KNOWN = {
    "one array": called("add(9, a + 1, a);"),
    "one call of several": called("add(9, a, b);", "add(9, a + 1, a);"),
    "rows of one array": called("add(9, m[0], m[1]);"),
    "pointers": called("double *p = a, *q = b;", "add(9, p, q);"),
    "parameters with brackets": f"{FUNCTION}void call(double a[9], double b[9]) {{ add(9, a, b); }}",
    "pointers with names of arrays": called("double *a = b;", "add(9, a, b);"),
    "arrays and pointers with one name": called("{ double *a = b; add(9, a, b); }", "double a[9] = {0};"),
    "tables of pointers": called("add(9, a[0], b[0]);", before="static double *a[9], *b[9];\n"),
    "members": called("add(9, s.a, s.b);", before="struct { double a[9], *b; } s;\n"),
    "external linkage": called("add(9, a, b);").replace("static void", "void"),
    "a pointer to the function": called("add(9, a, b);") + "void (*f)(int, double *, double *) = add;\n",
    "a pointer in a function": called(
        "void (*f)(int, double *, double *) = add;", "add(9, a, b);", "f(9, a + 1, a);"
    ),
    "an alias": called("add(9, a, b);")
    + 'void other(int, double *, double *) __attribute__((alias("add")));\n',
    "no call": FUNCTION,
    "calls of itself": called("add(9, a, b);").replace(
        "#pragma endscop", "#pragma endscop\n  if (n > 5) add(n - 1, q, p);"
    ),
}


def distinct(path):
    (region,) = read_source(str(path), ["gcc"], []).regions
    return {name: set(each.distinct) for name, each in region.visible.symbols.items() if each.distinct}


@pytest.mark.parametrize("name", APART)
def test_parameters_that_lead_to_other_arrays_in_all_calls(tmp_path, name):
    path = write(tmp_path / "a.c", APART[name])
    assert distinct(path) == {"p": {"q"}, "q": {"p"}}
    (region,) = compile_source(str(path), Options(min_work=0), ["gcc"], ["-O3"]).regions
    assert not any("overlap" in each for each in region.assumptions), region


@pytest.mark.parametrize("name", NOT_KNOWN)
def test_parameters_that_may_lead_to_one(tmp_path, name):
    assert distinct(write(tmp_path / "a.c", NOT_KNOWN[name])) == {}


def test_what_is_stored_of_a_region_depends_on_calls(tmp_path):
    digests = set()
    for text in (APART["sums"], NOT_KNOWN["one array"]):
        (region,) = read_source(str(write(tmp_path / "a.c", text)), ["gcc"], []).regions
        digests.add(Fingerprints().of(region).digest)
    assert len(digests) == len({"sums", "one array"})


def test_parameters_that_change_are_compared(tmp_path):
    text = APART["arrays of the file"].replace("#pragma scop", "  if (n > 3) p = q;\n#pragma scop")
    (region,) = compile_source(
        str(write(tmp_path / "a.c", text)), Options(min_work=0), ["gcc"], ["-O3"]
    ).regions
    assert any("overlap" in each for each in region.assumptions), region


@pytest.mark.parametrize("name", ["several calls", "one call of several"])
def test_results_are_the_same(tmp_path, name):
    shown = '  for (int i = 0; i < 20; i++) printf("%g ", a[i] + b[i]);\n'
    filled = "  for (int i = 0; i < 99; i++) a[i] = i, b[i] = 2 * i, m[1][i] = 3 * i;\n"
    text = (
        (APART | NOT_KNOWN)[name]
        .replace("(void) {", f"(void) {{\n{filled}")
        .replace("return", f"{shown}return")
    )
    path = write(tmp_path / "a.c", f"#include <stdio.h>\n{text}")
    made = compile_source(str(path), Options(min_work=0), ["gcc"], ["-O3"])
    assert output(write(tmp_path / "out.c", made.text)) == output(path)
