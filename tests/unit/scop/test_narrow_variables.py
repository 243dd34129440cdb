"""Which variables of a region are known to fit in 16 bits."""

from __future__ import annotations

import pytest

from polybuild.scop.narrow_variables import narrow_variables, with_types_as_written

PARAMETERS = (
    "int n, unsigned char u[restrict n], short s[restrict n], int v[restrict n], double w[restrict n], int q"
)


def types_of(model, body):
    found = model(f"for (int i = 1; i < n - 1; i++) {{ {body} }}", PARAMETERS)
    after = narrow_variables(found.scop)
    return {each.name: each.element.name for each in after.arrays if not each.extents}


@pytest.mark.parametrize(
    "body",
    [
        "int x = u[i - 1] + u[i] + u[i + 1]; v[i] = x == 3;",
        "int x = 2 * u[i] - 100 * u[i + 1]; v[i] = x;",
        "int x; x = (u[i] > 3) + !u[i + 1] + (s[i] > s[i + 1]); v[i] = x;",
        "int x = u[i] > 7 ? u[i - 1] : -u[i + 1]; v[i] = x;",
        "int x = (u[i] | 256) ^ (u[i + 1] & 15); v[i] = x;",
        "int x = 127 * u[i] + 127; v[i] = x;",
        "int x = s[i]; v[i] = x + 1;",
    ],
)
def test_what_fits(model, body):
    assert types_of(model, body)["x"] == "short"


@pytest.mark.parametrize(
    "body",
    [
        "int x = 129 * u[i]; v[i] = x;",
        "int x = s[i] + 1; v[i] = x;",
        "int x = -s[i]; v[i] = x;",
        "int x = u[i] + v[i]; v[i] = x;",
        "int x = u[i] + q; v[i] = x;",
        "int x = u[i] + i; v[i] = x;",
        "int x = u[i] * w[i]; v[i] = x;",
        "int x = u[i]; x += u[i + 1]; v[i] = x;",
        "int x = u[i] << 3; v[i] = x;",
        "int x = u[i] - 40000u; v[i] = x;",
        "int x = 3; v[i] = x;",
        "int x = u[i]; v[i] = x + (int)sizeof x;",
        "unsigned x = u[i]; v[i] = x - 1 > 7;",
        "long x = u[i]; v[i] = x * 8388608 > 7;",
    ],
)
def test_what_may_not(model, body):
    assert types_of(model, body).get("x") != "short"


def test_the_original_is_predicted_with_the_types_as_written(model):
    body = "int x = u[i] + 1; short y = s[i]; v[i] = x + y;"
    found = model(f"for (int i = 1; i < n - 1; i++) {{ {body} }}", PARAMETERS)
    after = with_types_as_written(narrow_variables(found.scop))
    before = {each.name: each.element for each in found.scop.arrays}
    assert {each.name: each.element for each in after.arrays} == before
    assert all(each.array in after.arrays for one in after.statements for each in one.accesses)
