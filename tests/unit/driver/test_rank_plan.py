"""What is predicted for ranks: counts of messages and bytes as they are sent, and times."""

from __future__ import annotations

import pytest

from polybuild.driver.file import compile_source
from polybuild.driver.rank_plan import plan_ranks
from polybuild.options import Options

STENCIL = """
void waves(int n, int steps, double u[restrict n][n], double v[restrict n][n])
{
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        v[i][j] = u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - v[i][j];
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        u[i][j] = v[i][j];
  }
#pragma endscop
}
"""
PRODUCT = """
void product(int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}
"""
SUM = """
long sum(int n, int *restrict a)
{
  long s = 0;
#pragma scop
  for (int i = 0; i < n; i++)
    s += a[i];
#pragma endscop
  return s;
}
"""
SERIAL = """
void prefix(int n, double *restrict a)
{
#pragma scop
  for (int i = 1; i < n; i++)
    a[i] = a[i] * a[i - 1];
#pragma endscop
}
"""


@pytest.fixture(name="plan")
def _plan(tmp_path):
    def planned(text, ranks, sizes, network=None):
        (tmp_path / "in.c").write_text(text)
        options = Options(min_work=0, distribute="mpi", parallel=False)
        (details,) = compile_source(str(tmp_path / "in.c"), options, ["gcc"], ["-O2"]).details
        return plan_ranks(details, ranks, sizes, network or {})

    return planned


def test_counts_of_a_stencil_are_those_that_ranks_tell_of(plan):
    """tests/execute/test_ranks.py measures the same: rows to neighbours, both arrays to all at the end."""
    row, whole = 30 * 8, 10 * 30 * 8 * 2
    one, three = plan(STENCIL, (1, 3), {"n": 32, "steps": 5}).rows
    assert (one.messages, one.bytes, one.instances) == (0, 0, 2 * 5 * 30 * 30)
    assert (three.messages, three.bytes) == (8 + 2, 8 * row + 2 * whole)
    assert three.instances == 2 * 5 * 10 * 30


def test_the_last_step_is_left_out_of_many(plan):
    (row,) = plan(STENCIL, (4,), {"n": 402, "steps": 1000}).rows
    sent = (999 * 2 * 400 + 3 * 2 * 100 * 400) * 8  # an end's rank has one neighbour, the others two
    assert row.messages == pytest.approx(999 * 2 + 3, rel=0.01)
    assert row.bytes == pytest.approx(sent, rel=0.01)


def test_a_product_sends_its_rows(plan):
    rows = plan(PRODUCT, (1, 2, 3, 5), {"n": 300}).rows
    assert [(each.messages, each.bytes) for each in rows] == [
        (ranks - 1, (ranks - 1) * 300 // ranks * 300 * 8) for ranks in (1, 2, 3, 5)
    ]
    assert [each.ranks for each in rows] == [1, 2, 3, 5]
    assert rows[0].time_ns > rows[1].time_ns > rows[3].time_ns
    assert rows[0].speed_up == 1.0
    assert 0.5 < rows[1].efficiency <= 1.1


def test_parts_of_a_sum_go_to_all(plan):
    (row,) = plan(SUM, (4,), {"n": 1000}).rows
    assert (row.messages, row.bytes, row.instances) == (3, 3 * 8, 250)


def test_a_slow_network_costs_speed(plan):
    sizes, figures = {"n": 300, "steps": 100}, ("network.latency", "network.bandwidth")
    fast, slow = (
        plan(STENCIL, (8,), sizes, dict(zip(figures, each, strict=True))).rows[0]
        for each in ((1000.0, 10.0), (50000.0, 0.1))
    )
    assert (fast.messages, fast.bytes, fast.instances) == (slow.messages, slow.bytes, slow.instances)
    assert slow.communication_ns > 10 * fast.communication_ns
    assert slow.speed_up < fast.speed_up


def test_what_cannot_be_planned_has_a_reason(plan):
    assert "all run the whole region" in plan(SERIAL, (2,), {}).reason
    assert "cannot have these values" in plan(PRODUCT, (2,), {"n": -3}).reason
    (row,) = plan(STENCIL, (4,), {"n": 2, "steps": 3}).rows
    assert (row.instances, row.messages) == (0, 0)
