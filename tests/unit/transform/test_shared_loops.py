"""Statements share parallel loops and have their own inside: what a row is computed in, say."""

from __future__ import annotations

import pytest

from polybuild.poly.trees import children, is_band
from polybuild.schedule.legality import check_schedule
from polybuild.schedule.scheduler import Fusion, compute_schedule
from polybuild.transform.shared_loops import with_own_loops_inside

PARAMETERS = "int n, float p[restrict n + 8][n + 8], float w[restrict 7][7], float q[restrict n][n]"
POINTS = "for (int y = 0; y < n; y++) for (int x = 0; x < n; x++)"
APART = f"""{POINTS} q[y][x] = 0;
for (int y = 0; y < n; y++) for (int i = 0; i < 7; i++) for (int j = 0; j < 7; j++)
  for (int x = 0; x < n; x++) q[y][x] += w[i][j] * p[y + i][x + j];"""
TOGETHER = f"""{POINTS} {{ q[y][x] = 0;
for (int i = 0; i < 7; i++) for (int j = 0; j < 7; j++) q[y][x] += w[i][j] * p[y + i][x + j]; }}"""


@pytest.mark.parametrize("body", [APART, TOGETHER])
def test_a_window_is_summed_up_inside_of_its_points(model, body):
    found = model(body, PARAMETERS)
    fused = compute_schedule(found.scop, found.dependences, Fusion.MAX)
    schedule = with_own_loops_inside(fused, found.dependences.validity)
    check_schedule(schedule, found.dependences, found.scop.domain)
    points = schedule.get_root().child(0)
    assert points.band_n_member() == 2
    first, second = (each.child(0) for each in children(points.child(0)))
    assert not is_band(first)
    assert (second.band_n_member(), second.child(0).band_n_member()) == (1, 1)


@pytest.mark.parametrize(
    "body",
    [
        "for (int y = 1; y < n; y++) q[y][0] = q[y - 1][0] + 1;",
        f"{POINTS} q[y][x] = p[y][x];",
        f"{POINTS} {{ q[y][x] = p[y][x]; p[y][x + 1] = q[y][x]; }}",
    ],
    ids=["in order", "one statement", "a cycle"],
)
def test_others_stay(model, body):
    found = model(body, PARAMETERS)
    fused = compute_schedule(found.scop, found.dependences, Fusion.MAX)
    assert with_own_loops_inside(fused, found.dependences.validity) is None
