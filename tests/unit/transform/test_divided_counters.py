"""Rows whose subscripts divide: which get statements of their own for each residue class."""

from __future__ import annotations

import pytest

from polybuild.analysis.dependences import compute_dependences
from polybuild.schedule.legality import check_schedule
from polybuild.transform.divided_counters import split_divided_counters

PARAMETERS = (
    "int n, double a[restrict n][n], double b[restrict 2 * n][2 * n], unsigned char c[restrict n],"
    " unsigned char d[restrict 2 * n], double *s"
)
PLANE = "for (int i = 0; i < 2 * n; i++) for (int j = 0; j < 2 * n; j++)"


@pytest.mark.parametrize(
    ("body", "count"),
    [
        (f"{PLANE} b[i][j] = a[i / 2][j / 2];", 2),
        (f"{PLANE} b[i][j] = a[i >> 1][j >> 1] * (1 + (j & 1));", 2),
        (f"{PLANE} {{ int x = j / 2; double t = a[i / 2][x]; b[i][j] = t * t; }}", 4),
        ("for (int j = 0; j < n; j++) b[0][j] = a[0][j / 3];", 3),
        ("for (int j = 1; j < 2 * n; j++) d[j] = j % 2 ? c[j / 2] >> 4 : c[j / 2] & 15;", 2),
        (f"{PLANE} if (j % 2 == 0) b[i][j] = a[0][0]; else b[i][j] = a[0][1];", 2),
        ("for (int j = 2 * n - 1; j >= 0; j--) b[0][j] = a[0][j / 2];", 2),
    ],
)
def test_each_residue_class_has_its_statements(model, body, count):
    found = model(body, PARAMETERS)
    after = split_divided_counters(found.scop)
    check_schedule(after.schedule, compute_dependences(after, frozenset()), after.domain)
    assert after.schedule.get_map().is_injective()  # else it is no order of the instances
    assert len(after.statements) == count
    assert all(each.conditional for each in after.statements)


@pytest.mark.parametrize(
    "body",
    [
        f"{PLANE} b[i][j] = a[i / 2][0];",
        f"{PLANE} b[i][j] = a[i / 2][j / 16];",
        f"{PLANE} if ((i + j) % 2) b[i][j] = 0;",
        "for (int j = 1; j < n; j += 3) b[0][j] = 1;",
        "for (int j = 7 - n % 4; j < 9; j += 3) { b[0][j + 4] = 1; b[1][j + 4] = 2; }",
        "for (int j = 1; j < n; j++) b[0][j] = b[0][j / 2];",
        "for (int j = 1; j < n; j++) b[0][j / 2] = a[0][j];",
        "for (int j = 1; j < n; j++) s[0] += a[0][j / 2];",
        "for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) b[j][0] += a[j / 2][k];",
    ],
)
def test_other_loops_are_left_alone(model, body):
    found = model(body, PARAMETERS)
    assert split_divided_counters(found.scop) is found.scop
