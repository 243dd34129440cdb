"""Counters and pointers that start where data say are followed from a name for that place."""

from __future__ import annotations

import pytest
from plain_regions import region_of
from test_normalise import text

from polybuild.normalise import normalise
from polybuild.normalise.running_counters import with_row_starts

HEAD = (
    "void f(int n, const int *restrict row, const int *restrict col, double *restrict v, double *restrict y)"
)


def region(body: str, before: str = "", after: str = ""):
    """The region of a function with the statements ``body``."""
    return region_of(f"{HEAD} {{\n{before}\n#pragma scop\n{body}\n#pragma endscop\n{after}\n}}\n")


@pytest.mark.parametrize(
    ("row", "loop"),
    [
        (
            "int k = row[i]; while (k < row[i + 1]) { y[i] += v[k]; k++; }",
            "int k_start = row[i]; for (int k = k_start; k < row[i + 1]; k += 1) { y[i] += v[k]; }",
        ),
        (
            "int k = row[i] + 1; while (row[i + 1] - k > 0) { y[i] += v[k]; ++k; }",
            "int k_start = row[i] + 1; for (int k = k_start; k < (row[i + 1]); k += 1) { y[i] += v[k]; }",
        ),
        (
            "double *p = v + row[i]; while (p != v + row[i + 1]) y[i] += *p++;",
            (
                "long long p_start = row[i]; for (long long p_index = 0; p_index < ((row[i + 1]) - p_start);"
                " p_index += 1) { y[i] += v[p_start + p_index]; }"
            ),
        ),
    ],
)
def test_starts_have_names(row, loop):
    found = text(normalise(region(f"for (int i = 0; i < n; i++) {{ {row} }}")).statements)
    assert found == f"for (int i = 0; i < n; i++) {{ {loop} }}"


@pytest.mark.parametrize(
    "row",
    [
        "int k = row[i]; y[k] = 1;",
        "int k = row[i]; k += col[i]; y[i] += v[k];",
        "int k = row[i]; while (col[k] < i) { y[i] += v[k]; k += col[k]; }",
    ],
)
def test_what_takes_no_steps_keeps_its_name(row):
    assert "_start" not in text(normalise(region(f"for (int i = 0; i < n; i++) {{ {row} }}")).statements)


WALK = "for (int i = 0; i < n; i++) { while (k < row[i + 1]) { y[i] += v[k]; k++; } }"


def test_counters_that_go_on_start_in_each_row():
    found = text(with_row_starts(region(WALK, before="int k = 0;")).statements)
    assert "for (int k_ = (i > 0) ? (row[i - 1 + 1]) : k; k_ < row[i + 1]; k_++)" in found
    assert "__polybuild_never(row[i + 1] < ((i > 0) ? (row[i - 1 + 1]) : k)" in found


def test_counters_that_are_set_in_each_step_start_in_each_row():
    given = region(f"int k; for (int t = 0; t < 2; t++) {{ k = row[t]; {WALK} }}")
    assert "__polybuild_never" in text(with_row_starts(given).statements)


@pytest.mark.parametrize(
    ("body", "before", "after"),
    [
        (WALK, "int k = 0;", "y[0] = k;"),
        (WALK, "signed char k = 0;", ""),
        (WALK, "unsigned k = 0;", ""),
        (WALK.replace("k++;", "k += 2;"), "int k = 0;", ""),
        (WALK.replace("k++;", "if (v[k] > 1) break; k++;"), "int k = 0;", ""),
        (WALK.replace("{ while", "{ if (col[i]) continue; while"), "int k = 0;", ""),
        (WALK.replace("{ while", "{ if (col[i]) k++; while"), "int k = 0;", ""),
        (WALK.replace("v[k];", "v[k] * k++;"), "int k = 0;", ""),
        (WALK.replace("i++)", "i += 2)"), "int k = 0;", ""),
        (f"for (int t = 0; t < 2; t++) {WALK}", "int k = 0;", ""),
        (f"for (int t = 0; t < 2; t++) {{ {WALK} }}", "int k = 0;", ""),
        (f"for (int t = 0; t < 2; t++) {{ {{ {WALK} }} }}", "int k = 0;", ""),
        (f"for (int t = 0; t < 2; t++) {{ if (t) k = 0; {WALK} }}", "int k = 0;", ""),
        (f"{WALK} y[0] = k;", "int k = 0;", ""),
        (WALK.replace("row[i + 1]", "n"), "int k = 0;", ""),
        (WALK.replace("row[i + 1]", "row[i + n]").replace("k++; }", "k++; } n++;"), "int k = 0;", ""),
    ],
)
def test_other_counters_stay(body, before, after):
    given = region(body, before, after)
    assert with_row_starts(given) is given
