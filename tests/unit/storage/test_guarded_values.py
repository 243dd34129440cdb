"""Variables that are set and used under one condition: which are private then."""

from __future__ import annotations

import pytest

from polybuild.analysis.dependences import compute_dependences
from polybuild.schedule.legality import check_schedule
from polybuild.storage.guarded_values import set_guarded_values

PARAMETERS = "int n, double a[restrict n], double b[restrict n], double c[restrict n]"
SET, USE = "if (a[i] > 0) t = a[i] * 2;", "if (a[i] > 0) b[i] += t;"


def changed(model, inside, *, after=""):
    found = model(f"for (int i = 0; i < n; i++) {{ {inside} }}", PARAMETERS, before="double t;", after=after)
    return found.scop, found.live, set_guarded_values(found.scop, found.live)


@pytest.mark.parametrize(
    "inside",
    [
        f"{SET} b[i] = c[i]; {USE}",
        f"{SET} {USE} if (a[i] > 0) c[i] = t;",
        "double u = a[i] - 1; if (u > 0) t = u; b[i] = u; if (u > 0) b[i] += t;",
        f"{SET} if (i > 2) {{ {USE} }}".replace("if (i > 2)", ""),
    ],
)
def test_a_value_of_its_own_in_each_iteration(model, inside):
    before, live, after = changed(model, inside)
    assert len(after.statements) == len(before.statements) + 1
    assert "t" not in {each.array.name for each in compute_dependences(before, live).private}
    dependences = compute_dependences(after, live)
    assert "t" in {each.array.name for each in dependences.private}
    check_schedule(after.schedule, dependences, after.domain)


@pytest.mark.parametrize(
    "inside",
    [
        f"{USE} {SET}",
        f"{SET} a[i] = c[i]; {USE}",
        f"{SET} if (a[i] > 1) b[i] += t;",
        f"{SET} if (c[i] > 0) t = c[i]; {USE}",
        f"{SET} b[i] = t;",
        f"if (a[i] > 0) {{ c[i] = t; t = a[i]; }} {USE}",
        f"if (a[i] > 0) {{ if (c[i] > 0) t = a[i]; }} {USE}",
        "double u = a[i]; if (u > 0) { t = u; u = -u; } if (u > 0) b[i] += t;",
    ],
)
def test_what_may_be_of_an_earlier_iteration(model, inside):
    before, _, after = changed(model, inside)
    assert after is before


def test_what_is_read_after_the_region(model):
    before, _, after = changed(model, f"{SET} {USE}", after="b[0] = t;")
    assert after is before
