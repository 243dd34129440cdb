"""Dependences by subtraction: what isl finds without strides, and right ones with them."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.analysis import array_flow
from polybuild.analysis import last_writers as module
from polybuild.analysis.last_writers import has_strides, last_writers
from polybuild.poly.relations import sets_of
from polybuild.scop.model import AccessKind

PARAMETERS = "int n, int A[restrict n][n], int x[restrict n], int s"


def accesses(scop):
    kinds = (AccessKind.READ, AccessKind.WRITE, AccessKind.MAY_WRITE)
    return [scop.accesses(each) for each in kinds]


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 1; i < n; i++) x[i] = x[i - 1];",
        "for (int i = 0; i < n; i++) { x[i] = 0; for (int j = 0; j < i; j++) x[i] += A[i][j] * x[j]; }",
        "for (int i = 0; i < n; i++) { s = x[i]; A[i][i] = s; } x[0] = s;",
        "for (int i = 0; i < n; i++) { if (x[i]) s = i; A[i][0] = s; }",
    ],
    ids=["chain", "triangle", "scalar", "perhaps written"],
)
def test_the_same_as_isl_without_strides(model, body):
    scop = model(body, PARAMETERS).scop
    reads, must, may = accesses(scop)
    assert not has_strides(reads, must, may)
    info = isl.UnionAccessInfo.from_sink(reads).set_must_source(must).set_may_source(may)
    wanted = info.set_schedule(scop.schedule).compute_flow()
    flow, old = last_writers(scop, reads, must, must.union(may))
    assert flow.is_equal(wanted.get_full_may_dependence())
    assert old.is_equal(wanted.get_may_no_source())


def test_the_last_of_a_stride(model):
    found = model(
        "for (int i = 0; i < 4; i += 2) for (int j = i; j < n + 1; j++) s = 5 * s + i;"
        " for (int i = 0; i < n; i++) for (int j = 0; j < n; j += 2) s = x[j] % (s + 1);",
        PARAMETERS + ", short m",
    )
    assert has_strides(found.scop.accesses(AccessKind.READ))
    bounded = isl.Set("[n] -> { : 1 <= n <= 254 }")
    first = isl.UnionSet("[n] -> { S1[0, 0] }")
    last = found.dependences.flow.intersect_range(first).intersect_params(bounded).domain()
    later = isl.UnionSet("[n] -> { S0[2, n] : 2 <= n <= 254; S0[0, 1] : n = 1 }")
    assert last.is_equal(later)


def test_each_array_is_looked_at_by_itself(model, monkeypatch):
    """Instances that have no array in common are not put in order."""
    scop = model(
        "for (int i = 0; i < n; i += 2) {"
        " x[i] = s; s = A[i][i]; for (int j = 0; j < i; j += 2) A[j][i] = j; }",
        PARAMETERS,
    ).scop
    reads, must, may = accesses(scop)
    together = []

    def order_of(schedule, of_array):
        order = array_flow.order_of(schedule, of_array)
        together.append([each.get_tuple_name() for each in sets_of(order.domain())])
        return order

    monkeypatch.setattr(module, "order_of", order_of)
    whole = last_writers(scop, reads, must, must.union(may))[0]
    assert sorted(together) == [["S0", "S1"], ["S1", "S2"]]
    reads, must = array_flow.by_array(reads), array_flow.by_array(must)
    parts = [last_writers(scop, reads[each], must[each], must[each])[0] for each in reads]
    assert whole.is_equal(parts[0].union(parts[1]))
