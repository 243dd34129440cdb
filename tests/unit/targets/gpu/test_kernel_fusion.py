"""Which kernels share their loops."""

from __future__ import annotations

import pytest

ARRAYS = "int n, double A[restrict n][n], double B[restrict n][n], double *restrict x, double *restrict y"
TOGETHER = {
    "one value": "for (int i = 0; i < n; i++) x[i] = 2 * y[i]; for (int i = 0; i < n; i++) y[i] = x[i] + 1;",
    "planes": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] *= 2;"
    " for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) B[i][j] += A[i][j];",
    "nothing in common": "for (int i = 0; i < n; i++) x[i] = 1; for (int i = 0; i < n; i++) y[i] = 2;",
    "another between": "for (int i = 0; i < n; i++) x[i] = 2 * y[i];"
    " for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] *= 2;"
    " for (int i = 0; i < n; i++) y[i] = x[i] + 1;",
}
APART = {
    "a neighbour": "for (int i = 1; i < n; i++) x[i] = 2 * y[i];"
    " for (int i = 1; i < n; i++) y[i] = x[i - 1] + 1;",
    "other iterations": "for (int i = 0; i < n; i++) x[i] = 2 * y[i];"
    " for (int i = 1; i < n; i++) y[i] = x[i] + 1;",
    "transposed": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] *= 2;"
    " for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) B[i][j] += A[j][i];",
    "reuse": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] *= 2;"
    " for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
    " for (int k = 0; k < n; k++) B[i][j] += A[i][k] * A[k][j];",
    "what comes between": "for (int i = 0; i < n; i++) x[i] = 2 * y[i];"
    " for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] = x[j] + i;"
    " for (int i = 0; i < n; i++) y[i] = A[n - 1 - i][i];",
}


@pytest.mark.parametrize("body", TOGETHER.values(), ids=TOGETHER)
def test_kernels_of_equal_grids_are_one(planned, body):
    loops = body.count("int i")
    assert len(planned(body, ARRAYS).plan.kernels) == loops - 1


@pytest.mark.parametrize("body", APART.values(), ids=APART)
def test_others_are_not(planned, body):
    assert len(planned(body, ARRAYS).plan.kernels) == body.count("int i")


def test_a_value_that_is_used_at_once_stays_in_a_register(planned):
    found = planned(TOGETHER["one value"], ARRAYS)
    assert "x" in found.registers


def test_who_asks_for_a_fusion_gets_it(planned):
    assert len(planned(TOGETHER["one value"], ARRAYS, fusion="min").plan.kernels) == 2


def test_what_one_thread_does_alone_is_one_kernel(planned):
    """As long as nothing else comes between."""
    chain = "for (int i = 1; i < n; i++) x[i] = x[i] / (x[i - 1] + 1);"
    other = chain.replace("x[", "y[")
    planes = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] = 2 * B[i][j] + x[j];"
    together, apart = (
        planned(body, ARRAYS).plan for body in (chain + other + planes, chain + planes + chain)
    )
    assert [each.is_serial for each in together.kernels].count(True) == 1
    assert [each.is_serial for each in apart.kernels] == [True, False, True]
