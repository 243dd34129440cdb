"""Calls of functions of which nothing is known are found by the text of a region, where that is certain."""

from __future__ import annotations

import pytest
from reading import region

from polybuild.diagnostics import Unsupported
from polybuild.normalise.unknown_calls import unknown_call
from polybuild.scop.calls import check_calls
from polybuild.scop.extract import extract_scop
from polybuild.source.model import Region
from polybuild.source.reader import read_source

HEAD = """double sqrt(double); void *memset(void *, int, unsigned long); int printf(const char *, ...);
void exit(int); double far(double); void tell(int);
static double twice(double x) { return 2 * x; }
static double farther(double x) { double y = far(x); return y + 1; }
static int check(double x) { if (x < 0) { printf("no"); exit(1); } return 1; }
static double again(int i) { return i ? again(i - 1) : 0; }
#pragma polybuild access(told, read(x))
double told(double *x);
"""


@pytest.fixture
def given(tmp_path):
    def read(body: str) -> Region:
        path = tmp_path / "file.c"
        path.write_text(f"{HEAD}void f(int n, double *x) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")
        return region(read_source(str(path), ["gcc"], []))

    return read


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for (int i = 0; i < n; i++) x[i] = far(x[i]);", ("far", "far")),
        ("int i = 0; while (i < n) { if (x[i] > 0) x[i] = twice(far(1)); i++; }", ("far", "far")),
        ("for (int i = 0; i < n; i++) x[i] = farther(x[i]);", ("farther", "far")),
        ("for (int i = 0; i < n; i++) { if (x[i] < 0) break; x[i] = far(1); }", ("far", "far")),
    ],
)
def test_calls_that_all_forms_have(given, body, expected):
    certain = unknown_call(given(body))
    assert (certain.call.name.name, certain.unknown) == expected
    with pytest.raises(Unsupported) as refused:
        check_calls(given(body))
    with pytest.raises(Unsupported) as modelled:
        extract_scop(given(body))
    first, second = refused.value.diagnostic, modelled.value.diagnostic
    assert (first.code, first.message, first.hint) == (second.code, second.message, second.hint)


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) x[i] = sqrt(x[i]) + __builtin_fabs(x[i]) + twice(2);",
        "memset(x, 0, n * sizeof *x);",
        "for (int i = 0; i < n; i++) { if (x[i] < 0) { tell(i); return; } x[i] = 1; }",
        "for (int i = 0; i < n; i++) { if (x[i] < 0) { tell(i); break; } x[i] = 1; }",
        "for (int i = 0; i < n; i++) { x[i] += check(x[i]); }",
        'for (int i = 0; i < n; i++) { if (x[i] < 0) printf("no"); x[i] = 1; }',
        "for (int i = 0; i < n; i++) { if (0) tell(i); x[i] = 1; }",
        "for (int i = 0; i < n; i++) { x[i] = again(i) + told(x); }",
        "int i = 0; next: x[i] = 1; if (x[i] > 0) { tell(i); goto end; } i++; if (i < n) goto next; end: ;",
    ],
)
def test_calls_that_may_be_away_in_another_form(given, body):
    assert unknown_call(given(body)) is None
    check_calls(given(body))
