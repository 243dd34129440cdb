"""What is waited for where loops leave rows after a part of them, or go down columns."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from contexts import context_of

from polybuild.analysis.reductions import find_reductions
from polybuild.context import Reordering
from polybuild.targets.cpu.cost.compare import cost_of_original

PARAMETERS = "int n, double a[restrict n][4096], double c[restrict n][4096]"
ROWS = "for (int i = 0; i < n; i++) for (int j = 0; j < 4096; j++) c[i][j] = a[i][j];"
STRIPS = (
    "for (int k = 0; k < 4096 / {0}; k++) for (int i = 0; i < n; i++)"
    " for (int j = {0} * k; j < {0} * k + {0}; j++) c[i][j] = {1};"
)
BY_TURNS = (
    "for (int k = 0; k < n / {0}; k++) for (int j = 0; j < 4096; j++)"
    " for (int i = {0} * k; i < {0} * k + {0}; i++) c[i][j] = a[i][j];"
)
LONG = "a[i][j] / (1 + a[i][j] / (2 + a[i][j] / (3 + a[i][j] / (4 + a[i][j] / (5 + a[i][j])))))"


@pytest.fixture
def waits(model) -> Callable[[str], float]:
    """The time of what a body brings from memory, over that at the bandwidth of memory."""

    def found(body: str) -> float:
        read, context = model(body, PARAMETERS), context_of()
        sums = find_reductions(read.scop, read.region, Reordering.EXACT).found
        cost = cost_of_original(read.scop, read.dependences, sums, context).at({"n": 16384})
        return cost.memory * context.machine.memory.bandwidth / cost.traffic

    return found


def test_rows_that_follow_each_other_are_not_waited_for(waits):
    assert waits(ROWS) == pytest.approx(1.0)


def test_parts_of_rows_are_waited_for_the_longer_the_shorter_they_are(waits):
    assert 1.0 < waits(STRIPS.format(512, "a[i][j]")) < waits(STRIPS.format(32, "a[i][j]"))


def test_a_core_comes_to_the_next_rows_before_it_has_computed_much(waits):
    assert 1.05 * waits(STRIPS.format(64, "a[i][j]")) < waits(STRIPS.format(64, LONG))


def test_prefetchers_follow_some_rows_but_not_many(waits):
    assert waits(BY_TURNS.format(16)) == pytest.approx(1.0)
    assert waits(BY_TURNS.format(512)) > 1.9
