"""What one thread gains by a mapping, beside the original loops as compilers make them."""

from __future__ import annotations

import pytest
from contexts import context_of

from polybuild.analysis.reductions import find_reductions
from polybuild.targets.cpu.one_thread import gains_on_one_thread
from polybuild.targets.cpu.reduction_parallelisation import choose_with_reductions

PARAMETERS = (
    "int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n], double *restrict x,"
    " double *restrict y, int *restrict k, unsigned char *restrict s"
)
SAME = {
    "rows": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) c[i][j] = a[i][j] + b[i][j];",
    "one loop": "for (int i = 0; i < n; i++) y[i] = 2 * x[i];",
    "a sum that any order gives": "k[0] = 0; for (int i = 0; i < n; i++) k[0] += s[i];",
    "a short window": (
        "for (int i = 0; i < n; i++) { y[i] = 0; for (int j = 0; j < 9; j++) y[i] += a[0][j] * x[i + j]; }"
    ),
}
BETTER = {
    "columns": "for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) c[i][j] = a[i][j] + b[i][j];",
    "registers": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int l = 0; l < n; l++)"
        " c[i][j] += a[i][l] * b[l][j];"
    ),
    "sums that wait": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[i] += a[i][j] * x[j];",
}


def gains(model, body: str) -> bool:
    read, context = model(body, PARAMETERS), context_of()
    reductions = find_reductions(read.scop, read.region, reassociate=False)
    found = choose_with_reductions(read.scop, read.dependences, reductions, context)
    return gains_on_one_thread(read.scop, read.dependences, reductions.found, found, context)


@pytest.mark.parametrize("name", SAME)
def test_what_the_compiler_does_as_well_is_no_gain(model, name):
    assert not gains(model, SAME[name])


@pytest.mark.parametrize("name", BETTER)
def test_orders_and_registers_are_gains(model, name):
    assert gains(model, BETTER[name])
