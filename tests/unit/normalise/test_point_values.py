"""Values of grid points in place of their names, where these have one use."""

from __future__ import annotations

import pytest
from plain_regions import region_of

from polybuild.codegen.c.bodies import c_text
from polybuild.normalise.point_values import substitute_point_values

_FRAME = """
void f(int n, int k, double u[2][n][n], double *w, float x)
{
#pragma scop
  for (int t = 0; t < n; t++) for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) { BODY }
#pragma endscop
}
"""


def _substituted(body, frame=_FRAME):
    given = region_of(frame.replace("BODY", body))
    new = substitute_point_values(given)
    return " ".join(" ".join(map(c_text, new.statements)).split()), new is given


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "double s = u[0][i][j] - w[j]; u[1][i][j] = w[i] - s;",
            "u[1][i][j] = w[i] - (u[0][i][j] - w[j]);",
        ),
        (
            "float s = u[0][i][j] + w[j]; u[1][i][j] += s;",
            "u[1][i][j] += (float) (u[0][i][j] + w[j]);",
        ),
        (
            "double s = w[i] * u[0][i][j]; u[1][i][j] = s - w[j];",
            "u[1][i][j] = ((double) (w[i] * u[0][i][j])) - w[j];",
        ),
    ],
)
def test_a_value_stands_where_it_is_used(body, expected):
    text, unchanged = _substituted(body)
    assert not unchanged
    assert expected in text, text


@pytest.mark.parametrize(
    "body",
    [
        # two uses, a use later on, in a choice, or by a subscript
        "double s = u[0][i][j] + 1; u[1][i][j] = s * s;",
        "double s = u[0][i][j] + 1; u[1][i][j] = s; w[j] = s;",
        "double s = u[0][i][j] + 1; u[1][i][j] = 0; w[j] = s;",
        "double s = u[0][i][j] + 1; u[1][i][j] = k ? s : 0;",
        # nothing that the steps change, an integer, or what must stay a variable
        "double s = x + 1; u[1][i][j] = s;",
        "int s = u[0][i][j] + 1; u[1][i][j] = s;",
        "volatile double s = u[0][i][j] + 1; u[1][i][j] = s;",
        # effects
        "double s = u[0][i][j] + k++; u[1][i][j] = s;",
        "double s = u[0][i][j] + 1; u[1][i][j] = (w[j] = 2) + s;",
    ],
)
def test_other_values_keep_their_names(body):
    text, unchanged = _substituted(body)
    assert unchanged, text


def test_lines_keep_their_names():
    frame = _FRAME.replace("for (int j = 1; j < n; j++) ", "").replace("int k,", "int k, int j,")
    _, unchanged = _substituted("double s = u[0][i][j] - w[j]; u[1][i][j] = w[i] - s;", frame)
    assert unchanged
