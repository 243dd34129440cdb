"""Pointers that are moved by bytes before they are cast: by elements then, or left alone."""

from __future__ import annotations

import pytest

from polybuild.codegen.c.bodies import c_text
from polybuild.normalise.byte_offsets import with_byte_offsets
from polybuild.source.reader import read_source

TOP = """
typedef struct { int step; char *data; } image;
typedef struct { unsigned char r, g, b; } pixel;
typedef struct { double v; int n; } padded;
void f(int n, int m, unsigned u, unsigned long w, char *p, double *q, void *v, image *im, float *to) {
#pragma scop
"""


@pytest.fixture
def moved(tmp_path):
    """What becomes of a pointer that a region is moved by, and the tests before it."""

    def rewritten(pointer, before=""):
        path = tmp_path / "in.c"
        loop = f"for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) to[i] += *{pointer};"
        path.write_text(f"{TOP}{before}{loop}\n#pragma endscop\n}}\n")
        (region,) = read_source(str(path), ["gcc"], []).regions
        *tests, loops = with_byte_offsets(region).statements
        body = loops.stmt.stmt.rvalue.expr
        return c_text(body), [c_text(each.args.exprs[0]) for each in tests[before.count(";") :]]

    return rewritten


@pytest.mark.parametrize(
    ("pointer", "found", "tests"),
    [
        ("(float *)(p + i * 4)", "((float *) p) + i", []),
        ("(float *)(p + i * 12 + 8)", "((float *) p) + (i * 3 + 2)", []),
        ("(float *)(p + i * n)", "((float *) p) + i * (n / 4)", ["(n % 4) != 0"]),
        ("(float *)(p + 2 * i * n)", "((float *) p) + i * (n / 2)", ["(n % 2) != 0"]),
        ("(float *)(p + (i - 1) * n)", "((float *) p) + (i - 1) * (n / 4)", ["(n % 4) != 0"]),
        ("(float *)(p - i * n)", "((float *) p) + -(i * (n / 4))", ["(n % 4) != 0"]),
        ("(float *)&p[i * n]", "((float *) p) + i * (n / 4)", ["(n % 4) != 0"]),
        ("(float *)((char *)v + (long)i * n)", "((float *) v) + i * (n / 4)", ["(n % 4) != 0"]),
        ("(float *)(v + i * sizeof(float))", "((float *) v) + i", []),
        ("(float *)(q + i)", "((float *) q) + i * 2", []),
        ("(float *)(void *)(p + w * i)", "((float *) p) + w / 4 * i", ["(w % 4) != 0"]),
        (
            "(float *)(im->data + i * im->step)",
            "((float *) im->data) + i * (im->step / 4)",
            ["(im->step % 4) != 0"],
        ),
        ("&((pixel *)(p + i * 3))->r", "&(((pixel *) p) + i)->r", []),
    ],
)
def test_pointers_are_moved_by_elements(moved, pointer, found, tests):
    assert moved(pointer) == (found, tests)


@pytest.mark.parametrize(
    "pointer",
    [
        "(float *)(p + i)",  # any byte
        "(float *)(p + i * 2)",
        "(float *)(p + i * j)",
        "(float *)(p + u * i)",  # which may wrap
        "(float *)(p + i * (n + 1))",
        "&((padded *)(p + i * 16))->n",  # whose size is not known here
    ],
)
def test_what_may_be_no_whole_elements_stays(moved, pointer):
    text, tests = moved(pointer)
    assert not tests
    assert "p +" in text


def test_what_the_region_changes_is_no_number_of_rows(moved):
    text, tests = moved("(float *)(p + i * n)", "n += 4;")
    assert (text, tests) == ("(float *) (p + i * n)", [])
