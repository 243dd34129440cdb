"""Members of bands that put two loops in one dimension."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.schedule.linearised import constant_trips, linearises_loops

BODY = "for (int i = 0; i < n; i++) for (int j = 0; j < 16; j++) A[i][j] += 1;"


@pytest.mark.parametrize(
    ("member", "linearises"),
    [("15i + j", True), ("16i + j", True), ("-15i - j", True), ("i + 15j", False), ("2i + j", False)],
)
def test_coefficients_of_whole_loops(model, member, linearises):
    scop = model(BODY, "int n, int A[restrict n][16]").scop
    band = isl.MultiUnionPwAff(f"[n] -> [{{ S0[i, j] -> [({member})] }}]")
    schedule = isl.Schedule.from_domain(scop.domain).insert_partial_schedule(band)
    assert linearises_loops(schedule, constant_trips(scop)) is linearises


def test_orders_with_loops_of_their_own(model):
    scop = model(BODY, "int n, int A[restrict n][16]").scop
    assert not linearises_loops(scop.schedule, constant_trips(scop))
