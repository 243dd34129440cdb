"""Which accesses of a variable share values, and the loops that the values are private to."""

from __future__ import annotations

import islpy as isl

from polybuild.storage.webs import webs_of

PARAMETERS = "int n, double x[restrict n], double y[restrict n], double A[restrict n][n]"


def webs(model, body, name="s", **around):
    scop = model(body, PARAMETERS, **around).scop
    (array,) = (each for each in scop.arrays if each.name == name)
    return scop, webs_of(scop, array)


def test_a_sum_is_private_to_the_loops_around_it(model):
    scop, (web,) = webs(
        model,
        "for (int i = 0; i < n; i++) { double s = 0; for (int j = 0; j < n; j++) s += A[i][j]; y[i] = s; }",
    )
    assert (web.depth, web.writers, web.readers) == (1, {"S0", "S1"}, {"S1", "S2"})
    (read,) = (each for each in scop.statements[2].accesses if web.has(scop.statements[2], each))
    assert web.cells(read).range().is_equal(isl.Set("[n] -> { [i] : 0 <= i < n }"))


def test_two_uses_of_one_variable_are_two_webs(model):
    _, found = webs(
        model,
        """for (int i = 0; i < n; i++) { s = x[i]; y[i] = s; }
           for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { s = x[j]; A[i][j] = s; }""",
        before="double s;",
    )
    assert [each.depth for each in found] == [1, 2]


def test_a_value_that_goes_from_one_iteration_to_the_next_is_private_to_none(model):
    body = "for (int i = 0; i < n; i++) { s += x[i]; y[i] = s; }"
    assert webs(model, f"s = 0; {body}", before="double s;")[1] == []
    assert webs(model, body, before="double s = 0;")[1] == []


def test_conditional_writes_have_no_webs(model):
    body = "for (int i = 0; i < n; i++) { double s = 0; if (x[i] > 0) s = x[i]; y[i] = s; }"
    assert webs(model, body)[1] == []


def test_rows_of_a_local_array_are_private_to_the_loop_around(model):
    scop, (web,) = webs(
        model,
        """for (int i = 0; i < n; i++) {
             double r[n];
             for (int j = 0; j < n; j++) r[j] = x[j];
             for (int j = 0; j < n; j++) A[i][j] = r[n - 1 - j];
           }""",
        "r",
    )
    assert web.depth == 1
    (read,) = (each for each in scop.statements[1].accesses if web.has(scop.statements[1], each))
    cells = web.cells(read)
    assert cells.is_equal(isl.Map("[n] -> { S1[i, j] -> [i, n - 1 - j] : 0 <= i < n and 0 <= j < n }")), cells
