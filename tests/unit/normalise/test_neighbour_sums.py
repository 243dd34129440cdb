"""Sums over neighbours in loops as one expression, and what has to stay a loop."""

from __future__ import annotations

import re

import pytest
from plain_regions import region_of

from polybuild.codegen.c.bodies import c_text
from polybuild.normalise.neighbour_sums import join_neighbour_sums

_STEPS = "for (int t = 0; t < n; t++) { for (int i = 1; i < n - 1; i++) { BODY } SWAP }"
_SWAP = "double *spare = u; u = v; v = spare;"


def _joined(body, swap=_SWAP):
    loops = _STEPS.replace("BODY", body).replace("SWAP", swap)
    given = region_of(
        f"void f(int n, double *u, double *v, double *w, long *k) {{\n#pragma scop\n{loops}\n"
        "#pragma endscop\n}\n"
    )
    joined = join_neighbour_sums(given)
    text = " ".join(c_text(each) for each in joined.statements)
    return re.sub(r"\s+", " ", text), joined is given


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "double s = 0; for (int x = -1; x <= 1; x++) s += w[x + 1] * u[i + x]; v[i] = s;",
            "double s = ((double) 0) + w[0] * u[i + -1] + w[1] * u[i + 0] + w[2] * u[i + 1];",
        ),
        (
            "float s; s = u[i]; for (int x = 0; x < 2; x++) s -= u[i - x]; v[i] = s;",
            "s = (float) (((float) (((float) u[i]) - u[i - 0])) - u[i - 1]);",
        ),
        (
            "double s = 2 * u[i]; for (int x = 1; x < 3; x++) { int at = i + x; s = u[at] - s; } v[i] = s;",
            "double s = u[i + 2] - (u[i + 1] - ((double) (2 * u[i])));",
        ),
        (
            "double s = 1; v[i] = s; for (int x = 0; x < 2; x++) s *= u[i + x]; v[i] += s;",
            "s = (double) (((double) (s * u[i + 0])) * u[i + 1]);",
        ),
        (
            "int s = 0; for (int x = -1; x <= 1; x++) if (x) s += u[i + x] > w[abs(x)]; v[i] = s;",
            "int s = 0 + (u[i + -1] > w[1]) + (u[i + 1] > w[1]);",
        ),
    ],
)
def test_a_sum_becomes_one_expression(body, expected):
    text, unchanged = _joined(body)
    assert not unchanged
    assert expected in text


@pytest.mark.parametrize(
    "body",
    [
        # as many terms as a small matrix has
        "double s = 0; for (int x = -3; x < 3; x++) for (int y = 0; y < 6; y++) s += u[i + x + y]; v[i] = s;",
        # a grid that no step changes
        "double s = 0; for (int x = -1; x <= 1; x++) s += w[i + x]; v[i] = s;",
        # a row that each iteration has of its own, and rows that points have in an array
        """double r[4]; for (int x = 0; x < 4; x++) r[x] = w[x];
        double s = 0; for (int x = 0; x < 4; x++) s += r[x] * r[x]; v[i] = s;""",
        "double s = 0; for (int x = 0; x < 4; x++) s += u[4 * i + x]; v[i] = s;",
        # what is added does not move along with the loop
        "double s = 0; for (int x = -1; x <= 1; x++) s += u[i]; v[i] = s;",
        # one sum is a term of the other
        "double s = 0, r = 0; for (int x = 0; x <= 1; x++) { s += u[i + x]; r += s; } v[i] = s + r;",
        # more is done than adding up
        "double s = 0; for (int x = -1; x <= 1; x++) { s += u[i + x]; v[i] = s; }",
        # the counter lives on
        "double s = 0; int x; for (x = -1; x <= 1; x++) s += u[i + x]; v[i] = s + x;",
        # data say what is added
        "double s = 0; for (int x = -1; x <= 1; x++) if (k[x + 1]) s += u[i + x]; v[i] = s;",
        # two variables of one name
        """double s = 0; for (int x = 0; x <= 1; x++) s += u[i + x]; v[i] = s;
        { float s = 0; for (int x = 0; x <= 1; x++) s += u[i + x]; v[i] += s; }""",
        # a name for something that changes
        "long s = 0; for (int x = 0; x <= 1; x++) { long at = s; s += u[at + x] > 0; } v[i] = s;",
    ],
)
def test_other_loops_stay(body):
    text, unchanged = _joined(body)
    assert unchanged, text


