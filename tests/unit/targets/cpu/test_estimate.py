"""The estimate tells orders apart that differ in parallelism, vectors, locality or launches."""

from __future__ import annotations

import islpy as isl
import pytest
from contexts import context_of

from polybuild.schedule.pluto.fusion import Cut
from polybuild.schedule.pluto.scheduler import PlutoScheduler
from polybuild.schedule.pluto.search import Strategy
from polybuild.targets.cpu.estimate import estimate
from polybuild.targets.cpu.schedule_choice import choose_schedule

MATRICES = (
    "int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n], double *restrict x"
)
PRODUCT = """
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    for (int k = 0; k < n; k++) c[i][j] += a[i][k] * b[k][j];"""
COLUMNS = "for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) c[i][j] = a[i][j] + b[i][j];"
TWICE = """
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i][j] += b[i][j];
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) c[i][j] += a[i][j];"""
# every column is scaled, then taken from all later ones: only with the outer loop alone are rows walked
ORTHOGONAL = """
for (int k = 0; k < n; k++) {
  for (int i = 0; i < n; i++) b[i][k] = a[i][k] / x[k];
  for (int j = k + 1; j < n; j++) {
    c[k][j] = 0;
    for (int i = 0; i < n; i++) c[k][j] += b[i][k] * a[i][j];
    for (int i = 0; i < n; i++) a[i][j] -= b[i][k] * c[k][j];
  }
}"""
SERIAL = """
for (int i = 1; i < n; i++)
  for (int j = 1; j < n; j++) a[i][j] = a[i - 1][j] + a[i][j - 1] + a[i - 1][j - 1];"""


@pytest.fixture
def times(model):
    """The estimates of one region under several strategies."""

    def make(body, *strategies, **options):
        found = model(body, MATRICES)
        scheduler = PlutoScheduler.of(found.scop, found.dependences)
        return [
            estimate(found.scop, found.dependences, scheduler.schedule(each), context_of(**options))
            for each in strategies
        ]

    return make


def test_statements_that_cannot_run_cost_next_to_nothing(times):
    never = " for (int i = 0; i > n / 2; i -= 3) x[0] += 1;"
    assert times(TWICE + never, Strategy(Cut.ALL)) == pytest.approx(times(TWICE, Strategy(Cut.ALL)), rel=0.01)


def test_fused_loops_that_read_what_was_written_are_faster(times):
    apart, fused = times(TWICE, Strategy(Cut.ALL), Strategy(Cut.SMART))
    assert fused < 0.95 * apart


def test_parallel_loops_inside_are_worth_it_where_they_walk_rows(times):
    columns, rows = times(ORTHOGONAL, Strategy(Cut.SMART), Strategy(Cut.ALL, inner=True))
    assert rows < 0.5 * columns


def test_walking_rows_beats_walking_columns(model):
    found = model(COLUMNS, MATRICES)

    def nested(outer, inner):
        schedule = isl.Schedule.from_domain(found.scop.domain)
        for each in (inner, outer):
            partial = isl.MultiUnionPwAff(f"[n] -> [{{ S0[j, i] -> [({each})] }}]")
            schedule = schedule.insert_partial_schedule(partial)
        return estimate(found.scop, found.dependences, schedule, context_of())

    assert nested("i", "j") < 0.5 * nested("j", "i")


@pytest.mark.parametrize("body", [PRODUCT, SERIAL, COLUMNS])
def test_where_nothing_is_gained_the_order_is_isls(body, model):
    found = model(body, MATRICES)
    auto, isls = (
        choose_schedule(found.scop, found.dependences, context_of(schedule=each)) for each in ("auto", "isl")
    )
    assert auto.get_map().is_equal(isls.get_map())


def test_the_model_takes_the_order_that_walks_rows(model):
    found = model(ORTHOGONAL, MATRICES)
    auto, isls = (
        choose_schedule(found.scop, found.dependences, context_of(schedule=each)) for each in ("auto", "isl")
    )
    assert not auto.get_map().is_equal(isls.get_map())
