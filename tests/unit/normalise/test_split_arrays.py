"""Small arrays whose elements are named by numbers, as variables."""

from __future__ import annotations

import pytest
from plain_regions import region_of

from polybuild.codegen.c.bodies import c_text
from polybuild.normalise.split_arrays import split_arrays

_FRAME = """
enum { LAST = 1 };
void f(int n, double *a, double *b)
{
  double before[2];
#pragma scop
  for (int i = 0; i < n; i++) { BODY }
#pragma endscop
  AFTER
}
"""


def _split(body, after=""):
    given = region_of(_FRAME.replace("BODY", body).replace("AFTER", after))
    new = split_arrays(given)
    return " ".join(" ".join(map(c_text, new.statements)).split()), new is given


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("double t[2]; t[0] = a[i]; t[LAST] = b[i]; a[i] = t[1]; b[i] = t[0];", "a[i] = t_1; b[i] = t_0;"),
        ("float m[2][2]; m[1][0] = a[i]; b[i] = m[1][2 - 2];", "b[i] = m_1_0;"),
        ("double t[1], t_0 = a[i]; t[0] = 0; t[0] += t_0; b[i] = t[0];", "b[i] = t_0_2;"),
        ("before[0] = a[i]; before[1] = b[i]; b[i] = before[0] - before[1];", "before_0 - before_1;"),
        (
            "{ float t[1]; t[0] = a[i]; b[i] = t[0]; } { float t[1]; t[0] = b[i]; a[i] = t[0]; }",
            "a[i] = t_0_2;",
        ),
    ],
)
def test_elements_are_variables(body, expected):
    text, unchanged = _split(body)
    assert not unchanged
    assert expected in text, text
    assert "t[" not in text


@pytest.mark.parametrize(
    ("body", "after"),
    [
        # by a variable, out of bounds, as a whole, by its address, by rows
        ("double t[2]; t[0] = a[i]; t[1] = b[i]; a[i] = t[i % 2];", ""),
        ("double t[2]; t[0] = a[i]; b[i] = t[0] + t[2];", ""),
        ("double t[2]; t[0] = a[i]; b[i] = *t;", ""),
        ("double t[2]; double *p = &t[0]; t[0] = a[i]; b[i] = p[0];", ""),
        ("double t[2][2]; t[0][1] = a[i]; b[i] = t[0][1] + *t[0];", ""),
        # what others see, or what was there before
        ("before[0] = a[i]; b[i] = before[0];", "a[0] = before[0];"),
        ("b[i] = before[0]; before[0] = a[i];", ""),
        ("if (a[i] > 0) before[0] = a[i]; b[i] = before[0];", ""),
        # many elements, none, and elements that are seen to be stored
        ("double t[1000]; t[0] = a[i]; b[i] = t[0];", ""),
        ("double t[0]; b[i] = a[i];", ""),
        ("volatile double t[1]; t[0] = a[i]; b[i] = t[0];", ""),
        ("b[i] = a[0] + a[1];", ""),
    ],
)
def test_arrays_that_stay(body, after):
    assert _split(body, after)[1]
