"""Loops with dynamic bounds: their model, which values a read finds, and the order of their bands."""

from __future__ import annotations

import islpy as isl
import pytest
from plain_regions import scop_in

from polybuild.analysis.dependences import compute_dependences
from polybuild.scop.model import AccessKind
from polybuild.transform.dynamic_loops import separate_dynamic_loops

PARAMETERS = "int n, double a[n][n], double *x, double *y, int *c, unsigned *u"
LOOP = "for (int i = 0; i < n; i++)"


def test_the_range_is_what_is_known_of_the_counter():
    (statement,) = scop_in(f"{LOOP} for (int j = 2; j < c[i]; j++) x[i] += y[j];", PARAMETERS).statements
    (loop,) = statement.dynamic
    assert (loop.position, loop.step) == (1, 1)
    assert statement.domain.is_subset(isl.Set("[n, j_to] -> { S0[i, j] : 0 <= i < n and 2 <= j <= j_to }"))
    kinds = {each.kind for each in statement.accesses if each.array.name == "x"}
    assert kinds == {AccessKind.READ, AccessKind.MAY_WRITE}
    assert any(each.array.name == "c" and each.exact for each in statement.accesses)


@pytest.mark.parametrize(
    "loop",
    [
        "for (int j = 0; j != c[i]; j++) x[j] = 1;",
        "for (int j = 0; j < c[i]; j--) x[0] = 1;",
        "for (int j = 0; j < c[i + j]; j++) x[j] = 1;",
        "for (int j = 0; j < c[i]; j++) c[i]--;",
        "for (int j = 0; j < u[i]; j++) x[j] = 1;",
        "for (unsigned j = 0; j <= u[i]; j++) x[j] = 1;",
        "for (int j = 0; j < y[i]; j++) x[j] = 1;",
        "for (int j = 0; j < c[i]; j += c[i]) x[j] = 1;",
    ],
)
def test_other_loops_are_kept_whole(loop):
    (statement,) = scop_in(f"{LOOP} {loop}", PARAMETERS).statements
    assert not statement.dynamic
    assert len(statement.iterators) == 1


@pytest.mark.parametrize(
    ("body", "fresh"),
    [
        ("t = x[j]; a[i][j] = t;", True),
        ("a[i][j] = t; t = x[j];", False),
        ("if (x[j] > 0) t = x[j]; a[i][j] = t;", False),
        ("if (j > 3) t = x[j]; a[i][j] = t;", False),
        ("if (j > 3) { t = x[j]; a[i][j] = t; }", True),
    ],
)
def test_values_of_the_same_iteration_hide_older_ones(body, fresh):
    scop = scop_in(f"double t; {LOOP} for (int j = 0; j < c[i]; j++) {{ {body} }}", PARAMETERS)
    private = [each.array.name for each in compute_dependences(scop, frozenset()).private]
    assert private == (["t"] if fresh else [])


def test_bands_are_cut_around_dynamic_loops():
    body = f"{LOOP} for (int j = 0; j < c[i]; j++) for (int k = 0; k < n; k++) a[i][k] += x[j];"
    scop = scop_in(body, PARAMETERS)
    space = "{ S0[i, j, k] -> [(i)] }, { S0[i, j, k] -> [(k)] }, { S0[i, j, k] -> [(j)] }"
    partial = isl.MultiUnionPwAff(f"[{space}]")
    node = isl.Schedule.from_domain(scop.domain).get_root().child(0).insert_partial_schedule(partial)
    found = separate_dynamic_loops(scop, node.band_set_permutable(1).get_schedule())
    assert found is not None
    bands = [found.get_root().child(0)]
    while bands[-1].child(0).get_type() == isl.schedule_node_type.band:
        bands.append(bands[-1].child(0))
    assert [each.band_n_member() for each in bands] == [1, 1, 1]
    dates = found.get_map().intersect_domain(scop.domain)
    assert dates.is_subset(isl.UnionMap("{ S0[i, j, k] -> [i, j, k] }"))


def test_a_dynamic_loop_outside_of_the_loop_around_it_is_none():
    scop = scop_in(f"{LOOP} for (int j = 0; j < c[i]; j++) a[i][j] = 1;", PARAMETERS)
    partial = isl.MultiUnionPwAff("[{ S0[i, j] -> [(j)] }, { S0[i, j] -> [(i)] }]")
    node = isl.Schedule.from_domain(scop.domain).get_root().child(0).insert_partial_schedule(partial)
    assert separate_dynamic_loops(scop, node.get_schedule()) is None


def test_limits_of_types_bound_nothing():
    scop = scop_in(f"{LOOP} for (int j = 0; j < c[i]; j++) {{ x[j] = 1; y[i] = 1; }}", PARAMETERS)
    bounded = {
        access.array.name: scop.without_limits(access.relation.range()).dim_has_upper_bound(
            isl.dim_type.set, 0
        )
        for statement in scop.statements
        for access in statement.accesses
        if access.kind is not AccessKind.READ
    }
    assert bounded == {"x": False, "y": True}
