"""All that stands in the way of a region is told, with advice that suits it."""

from __future__ import annotations

import pytest

from polybuild.driver.file import compile_source
from polybuild.options import Options


def diagnostics(tmp_path, body, **settings):
    path = tmp_path / "region.c"
    path.write_text(
        "#include <stdio.h>\n#include <stdlib.h>\ndouble g(double);\nvoid h(double *);\n"
        f"void f(int n, double a[n], double *p) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    )
    return compile_source(str(path), Options(**settings), ["gcc"], []).diagnostics


def test_every_obstacle_is_told_at_its_place(tmp_path):
    body = (
        "for (int i = 0; i < n; i++) {\n"
        "  a[i] = g(a[i]);\n"
        "  if (a[i] > 3) {\n    h(p);\n    a[i] = 1;\n  }\n"
        "  else goto out;\n"
        "}\na[0] = 1;\nout: ;"
    )
    found = diagnostics(tmp_path, body, on_unsupported="error")
    assert [(each.location.line, each.code) for each in found] == [
        (8, "call"),
        (10, "call"),
        (13, "goto"),
        (16, "label"),
    ]


def test_one_obstacle_is_told_once(tmp_path):
    found = diagnostics(tmp_path, "for (int i = 0; i < n; i++) a[i] = g(a[i]) + g(2);")
    assert [each.code for each in found] == ["call"]


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        ('printf("%g", a[i])', "print the values in a loop of their own behind it"),
        ('scanf("%lg", &a[i])', "read the values into an array before it"),
        ("exit(1)", "set a flag in it"),
        ("h(p)", "#pragma polybuild access("),
    ],
)
def test_the_advice_suits_the_function(tmp_path, call, advice):
    (found,) = diagnostics(tmp_path, f"for (int i = 0; i < n; i++) {{ a[i] = 2; {call}; }}")
    assert advice in found.hint
    assert ("access(" in found.hint) == ("access(" in advice)
