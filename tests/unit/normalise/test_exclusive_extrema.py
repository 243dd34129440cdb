"""Minima and maxima, the second of which is asked for where the first stays, come apart."""

from __future__ import annotations

import pytest
from plain_regions import region_of

from polybuild.codegen.c.bodies import c_text
from polybuild.normalise.exclusive_extrema import separate_exclusive_extrema

UPDATE = "if (x[i] < low) low = x[i]; else if (x[i] > high) high = x[i];"
APART = "{ if (x[i] < low) low = x[i]; if (x[i] > high) high = x[i]; }"


def separated(before: str, body: str, inside: str = "") -> str:
    """What becomes of the ``body`` of a loop behind statements ``before`` the region and ``inside``."""
    given = region_of(
        "void f(int n, double *x, int *k, double *out) {\n"
        f"double low, high, other; int least, greatest, at = 0;\n{before}\n#pragma scop\n{inside}\n"
        f"for (int i = 1; i < n; i++) {{ {body} }}\n#pragma endscop\n"
        "*out = low + high + least + greatest + other + at; }\n"
    )
    text = " ".join(" ".join(map(c_text, separate_exclusive_extrema(given).statements)).split())
    return text.rpartition("for (int i = 1; i < n; i++) ")[2].removeprefix("{ ").removesuffix(" }")


@pytest.mark.parametrize(
    ("before", "inside"),
    [
        ("low = x[0]; high = x[0];", ""),
        ("low = high = x[0];", ""),
        ("high = x[0]; low = high;", ""),
        ("low = x[0]; other = 2; high = low; at = 3;", ""),
        ("", "low = x[0]; high = low;"),
        ("low = 0;", "high = 0;"),
    ],
)
def test_equal_starts(before, inside):
    assert separated(before, UPDATE, inside) == APART


@pytest.mark.parametrize(
    ("before", "inside"),
    [
        ("", ""),
        ("low = 1e9; high = -1e9;", ""),
        ("low = x[0]; x[0] = 3; high = x[0];", ""),
        ("low = x[at]; at = 3; high = x[at];", ""),
        ("low = x[0]; low = x[0] + 1; high = x[0];", ""),
        ("low = high = x[0]; low += 1;", ""),
        ("low = high = x[0]; if (n > 9) high = -1;", ""),
        ("low = high = x[0]; g(&low);", ""),
        ("low = x[0]; g(); high = x[0];", ""),
        ("low = high = x[0];", "for (int j = 0; j < n; j++) high = -x[j];"),
    ],
)
def test_other_starts(before, inside):
    assert separated(before, UPDATE, inside) == UPDATE


@pytest.mark.parametrize(
    "body",
    [
        "if (x[i] <= low) low = x[i]; else if (x[i] >= high) high = x[i];",  # zeros have signs
        "if (x[i] < low) low = x[i]; else if (x[i] < high) high = x[i];",
        "if (x[i] < low) low = x[i]; else if (x[i - 1] > high) high = x[i - 1];",
        "if (x[i] < low) low = high; else if (x[i] > high) high = x[i];",
        "if (x[i] < low) { low = x[i]; high = 0; } else if (x[i] > high) high = x[i];",
        "if (x[i] < low) { low = x[i]; x[i] = 0; } else if (x[i] > high) high = x[i];",
        "if (x[i] < low) low = x[i]; else if (x[i] > high) high = x[i]; else at++;",
        "if (x[i] < low) low = x[i]; else if (x[i] > high) high = x[i]; low += 1;",
    ],
)
def test_other_bodies(body):
    assert separated("low = high = x[0];", body) == body


def test_whole_numbers_and_places():
    body = (
        "if (k[i] <= least) least = k[i]; else if (k[i] >= greatest) greatest = k[i];"
        " if (x[i] < low) { at = i; low = x[i]; } else if (x[i] >= high) { high = x[i]; }"
    )
    found = separated("least = greatest = k[0]; low = high = x[0];", body)
    assert found.count("else") == 0
    assert "if (x[i] >= high)" in found


def test_values_that_do_not_fit():
    body = "if (x[i] < least) least = x[i]; else if (x[i] > greatest) greatest = x[i];"
    assert separated("least = greatest = 0;", body) == body
