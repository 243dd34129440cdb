"""Parameters declared as arrays that the region lets lead elsewhere: pointers as others, equal to the bit."""

from __future__ import annotations

import pytest
from step_programs import Grids, run_steps

GRIDS = Grids(
    """
#define EACH for (int i = 1; i < h - 1; i++) for (int j = 1; j < w - 1; j++)
#define MEAN(p) (0.2 * (p[i][j] + p[i][j - 1] + p[i][j + 1] + p[i - 1][j] + p[i + 1][j]))
""",
    "int steps, int h, int w, double u[4][h][w], double v[h][w], double p[restrict][w]",
    "(h * w + 4)",
)
FORMS = {
    "swapped": """
for (int t = 0; t < steps; t++) { EACH v[i][j] = MEAN(p); double (*q)[w] = p; p = v; v = q; }""",
    "swapped, in a while loop": """
int t = 0;
while (t < steps) {
  EACH v[i][j] = MEAN(p);
  do { double (*q)[w] = v; v = p; p = q; } while (0);
  t++;
}
EACH u[0][i][j] = p[i][j];""",
    "swapped, a norm after each few steps": """
for (int t = 0; t < steps; t++) {
  EACH v[i][j] = MEAN(p);
  double (*q)[w] = p; p = v; v = q;
  if ((t + 1) % 4 == 0) { double sum = 0; EACH sum += p[i][j] - v[i][j]; u[0][0][t % 3] = sum; }
}""",
    "swapped, a factor": """
double now = 1;
for (int t = 1; t <= steps; ++t) {
  now *= 0.9;
  EACH v[i][j] = now * MEAN(p);
  double (*q)[w] = v; v = p; p = q;
}""",
}
LINES = Grids(
    "",
    "int steps, int h, int n, double u[4][n], double v[n], double p[n]",
    "(h + w)",
)
ALONG_LINES = {
    "swapped": """
for (int t = 0; t < steps; t++) {
  for (int i = 1; i < n - 1; i++) v[i] = 0.3 * (p[i - 1] + p[i] + p[i + 1]);
  double *q = p; p = v; v = q;
}""",
    "swapped, down": """
for (int t = steps; t > 0; t--) {
  for (int i = n - 2; i > 0; i--) p[i] = 0.3 * (v[i - 1] + v[i] + v[i + 1]) + t;
  double *q = v; v = p; p = q;
}""",
}
WALKED = {
    "along a line": "for (int i = 0; i < n; i++) *p++ = 2 * v[i];",
    "set before": "p = u[1]; for (int i = 0; i < n; i++) p[i] += 2 * v[i];",
    "from the end": "v += n; for (int i = 0; i < n; i++) *--v = p[i] + steps;",
}


def test_steps_are_tiled(tmp_path):
    for name, (before, after, region) in run_steps(tmp_path, GRIDS, FORMS, (4, 8, 8)).items():
        assert before == after, name
        assert any("stencil over time" in each for each in region.remarks), name


def test_steps_along_lines_are_tiled(tmp_path):
    for name, (before, after, region) in run_steps(tmp_path, LINES, ALONG_LINES, (4, 8)).items():
        assert before == after, name
        assert any("stencil over time" in each for each in region.remarks), name


@pytest.mark.fast
def test_other_places_are_followed(tmp_path):
    for name, (before, after, region) in run_steps(tmp_path, LINES, WALKED, (8,)).items():
        assert before == after, name
        assert region.status == "transformed", name
