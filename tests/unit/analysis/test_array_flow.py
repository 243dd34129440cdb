"""Flow found array by array is that of all arrays together, and is found once."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.analysis import array_flow
from polybuild.analysis.array_flow import flow_between
from polybuild.poly.memory import remembering
from polybuild.scop.model import AccessKind

REGION = """\
for (int i = 0; i < n; i++) {
  a[i] = b[i] + 1;
  if (i > 3) b[i] = a[i];
  for (int j = 0; j < i; j++) b[j] = a[j] + b[i - j];
}
"""


@pytest.fixture
def accesses(model):
    scop = model(REGION, "int n, double a[restrict n], double b[restrict n]").scop
    return scop, scop.accesses(AccessKind.READ), scop.accesses(AccessKind.WRITE)


def test_it_is_that_of_all_arrays_together(accesses):
    scop, reads, writes = accesses
    info = isl.UnionAccessInfo.from_sink(reads).set_must_source(writes).set_schedule(scop.schedule)
    whole, found = info.compute_flow(), flow_between(scop, reads, must=writes)
    assert not found.pairs.is_empty()
    assert found.pairs.is_equal(whole.get_may_dependence())
    assert found.full.is_equal(whole.get_full_may_dependence())
    assert found.certain.is_equal(whole.get_full_must_dependence())
    assert found.old.is_equal(whole.get_may_no_source())


def test_kills_hide_what_is_older(accesses):
    scop, reads, writes = accesses
    both = reads.union(writes)
    info = isl.UnionAccessInfo.from_sink(writes).set_may_source(both).set_kill(writes)
    whole = info.set_schedule(scop.schedule).compute_flow().get_may_dependence()
    found = flow_between(scop, writes, may=both, kills=writes).pairs
    assert found.is_equal(whole)
    assert found.is_strict_subset(flow_between(scop, writes, may=both).pairs)


def test_nothing_sees_nothing(accesses):
    scop, reads, _ = accesses
    nothing = isl.UnionMap.empty(reads.get_space())
    assert flow_between(scop, nothing, must=reads).pairs.is_empty()
    assert flow_between(scop, reads).old.is_equal(reads)


def test_each_array_is_looked_at_once(accesses, monkeypatch):
    scop, reads, writes = accesses
    made = []
    union_access_info = isl.UnionAccessInfo

    class Counting:
        @staticmethod
        def from_sink(sink):
            made.append(sink)
            return union_access_info.from_sink(sink)

    monkeypatch.setattr(array_flow.isl, "UnionAccessInfo", Counting)
    with remembering():
        for _ in range(2):
            flow_between(scop, reads, must=writes)
        flow_between(scop, array_flow.by_array(reads)["a"], must=writes)
    assert len(made) == 2


def test_sinks_of_many_pieces_are_taken_one_by_one(model, monkeypatch):
    ring = """for (int t = 0; t < m; t++) {
      for (int i = 0; i < n; i++) b[i] = a[(i + n - 1) % n] + a[(i + 1) % n];
      for (int i = 0; i < n; i++) a[i] = b[i];
    }"""
    scop = model(ring, "int n, int m, double a[restrict n], double b[restrict n]").scop
    reads, writes = scop.accesses(AccessKind.READ), scop.accesses(AccessKind.WRITE)
    either = {"must": writes}, {"may": reads.union(writes), "kills": writes}
    whole = [flow_between(scop, reads if "must" in each else writes, **each) for each in either]
    monkeypatch.setattr(array_flow, "ACCESS_PIECES", 1)
    parts = [flow_between(scop, reads if "must" in each else writes, **each) for each in either]
    for one, other in zip(whole, parts, strict=True):
        assert not one.pairs.is_empty()
        for name in ("pairs", "full", "certain", "old"):
            assert getattr(one, name).is_equal(getattr(other, name))
