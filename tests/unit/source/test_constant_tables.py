"""Arrays that keep the elements of their declaration."""

from __future__ import annotations

import pytest

from polybuild.source.tables import only_elements_read

READ = {
    "element": "int f(int k) { return t[k]; }",
    "element of an element": "int f(int k) { return t[t[k]]; }",
    "compared": "int f(int k) { return t[k] == 3 || t[k] <= 2 || t[k] >= 1 || t[k] != 5; }",
    "argument": "int f(int k) { return abs(t[k]); }",
    "in parentheses": "int f(int k) { return (t[k]) - ((t[k + 1])); }",
    "both hold": "int f(int k) { return k && t[k]; }",
    "other names": "int tt[3], xt; int f(int k) { tt[k] = 1; return &xt != 0; }",
    "on two lines": 'int f(int k) { return t\n# 7 "x.c"\n[k]; }',
}
CHANGED = {
    "assigned": "void f(int k) { t[k] = 1; }",
    "added to": "void f(int k) { t[k] += 1; }",
    "shifted": "void f(int k) { t[k] <<= 1; }",
    "stepped": "void f(int k) { t[k]++; }",
    "stepped before": "void f(int k) { -- t[k]; }",
    "in parentheses": "void f(int k) { ((t[k])) = 1; }",
    "stepped in parentheses": "void f(int k) { ++(t[k]); }",
    "address": "int *f(int k) { return &t[k]; }",
    "address in parentheses": "int *f(int k) { return &(t[k]); }",
    "address on another line": 'int *f(int k) { return &\n# 7 "x.c"\nt[k]; }',
    "pointer": "int *f(int k) { return t; }",
    "pointer to an element": "int *f(int k) { return t + k; }",
    "row": "int *f(int k) { return u[k]; }",
    "assigned on another line": 'void f(int k) { t[k]\n# 7 "x.c"\n  = 1; }',
    "for each thread": "\n#pragma omp threadprivate(t)\n",
    "declared again": "int f(void) { int t[2] = {5, 6}; return t[0]; }",
}


@pytest.mark.parametrize("case", READ)
def test_elements_are_only_read(case):
    assert only_elements_read(f"static int t[3] = {{1, 2, 3}};\n{READ[case]}", "t", 1)


@pytest.mark.parametrize("case", CHANGED)
def test_elements_may_change(case):
    name = "u" if case == "row" else "t"
    count = 2 if case == "row" else 1
    declared = "static int t[3] = {1, 2, 3}, u[2][2] = {{1, 2}, {3, 4}};"
    assert not only_elements_read(f"{declared}\n{CHANGED[case]}", name, count)
