"""Which minima and maxima carry what with them, and what is none."""

from __future__ import annotations

import pytest

from polybuild.analysis.placed_reductions import find_placed_reductions

PARAMETERS = (
    "int n, int *restrict w, double *restrict d, float *restrict s, int a[restrict n], double x[restrict n]"
)

# statement of a loop over i: operator, whether the last of equals counts, the arrays that are carried
FOUND = {
    "if (x[i] > d[0]) { d[0] = x[i]; w[0] = i; }": ("max", False, ["w"]),
    "if (d[0] <= x[i]) { w[0] = i; d[0] = x[i]; }": ("max", True, ["w"]),
    "if (x[i] < d[0]) d[0] = x[i], w[0] = 2 * i, s[0] = x[i] / 2;": ("min", False, ["w", "s"]),
    "if (a[i] > 3 && x[i] <= d[0]) { d[0] = x[i]; }": ("min", True, []),
    "if (a[i]) if (a[i] > w[0]) { w[0] = a[i]; d[0] = x[i]; }": ("max", False, ["d"]),
    "d[0] = x[i] > d[0] ? x[i] : d[0];": ("max", False, []),
    "if (x[i] > d[0]) w[0] = i;": ("taken", True, []),  # the last that fits
}


@pytest.mark.parametrize("statement", FOUND)
def test_what_is_kept(statement, model):
    found = model(f"for (int i = 0; i < n; i++) {{ {statement} }}", PARAMETERS)
    (one,) = find_placed_reductions(found.scop, found.region)
    carried = [each.array.name for each in one.selection.carried]
    assert (one.operator, one.selection.latest, carried) == FOUND[statement]
    assert one.exact


@pytest.mark.parametrize(
    "statement",
    [
        "if (!(x[i] <= d[0])) { d[0] = x[i]; w[0] = i; }",  # takes what is not a number
        "d[0] = d[0] >= x[i] ? d[0] : x[i];",  # as well
        "if (x[i] > d[0]) { d[1] = d[0]; d[0] = x[i]; }",  # the second largest is that of before
        "if (x[i] > d[0]) { d[0] = x[i]; w[0]++; }",
        "if (x[i] > d[0]) { d[0] = x[i]; w[0] = w[1]; }",
        "if (x[i] > d[0]) { d[0] = x[i] + 1; w[0] = i; }",
        "if (x[i] > s[0]) { s[0] = x[i]; w[0] = i; }",  # rounded when it is kept, not when it is compared
        "if (x[i] > d[0]) { d[0] = x[i]; w[0] = i; } else w[0] = -1;",
        "if (x[i] > d[0] && d[0] < 9) { d[0] = x[i]; w[0] = i; }",
        "d[0] = x[i] > d[0] ? x[i] : d[1];",
    ],
)
def test_what_is_something_else(statement, model):
    found = model(f"for (int i = 0; i < n; i++) {{ {statement} }}", PARAMETERS)
    assert find_placed_reductions(found.scop, found.region) == ()
