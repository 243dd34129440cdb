"""Variables that keep what they are set to before a region stand for it there, and no others do."""

from __future__ import annotations

import pytest
from pycparser import c_generator

from polybuild.normalise.values_before import with_counters_set, with_values_before
from polybuild.source.reader import read_source

REGION = "\n#pragma scop\nfor (int i = 0; i < nx; i++) a[i + plane] = 0;\n#pragma endscop\n"


def subscript(tmp_path, body):
    """What is between the brackets after ``body`` and the region in it."""
    path = tmp_path / "in.c"
    path.write_text(f"int g(int *); static int s;\nvoid f(int nx, int ny, double *a)\n{{\n{body}\n}}\n")
    (region,) = read_source(str(path), ["gcc"], []).regions
    text = c_generator.CGenerator().visit(with_values_before(region).statements[0])
    return text[text.index("a[") + 2 : text.index("]")]


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("int plane = nx * ny;", "i + (nx * ny)"),
        ("const int plane = 2 * nx - 1;", "i + ((2 * nx) - 1)"),
        ("int plane; plane = nx * ny;", "i + (nx * ny)"),
        ("long plane = nx;", "i + ((long) nx)"),
        ("int m = g(0), plane = nx * m;", "i + (nx * m)"),
        ("int plane = 7 * ny;", "i + (7 * ny)"),
    ],
)
def test_they_are_their_expressions(tmp_path, before, expected):
    assert subscript(tmp_path, before + REGION) == expected
    assert subscript(tmp_path, f"for (int t = 0; t < 3; t++) {{ {before} {REGION} }}") == expected


@pytest.mark.parametrize(
    "body",
    [
        f"if (ny > 9) ny = 9; int plane = nx * ny; {REGION}",
        f"int plane = 0; if (nx < 0) {{ nx = 0; ny--; }} plane = nx * ny; {REGION} nx--;",
        f"int plane = nx; a[0] = plane; plane = nx * ny; {REGION} plane = 0;",
        f"int plane; while (ny--) {{ if (nx > ny) nx--; plane = nx * ny; {REGION} }}",
        f"int plane; for (; nx; nx--) {{ ny++; plane = nx * ny; if (nx > 1) {{ {REGION} }} }}",
        f"int plane; if ((plane = nx * ny)) {{ {REGION} }}",
        f"int plane; if ((plane = nx * ny) > 3) {{ {REGION} }}",
    ],
)
def test_what_is_set_again_is_what_it_was_set_to_last(tmp_path, body):
    assert subscript(tmp_path, body) == "i + (nx * ny)"


@pytest.mark.parametrize(
    "body",
    [
        f"int plane = nx * ny; nx++; {REGION}",
        f"int plane = nx * ny; plane++; {REGION}",
        f"int plane = nx * ny; while (ny--) {{ {REGION} }}",
        f"int plane = nx * ny; while (plane > 9) {{ {REGION} plane -= nx; }}",
        f"int plane = nx * ny; if ((nx = ny) > 2) {{ {REGION} }}",
        f"int plane = 0; if ((plane = nx * ny) && ny--) {{ {REGION} }}",
        f"int plane = 0; if ((plane = nx * ny) > ny--) {{ {REGION} }}",
        f"int plane = nx * ny; for (; ny; ny--) {{ if (ny == 2) nx--; {REGION} }}",
        f"int plane; if (ny) plane = nx * ny; {REGION}",
        f"int plane, m; plane = nx * m; m = 3; {REGION}",
        f"int m = 2, plane = nx * m; g(&m); {REGION}",
        f"int plane = nx * s; {REGION}",
        f"int plane = g(&ny) * nx; {REGION}",
        f"char plane = nx * ny; {REGION}",
        f"goto there; {{ int plane = nx * ny; there: {REGION} }}",
        f"switch (ny) {{ int plane = nx * ny; case 1: ; {REGION} }}",
        f"int plane = nx * ny; {{ int nx = 3; {REGION} }}",
    ],
)
def test_others_stay(tmp_path, body):
    assert subscript(tmp_path, body) == "i + plane"


LOOP = "\n#pragma scop\nwhile (k > 0) { a[k] = 0; k--; }\n#pragma endscop\n"


def starts(tmp_path, body):
    """What the region in ``body`` does before its loop."""
    path = tmp_path / "in.c"
    path.write_text(f"int g(int *);\nvoid f(int nx, int ny, double *a)\n{{\n{body}\n}}\n")
    (region,) = read_source(str(path), ["gcc"], []).regions
    return [c_generator.CGenerator().visit(each) for each in with_counters_set(region).statements[:-1]]


@pytest.mark.parametrize(
    "body",
    [
        f"int k = nx * 2; {LOOP}",
        f"int k; k = nx * 2; {LOOP}",
        f"int k = 7; k = nx * 2; a[0] = k; {LOOP}",
        f"int k; while (ny--) {{ k = nx * 2; {LOOP} }}",
        f"for (int k = 0, t = 0; t < 3; t++) {{ k = nx * 2; {LOOP} }}",
    ],
)
def test_counters_start_where_they_were_set(tmp_path, body):
    assert starts(tmp_path, body) == ["k = nx * 2"]


@pytest.mark.parametrize(
    "body",
    [
        f"int k = nx; k++; {LOOP}",
        f"int k = nx; if (ny) k = 3; {LOOP}",
        f"int k = nx; nx = 3; {LOOP}",
        f"int k = nx; if (ny) {{ {LOOP} }}",
        f"int k = nx; while (ny--) {{ {LOOP} }}",
        f"int k = nx; g(&k); {LOOP}",
        f"int k = g(&ny); {LOOP}",
        f"int k = nx; if (ny) goto in; ny = 1; in: ; {LOOP}",
        f"int k = 7; again: ; {LOOP} if (ny--) {{ k = 9; goto again; }}",
        f"volatile int k = nx; {LOOP}",
    ],
)
def test_other_counters_start_as_they_are(tmp_path, body):
    assert starts(tmp_path, body) == []
