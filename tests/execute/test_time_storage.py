"""Steps that keep two grids or three, however that is written: tiles over time, equal to the bit."""

from __future__ import annotations

import pytest
from step_programs import Grids, run_steps

GRIDS = Grids(
    """
#define EACH for (int i = 1; i < h - 1; i++) for (int j = 1; j < w - 1; j++)
#define AT(u, i, j) u[(i)*w + (j)]
#define MEAN(p) (0.2 * (p[i][j] + p[i][j - 1] + p[i][j + 1] + p[i - 1][j] + p[i + 1][j]))
#define FLAT(p) (0.2 * (AT(p, i, j) + AT(p, i, j - 1) + AT(p, i, j + 1) + AT(p, i - 1, j) + AT(p, i + 1, j)))
""",
    "int steps, int h, int w, double u[4][h][w], double *restrict v, double *restrict p",
    "h * w",
)
FORMS = {
    "remainders": "for (int t = 0; t < steps; t++) EACH u[(t + 1) % 2][i][j] = MEAN(u[t % 2]);",
    "a line": """
for (int t = 0; t < steps; t++)
  for (int j = 1; j < w - 1; j++)
    u[(t + 1) % 2][1][j] = 0.3 * (u[t % 2][1][j - 1] + u[t % 2][1][j] + u[t % 2][1][j + 1]);""",
    "masks": "for (int t = 0; t < steps; t++) EACH u[(t + 1) & 1][i][j] = MEAN(u[t & 1]);",
    "exclusive or": "for (int t = 0; t < steps; t++) EACH u[(t & 1) ^ 1][i][j] = MEAN(u[t & 1]);",
    "differences": "for (int t = 0; t < steps; t++) EACH u[1 - t % 2][i][j] = MEAN(u[t % 2]);",
    "steps from one": "for (int t = 1; t <= steps; t++) EACH u[t % 2][i][j] = MEAN(u[(t - 1) % 2]);",
    "names of grids": """
for (int t = 0; t < steps; t++) {
  const int now = t % 2, next = 1 - now;
  EACH u[next][i][j] = MEAN(u[now]);
}""",
    "conditions": """
for (int t = 0; t < steps; t++) {
  if (t % 2 == 0) { EACH u[1][i][j] = MEAN(u[0]); }
  else { EACH u[0][i][j] = MEAN(u[1]); }
}""",
    "choices": """
for (int t = 0; t < steps; t++)
  EACH u[t % 2 ? 0 : 1][i][j] = MEAN(u[t % 2 == 0 ? 0 : 1]);""",
    "flat subscripts": """
for (int t = 0; t < steps; t++)
  EACH AT(v, (t + 1) % 2 * h + i, j) = 0.2 * (AT(v, t % 2 * h + i, j) + AT(v, t % 2 * h + i, j - 1)
    + AT(v, t % 2 * h + i, j + 1) + AT(v, t % 2 * h + i - 1, j) + AT(v, t % 2 * h + i + 1, j));""",
    "pointers to grids": """
for (int t = 0; t < steps; t++) {
  double *from = v + t % 2 * h * w, *to = v + (t + 1) % 2 * h * w;
  EACH AT(to, i, j) = FLAT(from);
}""",
    "three grids": """
for (int t = 1; t <= steps; t++)
  EACH u[(t + 1) % 3][i][j] = 2 * u[t % 3][i][j] - u[(t - 1) % 3][i][j] + 0.1 * MEAN(u[t % 3]);""",
    "four grids": """
for (int t = 0; t < steps; t++)
  EACH u[(t + 1) % 4][i][j] = MEAN(u[t % 4]) - u[(t + 2) % 4][i][j];""",
    "the time itself": """
for (int t = 0; t < steps; t++) {
  EACH u[(t + 1) % 2][i][j] = MEAN(u[t % 2]) + 0.01 * t;
  u[(t + 1) % 2][1][1] += sin(t);
}""",
    "a condition on the time": """
for (int t = 0; t < steps; t++)
  EACH u[(t + 1) % 2][i][j] = MEAN(u[t % 2]) + (t < 3 ? 1.5 : 0);""",
    "two statements": """
for (int t = 0; t < steps; t++) {
  EACH u[2 + t % 2][i][j] = u[2 + (t + 1) % 2][i][j] - 0.5 * (u[t % 2][i][j] - u[t % 2][i - 1][j - 1]);
  EACH u[(t + 1) % 2][i][j] = u[t % 2][i][j] - 0.7 * (u[2 + t % 2][i + 1][j + 1] - u[2 + t % 2][i][j]);
}""",
    "two steps": """
for (int t = 0; t < steps; t++) {
  EACH u[1][i][j] = MEAN(u[0]);
  EACH u[0][i][j] = MEAN(u[1]);
}""",
    "repeated": """
for (int round = 1; round < 4; round++)
  for (int t = 0; t < steps; t++)
    EACH u[(t + 1) % 2][i][j] = MEAN(u[t % 2]) / round;""",
    "copies": """
for (int t = 0; t < steps; t++) {
  EACH u[1][i][j] = MEAN(u[0]);
  EACH u[0][i][j] = u[1][i][j];
}""",
}


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    return run_steps(tmp_path_factory.mktemp("time-storage"), GRIDS, FORMS, (3, 10, 8))


@pytest.mark.parametrize("form", FORMS)
def test_tiled_over_time(outcome, form):
    before, after, region = outcome[form]
    assert after == before
    assert any("stencil over time" in each for each in region.remarks)
