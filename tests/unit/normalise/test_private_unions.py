"""Unions of the function that the region sets anew: in the blocks that use them, or left alone."""

from __future__ import annotations

import pytest

from polybuild.codegen.c.bodies import c_text
from polybuild.normalise.private_unions import with_private_unions
from polybuild.source.reader import read_source

TOP = """
union tagged { float f; unsigned u; };
void f(int n, double *x, unsigned *k) {
  union { float f; unsigned u; unsigned char c[4]; } v; union tagged w; union { double d; float f; } z;
#pragma scop
"""


@pytest.fixture
def private(tmp_path):
    """The text of a region with unions of its own; none if it stays as it is."""

    def rewritten(loop, after=""):
        path = tmp_path / "in.c"
        path.write_text(f"{TOP}{loop}\n#pragma endscop\n{after} }}\n")
        (region,) = read_source(str(path), ["gcc"], []).regions
        new = with_private_unions(region)
        return "" if new is region else " ".join("\n".join(map(c_text, new.statements)).split())

    return rewritten


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (
            "v.f = x[i]; k[i] = v.u;",
            "{ { union { float f; unsigned u; unsigned char c[4]; } v_here; v_here.f = x[i];",
        ),
        ("w.f = x[i]; k[i] = w.u;", "union tagged w_here; w_here.f = x[i]; k[i] = w_here.u; }"),
        ("k[i] = 0; w.u = k[i]; x[i] = w.f; k[i]++;", "k[i] = 0; { union tagged w_here;"),
        ("w.f = x[i]; unsigned u = w.u; k[i] = u;", "unsigned u = w_here.u; k[i] = u; }"),
        ("if (i > 2) { w.f = x[i]; k[i] = w.u; }", "{ { union tagged w_here;"),
    ],
)
def test_blocks_that_set_them_declare_them(private, body, found):
    assert found in private(f"for (int i = 0; i < n; i++) {{ {body} }}")


@pytest.mark.parametrize(
    "body",
    [
        "k[i] = w.u; w.f = x[i];",
        "if (i > 2) w.f = x[i]; k[i] = w.u;",
        "w.u += i; x[i] = w.f;",
        "w.f = w.u + i; k[i] = w.u;",
        "z.f = x[i]; x[i] = z.d;",
        "v.c[0] = i; k[i] = v.u;",
        "while (w.u < 3) { w.f = x[i]; k[i] = w.u; }",
    ],
)
def test_others_stay(private, body):
    assert not private(f"for (int i = 0; i < n; i++) {{ {body} }}")


def test_what_is_set_before_all_loops_stays(private):
    assert not private("w.f = 2; for (int i = 0; i < n; i++) k[i] = w.u;")


def test_what_is_needed_after_the_region_stays(private):
    assert not private("for (int i = 0; i < n; i++) { w.f = x[i]; k[i] = w.u; }", "k[0] = w.u;")
