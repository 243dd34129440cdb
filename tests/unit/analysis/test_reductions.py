"""Which statements are reductions, by which operator, and whether every order gives the same bits."""

from __future__ import annotations

import pytest

from polybuild.analysis.reductions import find_reductions
from polybuild.context import Reordering

TOP = "#include <math.h>"
PARAMETERS = "int n, int *restrict s, double *restrict d, int a[restrict n], double x[restrict n]"

# statement of a loop over i: operator, type to accumulate in, exact
FOUND = {
    "s[0] += a[i];": ("+", "unsigned int", True),
    "s[0] -= a[i];": ("+", "unsigned int", True),
    "s[0] = s[0] + a[i] - 1;": ("+", "unsigned int", True),
    "s[0] = a[i] * s[0];": ("*", "unsigned int", True),
    "s[0] |= a[i];": ("|", "unsigned int", True),
    "s[0] ^= a[i] & 7;": ("^", "unsigned int", True),
    "if (a[i] > s[0]) s[0] = a[i];": ("max", "int", True),
    "if (s[0] > a[i]) { s[0] = a[i]; }": ("min", "int", True),
    "s[0] = a[i] < s[0] ? a[i] : s[0];": ("min", "int", True),
    "if (x[i] > 0 && a[i] > s[0]) s[0] = a[i];": ("max", "int", True),
    "if (s[0] > a[i] && a[i] != 3 && x[i] < 1) s[0] = a[i];": ("min", "int", True),
    "s[0] = x[i] > 0 && a[i] < s[0] ? a[i] : s[0];": ("min", "int", True),
    "if (x[i] > 0) s[0]++;": ("+", "unsigned int", True),
    "s[0] = a[i] < s[0] ? s[0] : a[i];": ("max", "int", True),
    "d[0] += x[i];": ("+", "double", False),
    "d[0] = d[0] * x[i];": ("*", "double", False),
    "d[0] = fmax(d[0], x[i]);": ("fmax", "double", False),
    "d[0] = fmin(x[i], d[0]);": ("fmin", "double", False),
    "if (x[i] > d[0]) d[0] = x[i];": ("max", "double", False),  # which zero is the larger one?
    "if (fabs(x[i]) > d[0]) d[0] = fabs(x[i]);": ("max", "double", True),
    "if (x[i] * x[i] > d[0]) d[0] = x[i] * x[i];": ("max", "double", True),
}


@pytest.mark.parametrize("statement", FOUND)
def test_reductions(statement, model):
    found = model(f"for (int i = 0; i < n; i++) {{ {statement} }}", PARAMETERS, top="#include <math.h>")
    operator, kind, exact = FOUND[statement]
    reductions = find_reductions(found.scop, found.region, Reordering.ANY)
    (one,) = reductions.found
    assert not reductions.ordered
    assert (one.operator, one.type.name, one.exact) == (operator, kind, exact)
    assert one.group == (one.array.name, operator)
    # only what is exact in any order may be reordered without the user's leave
    kept = find_reductions(found.scop, found.region, Reordering.EXACT)
    assert [each.operator for each in kept.found] == ([operator] if exact else [])
    assert [each.operator for each in kept.ordered] == ([] if exact else [operator])


# statements of a loop over i in which ``m`` is a maximum or minimum: whether every order gives the same bits
OF_POSITIVE = {
    "double d = fabs(x[i]); if (d > m) m = d;": True,
    "double d; d = x[i] * x[i] + 0.5; m = d > m ? d : m;": True,
    "double d = sqrt(x[i] * x[i]); if (d < m) m = d;": True,
    "e = hypot(x[i], 2); if (e > m) m = e;": True,
    "double d = x[i]; d = fabs(d); if (d > m) m = d;": False,  # d has been something else
    "double d = sqrt(x[i]); if (d > m) m = d;": False,  # the root of -0.0 is -0.0
    "double d = -fabs(x[i]); if (d > m) m = d;": False,
    "double d = fabs(x[i]) - 1; if (d > m) m = d;": False,
    "if (m < e) m = e; e = fabs(x[i]);": False,  # e may be -0.0 before
    "if (x[i] > m) m = x[i];": False,
    "m = fmax(m, fabs(x[i]));": False,  # m may be -0.0 before
}


