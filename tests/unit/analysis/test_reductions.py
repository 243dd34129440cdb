"""Which statements are reductions, by which operator, and whether every order gives the same bits."""

from __future__ import annotations

import pytest

from polybuild.analysis.reductions import find_reductions
from polybuild.context import Reordering

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
