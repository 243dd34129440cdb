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


def region(body: str, before: str = "", after: str = "", tables: str = ""):
    """The region of a function with the statements ``body``, behind the declarations ``tables``."""
    return region_of(f"{tables}{HEAD} {{\n{before}\n#pragma scop\n{body}\n#pragma endscop\n{after}\n}}\n")


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


TABLES = """
double *rows[9];
struct layer { double scale, *values; int at[2]; } layers[9], one;
"""


@pytest.mark.parametrize(
    ("pointers", "use"),
    [
        ("double *p = v + row[i];", "long long p_start = row[i]; y[i] = v[p_start + i];"),
        ("double *p = &v[row[i] * n], *q = p + n; p = q - 1;", "v[p_start + n + i - 1]"),
        ("int at = row[i]; double *p = v + at;", "int at = row[i]; long long p_start = at; y[i] = v[p_start"),
        ("double *p = rows[row[i]];", "long long p_start = row[i]; y[i] = rows[p_start][i];"),
        ("double *p = rows[row[i]] + col[i];", "rows[p_start][p_start1 + i];"),
        ("double *p = layers[row[i]].values;", "y[i] = layers[p_start].values[i];"),
        ("double *p = one.values + row[i];", "y[i] = one.values[p_start + i];"),
        ("struct layer *l = &layers[row[i]]; double *p = l->values;", "y[i] = layers[l_start].values[i];"),
        (
            "double *p = row[i] > 4 ? v + row[i] : v;",
            "p_start = (row[i] > 4) ? (row[i]) : 0; y[i] = v[p_start",
        ),
        ("struct layer *p = layers + row[i]; rows[i] = v;", "y[i] = layers[p_start + i].scale;"),
    ],
)
def test_pointers_that_data_choose_have_names(pointers, use):
    access = "p[i].scale" if "layer *p" in pointers else "p[i]"
    code = f"for (int i = 0; i < n; i++) {{ {pointers} y[i] = {access}; }}"
    assert use in text(normalise(region(code, tables=TABLES)).statements)


@pytest.mark.parametrize(
    "pointers",
    [
        "double *p = rows[row[i]]; rows[i] = v;",
        "double *p = layers[row[i]].values; layers[i].values = v;",
        "double *p = one.values + row[i]; one.values = v;",
        "double *p = (void *)v + row[i];",
        "int *p = (int *)(v + row[i]);",
    ],
)
def test_pointers_that_may_be_others_keep_their_names(pointers):
    code = f"for (int i = 0; i < n; i++) {{ {pointers} y[i] = p[i]; }}"
    assert "_start" not in text(normalise(region(code, tables=TABLES)).statements)


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
