"""What is known of the functions that a region calls."""

from __future__ import annotations

import pytest

from polybuild.source.callees import declared_effects
from polybuild.source.model import Effects
from polybuild.source.reader import read_source


def callees(tmp_path, top, call, bottom=""):
    path = tmp_path / "in.c"
    text = f"{top}\nvoid g(int n, double *x)\n{{\n#pragma scop\n{call}\n#pragma endscop\n}}\n{bottom}\n"
    path.write_text(text)
    (region,) = read_source(str(path), ["gcc"], []).regions
    return region.callees


def test_a_definition_is_read_with_what_it_calls(tmp_path):
    top = "static int one(int v) { return v + 1; } static int two(int v) { return one(one(v)); }"
    found = callees(tmp_path, top, "x[0] = two(n);")
    assert set(found) == {"one", "two"}
    assert all(each.body is not None and len(each.parameters) == 1 for each in found.values())


def test_globals_that_only_the_function_mentions_are_known_to_the_region(tmp_path):
    path = tmp_path / "in.c"
    path.write_text(
        "static double t[4];\nstatic double at(int k) { return t[k]; }\n"
        "void g(double *x)\n{\n#pragma scop\n  x[0] = at(1);\n#pragma endscop\n}\n"
    )
    (region,) = read_source(str(path), ["gcc"], []).regions
    assert "t" in region.visible.symbols


def test_a_definition_after_the_region_counts(tmp_path):
    found = callees(tmp_path, "static int f(int);", "x[0] = f(n);", "static int f(int v) { return v; }")
    assert found["f"].body is not None


def test_regions_of_a_function_share_what_is_visible_in_a_definition(tmp_path):
    region = "#pragma scop\n  x[0] = f(n);\n#pragma endscop\n"
    path = tmp_path / "in.c"
    path.write_text(f"static int f(int v) {{ return v; }}\nvoid g(int n, double *x)\n{{\n{region * 2}}}\n")
    first, then = read_source(str(path), ["gcc"], []).regions
    assert first.callees["f"].body.visible is then.callees["f"].body.visible
    assert first.callees["f"].body.begin != then.callees["f"].body.begin


@pytest.mark.parametrize(
    ("top", "problem"),
    [
        ("int f(int v, ...) { return v; }", "variable number"),
        ("__attribute__((weak)) int f(int v) { return v; }", "replaced"),
        ("int f(int v) { __extension__ __label__ here; return 1; here: return v +; }", "cannot be parsed"),
    ],
)
def test_definitions_that_say_nothing(tmp_path, top, problem):
    assert problem in callees(tmp_path, top, "x[0] = f(n);")["f"].problem


@pytest.mark.parametrize(
    ("top", "effects"),
    [
        ("int f(int v) __attribute__((const));", Effects()),
        ("__attribute__((__pure__, nothrow)) int f(int v);", Effects(reads_everything=True)),
        ("int f(int v);\n#pragma polybuild access(f)\n", Effects()),
        ("#pragma polybuild access(f, read(1, t), write(v))\nint f(int *v);", Effects(("1", "t"), ("v",))),
        ("#pragma polybuild access(f)\nint f(int v) { return later(v); }", Effects()),
    ],
)
def test_declared_effects(tmp_path, top, effects):
    assert callees(tmp_path, top, "x[0] = f(n);")["f"].effects == effects


def test_functions_without_definition_and_pragmas_that_are_not_understood(tmp_path):
    assert not callees(tmp_path, "int f(int v);", "x[0] = f(n);")
    assert declared_effects("#pragma polybuild access(f, reads(x))\n#pragma polybuild access()\n") == {}


def test_functions_that_pointers_may_lead_to_count(tmp_path):
    top = (
        "static double half(double v) { return v / 2; } static double other(double v) { return half(v); }\n"
        "static double (*chosen)(double) = half; static double (*kept)(double) = &other;"
    )
    assert {name: each.taken for name, each in callees(tmp_path, top, "x[0] = chosen(1);").items()} == {
        "half": True,
        "other": True,
    }
    assert not callees(tmp_path, top, "x[0] = n * (n + 1);")
    assert callees(tmp_path, top, "x[0] = other(1);")["half"].taken is False
