"""Small arrays whose elements are named by numbers become what variables become."""

from __future__ import annotations

import re

import pytest
from compiling import IDLE, output, transform, write

_PROGRAM = """\
#include <stdio.h>
static double a[70][70], b[70][70], c[70][70];
static int best[70];
static void f(int n)
{
  OUTSIDE
#pragma scop
  for (int i = 0; i < n; i++) BODY
#pragma endscop
}
int main(void)
{
  for (int i = 0; i < 70; i++)
    for (int j = 0; j < 70; j++)
      a[i][j] = (i * 7 + j * 3) % 11, b[i][j] = (i + j * 5) % 13;
  f(67);
  for (int i = 0; i < 70; i++)
    for (int j = 0; j < 70; j++)
      printf("%.17g %d\\n", c[i][j], best[i]);
  return 0;
}
"""
_BODIES = {
    "product": "for (int j = 0; j < n; j++) { INSIDE"
    " s[0] = 0; for (int k = 0; k < n; k++) s[0] += a[i][k] * b[k][j]; c[i][j] = s[0]; }",
    "two sums": "for (int j = 0; j < n; j++) { INSIDE"
    " s[0] = s[1] = 0; for (int k = 0; k < n; k++) { s[0] += a[i][k] * b[k][j]; s[1] += a[k][i]; }"
    " c[i][j] = s[0] * s[1]; }",
    "nearest": "{ INSIDE s[0] = 1e30; best[i] = 0; for (int k = 0; k < n; k++) {"
    " s[1] = 0; for (int d = 0; d < 8; d++) s[1] += (a[i][d] - b[k][d]) * (a[i][d] - b[k][d]);"
    " if (s[1] < s[0]) { s[0] = s[1]; best[i] = k; } } }",
    "rotation": "for (int j = 0; j < n; j++) { INSIDE"
    " s[0] = a[i][j] * .8 - b[i][j] * .6; s[1] = a[i][j] * .6 + b[i][j] * .8;"
    " c[i][j] = s[0] * s[1]; }",
}


def _new_order(text: str) -> str:
    return text.partition("the new order")[2].partition("the original loops")[0]


@pytest.mark.parametrize("place", ["INSIDE", "OUTSIDE"])
@pytest.mark.parametrize("name", _BODIES)
def test_the_code_of_variables(tmp_path, name, place):
    arrays = _PROGRAM.replace("BODY", _BODIES[name]).replace(place, "double s[2];")
    arrays = re.sub("INSIDE|OUTSIDE", "", arrays)
    made = transform(tmp_path / "in.c", arrays).text
    if place == "INSIDE":
        variables = re.sub(r"\bs\[([01])\]", r"s_\1", arrays.replace("double s[2];", "double s_0, s_1;"))
        assert _new_order(made) == _new_order(transform(tmp_path / "in.c", variables).text)
    assert "s[" not in _new_order(made)
    original = output(write(tmp_path / "in.c", arrays))
    assert output(write(tmp_path / "out.c", made), "-fopenmp", *IDLE) == original


@pytest.mark.parametrize(
    "body",
    [
        "{ double s[2] = {i, 0}; for (int j = 0; j < n; j++) c[i][j] = s[0] * a[i][j]; }",
        "{ double s[2] = {i, a[i][i]}; for (int j = 0; j < n; j++) c[i][j] = s[0] * a[i][j]; }",
        "{ double s[3]; s[0] = i; s[2] = a[i][0]; for (int j = 0; j < n; j++) c[i][j] = s[0] * a[i][j]; }",
        "{ double s[2]; s[0] = 2; if (i > 3) { s[1] = 3; } for (int j = 0; j < n; j++) c[i][j] = s[0] * i; }",
    ],
)
def test_elements_that_are_not_read_are_not_set(tmp_path, body):
    text = _PROGRAM.replace("BODY", body).replace("OUTSIDE", "")
    made = transform(tmp_path / "in.c", text).text
    original = output(write(tmp_path / "in.c", text))
    assert output(write(tmp_path / "out.c", made), "-fopenmp", *IDLE) == original  # warnings are errors
