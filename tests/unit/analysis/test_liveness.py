"""Which variables the rest of the function may still read."""

from __future__ import annotations

import pytest

REGION = "for (int i = 0; i < n; i++) { t = a[i]; a[i] = t * t; }"
LOOP = "for (int r = 0; r < 9; r++) {"

# what: (declarations, code before and after the region, is t live after it?)
CASES = {
    "never used again": ("double t;", "", "", False),
    "read": ("double t;", "", "a[0] = t;", True),
    "overwritten": ("double t;", "", "t = 1; a[0] = t;", False),
    "overwritten on one path only": ("double t;", "", "if (n > 3) t = 1; a[0] = t;", True),
    "overwritten on both paths": ("double t;", "", "if (n > 3) t = 1; else t = 2; a[0] = t;", False),
    "overwritten with its own value": ("double t;", "", "t = t + 1;", True),
    "read by the next round of a loop around": ("double t = 0;", f"{LOOP} a[0] += t;", "}", True),
    "overwritten by the next round": ("double t;", f"{LOOP} t = r; a[0] += t;", "}", False),
    "read in a loop that might not run": ("double t;", "", f"{LOOP} a[r] = t; }}", True),
    "returned to by goto": ("double t = 0;", "again: a[0] += t;", "if (a[0] > 0) goto again;", True),
    "its address is taken": ("double t; double *p = &t;", "", "*p = 0;", True),
    "static": ("static double t;", "", "", True),
    "read before only": ("double t = 3;", "a[1] = t;", "", False),
    "measured, not read": ("double t;", "", "n = sizeof t;", False),
}


@pytest.mark.parametrize("what", CASES)
def test_live_after(what, model):
    declarations, before, after, live = CASES[what]
    found = model(REGION, "int n, double *restrict a", before=f"{declarations}\n{before}", after=after)
    assert ("t" in found.live) is live


def test_globals_outlive_the_function(model):
    found = model(REGION, "int n, double *restrict a", top="double t;")
    assert "t" in found.live
