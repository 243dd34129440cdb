"""Which reductions are accumulated in parts, and in how many."""

import pytest
from device_regions import MATRICES, PRODUCT

from polybuild.analysis.reductions import find_reductions
from polybuild.context import Reordering
from polybuild.targets.base import ReductionParts
from polybuild.targets.gpu.partial_results import with_partial_results

ARRAYS = "int n, double a[restrict n][n], double *restrict x, double *restrict y"


@pytest.fixture
def extents(model):
    """The extents of the parts that the reductions of a region get, by level."""

    def find(body: str, parameters: str = ARRAYS, *, reassociate: bool = True) -> list[list[str]]:
        found = model(body, parameters, before="double s = 0;", after="if (s > 1) return;")
        reordering = Reordering.ANY if reassociate else Reordering.EXACT
        reductions = find_reductions(found.scop, found.region, reordering).found
        changed, measured = with_partial_results(found.scop, found.dependences, reductions, ReductionParts())
        assert not measured
        assert (changed is found.scop) == (len(changed.arrays) == len(found.scop.arrays))
        return [
            [str(each.coalesce()).partition("[(")[2].partition(")]")[0] for each in array.extents]
            for array in changed.arrays
            if array.expanded
        ]

    return find


def test_one_value_has_parts_for_all_threads_of_a_device(extents):
    parts = [["131072"], ["4096"], ["128"], ["4"]]
    assert extents("for (int i = 0; i < n; i++) s += x[i] * y[i];") == parts
    assert extents("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) s += a[i][j];") == parts
    assert extents("for (int i = 0; i < n; i++) s += i * x[i];") == parts


def test_each_value_of_a_loop_has_parts_for_a_warp(extents):
    rows = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[i] += a[i][j] * x[j];"
    assert extents(rows) == [["n", "32"]]
    columns = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[j] += a[i][j] * x[i];"
    assert extents(columns) == [["32", "n"]]


def test_values_of_a_loop_in_order_follow_each_other_in_the_same_parts(extents):
    body = """
  for (int k = 1; k < n; k++) {
    s = 0;
    for (int i = 0; i < n; i++) s += a[i][k] * a[i][k - 1];
    for (int i = 0; i < n; i++) a[i][k] *= s;
  }"""
    assert extents(body)[0] == ["131072"]


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) { s += x[i]; y[i] = s; }",  # somebody looks at it meanwhile
        "for (int i = 0; i < n; i++) { s += x[i]; s = s / 2; }",
        "for (int i = 0; i < n; i++) { s += x[i]; s *= y[i]; }",  # two ways to accumulate
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[i] += a[i][j] * y[j];",
        "for (int i = 0; i < 100; i++) s += x[i];",
        "for (int i = 1; i < n; i++) x[i] += x[i - 1];",
    ],
)
def test_what_stays_as_it_is(extents, body):
    assert extents(body) == []


def test_where_enough_runs_in_parallel_anyway(extents):
    assert extents(PRODUCT, MATRICES) == []


def test_floating_point_numbers_keep_their_order_without_leave(extents):
    assert extents("for (int i = 0; i < n; i++) s += x[i];", reassociate=False) == []
