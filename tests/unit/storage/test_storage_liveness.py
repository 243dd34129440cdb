"""Which cells of an array must not share memory under an order."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.storage.liveness import ExecutionOrder, LiveValues, conflicts

WRITTEN = "{ W[i] -> A[i] : 0 <= i < N }"
TO_NEXT = "{ W[i] -> R[i + 1] : 0 <= i < N - 1 }"
READ_LAST = "{ W[i] -> [i, 0]; R[i] -> [i, 1] }"
READ_FIRST = "{ W[i] -> [i, 1]; R[i] -> [i, 0] }"
NEIGHBOURS = "{ A[i] -> A[j] : 0 <= i, j < N and (j = i + 1 or j = i - 1) }"


def union(text: str) -> isl.UnionMap:
    return isl.UnionMap.read_from_str(isl.DEFAULT_CONTEXT, f"[N] -> {text}")


def found(flow: str, schedule: str, *, sharing: str | None = None, together: str = "{ }") -> isl.Map | None:
    values = LiveValues(union(WRITTEN), union(flow))
    users = values.written.domain().union(values.flow.range())
    same = isl.UnionMap.from_domain_and_range(users, users) if sharing is None else union(sharing)
    return conflicts(values, ExecutionOrder(union(schedule), same, union(together)))


def test_a_value_read_after_the_next_write_conflicts_with_it():
    assert found(TO_NEXT, READ_LAST).is_equal(isl.Map(f"[N] -> {NEIGHBOURS}"))


def test_a_value_read_before_the_next_write_leaves_its_cell():
    assert found(TO_NEXT, READ_FIRST) is None


def test_values_without_a_use_conflict_with_what_lives_when_they_are_written():
    # A[0] lives to the end; the others are written and never used
    pairs = found("{ W[0] -> R[N] : N > 0 }", READ_LAST)
    expected = "{ A[0] -> A[i] : 0 < i < N; A[i] -> A[0] : 0 < i < N }"
    assert pairs.is_equal(isl.Map(f"[N] -> {expected}"))


@pytest.mark.parametrize("flow", [TO_NEXT, "{ W[i] -> R[N] : 0 <= i < N }"])
def test_instances_that_share_no_copy_do_not_conflict(flow):
    assert found(flow, READ_LAST, sharing="{ W[i] -> W[i]; W[i] -> R[i]; R[i] -> W[i] }") is None


def test_instances_that_run_together_conflict_whatever_their_order():
    pair = "2*floor(i/2) = 2*floor(j/2) and i != j"
    together = f"{{ W[i] -> W[j] : {pair}; W[i] -> R[j] : {pair} }}"
    pairs = found("{ W[i] -> R[i] : 0 <= i < N }", READ_LAST, together=together)
    assert pairs.is_equal(isl.Map(f"[N] -> {{ A[i] -> A[j] : 0 <= i, j < N and {pair} }}"))
