"""What uses pointers that conditions choose stands once for each choice, where that is the same."""

from __future__ import annotations

import pytest
from plain_regions import region_of

from polybuild.codegen.c.bodies import c_text
from polybuild.normalise.pointer_choices import split_pointer_choices

PARAMETERS = "int n, int k, double c, int *s, double *a, double *b, volatile int v"


def split(body: str, after: str = "") -> str | None:
    """What becomes of the ``body`` of a loop over ``t``; None if it stays as it is."""
    given = region_of(
        f"int seen; void f({PARAMETERS}) {{ int odd = 0; double *q;\n#pragma scop\n"
        f"for (int t = 0; t < n; t++) {{ {body} }}\n#pragma endscop\n{after} }}\n"
    )
    found = split_pointer_choices(given)
    if found is given:
        return None
    text = " ".join(" ".join(map(c_text, found.statements)).split())
    return text.partition("t++) ")[2]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "double *p = t % 2 ? b : a; p[t] = 1; a[0] = 2;",
            "{ if (t % 2) { double *p = b; p[t] = 1; } else { double *p = a; p[t] = 1; } a[0] = 2; }",
        ),
        (
            "if (t % 2) { q = b; } else q = a; q[t] = 1;",
            "{ if (t % 2) { q = b; q[t] = 1; } else { q = a; q[t] = 1; } }",
        ),
        (
            "double *p = a; if (t % 2) p = b; p[t] = 1;",
            "{ double *p = a; if (t % 2) { p = b; p[t] = 1; } else { p[t] = 1; } }",
        ),
        (
            "for (int i = 0; i < n; i++) (t % 2 ? b : a)[i] = 1;",
            (
                "{ if (t % 2) { for (int i = 0; i < n; i++) b[i] = 1; }"
                " else { for (int i = 0; i < n; i++) a[i] = 1; } }"
            ),
        ),
        (
            "for (int i = 0; i < n; i++) { a[i] = 2; (i % 2 ? b : a)[i] = 1; }",
            "{ for (int i = 0; i < n; i++) { a[i] = 2; if (i % 2) { b[i] = 1; } else { a[i] = 1; } } }",
        ),
        ("double *p[2] = {a, b}; p[t % 2][t] = 1;", "{ if ((t % 2) == 0) { a[t] = 1; } else { b[t] = 1; } }"),
        (  # what is declared between is used behind
            "double *p = t % 2 ? b : a; double x = 3; p[t] = x; a[0] = x;",
            (
                "{ if (t % 2) { double *p = b; double x = 3; p[t] = x; a[0] = x; }"
                " else { double *p = a; double x = 3; p[t] = x; a[0] = x; } }"
            ),
        ),
        (  # the same condition means something else by then
            "double *p = odd ? b : a; odd = !odd; p[t] = odd ? 1 : 2;",
            (
                "{ if (odd) { double *p = b; odd = !odd; p[t] = (odd) ? (1) : (2); }"
                " else { double *p = a; odd = !odd; p[t] = (odd) ? (1) : (2); } }"
            ),
        ),
    ],
)
def test_choices_are_made_before(body, expected):
    assert split(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "double *p = s[t] ? b : a; p[t] = 1;",  # data
        "double *p = c > 0 ? b : a; p[t] = 1;",
        "double *p = v ? b : a; p[t] = 1;",  # may be another one each time
        "double *p = seen ? b : a; p[t] = 1;",  # others may set it
        "double *p = 7 % k ? b : a; p[t] = 1;",  # nothing may divide by zero earlier
        "double *p = t++ % 2 ? b : a; p[t] = 1;",
        "double x = t % 2 ? a[t] : b[t]; a[t] = x;",  # numbers
        "odd = 3; int *o = &odd; double *p = odd ? b : a; p[t] = *o;",
        "double *p[2] = {a, b}; p[0] = b; p[t % 2][t] = 1;",
        "double *p[2] = {a, b}; a = b; p[t % 2][t] = 1;",
    ],
)
def test_other_choices_stay(body):
    assert split(body) is None


def test_tables_that_are_read_later_stay():
    given = region_of(
        "void f(int n, double *a, double *b) { double *p[2];\n#pragma scop\n"
        "for (int t = 0; t < n; t++) p[t % 2][t] = 1;\n#pragma endscop\n }\n"
    )
    assert split_pointer_choices(given) is given


def test_too_many_choices_stay():
    body = "".join(f"double *p{k} = t % {k} ? b : a; " for k in range(2, 8))
    uses = "".join(f"p{k}[t] = 1; " for k in range(2, 8))
    assert split(body + uses) is None
