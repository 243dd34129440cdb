"""Loops over the colours of a grid: which get statements of their own."""

from __future__ import annotations

import pytest

from polybuild.analysis.dependences import compute_dependences
from polybuild.schedule.legality import check_schedule
from polybuild.transform.colours import split_colours

PARAMETERS = "int n, int steps, double u[restrict n][n], double v[restrict 2][n][n]"
TIME = "for (int t = 0; t < steps; t++)"
COLOUR = "for (int c = 0; c < 2; c++)"
SPACE = "for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)"
MEAN = "u[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);"
FOURTH = "for (int i = 1 + a; i < n - 1; i += 2) for (int j = 1 + b; j < n - 1; j += 2)"
ROWS = "for (int i = 1; i < n - 1; i++)"


def split(model, body):
    found = model(body, PARAMETERS)
    after = split_colours(found.scop)
    check_schedule(after.schedule, compute_dependences(after, frozenset()), after.domain)
    assert after.schedule.get_map().is_injective()  # else it is no order of the instances
    return found.scop, after


@pytest.mark.parametrize(
    ("body", "count"),
    [
        (f"{TIME} {COLOUR} {ROWS} for (int j = 1 + (i + c) % 2; j < n - 1; j += 2) {MEAN}", 2),
        (f"{TIME} {COLOUR} {SPACE} if ((i + j) % 2 == c) {MEAN}", 2),
        (f"{TIME} for (int c = 1; c <= 2; c++) {SPACE} if ((i + j) % 2 == 2 - c) {MEAN}", 2),
        (f"{TIME} for (int c = 0; c < 3; c++) {SPACE} if ((i + 2 * j) % 3 == c) {MEAN}", 3),
        (
            f"{TIME} for (int a = 0; a < 2; a++) for (int b = 0; b < 2; b++) {FOURTH} {MEAN}",
            4,
        ),
        (f"{TIME} {{ {COLOUR} {SPACE} if ((i + j) % 2 == c) {MEAN} {SPACE} v[0][i][j] = u[i][j]; }}", 3),
    ],
)
def test_each_colour_has_its_statements(model, body, count):
    before, after = split(model, body)
    assert len(before.statements) < len(after.statements) == count


@pytest.mark.parametrize(
    "body",
    [
        f"{COLOUR} {SPACE} if ((i + j) % 2 == c) {MEAN}",
        f"{TIME} {COLOUR} {SPACE} v[c][i][j] = u[i][j];",
        f"{TIME} for (int c = 0; c < 9; c++) {SPACE} if ((i + j) % 9 == c) {MEAN}",
        f"{TIME} for (int c = 0; c < n; c++) {SPACE} if (i == c) {MEAN}",
        f"for (int t = 0; t < 2; t++) {COLOUR} for (int j = c; j < n; j += 2) v[t][0][j] = u[0][j];",
    ],
)
def test_other_loops_are_left_alone(model, body):
    before, after = split(model, body)
    assert after is before
