"""Pointers to bytes that walk: to elements then, or left alone."""

from __future__ import annotations

import pytest

from polybuild.codegen.c.bodies import c_text
from polybuild.normalise.byte_walkers import with_typed_walkers
from polybuild.source.reader import read_source

TOP = """
typedef struct { double re, im; } number;
double f(int n, int m, char *p, char *q, void *v, double *x, long s, long t) {
  double sum = 0;
#pragma scop
"""


@pytest.fixture
def walked(tmp_path):
    """The text of a region after its pointers walk by elements; none if it stays as it is."""

    def rewritten(loop, after="return sum;"):
        path = tmp_path / "in.c"
        path.write_text(f"{TOP}{loop}\n#pragma endscop\n{after} }}\n")
        (region,) = read_source(str(path), ["gcc"], []).regions
        new = with_typed_walkers(region)
        return "" if new is region else " ".join("\n".join(map(c_text, new.statements)).split())

    return rewritten


def test_a_pointer_of_the_function(walked):
    text = walked("for (int i = 0; i < n; i++) { sum += *(double *)p; p += s; }")
    assert text.startswith("double *p_in_elements = (double *) p")
    assert "sum += *p_in_elements" in text
    assert "p_in_elements += s / 8" in text


@pytest.mark.parametrize(
    ("loop", "found"),
    [
        ("for (int i = 0; i < n; i++) { char *r = p + i * s; sum += *(double *)(r + 8); }", "*(r + 1)"),
        (
            "for (int i = 0; i < n; i++) { char *r = p + i * s; sum += ((float *)r)[i]; }",
            "float *r = (float *) (p",
        ),
        ("for (int i = 0; i < n; i++) { const char *r = p; sum += *(const double *)r; r += 16; }", "r += 2"),
        ("for (int i = 0; i < n; i++, p -= s) sum += ((number *)p)->im;", "p_in_elements -= s / 16"),
        ("for (int i = 0; i < n; i++) { sum += *(double *)v; v = (char *)v + s; }", "v_in_elements + s / 8"),
        ("for (char *r = p, *e = q; n--; r += s, e = r + t) sum += *(int *)r * *(int *)e;", "e = r + t / 4"),
    ],
)
def test_how_they_are_written(walked, loop, found):
    assert found in walked(loop)


@pytest.mark.parametrize(
    "loop",
    [
        "for (int i = 0; i < n; i++) { sum += *(double *)p; p++; }",
        "for (int i = 0; i < n; i++) { sum += *(double *)p; p += m * s + 4; }",
        "for (int i = 0; i < n; i++) { sum += *(double *)p + *(float *)p; p += s; }",
        "for (int i = 0; i < n; i++) { sum += *(double *)p + *p; p += s; }",
        "for (int i = 0; i < n; i++) { sum += *(double *)p; p += s; s += 8; }",
        "for (; p < q; p += s) sum += *(double *)p;",
        "for (int i = 0; i < n; i++) { sum += *(double *)p; p = i % 2 ? p : q; }",
        "for (int i = 0; i < n; i++) sum += *(double *)(p + i * s);",
    ],
)
def test_other_pointers_stay(walked, loop):
    assert not walked(loop)


def test_what_is_read_after_the_region_stays(walked):
    assert not walked("for (int i = 0; i < n; i++) { sum += *(double *)p; p += s; }", "return sum + *p;")
