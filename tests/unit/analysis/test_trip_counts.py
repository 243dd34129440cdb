"""Bounds on how much a region does."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.analysis.trip_counts import is_small, trip_counts


def values(scop, **parameters):
    """The trip counts of each statement for values of the parameters."""
    point = isl.Set.universe(scop.context.get_space())
    for name, value in parameters.items():
        position = point.find_dim_by_name(isl.dim_type.param, name)
        point = point.fix_val(isl.dim_type.param, position, isl.Val(value))
    return [
        [count.intersect_params(point).max_val().to_python() for count in counts]
        for counts in trip_counts(scop)
    ]


# what: (region, parameters, values of the parameters, trip counts)
CASES = {
    "rectangle": (
        "for (int i = 0; i < n; i++) for (int j = 2; j <= m; j++) a[i * 9 + j] = 0;", "int n, int m",
        {"n": 7, "m": 5}, [[7, 4]],
    ),
    "triangle: the longest row": (
        "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) a[j] = 0;", "int n", {"n": 7}, [[7, 7]],
    ),
    "two statements": (
        "for (int i = 0; i < n; i++) { a[i] = 0; for (int j = 0; j < 3; j++) a[i] += j; }", "int n", {"n": 7},
        [[7], [7, 3]],
    ),
    "no loop": ("a[0] = n;", "int n", {}, [[]]),
}  # fmt: skip


@pytest.mark.parametrize("what", CASES)
def test_trip_counts(what, model):
    body, parameters, point, expected = CASES[what]
    assert values(model(body, f"{parameters}, double *restrict a").scop, **point) == expected


def test_trip_counts_never_fall_short_of_a_stride(model):
    ((count,),) = values(model("for (int i = 0; i < n; i += 4) a[i] = 0;", "int n, int *a").scop, n=17)
    assert count >= 5


def test_loops_that_are_kept_whole_count(model):
    body = "for (int i = 0; i < n; i++) { int k = i; while (k > 0 && a[k]) k /= 2; b[i] = k; }"
    scop = model(body, "int n, int *restrict a, int *restrict b").scop
    whole = [counts for counts in values(scop, n=7) if len(counts) > 1]
    assert whole, "one statement keeps the while loop"
    assert all(counts[-1] > 1 for counts in whole)


@pytest.mark.parametrize(("bound", "small"), [("9", True), ("499", True), ("501", False), ("n", False)])
def test_small(bound, small, model):
    scop = model(f"for (int i = 0; i < {bound}; i++) a[i] = 0;", "int n, double *restrict a").scop
    assert is_small(scop) is small
