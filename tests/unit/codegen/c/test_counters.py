"""Counters of generated loops: wide ones, but where statements compute with the user's."""

from __future__ import annotations

import re

import pytest

from polybuild.codegen.c.counters import fitting_counters
from polybuild.driver.file import compile_source
from polybuild.options import Options

PLACE = """{ int s = 9, at = 0;
  for (KIND j = FIRST; j < LIMIT; j++) if (a[i][j] < s) { s = a[i][j]; at = j; }
  b[i] = at; }"""


def counter(tmp_path, body, declared="int n, int a[n][n], int b[n]"):
    """The type of the counter ``j`` in the new order."""
    source = (
        f"void f({declared})\n{{\n#pragma scop\nfor (int i = 0; i < 9; i++) {body}\n#pragma endscop\n}}\n"
    )
    file = tmp_path / "one.c"
    file.write_text(source)
    text = compile_source(str(file), Options(min_work=0), ["gcc"], ["-O2"]).text
    found = re.search(r"for \((\w[\w ]*) j = ", text)
    assert found is not None
    return found[1]


def place(kind, first, limit):
    return PLACE.replace("KIND", kind).replace("FIRST", first).replace("LIMIT", limit)


def test_a_counter_that_is_computed_with_keeps_its_type(tmp_path):
    assert counter(tmp_path, place("int", "0", "n")) == "int"


@pytest.mark.parametrize(("kind", "limit"), [("short", "n"), ("unsigned", "n"), ("long", "n"), ("int", "m")])
def test_one_that_may_be_too_narrow_or_is_wide_anyway_does_not(tmp_path, kind, limit):
    declared = "int n, unsigned m, int a[n][n], int b[n]"
    assert counter(tmp_path, place(kind, "0", limit), declared) == "long long"


def test_one_that_only_stands_in_subscripts_does_not(tmp_path):
    body = "{ int s = 0; for (int j = 0; j < n; j++) s += a[i][j]; b[i] = s; }"
    assert counter(tmp_path, body) == "long long"


def test_one_that_finds_elements_in_rows_that_data_choose_does(tmp_path):
    """Else compilers do not know that the elements lie side by side."""
    body = "for (int j = 0; j < n; j++) b[i * n + j] = a[k[i]][j];"
    declared = "int n, int a[restrict n][n], int b[restrict n], int *restrict k"
    assert counter(tmp_path, body, declared) == "int"


@pytest.mark.parametrize("kind", ["int", "unsigned", "long", "unsigned long"])
def test_parameters_have_all_values_of_their_types(model, kind):
    """Those of 64 unsigned bits are beyond what C's ``long`` holds."""
    found = model(f"for ({kind} i = 0; i < n; i++) a[i] = i * 0.5;", f"{kind} n, double *restrict a")
    (statement,) = found.scop.statements
    assert fitting_counters(statement, found.scop.parameters) <= {0}
