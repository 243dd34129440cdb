"""Variables that each step over a grid sets anew: tiles over time all the same, equal to the bit."""

from __future__ import annotations

import pytest
from step_programs import Grids, run_steps

from polybuild.effort import FIXED_SIZE

GRIDS = Grids(
    """
#define EACH for (int i = 1; i < h - 1; i++) for (int j = 1; j < w - 1; j++)
#define MEAN(p) (0.2 * (p[i][j] + p[i][j - 1] + p[i][j + 1] + p[i - 1][j] + p[i + 1][j]))
#define RED for (int i = 1; i < h - 1; i++) for (int j = 1 + i % 2; j < w - 1; j += 2)
#define BLACK for (int i = 1; i < h - 1; i++) for (int j = 2 - i % 2; j < w - 1; j += 2)
#define COLOUR for (int i = 1; i < h - 1; i++) for (int j = 1 + (i + c) % 2; j < w - 1; j += 2)
#define COPY EACH p[i][j] = v[i][j];
struct clock { double now, dt; int count; };
""",
    "int steps, int h, int w, double u[4][h][w], double v[restrict h][w], double p[restrict h][w]",
    "(h * w + 4)",
)
FORMS = {
    "a time that adds up": """
double now = 0;
for (int t = 0; t < steps; t++) {
  now += 0.1;
  EACH v[i][j] = MEAN(p) + sin(now);
  COPY
}
u[0][0][0] = now;""",
    "at the end of a step": """
double now = 0;
for (int t = 0; t < steps; t++) {
  EACH v[i][j] = MEAN(p) + sin(now);
  COPY
  now = now + 0.1;
}
u[0][0][0] = now;""",
    "between the parts of a step": """
double factor = 1;
for (int t = 0; t < steps; t++) {
  RED p[i][j] += factor * (MEAN(p) - p[i][j]);
  factor = 1 / (1 - 0.2 * factor);
  BLACK p[i][j] += factor * (MEAN(p) - p[i][j]);
  factor = 1 / (1 - 0.2 * factor);
}""",
    "between two colours": """
double factor = 1;
for (int t = 0; t < steps; t++)
  for (int c = 0; c < 2; c++) {
    COLOUR p[i][j] += factor * (MEAN(p) - p[i][j]);
    factor = t == 0 && c == 0 ? 1 / (1 - 0.5 * 0.81) : 1 / (1 - 0.25 * 0.81 * factor);
  }
u[0][0][0] = factor;""",
    "before each of two colours": """
double factor = 1;
for (int t = 0; t < steps; t++)
  for (int c = 1; c >= 0; c--) {
    factor = 1 / (1 - 0.25 * 0.81 * factor);
    EACH if ((i + j) % 2 == c) p[i][j] += factor * (MEAN(p) - p[i][j]);
  }""",
    "between two colours, by turns": """
double omega = 1, resid;
for (int t = 0; t < steps; t++) {
  int isw = 1, jsw;
  for (int ipass = 1; ipass <= 2; ipass++) {
    jsw = isw;
    for (int i = 1; i < h - 1; i++) {
      for (int j = jsw; j < w - 1; j += 2) {
        resid = p[i + 1][j] + p[i - 1][j] + v[i][j] * p[i][j + 1] + p[i][j - 1] - 4 * p[i][j];
        p[i][j] -= omega * resid / -4;
      }
      jsw = 3 - jsw;
    }
    isw = 3 - isw;
    omega = t == 0 && ipass == 1 ? 1 / (1 - 0.5 * 0.81) : 1 / (1 - 0.25 * 0.81 * omega);
  }
}""",
    "between two colours, in an element and a structure": """
double factor[1] = {1};
struct clock clock = {0, 0.1, 0};
for (int t = 0; t < steps; t++)
  for (int c = 0; c < 2; c++) {
    COLOUR p[i][j] += factor[0] * (MEAN(p) - p[i][j]) + clock.now;
    factor[0] = 1 / (1 - 0.2 * factor[0]);
    clock.now += clock.dt;
  }""",
    "one of each step": """
for (int t = 0; t < steps; t++) {
  double dt = 0.1 / (t + 1), half = dt / 2;
  EACH v[i][j] = p[i][j] + half * MEAN(p);
  COPY
}""",
    "declared outside, in a while loop": """
double now = 0, dt;
int t = 0;
while (t < steps) {
  dt = 0.1 / (t + 1);
  now = now + dt;
  EACH v[i][j] = p[i][j] + dt * MEAN(p) + now;
  COPY
  t++;
}
u[0][0][0] = now;""",
    "counted down": """
double now = 0;
for (int t = steps; t > 0; t--) {
  now += 0.1 * t;
  EACH v[i][j] = MEAN(p) + now;
  COPY
}
u[0][0][0] = now;""",
    "in an array of one element": """
double now[1] = {0};
for (int t = 0; t < steps; t++) {
  now[0] += 0.1;
  EACH v[i][j] = MEAN(p) + now[0];
  COPY
}
u[0][0][0] = now[0];""",
    "in elements": """
for (int t = 0; t < steps; t++) {
  v[0][1] = v[0][1] * 0.9;
  v[0][2] += v[0][1];
  EACH u[(t + 1) % 2][i][j] = MEAN(u[t % 2]) * v[0][2];
}""",
    "in a structure": """
struct clock clock = {0, 0.1, 3};
for (int t = 0; t < steps; t++) {
  clock.dt *= 0.9;
  clock.now += clock.dt;
  clock.count = (clock.count * 5 + 1) % 7;
  EACH v[i][j] = MEAN(p) + clock.now + clock.count;
  COPY
}
u[0][0][0] = clock.now;""",
    "under conditions": """
for (int t = 0; t < steps; t++) {
  double ramp;
  if (t < 5) ramp = 0.1 * t; else ramp = 1;
  EACH v[i][j] = MEAN(p) * ramp;
  COPY
}""",
    "limited": """
double ramp = 0;
for (int t = 0; t < steps; t++) {
  ramp += 0.01;
  if (ramp > 0.05) ramp = 0.05;
  EACH v[i][j] = MEAN(p) * fmin(ramp, 0.04);
  COPY
}""",
    "grids by turns, a source": """
double now = 0;
for (int t = 0; t < steps; t++) {
  now += 0.1;
  EACH u[(t + 1) % 2][i][j] = MEAN(u[t % 2]);
  if (h > 9 && w > 9) u[(t + 1) % 2][4][5] += exp(-now * now) * sin(now);
}""",
    "in place": """
double now = 0;
for (int t = 0; t < steps; t++) {
  now += 0.1;
  EACH p[i][j] = MEAN(p) + sin(now);
}""",
    "a norm each few steps": """
double now = 0;
for (int t = 0; t < steps; t++) {
  double dt = 0.1 / (t + 1);
  now += dt;
  EACH v[i][j] = p[i][j] + dt * MEAN(p);
  COPY
  if (t % 8 == 7) { double sum = 0; EACH sum += dt * fabs(p[i][j]); u[0][0][t % 3] = sum / now; }
}""",
}
LINES = Grids(
    """
#define LINE for (int i = 1; i < n - 1; i++)
#define STEP(q, p, now) LINE q[i] = 0.3 * (p[i - 1] + p[i] + p[i + 1]) + now

struct clock { double now, dt; int count; };
static double now, dt;
""",
    "int steps, int h, int n, double u[restrict 2][n], double v[restrict n], double p[restrict n]",
    "(h + w)",
)
ALONG_LINES = {
    "a variable": """
double now = 0;
for (int t = 0; t < steps; t++) { now += 0.1; STEP(v, p, now); STEP(p, v, -now); }
u[0][0] = now;""",
    "a while loop": """
double now = 0;
int t = 0;
while (t < steps) {
  now += 0.1;
  LINE v[i] = 0.3 * (p[i - 1] + p[i] + p[i + 1]) + now;
  LINE p[i] = v[i];
  t++;
}
u[0][0] = now;""",
    "members": """
struct clock k = {0, 0.1, 3};
for (int t = 0; t < steps; t++) { k.dt *= 0.9; k.now += k.dt; STEP(v, p, k.now); LINE p[i] = v[i] - k.dt; }
u[0][0] = k.now;""",
    "globals": """
now = 0;
for (int t = 0; t < steps; t++) { dt = 0.1 / (t + 1); now += dt; STEP(v, p, now * dt); STEP(p, v, dt); }
u[0][0] = now;""",
    "lines by turns": """
double now = 0;
for (int t = 0; t < steps; t++) { now += 0.1; STEP(u[(t + 1) % 2], u[t % 2], now); }
v[0] = now;""",
    "a table": """
for (int t = 0; t < steps && n > 9; t++) { STEP(v, p, u[0][t]); STEP(p, v, u[1][t]); }""",
    "a history": """
for (int t = 0; t < steps && n > 9; t++) { STEP(v, p, 1); STEP(p, v, 0.1); u[0][t] = p[5]; }""",
    "a source": """
for (int t = 0; t < steps && n > 9; t++) { STEP(v, p, 0.1); LINE p[i] = v[i]; p[5] += u[0][t]; }""",
    "a number of steps": """
double now = 0;
for (int t = 0; t < 100; t++) { now += 0.1; STEP(v, p, now); LINE p[i] = v[i]; }
u[0][0] = now;""",
}
OF_DATA = {
    "a point of the grid": """
for (int t = 0; t < steps; t++) {
  double first = p[h / 2][w / 2];
  EACH v[i][j] = p[i][j] + first * MEAN(p);
  COPY
}""",
    "a norm of each step": """
for (int t = 0; t < steps; t++) {
  double most = 0;
  EACH most = fmax(most, fabs(p[i][j]));
  double dt = 0.1 / (1 + most);
  EACH v[i][j] = p[i][j] + dt * MEAN(p);
  COPY
}""",
    "one that has no value in some steps": """
double now = 1;
for (int t = 0; t < steps; t++) {
  if (t == 3) now = 2;
  EACH v[i][j] = MEAN(p) * now;
  COPY
}""",
}


