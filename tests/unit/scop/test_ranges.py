"""What is known of subscripts that are not affine."""

from __future__ import annotations

import islpy as isl
import pytest
from plain_regions import scop_in

PARAMETERS = "int n, double *x, double *y, int *a, unsigned char *c, unsigned *u, short *s"


@pytest.mark.parametrize(
    ("subscript", "values"),
    [
        ("a[i] & 15", "0 <= v <= 15"),
        ("7 & a[i]", "0 <= v <= 7"),
        ("4 * i + (a[i] & 3)", "4 i <= v <= 4 i + 3"),
        ("2 * (a[i] & 3) - (i + c[i])", "-i - 255 <= v <= 6 - i"),
        ("-(a[i] & 3)", "-3 <= v <= 0"),
        ("c[i]", "0 <= v <= 255"),
        ("s[i]", "-32768 <= v <= 32767"),
        ("(unsigned char)a[i]", "0 <= v <= 255"),
        ("u[i] % 10", "0 <= v <= 9"),
        ("a[i] % 10", "-9 <= v <= 9"),
        ("(a[i] & 31) % 10", "0 <= v <= 9"),
        ("a[i] > 0 ? c[i] : i", "(0 <= v <= 255) or (v = i) or (i <= v <= 255) or (0 <= v <= i)"),
        ("(a[i] < 3) + 2", "2 <= v <= 3"),
        ("a[i]", ""),
        ("a[i] % -10", ""),
        ("u[i] + (u[i] & 3)", ""),
        ("(a[i] & 3) * (a[i] & 3)", ""),
    ],
)
def test_ranges_of_subscripts(subscript, values):
    (statement,) = scop_in(f"for (int i = 0; i < n; i++) y[i] = x[{subscript}];", PARAMETERS).statements
    (access,) = [each for each in statement.accesses if each.array.name == "x"]
    condition = f"0 <= i < n and ({values})" if values else "0 <= i < n"
    assert access.relation.is_equal(isl.Map(f"[n] -> {{ S0[i] -> x[v] : {condition} }}"))
    assert not access.exact
