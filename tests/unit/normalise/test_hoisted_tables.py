"""Constants and tables that are static in regions and in functions: values, and symbols of the region."""

from __future__ import annotations

import pytest
import reading
from plain_regions import region_of
from test_normalise import text

from polybuild.c.symbols import StorageClass
from polybuild.codegen.c.bodies import c_text
from polybuild.normalise.hoisted_tables import hoist_tables, with_own_tables

HEAD = "enum { THREE = 3 }; typedef float real; struct pair { int a; real b; };"


def program(body: str, functions: str = ""):
    """A file with a region: a loop with the statements ``body``."""
    loop = f"for (int i = 0; i < n; i++) {{ {body} }}"
    return f"{HEAD}\n{functions}\nvoid f(int n, double *y) {{\n#pragma scop\n{loop}\n#pragma endscop\n}}\n"


def region(body: str):
    """The region of that file."""
    return region_of(program(body))


def tables(given):
    """The declarations of the tables of a region."""
    symbols = given.visible.symbols.values()
    return [c_text(each.declaration) for each in symbols if each.storage is StorageClass.HOISTED]


@pytest.mark.parametrize(
    ("declared", "use", "value"),
    [
        ("static const double h = 0.5;", "h", "0.5"),
        ("static float h = 1;", "h * h", "(float 1) * (float 1)"),
        ("static const int h = THREE, k = h + 1;", "k", "3 + 1"),
        ("static const real h = (real)1 / 3;", "h", "(float 1) / 3"),
        ("static const double h = 2;", "h + i", "(double 2) + i"),
    ],
)
def test_constants_become_their_values(declared, use, value):
    found = hoist_tables(region(f"{declared} y[i] = {use};"))
    assert text(found.statements) == f"for (int i = 0; i < n; i++) {{ y[i] = {value}; }}"
    assert tables(found) == []


@pytest.mark.parametrize(
    ("declared", "use", "table"),
    [
        (
            "static const double w[] = {1, THREE, (real)0.5};",
            "w[i]",
            "static const double w_table[3] = {1, 3, (float) 0.5}",
        ),
        (
            "static real w[2][2] = {{1}, {2, -1}};",
            "w[i][0]",
            "static const float w_table[2][2] = {{1}, {2, -1}}",
        ),
        (
            "static const struct pair w[2] = {{1, 2}, {.b = 3}};",
            "w[i].b",
            "static const struct pair w_table[2] = {{1, 2}, {.b = 3}}",
        ),
        ("static const int w[4] = {[THREE] = 1};", "w[i]", "static const int w_table[4] = {[3] = 1}"),
    ],
)
def test_tables_become_symbols(declared, use, table):
    found = hoist_tables(region(f"{declared} y[i] = {use};"))
    assert (
        text(found.statements) == f"for (int i = 0; i < n; i++) {{ y[i] = {use.replace('w', 'w_table')}; }}"
    )
    assert tables(found) == [table]


def test_other_variables_of_the_name_stay():
    body = "static const int w[1] = {2}; y[i] = w[0]; { int w = 1; y[i] += w; }"
    found = text(hoist_tables(region(f"{body} for (int w = 0; w < 3; w++) y[i] -= w;")).statements)
    assert "y[i] = w_table[0]; { int w = 1; y[i] += w; } for (int w = 0; w < 3; w++) " in found


def test_tables_of_functions_are_symbols_there_too(read):
    function = "static double at(int i) { static const double w[2] = {1, 2}; return w[i % 2]; }"
    given = read(program("static const double w[] = {3}; y[i] = at(i) * w[0];", function))
    found = hoist_tables(reading.region(given))
    assert sorted(tables(found)) == [
        "static const double w_table[2] = {1, 2}",
        "static const double w_table_2[1] = {3}",
    ]
    body = found.callees["at"].body
    assert text(body.statements) == "return w_table[i % 2];"
    assert text(with_own_tables(body).statements) == "const double w_table[2] = {1, 2} return w_table[i % 2];"


@pytest.mark.parametrize(
    "body",
    [
        "static int w = 0; w++; y[i] = w;",
        "static int w; y[i] = w;",
        "static double w = 1; double *p = &w; y[i] = *p;",
        "static double w[2] = {1, 2}; w[0] = i; y[i] = w[1];",
        "static double w[2] = {1, 2}; double *p = w; y[i] = p[i];",
        "static double w[2][2] = {{1}, {2}}; double *p = w[1]; y[i] = p[i];",
        "static volatile const int w = 0; y[i] = w;",
        "static const volatile double w[2] = {1, 2}; y[i] = w[i];",
        "static const double *const w = 0; y[i] = w ? 1 : 2;",
        'static const char w[] = "abc"; y[i] = w[i];',
        "static _Thread_local int w = 1; y[i] = w;",
        "static struct pair w[2] = {{1, 2}}; w[0].a = i; y[i] = w[0].a;",
        "static struct pair w[2] = {{1, 2}}; y[i] = w[0].a;",
        "struct own { int a; }; static const struct own w[1] = {{1}}; y[i] = w[0].a;",
        "const double w[2] = {1, 2}; y[i] = w[i];",
    ],
)
def test_what_may_change_or_is_no_number_stays(body):
    given = region(body)
    assert hoist_tables(given) is given
