"""Loops over blocks, which are gone from the model."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.analysis.dependences import compute_dependences
from polybuild.schedule.legality import check_schedule
from polybuild.scop.determined_counters import project_determined_counters

PARAMETERS = (
    "int n, double x[restrict n], double a[restrict n][n], double b[restrict n][n], double c[restrict n][n]"
)
MINIMUM = "#define min(a, b) ((a) < (b) ? (a) : (b))"
BLOCKED = """
for (int ii = 0; ii < n; ii += 64) for (int kk = 0; kk < n; kk += 64)
  for (int i = ii; i < min(ii + 64, n); i++) for (int j = 0; j < n; j++)
    for (int k = kk; k < min(kk + 64, n); k++) c[i][j] += a[i][k] * b[k][j];"""


def test_blocks_are_gone_and_the_order_stays(model):
    scop = project_determined_counters(model(BLOCKED, PARAMETERS, top=MINIMUM).scop)
    (statement,) = scop.statements
    assert [each.name for each in statement.iterators] == ["i", "j", "k"]
    assert statement.domain.is_equal(
        isl.Set("[n] -> { S0[i, j, k] : 0 <= i < n and 0 <= j < n and 0 <= k < n }")
    )
    assert not statement.domain.involves_locals()
    order = scop.schedule.get_map()
    first, second, third = (
        isl.UnionSet(f"[n] -> {{ S0[{each}] : n >= 100 }}") for each in ("0, 5, 63", "63, 0, 0", "0, 0, 64")
    )
    for earlier, later in ((first, second), (second, third)):
        pair = isl.UnionMap.from_domain_and_range(earlier, later)
        assert pair.is_subset(order.lex_lt_union_map(order))
    check_schedule(scop.schedule, compute_dependences(scop, frozenset()), scop.domain)


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i += 4) x[i] = 0;",  # no block
        "for (int i = 0; i < n; i++) x[i] = 0;",
        "for (int ii = 0; ii < n; ii += 8) for (int i = ii; i < min(ii + 9, n); i++) x[i] = 1;",
        "for (int ii = 0; ii < n; ii += 8) for (int i = ii; i < min(ii + 8, n); i++) x[i] += ii;",  # a value
    ],
)
def test_other_loops_stay(model, body):
    scop = model(body, PARAMETERS, top=MINIMUM).scop
    assert project_determined_counters(scop) is scop
