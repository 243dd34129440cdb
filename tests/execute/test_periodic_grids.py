"""Steps over periodic grids, however neighbours or borders are written: tiles over time, equal to the bit."""

from __future__ import annotations

import pytest
from step_programs import Grids, run_steps

GRIDS = Grids(
    """
#define LINE for (int i = 0; i < h; i++)
#define PLANE LINE for (int j = 0; j < w; j++)
#define ROW for (int j = 1; j <= w; j++)
#define COLUMN for (int i = 1; i <= h; i++)
#define INSIDE COLUMN ROW
""",
    "int steps, int h, int w, double u[4][h + 2][w + 2], double v[restrict h + 2][w + 2],"
    " double p[restrict h + 2][w + 2]",
    "(h + 2) * (w + 2)",
)
FORMS = {
    "remainders on a line": """
for (int t = 0; t < steps; t++) {
  for (int j = 0; j < w; j++) v[1][j] = 0.3 * (p[1][(j + w - 1) % w] + p[1][j] + p[1][(j + 1) % w]);
  for (int j = 0; j < w; j++) p[1][j] = v[1][j];
}""",
    "choices": """
for (int t = 0; t < steps; t++) {
  PLANE v[i][j] = 0.2 * (p[i][j] + p[i == 0 ? h - 1 : i - 1][j] + p[i == h - 1 ? 0 : i + 1][j]
    + p[i][j == 0 ? w - 1 : j - 1] + p[i][j == w - 1 ? 0 : j + 1]);
  PLANE p[i][j] = v[i][j];
}""",
    "names of neighbours": """
for (int t = 0; t < steps; t++) {
  LINE {
    const int up = (i + h - 1) % h, down = (i + 1) % h;
    for (int j = 0; j < w; j++) {
      int left = j - 1, right = j + 1;
      if (left < 0) left = w - 1;
      if (right >= w) right = 0;
      v[i][j] = 0.2 * (p[i][j] + p[up][j] + p[down][j] + p[i][left] + p[i][right]);
    }
  }
  PLANE p[i][j] = v[i][j];
}""",
    "conditions": """
for (int t = 0; t < steps; t++) {
  PLANE {
    double sum = p[i][j];
    if (i == 0) sum += p[h - 1][j]; else sum += p[i - 1][j];
    if (i < h - 1) sum += p[i + 1][j]; else sum += p[0][j];
    v[i][j] = 0.3 * sum;
  }
  PLANE p[i][j] = v[i][j];
}""",
    "alternating planes": """
for (int t = 0; t < steps; t++)
  PLANE u[(t + 1) % 2][i][j] = 0.2 * (u[t % 2][i][j] + u[t % 2][(i + h - 1) % h][j] + u[t % 2][(i + 1) % h][j]
    + u[t % 2][i][(j + w - 1) % w] + u[t % 2][i][(j + 1) % w]);""",
    "alternating lines": """
for (int t = 0; t < steps; t++)
  for (int j = 0; j < w; j++)
    u[(t + 1) % 2][1][j] = 0.5 * (u[t % 2][1][(j + w - 1) % w] + u[t % 2][1][(j + 1) % w]);""",
    "upwind": """
for (int t = 0; t < steps; t++) {
  PLANE v[i][j] = 0.5 * (p[i][j] + p[(i + h - 1) % h][j]);
  PLANE p[i][j] = v[i][j];
}""",
    "staggered": """
for (int t = 0; t < steps; t++) {
  PLANE v[i][j] = v[i][j] - 0.5 * (p[i][j] - p[(i + h - 1) % h][j]);
  PLANE p[i][j] = p[i][j] - 0.5 * (v[(i + 1) % h][j] - v[i][j]);
}""",
    "ghosts on a line": """
for (int t = 0; t < steps; t++) {
  p[1][0] = p[1][w];
  p[1][w + 1] = p[1][1];
  ROW v[1][j] = 0.3 * (p[1][j - 1] + p[1][j] + p[1][j + 1]);
  ROW p[1][j] = v[1][j];
}""",
    "ghost rows": """
for (int t = 0; t < steps; t++) {
  ROW p[0][j] = p[h][j];
  ROW p[h + 1][j] = p[1][j];
  INSIDE v[i][j] = 0.3 * (p[i - 1][j] + p[i][j] + p[i + 1][j]);
  INSIDE p[i][j] = v[i][j];
}""",
    "ghost rows and columns, with corners": """
for (int t = 0; t < steps; t++) {
  ROW { p[0][j] = p[h][j]; p[h + 1][j] = p[1][j]; }
  for (int i = 0; i <= h + 1; i++) { p[i][0] = p[i][w]; p[i][w + 1] = p[i][1]; }
  INSIDE v[i][j] = 0.2 * (p[i][j] + p[i - 1][j - 1] + p[i + 1][j + 1] + p[i][j - 1] + p[i + 1][j]);
  INSIDE p[i][j] = v[i][j];
}""",
    "reflecting ends of a line": """
for (int t = 0; t < steps; t++) {
  p[1][0] = p[1][2]; p[1][w + 1] = p[1][w - 1];
  ROW v[1][j] = 0.3 * (p[1][j - 1] + p[1][j] + p[1][j + 1]);
  ROW p[1][j] = v[1][j];
}""",
    "reflecting ends of a line, after the step": """
for (int t = 0; t < steps; t++) {
  ROW v[1][j] = 0.3 * (p[1][j - 1] + p[1][j] + p[1][j + 1]);
  ROW p[1][j] = v[1][j];
  p[1][0] = p[1][2];
  p[1][w + 1] = p[1][w - 1];
}""",
    "reflecting ends of an alternating line": """
for (int t = 0; t < steps; t++) {
  u[t % 2][1][0] = u[t % 2][1][1]; u[t % 2][1][w + 1] = u[t % 2][1][w];
  ROW u[(t + 1) % 2][1][j] = 0.3 * (u[t % 2][1][j - 1] + u[t % 2][1][j] + u[t % 2][1][j + 1]);
}""",
    "reflecting borders of a plane": """
for (int t = 0; t < steps; t++) {
  ROW { p[0][j] = p[1][j]; p[h + 1][j] = p[h][j]; }
  COLUMN { p[i][0] = p[i][1]; p[i][w + 1] = p[i][w]; }
  INSIDE v[i][j] = 0.2 * (p[i][j] + p[i - 1][j] + p[i + 1][j] + p[i][j - 1] + p[i][j + 1]);
  INSIDE p[i][j] = v[i][j];
}""",
    "ghosts after the step": """
for (int t = 0; t < steps; t++) {
  INSIDE v[i][j] = 0.2 * (p[i][j] + p[i - 1][j] + p[i + 1][j] + p[i][j - 1] + p[i][j + 1]);
  INSIDE p[i][j] = v[i][j];
  COLUMN { p[i][0] = p[i][w]; p[i][w + 1] = p[i][1]; }
  ROW { p[0][j] = p[h][j]; p[h + 1][j] = p[1][j]; }
}""",
}

