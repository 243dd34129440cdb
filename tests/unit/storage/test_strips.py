"""Private rows in strips of bounded length."""

from __future__ import annotations

import islpy as isl

from polybuild.machine.model import Machine, Origin
from polybuild.storage.scalar_expansion import expand_private, private_nests
from polybuild.storage.strips import limit_rows, private_rows, rows_within

MAXIMUM = 32 * 8 * 1000
"""Bytes of a strip: 32 rows of a thousand elements."""
MACHINE = Machine().with_figures({"l2.bytes": 2 * MAXIMUM}, Origin.ASSUMED)
PARAMETERS = "int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n]"
BODY = """for (int i = 0; i < n; i++) {{ double w[{0}];
    for (int j = 0; j < {0}; j++) w[j] = a[i][j];
    for (int g = 0; g < n; g++) for (int l = 0; l < {0}; l++) c[i][g] += w[l] * b[l][g]; }}"""


def expanded(model, length):
    found = model(BODY.format(length), PARAMETERS)
    return expand_private(found.scop, private_nests(found.scop, found.dependences, found.live))


def test_rows_of_any_length_are_limited(model):
    before = expanded(model, "n")
    after = limit_rows(before, MACHINE)
    (assumption,) = after.scop.assumptions[len(before.scop.assumptions) :]
    (nest,) = after.nests
    assert [each.expanded for each in private_rows(nest)] == ["w"]
    limited = assumption.condition.intersect_params(before.scop.context)
    fits = isl.Set("[n] -> { : 0 < n <= 984 }")
    assert limited.params().intersect(isl.Set("[n] -> { : n > 0 }")).is_equal(fits)
    assert "'w'" in assumption.reason
    assert rows_within(before.scop, nest, MAXIMUM) == 0
    assert rows_within(after.scop, nest, MAXIMUM) == MAXIMUM // (984 * 8)


def test_short_rows_need_no_limit(model):
    found = expanded(model, "40")
    assert limit_rows(found, MACHINE) is found
    assert rows_within(found.scop, found.nests[0], 40 * 8 * 100) == 100