@pytest.mark.parametrize("statements", OF_POSITIVE)
def test_values_that_are_never_minus_zero(statements, model):
    text = f"for (int i = 0; i < n; i++) {{ {statements} }}"
    found = model(text, f"{PARAMETERS}, double m, double e", top=TOP)
    maxima = [each.operator for each in find_reductions(found.scop, found.region, Reordering.EXACT).found]
    assert bool(maxima) is OF_POSITIVE[statements]


# what precedes such a loop: whether a maximum of any numbers that starts there is above zero
STARTS = {"m = 0;": True, "m = 0.5; m += fabs(x[0]);": True, "m = -1;": False, "m = x[0];": False, "": False}


@pytest.mark.parametrize("update", ["if (x[i] > m) m = x[i];", "m = m < x[i] ? x[i] : m;"])
@pytest.mark.parametrize("start", STARTS)
def test_maxima_that_start_at_zero(start, update, model):
    text = f"{start} for (int i = 0; i < n; i++) {{ {update} }}"
    found = model(text, f"{PARAMETERS}, double m", top=TOP)
    loops = [each for each in found.scop.statements if each.iterators]
    exact = find_reductions(found.scop, found.region, Reordering.EXACT).found
    assert [each.statement for each in exact if each.operator == "max"] == (loops if STARTS[start] else [])


@pytest.mark.parametrize(("before", "above"), [("m = 0;", True), ("m = 0; if (n > 3) m = -2;", False)])
def test_maxima_that_start_before_the_region(before, above, model):
    text = "for (int i = 0; i < n; i++) if (x[i] > m) m = x[i];"
    found = model(text, f"{PARAMETERS}, double m", before=before)
    assert bool(find_reductions(found.scop, found.region, Reordering.EXACT).found) is above


def test_members_may_have_any_value_before(model):
    text = "for (int i = 0; i < n; i++) if (x[i] > s.m) s.m = x[i];"
    before = "struct { double m; } s; s.m = -0.0;"
    found = model(text, "int n, double x[restrict n]", before=before, after="x[0] = s.m;")
    assert find_reductions(found.scop, found.region, Reordering.EXACT).found == ()


def test_a_minimum_that_starts_at_zero_may_be_minus_zero(model):
    found = model("m = 0; for (int i = 0; i < n; i++) if (x[i] < m) m = x[i];", f"{PARAMETERS}, double m")
    assert find_reductions(found.scop, found.region, Reordering.EXACT).found == ()


NONE = [
    "s[0] = a[i];",
    "s[0] = a[i] - s[0];",
    "s[0] = s[0] * 2 + a[i];",
    "s[0] += s[0] * a[i];",
    "s[0] += a[i] / (s[0] + 1);",
    "s[0] /= a[i];",
    "s[0] <<= 1;",
    "if (a[i] > s[0]) s[0] = a[i] + 1;",
    "if (a[i] > s[0]) s[0] = a[i]; else s[0] = 0;",
    "if (s[0] > 3) s[0] += a[i];",
    "if (x[i] > s[0]) s[0] = x[i];",  # cut to int: what is compared is not what is kept
    "s[0] += x[i];",
]


@pytest.mark.parametrize("statement", NONE)
def test_what_is_no_reduction(statement, model):
    found = model(f"for (int i = 0; i < n; i++) {{ {statement} }}", PARAMETERS)
    reductions = find_reductions(found.scop, found.region, Reordering.ANY)
    assert (reductions.found, reductions.ordered) == ((), ())


def test_the_nodes_of_the_accumulator_are_told_from_the_value(model):
    found = model("for (int i = 0; i < n; i++) s[0] = s[0] + a[i];", PARAMETERS)
    (one,) = find_reductions(found.scop, found.region, Reordering.EXACT).found
    (statement,) = found.scop.statements
    assert {id(each.node) in one.own for each in statement.accesses if each.array.name == "a"} == {False}
    assert len(one.own) == 2
    assert one.relation.is_single_valued()