# arrays of a fixed size are as far as places of a grid can be apart
FIXED = Grids(
    GRIDS.macros,
    "int steps, int h, int w, double u[4][110][110], double v[restrict 110][110],"
    " double p[restrict 110][110]",
    "(110 * 110)",
)
FIXED_FORMS = {
    "choices": FORMS["choices"],
    "alternating planes": """
for (int t = 1; t <= steps; t++)
  PLANE u[t % 2][i][j] = u[(t - 1) % 2][i == 0 ? h - 1 : i - 1][j] + u[(t - 1) % 2][i][j]
    + u[(t - 1) % 2][i == h - 1 ? 0 : i + 1][j == w - 1 ? 0 : j + 1];""",
    "two statements": """
for (int t = 0; t < steps; t++)
  PLANE {
    u[(t + 1) % 2][i][j] = u[t % 2][i == 0 ? h - 1 : i - 1][j] + u[2 + t % 2][i][j == w - 1 ? 0 : j + 1];
    u[2 + (t + 1) % 2][i][j] = u[2 + t % 2][i == 0 ? h - 1 : i - 1][j] - u[t % 2][i == h - 1 ? 0 : i + 1][j];
  }""",
}


@pytest.fixture(scope="module")
def fixed(tmp_path_factory):
    return run_steps(tmp_path_factory.mktemp("fixed-grids"), FIXED, FIXED_FORMS, (3, 12, 8))


@pytest.mark.parametrize("form", FIXED_FORMS)
def test_tiled_over_time_in_arrays_of_a_fixed_size(fixed, form):
    before, after, region = fixed[form]
    assert after == before
    assert any("stencil over time" in each for each in region.remarks), region.remarks


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    return run_steps(tmp_path_factory.mktemp("periodic-grids"), GRIDS, FORMS, (3, 12, 8))


@pytest.mark.parametrize("form", FORMS)
def test_tiled_over_time(outcome, form):
    before, after, region = outcome[form]
    assert after == before
    assert any("stencil over time" in each for each in region.remarks), region.remarks
