"""Local arrays as long as they ever are; others stay as they are."""

from __future__ import annotations

import pytest
from plain_regions import region_of

from polybuild.codegen.c.bodies import c_text
from polybuild.normalise.buffer_extents import with_maximum_extents


def region(body):
    return region_of(f"void f(int n, int m, double *a) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")


@pytest.mark.parametrize(
    ("loops", "extent", "expected"),
    [
        ("for (int i = 0; i < n; i++)", "i + 1", "n - 1 + 1"),
        ("for (int i = 0; i <= n; i++)", "i", "n"),
        ("for (int i = 2; i < n; i++)", "n - i", "n - 2"),
        ("for (int i = 0; i < n; i++) for (int j = 0; j < i; j++)", "j + m", "n - 1 - 1 + m"),
    ],
)
def test_the_greatest_extent_is_declared(loops, extent, expected):
    given = region(f"{loops} {{ double row[{extent}]; row[0] = a[0]; }}")
    text = " ".join(c_text(each) for each in with_maximum_extents(given).statements)
    assert f"double row[{expected}];" in text.replace("(", "").replace(")", "")


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) { double row[n]; row[0] = a[i]; }",
        "for (int i = 0; i < n; i++) { double row[i * i + 1]; row[0] = a[i]; }",
        "for (int i = n; i > 0; i--) { double row[i]; row[0] = a[i]; }",
        "for (int i = 0; i < n; i++) { double row[i + 1]; row[0] = a[i]; n--; }",
        "for (int i = 0; i < n; i++) { double row[i + 1]; row[0] = sizeof row; }",
    ],
)
def test_other_arrays_stay_as_they_are(body):
    given = region(body)
    assert with_maximum_extents(given) is given
