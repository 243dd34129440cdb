"""Definitions in place of the variables that updates use."""

from __future__ import annotations

import pytest

from polybuild.codegen.c.bodies import c_text
from polybuild.storage.forwarding import forward_definitions

PARAMETERS = (
    "int n, double f, int z[restrict n],"
    " double x[restrict n][n], double y[restrict n][n], double c[restrict n][n]"
)


def nest(inside: str) -> str:
    loops = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)"
    return f"{loops} {{ {inside} }}"


def forwarded(model, body):
    found = model(body, PARAMETERS)
    return found.scop, forward_definitions(found.scop, found.live)


def test_a_difference_is_written_where_it_is_squared(model):
    _, scop = forwarded(model, nest("double t = x[i][k] - y[j][k]; c[i][j] += t * t;"))
    (statement,) = scop.statements
    assert c_text(statement.body) == "c[i][j] += (x[i][k] - y[j][k]) * (x[i][k] - y[j][k])"
    assert len({id(each.node) for each in statement.accesses}) == 5
    assert "t" not in {each.name for each in scop.arrays}


def test_a_factor_is_taken_from_the_loop_around(model):
    body = """for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) {
        double t = f * x[i][k];
        for (int j = 0; j < n; j++) c[i][j] += t * y[k][j];
    }"""
    _, scop = forwarded(model, body)
    assert [c_text(each.body) for each in scop.statements] == ["c[i][j] += f * x[i][k] * y[k][j]"]


def test_updates_of_rows_in_two_loops(model):
    """They have a row of vectors in registers."""
    body = """for (int k = 0; k < 32; k++) {
        double t = x[0][k];
        for (int i = 0; i < n; i++) c[0][i] += t * y[k][i];
    }"""
    _, scop = forwarded(model, body)
    assert [c_text(each.body) for each in scop.statements] == ["c[0][i] += x[0][k] * y[k][i]"]


def test_definitions_of_definitions_follow(model):
    _, scop = forwarded(model, nest("double t = x[i][k] - y[j][k]; double u = t * f; c[i][j] += u;"))
    assert [c_text(each.body) for each in scop.statements] == ["c[i][j] += (x[i][k] - y[j][k]) * f"]


def test_conversions_are_written_out(model):
    _, scop = forwarded(model, nest("double t = z[k]; c[i][j] += t * t;"))
    assert [c_text(each.body) for each in scop.statements] == ["c[i][j] += ((double) z[k]) * ((double) z[k])"]


@pytest.mark.parametrize(
    "inside",
    [
        "double t = x[i][k]; c[i][j] += t; y[i][j] = t;",  # another one reads it
        "double t = x[i][k] / y[j][k]; c[i][j] += t * t;",  # dear to compute twice
        "float t = x[i][k]; c[i][j] += t;",  # it is rounded
        "double t = x[i][k]; c[i][j] = t;",  # no update
        "double t = c[j][i]; c[i][j] = 0; c[i][j] += t;",  # changed meanwhile
    ],
)
def test_other_definitions_stay(model, inside):
    before, after = forwarded(model, nest(inside))
    assert after is before


def test_an_array_that_a_loop_of_its_own_fills(model):
    """Its writer has a counter more than the update, which reads one element: both stay."""
    body = """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {
        double t[n];
        for (int k = 0; k < n; k++) t[k] = f * 2;
        c[i][j] += t[0];
    }"""
    _, scop = forwarded(model, body)
    assert scop is None or len(scop.statements) == 2
