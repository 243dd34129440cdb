"""Calls in regions: inlined, summarised from their bodies, or taken by their declarations."""

from __future__ import annotations

from pathlib import Path

import pytest
from compiling import output
from region_programs import cases, check, compare

from polybuild.driver.file import compile_source
from polybuild.options import Options

CASES = cases("calls")
FUNCTIONS = Path(__file__).parent / "regions"


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    top = (FUNCTIONS / "calls-top.c").read_text()
    bottom = (FUNCTIONS / "calls-bottom.c").read_text()
    return compare(tmp_path_factory.mktemp("calls"), CASES, (1, 2, 5, 16, 33), top, bottom)


@pytest.mark.parametrize("name", CASES)
def test_call(comparison, name):
    check(comparison, CASES[name])


@pytest.mark.parametrize(
    ("said", "message", "hint"),
    [
        (
            "read(v), write(v, q)",
            "'v' is passed by value, so it cannot be written",
            "name in 'write(...)' only what 'put' gets the address of, and global variables",
        ),
        (
            "read(v), write(w)",
            "'w' is neither one of its parameters nor a global variable",
            "declare what it accesses: #pragma polybuild access(f, read(x), write(y))",
        ),
    ],
)
def test_what_is_wrong_about_a_declaration_is_named(said, message, hint, tmp_path):
    path = tmp_path / "in.c"
    path.write_text(
        f"#pragma polybuild access(put, {said})\nvoid put(double v, double *q);\nvoid f(int n, double *a)\n"
        "{\n#pragma scop\n  for (int i = 0; i < n; i++) put(a[i], &a[i]);\n#pragma endscop\n}\n"
    )
    (told,) = compile_source(str(path), Options(), ["gcc"], []).diagnostics
    assert told.message == f"the function 'put' is not modelled: {message}"
    assert told.hint.startswith(hint)


def test_a_function_of_the_file_is_not_the_one_of_the_library(tmp_path):
    """What the library calls ``cbrt`` has no effects; the file's own counts."""
    text = (
        "#include <stdio.h>\nstatic int calls;\nstatic double x[100000];\n"
        "static double cbrt(double v) { calls = calls * 3 + (v < 5); return v + calls; }\n"
        "int main(void)\n{\n#pragma scop\n  for (int i = 0; i < 100000; i++) x[i] = cbrt(i % 10);\n"
        '#pragma endscop\n  printf("%d %g\\n", calls, x[99999]);\n}\n'
    )
    original, made = tmp_path / "in.c", tmp_path / "out.c"
    original.write_text(text)
    result = compile_source(str(original), Options(), ["gcc"], [])
    assert not any(each.parallel_loops for each in result.regions)
    made.write_text(result.text)
    assert output(made, "-fopenmp") == output(original)
