"""Which instances must stay in order, and which arrays need not be one and the same for all threads."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.poly.relations import maps_of, sets_of

ONE = "int n, double *restrict a"
TWO = "int n, double *restrict a, double *restrict b"
THREE = "int n, double *restrict a, double *restrict b, double *restrict c"


def same(relation, text, context):
    expected = isl.UnionMap.read_from_str(isl.DEFAULT_CONTEXT, text).intersect_params(context)
    return relation.intersect_params(context).is_equal(expected)


def statements(relation):
    """The pairs of statements that have related instances."""
    return {
        (each.get_tuple_name(isl.dim_type.in_), each.get_tuple_name(isl.dim_type.out))
        for each in maps_of(relation)
        if not each.is_empty()
    }


# what: (region, parameters, flow dependences, false dependences)
CASES = {
    "independent": ("for (int i = 0; i < n; i++) a[i] = b[i];", TWO, "{ }", "{ }"),
    "recurrence": (
        "for (int i = 1; i < n; i++) a[i] = a[i - 1];", ONE,
        "[n] -> { S0[i] -> S0[i + 1] : 1 <= i < n - 1 }", "{ }",
    ),
    "read ahead": (
        "for (int i = 0; i < n - 1; i++) a[i] = a[i + 1];", ONE,
        "{ }", "[n] -> { S0[i] -> S0[i + 1] : 0 <= i < n - 2 }",
    ),
    "the last write is the one that is read": (
        "for (int i = 0; i < n; i++) { a[i] = 1; a[i] = 2; b[i] = a[i]; }", TWO,
        "[n] -> { S1[i] -> S2[i] : 0 <= i < n }", "[n] -> { S0[i] -> S1[i] : 0 <= i < n }",
    ),
    "accumulation": (
        "for (int i = 0; i < n; i++) a[0] += b[i];", TWO,
        "[n] -> { S0[i] -> S0[i + 1] : 0 <= i < n - 1 }",
        "[n] -> { S0[i] -> S0[i + 1] : 0 <= i < n - 1 }",
    ),
    "one loop after the other, backwards": (
        "for (int i = 0; i < n; i++) a[i] = b[i]; for (int i = 0; i < n; i++) c[i] = a[n - 1 - i];", THREE,
        "[n] -> { S0[i] -> S1[n - 1 - i] : 0 <= i < n }", "{ }",
    ),
    "a distance that is a parameter's": (
        "for (int i = 0; i < n; i++) a[i + n] = a[i];", ONE, "{ }", "{ }",
    ),
    "an even and an odd half": (
        "for (int i = 0; i < n; i++) a[2 * i] = a[2 * i + 1];", ONE, "{ }", "{ }",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", CASES)
def test_exact(what, model):
    body, parameters, flow, false = CASES[what]
    found = model(body, parameters)
    assert same(found.dependences.flow, flow, found.scop.context), found.dependences.flow
    assert same(found.dependences.false, false, found.scop.context), found.dependences.false


def test_a_write_that_might_not_happen_hides_nothing(model):
    found = model("for (int i = 0; i < n; i++) { a[0] = 1; if (b[i] > 0) a[0] = 2; c[i] = a[0]; }", THREE)
    sources = {source for source, sink in statements(found.dependences.flow) if sink == "S2"}
    assert sources == {"S0", "S1"}
    assert "a" not in {each.get_tuple_name() for each in sets_of(found.dependences.live_in.range())}


def test_live_in_is_what_nothing_in_the_region_wrote_before(model):
    found = model("for (int i = 1; i < n; i++) a[i] = 2 * a[i - 1] + b[i];", TWO).dependences
    expected = "[n] -> { S0[1] -> a[0] : n > 1; S0[i] -> b[i] : 1 <= i < n }"
    assert found.live_in.is_equal(isl.UnionMap(expected)), found.live_in


def names(found):
    return {each.array.name for each in found.dependences.private}


ROWS = """
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < 8; j++) t[j] = a[i] + j;
    for (int j = 0; j < 8; j++) b[8 * i + j] = t[7 - j];
  }"""
SCALAR = "for (int i = 0; i < n; i++) { t = a[i]; b[i] = t * t; }"

# what: (region, parameters, before, after, private arrays)
PRIVATE = {
    "a scalar of the function": (
        SCALAR, TWO, "double t;", "", {"t"},
    ),
    "a scalar of the loop": (
        "for (int i = 0; i < n; i++) { double t = a[i]; b[i] = t * t; }", TWO, "", "", {"t"},
    ),
    "a row of the function": (
        ROWS, TWO, "double t[8];", "", {"t_own"},
    ),
    "a scalar that is read afterwards": (
        SCALAR, TWO, "double t;", "a[0] = t;", set(),
    ),
    "a scalar that is overwritten afterwards": (
        SCALAR, TWO, "double t;", "t = 0; a[0] = t;", {"t"},
    ),
    "a scalar with a value from before": (
        "for (int i = 0; i < n; i++) { b[i] = t; t = a[i]; }", TWO, "double t = 0;", "", set(),
    ),
    "a scalar whose address is known": (
        SCALAR, TWO, "double t, *p = &t;", "*p = 0;", set(),
    ),
    "a static scalar": (
        SCALAR, TWO, "static double t;", "", set(),
    ),
    "a parameter": (
        SCALAR, f"{TWO}, double t", "", "", {"t"},
    ),
    "memory of the caller": (
        "for (int i = 0; i < n; i++) { t[0] = a[i]; b[i] = t[0]; }", f"{TWO}, double *restrict t", "", "",
        set(),
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", PRIVATE)
def test_private(what, model):
    body, parameters, before, after, expected = PRIVATE[what]
    found = model(body, parameters, before=before, after=after)
    assert names(found) == expected
    # what is not private must keep its anti and output dependences
    false = statements(found.dependences.false)
    assert bool(false) is not bool(expected)


def test_live_ranges_of_a_private_scalar_are_ordered_but_not_bound(model):
    found = model(SCALAR, TWO, before="double t;")
    (private,) = found.dependences.private
    same_iteration = "[n] -> { S0[i] -> S1[i] : 0 <= i < n }"
    assert same(private.flow, same_iteration, found.scop.context)
    later_writes = "[n] -> { S0[i] -> S0[j] : 0 <= i < j < n; S1[i] -> S0[j] : 0 <= i < j < n }"
    assert same(private.order, later_writes, found.scop.context)
    assert same(found.dependences.validity, same_iteration, found.scop.context)


def test_a_scalar_written_once_needs_no_copies(model):
    found = model("t = a[0]; for (int i = 0; i < n; i++) b[i] = t;", TWO, before="double t;")
    assert names(found) == set()
