from __future__ import annotations

import pytest

from polybuild.driver.file import compile_source
from polybuild.options import Options

SUM = "  for (int i = 2; i < n; i++)\n    a[i] = a[i - 1] * a[i - 2];\n"
SCALE = "  for (int i = 0; i < n; i++)\n    a[i] *= 2;\n"
STOP = "  for (int i = 0; i < n; i++)\n    if (a[i] > 3) break;\n"


def told(tmp_path, loops, clauses="", **options):
    """The errors about a region of ``loops``."""
    path = tmp_path / "in.c"
    path.write_text(f"void f(int n, double *a)\n{{\n#pragma scop {clauses}\n{loops}#pragma endscop\n}}\n")
    result = compile_source(str(path), Options(**options), ["gcc"], ["-O2"])
    return [each.message for each in result.diagnostics if each.severity.value == "error"]


def test_what_holds_is_no_error(tmp_path):
    assert told(tmp_path, SCALE, "require(parallel)") == []
    assert told(tmp_path, SUM) == []


@pytest.mark.parametrize("given", ["clause", "option"])
def test_what_is_missing_is_told_with_the_reason(given, tmp_path):
    clauses = "require(parallel, tiled)" if given == "clause" else ""
    options = {"require": ("parallel", "tiled")} if given == "option" else {}
    (message,) = told(tmp_path, SUM, clauses, **options)
    assert message == (
        "this region has to be parallel and tiled, but is unchanged:"
        " in no order that was found does a loop carry nothing"
    )


def test_a_kept_region_is_nothing_that_was_required(tmp_path):
    (message,) = told(tmp_path, STOP, "require(vector)")
    assert message.startswith(
        "this region has to be vectorised, but is kept: a search that ends at its first match"
    )


def test_other_words_are_none(tmp_path):
    path = tmp_path / "in.c"
    path.write_text(f"void f(int n, double *a)\n{{\n#pragma scop require(fast)\n{SUM}#pragma endscop\n}}\n")
    (diagnostic,) = compile_source(str(path), Options(), ["gcc"], ["-O2"]).diagnostics
    assert "must be words among parallel, vector, tiled" in diagnostic.message
