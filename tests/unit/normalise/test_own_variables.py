"""Variables that a function declares for a region alone: declared in it, or left where they are."""

from __future__ import annotations

import pytest

from polybuild.codegen.c.bodies import c_text
from polybuild.normalise.own_variables import with_own_variables
from polybuild.source.reader import read_source

TOP = """
void f(int n, unsigned char *u, int *v) {
  int s, i, j; unsigned char w[3], far[300]; static int kept; int first[2] = {1, 2};
"""


@pytest.fixture
def rewritten(tmp_path):
    """The text of a region with variables of its own; none if it stays as it is."""

    def make(body, before="", after=""):
        path = tmp_path / "in.c"
        path.write_text(f"{TOP}{before}\n#pragma scop\n{body}\n#pragma endscop\n{after} }}\n")
        region = read_source(str(path), ["gcc"], []).regions[-1]
        new = with_own_variables(region)
        return "" if new is region else " ".join("\n".join(map(c_text, new.statements)).split())

    return make


SUM = "for (i = 0; i < n; i++) { s = u[i] + u[i + 1]; v[i] = s; }"
ARRAY = "for (i = 0; i < n; i++) { for (j = 0; j < 3; j++) w[j] = u[i + j]; v[i] = w[1]; }"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (SUM, "int s_own for (i = 0; i < n; i++) { s_own = u[i] + u[i + 1]; v[i] = s_own; }"),
        (ARRAY, "unsigned char w_own[3] for"),
        (ARRAY.replace("v[i] = w[1]", "s = w[0] + w[2]; v[i] = s"), "int s_own unsigned char w_own[3] for"),
    ],
)
def test_declared_in_the_region(rewritten, body, expected):
    assert rewritten(body).startswith(expected)


@pytest.mark.parametrize(
    ("body", "before", "after"),
    [
        (SUM, "", "v[0] = s;"),  # read later
        ("for (i = 0; i < n; i++) { v[i] = s; s = u[i]; }", "s = 1;", ""),  # read first
        (SUM.replace("u[", "v["), "", ""),  # no narrow elements
        (SUM.replace("s ", "kept ").replace("s;", "kept;"), "", ""),  # kept from call to call
        (ARRAY, "", "v[0] = w[0];"),
        (ARRAY, "w[0] = 0;", ""),
        (ARRAY, "for (int k = 0; k < 3; k++) {", "}"),  # what the last time left may be read
        (ARRAY, "again:;", "if (v[0]) goto again;"),
        (ARRAY.replace("w[", "far["), "", ""),  # too many for registers
        ("for (i = 0; i < n; i++) v[i] = w[i % 3];", "", ""),  # never set
        (ARRAY.replace("w[", "first["), "", ""),  # with values at first
        (ARRAY.replace("w[1]", "*w"), "", ""),  # not by elements alone
        (f"\n#pragma omp parallel for private(s)\n{SUM}", "", ""),  # named by the program's own directives
    ],
)
def test_left_where_they_are(rewritten, body, before, after):
    assert not rewritten(body, before, after)
