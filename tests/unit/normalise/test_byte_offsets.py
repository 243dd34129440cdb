"""Pointers that are moved by bytes before they are cast: by elements then, or left alone."""

from __future__ import annotations

import pytest

from polybuild.c.syntax_tree import walk
from polybuild.c.synthetic import Quotient
from polybuild.codegen.c.bodies import c_text
from polybuild.normalise.byte_offsets import with_byte_offsets
from polybuild.source.reader import read_source

TOP = """
typedef struct { int step; char *data; long *strides; struct { long size, stride; } axes[2]; } image;
typedef struct { unsigned char r, g, b; } pixel;
typedef struct { double v; int n; } padded;
void f(int n, int m, unsigned u, unsigned long w, char *p, double *q, void *v, image *im, float *to,
  const long *s) {
#pragma scop
"""


@pytest.fixture
def moved(tmp_path):
    """What becomes of a pointer that a region follows, and the quotients in it that must be whole."""

    def rewritten(pointer, before=""):
        path = tmp_path / "in.c"
        loop = f"for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) to[i] += *{pointer};"
        path.write_text(f"{TOP}{before}{loop}\n#pragma endscop\n}}\n")
        (region,) = read_source(str(path), ["gcc"], []).regions
        *_, loops = with_byte_offsets(region).statements
        body = loops.stmt.stmt.rvalue.expr
        return c_text(body), [c_text(each) for each in walk(body) if isinstance(each, Quotient)]

    return rewritten


@pytest.mark.parametrize(
    ("pointer", "found", "quotients"),
    [
        ("(float *)(p + i * 4)", "((float *) p) + i", []),
        ("(float *)(p + i * 12 + 8)", "((float *) p) + (i * 3 + 2)", []),
        ("(float *)(p + i * n)", "((float *) p) + i * (n / 4)", ["n / 4"]),
        ("(float *)(p + 2 * i * n)", "((float *) p) + i * (n / 2)", ["n / 2"]),
        ("(float *)(p + (i - 1) * n)", "((float *) p) + (i - 1) * (n / 4)", ["n / 4"]),
        ("(float *)(p - i * n)", "((float *) p) + -(i * (n / 4))", ["n / 4"]),
        ("(float *)&p[i * n]", "((float *) p) + i * (n / 4)", ["n / 4"]),
        ("(float *)((char *)v + (long)i * n)", "((float *) v) + i * (n / 4)", ["n / 4"]),
        ("(float *)(v + i * sizeof(float))", "((float *) v) + i", []),
        ("(float *)(q + i)", "((float *) q) + i * 2", []),
        ("(float *)(void *)(p + w * i)", "((float *) p) + w / 4 * i", ["w / 4"]),
        (
            "(float *)(im->data + i * im->step)",
            "((float *) im->data) + i * (im->step / 4)",
            ["im->step / 4"],
        ),
        ("(float *)(p + i * s[1])", "((float *) p) + i * (s[1] / 4)", ["s[1] / 4"]),
        ("(float *)(p + i * *s)", "((float *) p) + i * (*s / 4)", ["*s / 4"]),
        (
            "(float *)(im->data + i * im->strides[0])",
            "((float *) im->data) + i * (im->strides[0] / 4)",
            ["im->strides[0] / 4"],
        ),
        (
            "(float *)(p + i * im->axes[1].stride)",
            "((float *) p) + i * (im->axes[1].stride / 4)",
            ["im->axes[1].stride / 4"],
        ),
        ("&((pixel *)(p + i * 3))->r", "&(((pixel *) p) + i)->r", []),
    ],
)
def test_pointers_are_moved_by_elements(moved, pointer, found, quotients):
    assert moved(pointer) == (found, quotients)


@pytest.mark.parametrize(
    "pointer",
    [
        "(float *)(p + i)",  # any byte
        "(float *)(p + i * 2)",
        "(float *)(p + i * j)",
        "(float *)(p + u * i)",  # which may wrap
        "(float *)(p + i * (n + 1))",
        "(float *)(p + i * s[i])",
        "&((padded *)(p + i * 16))->n",  # whose size is not known here
    ],
)
def test_what_may_be_no_whole_elements_stays(moved, pointer):
    text, quotients = moved(pointer)
    assert not quotients
    assert "p +" in text


def test_what_the_region_changes_is_no_number_of_rows(moved):
    assert moved("(float *)(p + i * n)", "n += 4;") == ("(float *) (p + i * n)", [])
