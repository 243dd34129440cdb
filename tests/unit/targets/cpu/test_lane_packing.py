"""Rows that lanes read again and again are packed, if each lane reads its own in any case."""

from __future__ import annotations

import pytest
from contexts import context_of

from polybuild.poly.trees import descendants, is_band, map_bottom_up
from polybuild.targets.cpu.lane_loops import find_lane_loop
from polybuild.targets.model import LaneLoop
from polybuild.transform.bands import in_single_loops

PARAMETERS = "int n, double a[restrict n][n], double b[restrict n][n], double *restrict x, double *restrict y"
LOOPS = "for (int i = 0; i < n; i++) for (int l = 0; l < n; l++) for (int k = 0; k < n; k++) "


@pytest.fixture
def lanes(model):
    """The lanes of the outer loop around a statement."""

    def make(statement):
        found = model(LOOPS + statement, PARAMETERS)
        root = map_bottom_up(found.scop.schedule.get_root(), in_single_loops)
        loop = next(each for each in descendants(root) if is_band(each))
        machine = context_of().machine
        return find_lane_loop(loop, found.scop, found.dependences, machine, scalar=True)

    return make


def test_rows_that_are_read_again_are_packed(lanes):
    found = lanes("x[i] += a[i][k] * b[l][k];")
    assert isinstance(found, LaneLoop)
    assert [each.array.name for each in found.packed] == ["a"]


@pytest.mark.parametrize(
    "statement",
    [
        "if (y[i] > 0) x[i] += a[i][k] * b[l][k];",
        "if (!(y[i] <= 0)) { x[i] += a[i][k] * b[l][k]; }",
        "x[i] += y[i] > 0 ? a[i][k] * b[l][k] : 0;",
        "x[i] += b[l][k] * (y[i] > 0 ? a[i][k] : 1);",
        "if (y[i] > 0) x[i] += a[i][k]; else x[i] -= b[l][k];",
        "if (y[i] > 0 && b[l][k] > 0) x[i] = a[i][k] + x[i];",
    ],
)
def test_rows_that_data_choose_may_not_exist(lanes, statement):
    assert lanes(statement) is None
