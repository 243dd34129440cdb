"""Steps that sum up over all points, each in order: tiles over time and rows, equal to the bit."""

from __future__ import annotations

import pytest
from step_programs import Grids, run_steps

GRIDS = Grids(
    """
#define EACH for (int i = 1; i < h - 1; i++) for (int j = 1; j < w - 1; j++)
#define AT(u, i, j) u[(i)*w + (j)]
#define MEAN(p) (0.2 * (p[i][j] + p[i][j - 1] + p[i][j + 1] + p[i - 1][j] + p[i + 1][j]))
#define FLAT(p) (0.2 * (AT(p, i, j) + AT(p, i, j - 1) + AT(p, i, j + 1) + AT(p, i - 1, j) + AT(p, i + 1, j)))
static inline double square(int h, int w, double q[h][w])
{ double s = 0; EACH s += q[i][j] * q[i][j]; return s; }
""",
    "int steps, int h, int w, double u[restrict 4][h][w], double *restrict v, double *restrict p",
    "h * w",
)
FORMS = {
    "planes by turns": """
for (int t = 0; t < steps; t++) {
  double s = 0;
  EACH u[(t + 1) % 2][i][j] = MEAN(u[t % 2]);
  EACH s += u[(t + 1) % 2][i][j] * u[(t + 1) % 2][i][j];
  p[t] = s;
}""",
    "a grid that is copied": """
for (int t = 0; t < steps; t++) {
  double s = 0;
  EACH AT(v, i, j) = MEAN(u[0]);
  EACH { double d = AT(v, i, j) - u[0][i][j]; s += d * d; }
  EACH u[0][i][j] = AT(v, i, j);
  p[t] = sqrt(s);
}""",
    "numbers of grids that flip": """
int now = 0;
for (int t = 0; t < steps; t++) {
  double s = 0, most = 0;
  EACH {
    u[1 - now][i][j] = MEAN(u[now]);
    s += fabs(u[1 - now][i][j] - u[now][i][j]);
    most += u[1 - now][i][j];
  }
  p[2 * t] = s / (h * w);
  p[2 * t + 1] = most;
  now = 1 - now;
}""",
    "points in place": """
for (int t = 0; t < steps; t++) {
  double s = 0;
  EACH { double d = MEAN(u[0]) - u[0][i][j]; s += d * d; u[0][i][j] += 1.2 * d; }
  p[t] = s;
}""",
    "norms of every second step": """
for (int t = 0; t < steps; t++) {
  EACH u[(t + 1) % 2][i][j] = MEAN(u[t % 2]);
  if (t % 2 == 0) { double s = 0; EACH s += u[(t + 1) % 2][i][j]; p[t / 2] = s; }
}""",
    "norms of every third step": """
for (int t = 0; t < steps; t++) {
  EACH u[(t + 1) % 2][i][j] = MEAN(u[t % 2]);
  if (t % 3 == 2) { double s = 0; EACH s += u[(t + 1) % 2][i][j]; p[t / 3] = s; }
}""",
    "a norm that a function computes": """
for (int t = 0; t < steps; t++) {
  EACH u[1][i][j] = MEAN(u[0]);
  EACH u[0][i][j] = u[1][i][j];
  p[t] = square(h, w, u[0]);
}""",
    "rows that are summed up first": """
for (int t = 0; t < steps; t++) {
  double s = 0;
  EACH u[1][i][j] = MEAN(u[0]);
  for (int i = 1; i < h - 1; i++) {
    double row = 0;
    for (int j = 1; j < w - 1; j++) row += u[1][i][j];
    s += row;
  }
  EACH u[0][i][j] = u[1][i][j];
  p[t] = s;
}""",
    "a line": """
for (int t = 0; t < steps; t++) {
  for (int j = 1; j < w - 1; j++) v[j] = 0.3 * (p[j - 1] + p[j] + p[j + 1]);
  double s = 0;
  for (int j = 1; j < w - 1; j++) { s += (v[j] - p[j]) * (v[j] - p[j]); p[j] = v[j]; }
  u[3][0][t] = s;
}""",
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    lines = {"a line": FORMS["a line"]}
    planes = {name: body for name, body in FORMS.items() if name not in lines}
    found = run_steps(tmp_path_factory.mktemp("planes"), GRIDS, planes, (4, 8, 8))
    return found | run_steps(tmp_path_factory.mktemp("lines"), GRIDS, lines, ())


@pytest.mark.parametrize("name", FORMS)
def test_sums_of_steps_are_those_of_the_original(results, name):
    before, after, region = results[name]
    assert after == before
    assert region.tile_sizes, region
