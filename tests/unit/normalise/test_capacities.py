"""Ends of rows that data tell are bounded by how far rows are apart."""

from __future__ import annotations

import pytest
from plain_regions import region_of

from polybuild.codegen.c.bodies import c_text
from polybuild.normalise.row_capacities import with_row_capacities


def given(body: str):
    text = (
        "enum { SPACE = 32 };"
        " void f(int n, int m, const int *used, const unsigned *big, double *p, double *q, double (*g)[3])"
        f" {{\n#pragma scop\n{body}\n#pragma endscop\n}}"
    )
    return region_of(text)


@pytest.mark.parametrize(
    ("body", "test"),
    [
        ("{ const int last = used[i]; for (int k = 0; k < last; k++) p[64 * i + k] = 1; }", "last > 64"),
        ("for (int k = 0; k < used[i]; k++) p[64 * i + k] = 1;", "used[i] > 64"),
        ("for (int k = 0; k <= used[i]; k += 1) p[k + i * 8] += q[k];", "used[i] >= 8"),
        ("for (int k = 0; k < used[i]; k++) g[SPACE * i + k][0] = 1;", "used[i] > 32"),
        ("for (int k = 0; k < used[i]; k++) p[4 * (i * m - 2 * n) + k + 3] = 1;", "used[i] > 4"),
        ("for (int k = 0; k < used[i]; k++) p[64 * i + 2 * k] = 1;", "used[i] > 32"),
        ("for (int k = 0; k < used[i]; k++) p[m * i + k] = 1;", "used[i] > m"),
        ("for (int k = 1; k <= used[i]; k++) p[64 * i + k] = 1;", "used[i] >= 65"),
        ("{ int k; for (k = 1; k < used[i]; k++) p[m * i + k] = 1; }", "used[i] > (m + 1L)"),
        ("for (int k = 0; k < used[i]; k++) p[2 * (i * m + k) + 1] = 1;", "used[i] > m"),
        ("for (int k = 0; k < used[i]; k++) p[4 * i * m + k] = 1;", "used[i] > (4L * m)"),
        (
            "for (int k = 0; k < used[i]; k++) for (int d = 0; d < 3; d++) p[3 * (i * m + k) + d] = 1;",
            "used[i] > m",
        ),
        ("for (int k = 0; k < used[i]; k++) { p[6 * i + k] = 1; p[9 * i + k + 1] = 1; }", "used[i] > 6"),
    ],
)
def test_ends_are_bounded(body, test):
    region = with_row_capacities(given(f"for (int i = 0; i < n; i++) {body}"))
    assert f"{test}, " in " ".join(map(c_text, region.statements))


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) for (int k = 0; k < used[i]; k++) p[i + k] = 1;",
        "for (int i = 0; i < n; i++) for (int k = 0; k < used[i]; k++) p[64 * i + 3 * k] = 1;",
        "for (int i = 0; i < n; i++) for (int k = 0; k < used[i]; k++) { p[m * i + k] = 1; m = 3; }",
        "for (int i = 0; i < n; i++) for (unsigned k = 0; k < big[i]; k++) p[m * i + k] = 1;",
        "for (int i = 0; i < n; i++) for (int k = 0; k < used[i]; k++) p[64 * i + k * m] = 1;",
        "for (int i = 0; i < n; i++) for (int k = 0; k < used[i]; k++) p[i] += q[64 * i + k];",
        "for (int i = 0; i < n; i++) for (int k = 0; k < used[i]; k += 2) p[64 * i + k] = 1;",
        "for (int i = 0; i < n; i++) for (int k = 0; k < 64; k++) p[64 * i + k] = 1;",
        "for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) p[2 * m * i + k] = 1;",
        "for (int i = 0; i < n; i++) for (int k = 0; k < used[i]; k++) p[2 * m * i + m + k] = 1;",
        "for (int k = 0; k < used[0]; k++) p[64 * m + k] = 1;",
        "for (int i = 1; i <= n; i++) for (int k = 1; k <= *used; k++) p[m * i + k] = 1;",
        "int e = *used; for (int i = 1; i <= n; i++) for (int k = 1; k <= e; k++) p[m * i + k] = 1;",
    ],
)
def test_other_loops_stay(body):
    region = given(body)
    assert with_row_capacities(region) is region