def test_members_of_structures_are_no_grids_that_steps_change():
    given = region_of(
        "struct layer { int n; double *u, *v; };\nvoid f(int n, struct layer *l) {\n#pragma scop\n"
        "for (int t = 0; t < n; t++) for (int i = 1; i < n - 1; i++) { double s = 0;"
        " for (int x = -1; x <= 1; x++) s += l->u[i + x]; l->v[i] = s; }\n#pragma endscop\n}\n"
    )
    assert join_neighbour_sums(given) is given


def test_sums_in_one_loop_alone_stay():
    given = region_of(
        "void f(int n, double *u) {\n#pragma scop\nfor (int i = 1; i < n - 1; i++) { double s = 0;"
        " for (int x = -1; x <= 1; x++) s += u[i + x]; u[i] = s; }\n#pragma endscop\n}\n"
    )
    assert join_neighbour_sums(given) is given


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ("for (int x = -1; x <= 1; x++) if (x) s += u[i][j + x];", "0 + u[i][j + -1] + u[i][j + 1]"),
        (
            "for (int x = -1; x <= 1; x++) { if (x == 0) continue; s -= u[i][j + x]; }",
            "0 - u[i][j + -1] - u[i][j + 1]",
        ),
        (
            "for (int x = j - 1; x <= j + 1; x++) if (x != j) s += u[i][x];",
            "0 + u[i][j - 1 + 0] + u[i][j - 1 + 2]",
        ),
        (
            "for (k = -1; k < 2; k++) if (!(k == 0) && u[i][j + k]) s++;",
            "0 + (u[i][j + -1] != 0) + (u[i][j + 1] != 0)",
        ),
        (
            "for (k = -1; k < 2; k++) if (k && u[i][j + k] > 3) s += 5;",
            "0 + ((u[i][j + -1] > 3) ? (5) : (0)) + ((u[i][j + 1] > 3) ? (5) : (0))",
        ),
    ],
)
def test_windows_without_a_point(window, expected):
    given = _window(window)
    text = " ".join(c_text(each) for each in join_neighbour_sums(given).statements)
    assert f"int s = {expected};" in re.sub(r"\s+", " ", text)


@pytest.mark.parametrize(
    "window",
    [
        "for (int x = -1; x <= 1; x++) s += u[i][j + x];",  # a box, as it is
        "for (int x = -1; x <= 1; x++) if (j + x >= 0) s += u[i][j + x];",  # nothing that numbers decide
        "for (int x = 0; x < n; x++) if (x != j) s += u[i][x];",  # not a few
        "for (k = -1; k <= 1; k++) if (k) s += u[i][j + k]; s += k;",  # the counter lives on
        # the loop around counts with it, too
        "for (k = 0; k < 9; k++) { for (k = -1; k <= 1; k++) if (k) s += u[i][j + k]; }",
        "for (int x = -1; x <= 1; x++) if (k++ && x) s += u[i][j + x];",  # conditions that do something
    ],
)
def test_other_windows_stay(window):
    given = _window(window)
    assert join_neighbour_sums(given) is given


def _window(window):
    return region_of(
        "void f(int n, unsigned char u[n][n], unsigned char v[n][n]) { int k;\n#pragma scop\n"
        "for (int i = 0; i < n; i++) for (int j = 1; j < n - 1; j++) {"
        f" int s = 0; {window} v[i][j] = s; }}\n#pragma endscop\n}}\n"
    )
