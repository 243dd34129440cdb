"""What loops find in caches since others before them brought it there, and what rows and columns share."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from contexts import context_of

from polybuild.analysis.reductions import find_reductions
from polybuild.context import Reordering
from polybuild.targets.cost import Cost
from polybuild.targets.cpu.cost.compare import cost_of_original

PARAMETERS = "int n, double a[restrict n][n], double *restrict x, double *restrict y, double *restrict z"
ROWS = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[i] += a[i][j] * x[j];"
COLUMNS = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) z[j] += a[i][j] * x[i];"
BOTH = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { y[i] += a[i][j] * x[j]; z[i] += a[j][i]; }"


@pytest.fixture
def cost(model) -> Callable[[str, int], Cost]:
    """What a body costs for a size."""

    def found(body: str, n: int) -> Cost:
        read, context = model(body, PARAMETERS), context_of()
        sums = find_reductions(read.scop, read.region, Reordering.EXACT).found
        return cost_of_original(read.scop, read.dependences, sums, context).at({"n": n})

    return found


@pytest.fixture
def traffic(cost) -> Callable[[str, int], float]:
    """The bytes that a body brings from memory for a size, over those of the matrix."""
    return lambda body, n: cost(body, n).traffic / (8 * n * n)


def test_what_has_no_iterations_takes_no_time(cost):
    assert (
        cost("for (int i = 1; i < n; i++) y[i] = 0;" + ROWS.replace("int i = 0", "int i = 1"), 1).total == 0
    )


def test_what_fits_in_a_cache_is_brought_there_once(traffic):
    assert traffic(ROWS, 500) == pytest.approx(1.0, rel=0.05)
    assert traffic(ROWS + COLUMNS, 500) == pytest.approx(1.0, rel=0.05)


def test_what_does_not_fit_is_brought_again_by_each_loop(traffic):
    assert traffic(ROWS + COLUMNS, 5000) == pytest.approx(2.0, rel=0.05)


def test_rows_and_columns_meet_in_a_cache_where_the_matrix_fits_alone(traffic):
    assert traffic(BOTH, 500) == pytest.approx(1.0, rel=0.05)
    assert traffic(BOTH, 5000) > 1.9
