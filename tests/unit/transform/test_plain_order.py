"""Loops blocked by hand: which get the order back that they had before, as far as their counters go."""

from __future__ import annotations

import pytest

from polybuild.scop.determined_counters import project_determined_counters
from polybuild.transform.plain_order import in_plain_order

PARAMETERS = "int n, int steps, double u[n][n], double v[n][n]"
TIME = "for (int t = 0; t < steps; t++)"
BLOCKS = "for (int ii = 1; ii < n; ii += 8) for (int jj = 0; jj + 1 < n; jj += 8)"
POINTS = (
    "for (int i = ii; i < (ii + 8 < n ? ii + 8 : n); i++)"
    " for (int j = jj; j < (jj + 8 < n - 1 ? jj + 8 : n - 1); j++)"
)


def ordered(model, body):
    projected = project_determined_counters(model(body, PARAMETERS).scop)
    return projected, in_plain_order(projected, frozenset())


@pytest.mark.parametrize(
    "body",
    [
        f"{BLOCKS} {POINTS} u[i][j] = v[i - 1][j + 1];",
        f"{BLOCKS} {POINTS} u[i][j] = u[i - 1][j] + u[i][j];",
        f"{TIME} {{ {BLOCKS} {POINTS} u[i][j] = v[i - 1][j + 1]; {BLOCKS} {POINTS} v[i][j] = u[i][j]; }}",
        f"{BLOCKS} {POINTS} {{ double s = v[i][j]; u[i][j] = s * s; }}",
    ],
)
def test_the_order_is_that_of_loops_nobody_blocked(model, body):
    _, after = ordered(model, body)
    unblocked = "for (int i = 1; i < n; i++) for (int j = 0; j + 1 < n; j++)"
    plain = model(body.replace(f"{BLOCKS} {POINTS}", unblocked), PARAMETERS).scop
    assert after.domain.is_equal(plain.domain)
    assert after.schedule.get_map().is_equal(plain.schedule.get_map())


def test_an_order_that_dependences_forbid_stays(model):
    projected, after = ordered(model, f"{BLOCKS} {POINTS} u[i][j] = u[i - 1][j + 1];")
    assert after is projected


def test_other_regions_stay(model):
    projected, after = ordered(model, "for (int i = 0; i < n; i++) u[i][i / 2] = i % 3;")
    assert after is projected
