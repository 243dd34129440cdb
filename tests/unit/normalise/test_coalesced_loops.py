"""Loops over all elements of several dimensions become loops over each, and others stay as they are."""

from __future__ import annotations

import pytest
from plain_regions import region_of

from polybuild.codegen.c.bodies import c_text
from polybuild.normalise.coalesced_loops import _COUNTED, _LONG, split_coalesced_loops


def split(body: str, after: str = "") -> str | None:
    """What becomes of the loops ``body``; None if they stay as they are."""
    given = region_of(
        f"void f(int n, int m, unsigned u, long l, double *x, double *y) {{ int k, i;\n#pragma scop\n{body}\n"
        f"#pragma endscop\n{after} }}\n"
    )
    found = split_coalesced_loops(given)
    return None if found is given else " ".join(" ".join(map(c_text, found.statements)).split())


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "for (int k = 0; k < n * m; k++) x[k / m] += y[k % m];",
            (
                "{ __polybuild_never(m < 0, COUNTED); for (int k_1 = 0; k_1 < n; k_1++)"
                " for (int k_2 = 0; k_2 < m; k_2++) x[k_1] += y[k_2]; }"
            ),
        ),
        (
            "for (k = 0; k < n * m; ++k) x[k] = y[k % n * m + k / n];",
            (
                "{ __polybuild_never(n < 0, COUNTED); for (int k_1 = 0; k_1 < m; k_1++)"
                " for (int k_2 = 0; k_2 < n; k_2++) x[k_1 * n + k_2] = y[k_2 * m + k_1]; }"
            ),
        ),
        (
            "for (long k = 0; k < l * n * 3; k++) x[k / (n * 3)] += y[k / 3 % n] * x[k % 3];",
            (
                "{ __polybuild_never(n < 0, COUNTED); for (long k_1 = 0; k_1 < l; k_1++)"
                " for (long k_2 = 0; k_2 < n; k_2++) for (long k_3 = 0; k_3 < 3; k_3++)"
                " x[k_1] += y[k_2] * x[k_3]; }"
            ),
        ),
        (  # rows of y are rows of x, which has them elsewhere
            "x[i * m + 1] = 0; for (k = 0; k < n * m; k++) y[k] = x[k];",
            (
                "x[i * m + 1] = 0 { __polybuild_never(m < 16, LONG); for (int k_1 = 0; k_1 < n; k_1++)"
                " for (int k_2 = 0; k_2 < m; k_2++) y[k_1 * m + k_2] = x[k_1 * m + k_2]; }"
            ),
        ),
        (  # planes of all rows
            "x[i * m * n + i * m + 1] = 0; for (k = 0; k < n * m; k++) x[i * n * m + k] = 1;",
            (
                "x[i * m * n + i * m + 1] = 0 { __polybuild_never(m < 16, LONG);"
                " for (int k_1 = 0; k_1 < n; k_1++) for (int k_2 = 0; k_2 < m; k_2++)"
                " x[i * n * m + (k_1 * m + k_2)] = 1; }"
            ),
        ),
    ],
)
def test_each_dimension_has_a_loop(body, expected):
    reasons = {"LONG": _LONG, "COUNTED": _COUNTED}
    for name, text in reasons.items():
        expected = expected.replace(name, text)
    assert split(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "for (int k = 0; k < n * m; k++) x[k] = y[k];",  # nothing is recovered
        "x[i * m] = 0; for (int k = 0; k < n * m; k++) x[i * m + k] = 1;",  # from each row on
        "for (int k = 0; k < 2 * m; k++) x[i * 2 * m + k] = 1;",  # rows of two sizes
        "x[i * u] = 0; for (int k = 0; k < n * m; k++) x[k] = y[k];",  # other rows
        "x[i * 3] = 0; for (int k = 0; k < n * 3; k++) x[k] = y[k];",  # too short ones
        "for (int k = 0; k < n * m; k++) x[k / m] += y[k % n];",  # by two sizes that do not go together
        "for (int k = 0; k < n * m; k++) x[k / i] += y[k % i];",
        "for (int k = 1; k < n * m; k++) x[k / m] += y[k % m];",
        "for (int k = 0; k <= n * m; k++) x[k / m] += y[k % m];",
        "for (int k = 0; k < n * m; k += 2) x[k / m] += y[k % m];",
        "for (unsigned k = 0; k < u * u; k++) x[k / u] += y[k % u];",  # the product may wrap around
        "for (int k = 0; k < n * m; k++) { if (y[k % m] > 3) break; x[k / m] += 1; }",
        "for (int k = 0; k < n * m; k++) { m += 1; x[k / m] += y[k % m]; }",
        "for (int k = 0; k < n * m; k++) { x[k / m] += y[k % m]; k += 1; }",
        "if (n > 3) for (int k = 0; k < n * m; k++) x[k / m] += y[k % m];",
    ],
)
def test_other_loops_stay(body):
    assert split(body) is None


def test_a_counter_that_is_read_afterwards_stays():
    loop = "for (k = 0; k < n * m; k++) x[k / m] += y[k % m];"
    assert split(loop, "x[0] = k;") is None
    assert split(f"{loop} x[k] = 0;") is None