@pytest.mark.parametrize("part", range(3))
def test_steps_are_tiled(tmp_path, part):
    names = list(FORMS)[part::3]
    found = run_steps(tmp_path, GRIDS, {each: FORMS[each] for each in names}, (4, 8, 8))
    for name, (before, after, region) in found.items():
        assert before == after, name
        assert region.tile_sizes, name


@pytest.mark.parametrize("sizes", [(), (4, 8)], ids=["chosen", "given"])
def test_steps_along_lines_are_tiled(tmp_path, sizes):
    """As long as there are many points: the steps are not taken for these."""
    for name, (before, after, region) in run_steps(tmp_path, LINES, ALONG_LINES, sizes).items():
        assert before == after, name
        assert region.tile_sizes, name
        assert sizes or region.tile_sizes[0][1] > FIXED_SIZE, name


def test_values_that_depend_on_the_grid_stay(tmp_path):
    for name, (before, after, region) in run_steps(tmp_path, GRIDS, OF_DATA, (4, 8, 8)).items():
        assert before == after, name
        assert not any("for all steps before these" in each for each in region.remarks), name


def test_memory_is_asked_for_by_default_alone(tmp_path):
    form = {"a time that adds up": FORMS["a time that adds up"]}
    for options, wanted in (({}, True), ({"adapt": True}, False), ({"contract_arrays": "off"}, False)):
        ((before, after, region),) = run_steps(tmp_path, GRIDS, form, (4, 8, 8), **options).values()
        assert before == after
        assert any("for all steps before these" in each for each in region.remarks) == wanted
