"""What is outside the model is refused with one clear diagnostic at the construct's line."""

from __future__ import annotations

import pytest
from plain_regions import scop_in

from polybuild.diagnostics import Unsupported

LOOP = "for (int i = 0; i < n; i++)"

# (code, region, parameters, declarations before, file scope)
SWAP = "for (int i = 0; i < n; i++) { a[0] = b[0]; int *s = a; a = b; b = s; }"
CASES = [
    ("while", "while (n > 0) a[0] = 1;", "int n, double *a"),
    ("do-while", "do a[0] = 1; while (n > 0);", "int n, double *a"),
    ("goto", "goto end;", "int n"),
    ("return", "return;", "int n"),
    ("break", f"{LOOP} {{ a[i] = 0; break; }}", "int n, double *a"),
    ("switch", "switch (b[0]) { case 1: a[0] = 0; case 2: a[1] = 0; }", "int *b, double *a"),
    ("call", f"{LOOP} a[i] = g(i);", "int n, double *a"),
    ("call", f"{LOOP} a[i] = h(i);", "int n, double *a, double (*h)(int)"),
    ("data-dependent-bound", "for (int i = 0; i < b[0]; i++) b[i] = 0;", "int n, int *a, int *b"),
    ("data-dependent-bound", f"n = a[0]; {LOOP} a[i] = 0;", "int n, int *a"),
    ("non-affine-bound", "for (int i = 0; i < n / (i + 1); i++) a[i] = 0;", "int n, int *a"),
    (
        "non-constant-stride",
        "for (unsigned short i = 0; i < n; i += m) a[i] = 0;",
        "unsigned short n, unsigned short m, int *a",
    ),
    ("loop-header", "for (int i = 0; i < n; i = a[i]) a[i] = 0;", "int n, int *a"),
    ("loop-header", "for (int i = 1; i < n; i *= 2) a[i] = 0;", "int n, int *a"),
    ("loop-header", "for (;;) a[0] = 0;", "int n, int *a"),
    ("loop-header", "for (x = 0; x < n; x++) a[0] = 0;", "int n, int *a, double x"),
    ("endless-loop", "for (int i = 0; i >= 0; i++) a[i] = 0;", "int n, int *a"),
    ("integer-wrap", "for (unsigned i = 9; i >= 0; i--) a[i] = 0;", "int n, int *a"),
    ("iterator-written", f"{LOOP} {{ a[i] = 0; i = 2 * i; }}", "int n, int *a"),
    ("iterator-written", f"{LOOP} {{ a[i] = i++; }}", "int n, int *a"),
    (
        "iterator-reused",
        f"int i; for (i = 0; i < n; i++) {LOOP.replace('int ', '')} a[i] = 0;",
        "int n, int *a",
    ),
    (
        "iterator-used-outside-loop",
        "for (i = 0; i < n; i++) a[i] = 0; for (i = 0; a[i]; i++) a[i] = i; a[0] = i;",
        "int n, int i, int *a",
    ),
    (  # though the first loop has no statement that runs
        "iterator-used-outside-loop",
        "for (i = 0; i < n; i++) if (i < i) *a = 0; for (k = 0; k < n; k++) for (i = i; a[i]; i++) a[i] = 1;",
        "int n, int k, int *a, int i",
    ),
    ("volatile", f"{LOOP} a[i] = x;", "int n, int *a, volatile int x"),
    ("volatile", f"{LOOP} a[i] = 0;", "int n, volatile int *a"),
    (
        "pointer-indirection",
        f"{LOOP} a[i]->p->p->p->p->x = 0;",
        "int n, struct s { double x; struct s *p; } **a",
    ),
    ("pointer-reassigned", f"{LOOP} {{ a[i] = 0; a = b; }}", "int n, double *a, double *b"),
    ("empty-region", "a = b;", "double *a, double *b"),
    ("pointer-value", f"{LOOP} a[i] = b + i == a;", "int n, double *a, double *b"),
    (
        "pointer-swap",
        f"{LOOP} if (a[i]) {{ int *t = a; a = b; b = t; a[i] = b[i]; }}",
        "int n, int *a, int *b",
    ),
    ("pointer-swap", f"{SWAP} t = a; a = b; b = t; a[1] = 0;", "int n, int *a, int *b", "int *t;"),
    ("pointer-arithmetic", f"{LOOP} ((float *)(i + 1L))[0] = 0;", "int n, double *a"),
    ("pointer-may-change", "for (g = 0; g < n; g++) a[g] = 0;", "int n, char *a", "", "int g;"),
    ("partial-subscript", f"{LOOP} x = *a[i] + (a[0] == 0);", "int n, double a[n][n], double x"),
    ("address-of", f"{LOOP} a[i] = !&x;", "int n, double *a, int x"),
    ("struct-copy", "*p = *q;", "struct s *p, struct s *q", "", "struct s { int n; int *v; };"),
    ("union", "p->n = 0;", "union u *p", "", "union u { int n; float x; };"),
    ("bit-field", "p->n = 0;", "struct s *p", "", "struct s { unsigned n : 3; };"),
    (
        "mixed-access",
        "a[0] = 1; a[1] = 2; p[1].x = p->x;",
        "double *a, struct s *p",
        "",
        "struct s { int x; };",
    ),
    ("out-of-bounds", f"{LOOP} a[i][4] = 0;", "int n, double a[4][4]"),
    ("array-extent", f"{LOOP} a[i][0] = 0;", "int n, double a[n][n * n]"),
    ("array-extent", f"{LOOP} a[i][0] = 0;", "int n", "double a[n][n]; n = 3;"),
    ("declaration", "static int x; x = 1;", "int n"),
    ("declaration", "double *p; p = 0;", "int n"),
    ("initialiser-list", "double p[2][2] = {[1][0] = 1};", "int n"),
    ("pragma", f"{LOOP}\n{{\n#pragma redefine_extname a b\na[0] += i; }}", "int n, double *a"),
    ("empty-region", ";", "int n"),
    ("empty-region", "for (int i = 0; i < 0; i++) a[i] = 0;", "double *a"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}: {case[1]}")
def test_refusal(case):
    code, region, parameters, before, top = (*case, "", "")[:5]
    with pytest.raises(Unsupported) as caught:
        scop_in(region, parameters, before, top=top)
    assert caught.value.diagnostic.code == code


def test_a_refusal_says_what_where_and_what_to_do():
    with pytest.raises(Unsupported) as caught:
        scop_in("a[0] = 2;\nwhile (a[0] < n)\n  a[0] += 1;", "int n, double *a")
    diagnostic = caught.value.diagnostic
    assert diagnostic.message == "a while loop is not modelled"
    assert diagnostic.location.line == 6
    assert diagnostic.hint


def test_a_declaration_used_after_the_region_must_not_be_hidden_in_it():
    with pytest.raises(Unsupported, match="used after it"):
        scop_in("double s = 0; for (int i = 0; i < n; i++) s += a[i];", "int n, double *a", after="a[0] = s;")
