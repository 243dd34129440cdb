"""Sums of each step have an element of their own where the grid does not depend on them, nor the program."""

from __future__ import annotations

import pytest

from polybuild.driver.file import compile_source
from polybuild.options import Options

STEPS = """\
double f(int n, int m, int steps, double u[restrict n][m], double v[restrict n][m], double *restrict norm) {
  double s = 0;
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++) v[i][j] = FACTOR * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j]);
    RESET
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++) { s += v[i][j]; u[i][j] = v[i][j]; }
    STORE
  }
#pragma endscop
  return LAST;
}
"""
OWN = {"FACTOR": "0.25", "RESET": "s = 0;", "STORE": "norm[t] = s;", "LAST": "0"}


def expands(folder, **changed):
    text = STEPS
    for name, value in (OWN | changed).items():
        text = text.replace(name, value)
    path = folder / "steps.c"
    path.write_text(text)
    (region,) = compile_source(str(path), Options(), ["gcc"], ["-O2", "-ffp-contract=off"]).regions
    return any("in an element of its own" in each for each in region.remarks)


def test_a_sum_of_each_step_has_an_element(tmp_path):
    assert expands(tmp_path)
    assert expands(tmp_path, STORE="norm[t] = s / (n * m);")
    assert expands(tmp_path, LAST="s")  # the last one is computed again


@pytest.mark.parametrize(
    "changed",
    [
        {"RESET": ""},
        {"FACTOR": "s * 0.25", "RESET": "s = 0.1;"},
        {"STORE": "u[1][1] = s;"},
        {"RESET": "if (t % 4 == 0) s = 0;"},
    ],
    ids=["over all steps", "that points use", "that a point gets", "over a few steps"],
)
def test_other_sums_have_none(tmp_path, changed):
    assert not expands(tmp_path, **changed)
