"""Switches that only choose become conditions, and others stay as they are."""

from __future__ import annotations

import pytest
from plain_regions import region_of

from polybuild.codegen.c.bodies import c_text
from polybuild.normalise.switches import with_conditions_for_switches


def conditions(body: str) -> str | None:
    """What becomes of the loops ``body``; None if they stay as they are."""
    given = region_of(
        f"void f(int n, int m, int *t, double *x) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    )
    found = with_conditions_for_switches(given)
    return None if found is given else " ".join(" ".join(map(c_text, found.statements)).split())


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "switch (m) { case 0: x[0] = 1; break; case 1: case 7: x[1] = 1; break; default: x[2] = 1; }",
            (
                "if (m == 0) { x[0] = 1; } if ((m == 1) || (m == 7)) { x[1] = 1; }"
                " if (!(((m == 0) || (m == 1)) || (m == 7))) { x[2] = 1; }"
            ),
        ),
        (
            "switch (n % 4) { case 3: x[0] += 1; case 2: x[1] += 1; }",
            "if ((n % 4) == 3) { x[0] += 1; } if (((n % 4) == 3) || ((n % 4) == 2)) { x[1] += 1; }",
        ),
        (
            "switch (m) { default: x[0] = 1; case 1: x[1] = 1; break; case 2: { x[2] = 1; break; } }",
            (
                "if (!((m == 1) || (m == 2))) { x[0] = 1; }"
                " if ((m == 1) || (!((m == 1) || (m == 2)))) { x[1] = 1; } if (m == 2) { { x[2] = 1; } }"
            ),
        ),
        (
            "for (int i = 0; i < n; i++) switch (i & 1) { case 0: x[i] = 1; }",
            "for (int i = 0; i < n; i++) { if ((i & 1) == 0) { x[i] = 1; } }",
        ),
    ],
)
def test_numbers_that_do_not_change(body, expected):
    assert conditions(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            r"switch (t[0]) { case '\0': x[0] = 1; }",
            r"int switched = t[0] if (switched == '\0') { x[0] = 1; }",
        ),
        ("switch (t[0]) { case 0: x[0] = 1; }", "int switched = t[0] if (switched == 0) { x[0] = 1; }"),
        (
            "switch (t[0]) { default: x[2] = 1; break; case 0: case 3: x[0] = 1; break; case 1: break; }",
            (
                "int switched = t[0] if ((switched == 0) || (switched == 3)) { x[0] = 1; }"
                " else if (switched == 1) { } else { x[2] = 1; }"
            ),
        ),
        (
            "int switched = 1; long v = t[0]; switch (v - switched) { case 'a': m = 2; x[0] += 1; }",
            (
                "int switched = 1 long v = t[0] long long switched_2 = v - switched"
                " if (switched_2 == 'a') { m = 2; x[0] += 1; }"
            ),
        ),
    ],
)
def test_data_of_which_values_are_made(body, expected):
    assert conditions(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "switch (t[0]) { case 0: x[0] = 1; case 1: x[1] = 1; }",  # data, and both may happen
        "switch (t[0]) { case -1: x[0] = 1; }",
        r"switch (t[0]) { case '\xff': x[0] = 1; }",
        r"switch (t[0]) { case '\377': x[0] = 1; }",
        "switch (t[0]) { case 0: x[0] = 1; break; default: for (int i = 0; i < n; i++) x[i] = 1; }",
        "switch (t[0]) { case 0: x[m++] = 1; }",
        "for (int i = 0; i < n; i++) { int v = t[i]; switch (v) { case 0: if (m) x[i] = 1; } }",
        "switch (m) { case 0: m = 1; case 1: x[0] = 1; }",  # it changes
        "switch (m) { case 0: if (n > 3) break; x[0] = 1; }",  # it is left in between
        "switch (m) { case 0: { case 1: x[0] = 1; } }",
        "switch (m++) { case 0: x[0] = 1; }",
        "for (int i = 0; i < n; i++) switch (i) { case 0: i++; x[i] = 1; }",
    ],
)
def test_others_stay(body):
    assert conditions(body) is None
