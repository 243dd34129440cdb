"""Original loops along rows, forwards: where dependences allow it, and only there."""

from __future__ import annotations

import pytest

from polybuild.poly.relations import maps_of
from polybuild.targets.cpu.unit_strides import with_unit_strides

PARAMETERS = "int n, double a[restrict n][n], double b[restrict n][n]"


def stamps(model, body):
    """What the members of the new schedule are for the first statement, constants left out."""
    found = model(body, PARAMETERS)
    schedule = with_unit_strides(found.scop, found.dependences, found.scop.schedule)
    (stamp,) = [each for each in maps_of(schedule.get_map()) if "S0" in str(each)]
    return str(stamp).partition("-> [")[2].partition("]")[0]


@pytest.mark.parametrize(
    ("loops", "expected"),
    [
        ("for (int j = 0; j < n; j++) for (int i = 0; i < n; i++)", "i, j"),
        ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)", "i, j"),
        ("for (int i = n - 1; i >= 0; i--) for (int j = n - 1; j >= 0; j--)", "i, j"),
        ("for (int j = n - 1; j >= 0; j--) for (int i = 0; i < n; i++)", "i, j"),
    ],
)
def test_loops_run_along_rows(model, loops, expected):
    assert stamps(model, f"{loops} b[i][j] = 2 * a[i][j];") == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for (int j = 1; j < n; j++) for (int i = 0; i < n - 1; i++) b[i][j] = b[i + 1][j - 1];", "j, i"),
        ("for (int i = 0; i < n; i++) for (int j = n - 2; j >= 0; j--) b[i][j] = b[i][j + 1];", "i, -j"),
        ("for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) b[j][0] = a[i][j];", "j, i"),
    ],
)
def test_dependences_and_other_writes_keep_their_order(model, body, expected):
    assert stamps(model, body) == expected
