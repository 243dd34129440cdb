"""Sweeps that are split at borders, whose statements are one: variables from before keep their names."""

import itertools

import pytest
from pool_programs import compare_around, function

SIZES = [*itertools.product((0, 1, 2, 7, 33), repeat=2)]
NORTH, WEST = "(i > 0 ? i - 1 : n - 1)", "(j > 0 ? j - 1 : m - 1)"
SUM = f"A[{NORTH}*40+j] + A[i*40+{WEST}] * 0.5"
LOOPS = "for (int t = 0; t < 5; t++) for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
CASES = {
    "a variable from before": ("double v = 3;", f"{LOOPS} {{ v = {SUM}; B[i*40+j] = v + A[i*40+j]; }}", ""),
    "one of the loops": ("", f"{LOOPS} {{ double v = {SUM}; B[i*40+j] = v + A[i*40+j]; }}", ""),
    "two from before": (
        "double v = 3, w;",
        f"{LOOPS} {{ v = {SUM}; w = v * v; B[i*40+j] = v + w; }}",
        "",
    ),
    "one that is read afterwards": (
        "double v = 3;",
        f"{LOOPS} {{ v = {SUM}; B[i*40+j] = v + A[i*40+j]; }}",
        "C[0] = v;",
    ),
    "grids in turn": (
        "double v;",
        f"{LOOPS} {{ v = {SUM.replace('A[', 'A[t % 2 * 1600+')}; A[(t + 1) % 2 * 1600 + i*40+j] = v + 1; }}",
        "",
    ),
    "in conditions": (
        "double v;",
        f"{LOOPS} {{ if (A[i*40+j] > 50) v = {SUM}; else v = A[i*40+j]; B[i*40+j] = v; }}",
        "",
    ),
}


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    return compare_around(tmp_path_factory.mktemp("blocks"), CASES, SIZES)


@pytest.mark.parametrize("name", CASES)
def test_results_are_the_original_ones(comparison, name):
    calls = comparison.calls[function(name)]
    assert [each.transformed for each in calls] == [each.original for each in calls]
    assert comparison.regions[function(name)].status == "transformed"
