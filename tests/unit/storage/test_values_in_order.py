"""Values that statements in order read of others, in variables of their own."""

from __future__ import annotations

import pytest

from polybuild.storage.passed_values import pass_values, sequential_statements

NEAREST = (
    "for (int i = 0; i < n; i++) { int at = 0; for (int k = 0; k < n; k++) if (A[i][k] > A[i][at]) at = k;"
    " x[at] += 1; for (int j = 0; j < n; j++) B[at][j] += A[i][j]; }"
)
DECLARED = "int n, double A[n][n], double B[n][n], double *x"


def sequential(found):
    return found.scop, sequential_statements(found.scop, found.dependences, 0)


def test_what_keeps_a_loop_in_order_waits_for_the_rest(model):
    scop, names = sequential(model(NEAREST, DECLARED))
    assert {each.accesses[-1].array.name for each in scop.statements if each.name in names} == {"x", "B"}


def test_values_are_passed_once_in_each_iteration(model):
    scop, names = sequential(model(NEAREST, DECLARED))
    changed = pass_values(scop, names, 0, frozenset())
    (passing,) = (
        set(changed.statements)
        - set(scop.statements)
        - {each for each in changed.statements if each.name in names}
    )
    assert [each.array.name for each in passing.accesses] == ["at", "at_passed"]
    read = {a.array.name for each in changed.statements if each.name in names for a in each.accesses}
    assert "at" not in read


@pytest.mark.parametrize(
    "loop",
    [
        # set again between two statements in order
        "for (int i = 0; i < n; i++) { double s = A[i][i]; x[(int)s] += s; s = 2 * s; x[(int)s] += s; }",
        # everything is in order
        "for (int i = 1; i < n; i++) x[i] = x[i - 1] * A[i][i];",
    ],
)
def test_others_stay_as_they_are(model, loop):
    scop, names = sequential(model(loop, DECLARED))
    assert pass_values(scop, names, 0, frozenset()) is scop
