"""Updates near several borders as choices, and what stays under its condition."""

from __future__ import annotations

import pytest
from plain_regions import region_of

from polybuild.c.syntax_tree import key
from polybuild.codegen.c.bodies import c_text
from polybuild.normalise.border_choices import choose_at_borders

_FRAME = """
void f(int n, int k, double u[n][n], double *w)
{
#pragma scop
  for (int t = 0; t < n; t++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { BODY }
#pragma endscop
}
"""


def _chosen(body, frame=_FRAME):
    given = region_of(frame.replace("BODY", body))
    chosen = choose_at_borders(given)
    text = " ".join(" ".join(map(c_text, chosen.statements)).split())
    return text, [key(each) for each in chosen.statements] == [key(each) for each in given.statements]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "double s = w[j]; if (i < 4 || i >= n - 4) s *= 0.9; u[i][j] = s;",
            "s = ((i < 4) || (i >= (n - 4))) ? (s * 0.9) : (s);",
        ),
        (
            "u[i][j] = w[j]; if (!(i > 4 && j > 4)) { u[i][j] = 1 - u[i][j]; }",
            "u[i][j] = (!((i > 4) && (j > 4))) ? (1 - u[i][j]) : (u[i][j]);",
        ),
        (
            "double s = w[j]; if (i < 4) s *= 0.9; if (j < 4) s *= 0.8; if (i > k) { s -= 1; } u[i][j] = s;",
            "s = (i < 4) ? (s * 0.9) : (s); s = (j < 4) ? (s * 0.8) : (s); s = (i > k) ? (s - 1) : (s);",
        ),
    ],
)
def test_what_is_set_before_is_chosen(body, expected):
    text, unchanged = _chosen(body)
    assert not unchanged
    assert expected in text


@pytest.mark.parametrize(
    "body",
    [
        # nothing is there before
        "if (i < 4 || i >= n - 4) u[i][j] *= 0.9;",
        # another element is
        "u[i][k] = w[j]; if (i < 4 || i >= n - 4) u[i][j] *= 0.9;",
        # it was the same one, then the place changed
        "int at = i; u[at][j] = w[j]; at = k; if (i < 4 || i >= n - 4) u[at][j] *= 0.9;",
        # two sides, each of which is a loop of its own
        "double s = w[j]; if (i < 4) s *= 0.9; if (i >= n - 4) s *= 0.9; u[i][j] = s;",
        # one box
        "u[i][j] = w[j]; if (i == 3 && j == 4) u[i][j] += 0.5;",
        # data, elements that may not be there, functions, other branches
        "u[i][j] = w[j]; if (w[i] > 4 || i < 4) u[i][j] *= 0.9;",
        "double s = 0; if (i > 0 || j > 0) s += w[i + j - 1]; u[i][j] = s;",
        "double s = 0; if (i > 0 || j > 0) s = g(i); u[i][j] = s;",
        "double s = 0; if (i > 0 || j > 0) s = 1; else s = 2; u[i][j] = s;",
    ],
)
def test_other_updates_stay(body):
    text, unchanged = _chosen(body)
    assert unchanged, text


def test_lines_have_no_borders_of_several_dimensions():
    frame = _FRAME.replace("for (int j = 0; j < n; j++) ", "").replace("int k,", "int k, int j,")
    _, unchanged = _chosen("u[i][j] = w[j]; if (i < 4 || i >= n - 4) u[i][j] *= 0.9;", frame)
    assert unchanged
