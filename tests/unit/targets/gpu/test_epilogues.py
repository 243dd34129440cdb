"""Prologues and epilogues: which statements run in the kernel of a sum, and where there is none for them."""

import pytest

ARRAYS = (
    "int n, double A[restrict n][n], double B[restrict n][n], double C[restrict n][n], double *restrict x"
)
LOOPS = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
SUM = f"{LOOPS} for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];"
TOGETHER = {
    "zero": f"{LOOPS} C[i][j] = 0; {SUM}",
    "scaled": f"{LOOPS} C[i][j] *= 2; {SUM}",
    "columns": f"for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) C[i][j] = x[i]; {SUM}",
    "two before": f"{LOOPS} {{ C[i][j] += x[i]; C[i][j] *= x[j]; }} {SUM}",
    "after": f"{SUM} {LOOPS} C[i][j] = C[i][j] < 0 ? 0 : C[i][j];",
    "rows": "for (int i = 0; i < n; i++) { x[i] = 0; for (int k = 0; k < n; k++) x[i] += A[i][k]; }",
    "diagonal": f"{SUM} for (int i = 0; i < n; i++) C[i][i] += x[i];",
    "past others": f"{LOOPS} C[i][j] = 0; for (int i = 0; i < n; i++) x[i] = 2; {SUM}",
}
APART = {
    "mirrored": f"{SUM.replace('j < n', 'j <= i')} {LOOPS.replace('j < n', 'j < i')} C[j][i] = C[i][j];",
    "operand": f"{LOOPS} A[i][j] *= 2; {SUM}",
    "neighbour": f"{LOOPS} C[i][j] = 0; {SUM} {LOOPS} B[i][j] = C[i][0];",
    "every row": f"for (int i = 0; i < n; i++) x[i] = 0; {SUM} {LOOPS} x[i] += C[i][j];",
    "read between": f"{LOOPS} C[i][j] = 1; for (int i = 1; i < n; i++) x[i] = C[i][0] + C[0][i]; {SUM}",
}


@pytest.mark.parametrize("body", TOGETHER.values(), ids=TOGETHER)
def test_prologues_and_epilogues_take_no_kernel(planned, body):
    plan = planned(body, ARRAYS).plan
    assert len(plan.kernels) == 1 + ("x[i] = 2" in body)


@pytest.mark.parametrize("body", APART.values(), ids=APART)
def test_what_other_threads_need_has_a_kernel(planned, body):
    plan = planned(body, ARRAYS).plan
    assert len(plan.kernels) == (3 if body == APART["read between"] else 2)
