"""Statements in parts where what a step changes of what it reads is in one row and one column."""

from __future__ import annotations

import pytest
from plain_regions import scop_in

from polybuild.analysis.dependences import compute_dependences
from polybuild.transform.pivot_splitting import split_at_pivots

SQUARE = "for (int k = 0; k < n; k++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
LATER = "for (int k = 1; k <= n; k++) for (int i = 1; i <= n; i++) for (int j = 1; j <= n; j++)"
STEP = "d[i][j] = d[i][j] < d[i][k] + d[k][j] ? d[i][j] : d[i][k] + d[k][j];"


def parts_of(text):
    scop = scop_in(text, "int n, double d[n][n], double u[n], double v[n]")
    return scop, split_at_pivots(scop, compute_dependences(scop, frozenset()))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (f"{SQUARE} {STEP}", 9),
        (f"{LATER} {STEP.replace('[i]', '[i - 1]').replace('[j]', '[j - 1]').replace('[k]', '[k - 1]')}", 9),
        ("for (int k = 0; k < n; k++) for (int i = 0; i < n; i++) v[i] += u[i] * v[k];", 3),
        (f"{SQUARE} d[i][j] += d[i][k] * u[j];", 3),
        ("for (int k = 0; k < n; k++) for (int i = 0; i < n - 1; i++) v[i] += v[n - 1 - k];", 3),
    ],
)
def test_instances_before_on_and_after_pivots_are_statements(text, count):
    scop, split = parts_of(text)
    assert len(split.statements) == count
    pieces = [each.domain.set_tuple_name("S") for each in split.statements]
    whole = pieces[0]
    for number, each in enumerate(pieces[1:], 1):
        assert all(each.is_disjoint(other) for other in pieces[:number])
        whole = whole.union(each)
    (old,) = scop.statements
    assert whole.is_equal(old.domain.intersect_params(scop.context).set_tuple_name("S"))


@pytest.mark.parametrize(
    "text",
    [
        f"{SQUARE} d[i][j] += u[i] * v[j];",
        "for (int t = 0; t < n; t++) for (int i = 1; i < n - 1; i++) v[i] = v[i - 1] + v[i + 1];",
        "for (int t = 0; t < n; t++) for (int i = 1; i < n; i++) v[i] = v[i - 1] + v[t];",
        "for (int i = 0; i < n; i++) v[i] = v[0] + u[i];",
    ],
)
def test_others_stay_whole(text):
    scop, split = parts_of(text)
    assert split is scop
