"""Dependences without those that reductions have among themselves."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.analysis.reduction_dependences import separate_reduction_dependences
from polybuild.analysis.reductions import find_reductions
from polybuild.context import Reordering
from polybuild.schedule.legality import IllegalSchedule, check_schedule

PARAMETERS = "int n, int *restrict s, int a[restrict n], int b[restrict n]"
WITHIN = "[n] -> { S1[i] -> S1[j] : 0 <= i < j < n }"
SUM = "s[0] = 0; for (int i = 0; i < n; i++) s[0] += a[i]; b[0] = s[0];"


@pytest.fixture
def separated(model):
    """The model of a region and its dependences with those of reductions separate."""

    def make(body: str, **options):
        found = model(body, PARAMETERS, **options)
        reductions = find_reductions(found.scop, found.region, Reordering.EXACT)
        return found, separate_reduction_dependences(found.scop, found.dependences, reductions.found)

    return make


def between(relation: isl.UnionMap, source: str, target: str) -> isl.Map | None:
    """The pairs of two statements, None if there are none."""
    found: list[isl.Map] = []
    relation.foreach_map(found.append)
    wanted = [
        each
        for each in found
        if (each.get_tuple_name(isl.dim_type.in_), each.get_tuple_name(isl.dim_type.out)) == (source, target)
        and not each.is_empty()
    ]
    return wanted[0] if wanted else None


def test_the_pairs_of_a_sum_are_separate(separated):
    found, dependences = separated(SUM)
    (group,) = dependences.reductions
    assert isl.Map.from_union_map(group.pairs).is_equal(isl.Map(WITHIN))
    assert [each.statement.name for each in group.reductions] == ["S1"]
    assert between(found.dependences.validity, "S1", "S1") is not None
    assert between(dependences.validity, "S1", "S1") is None
    assert between(dependences.carried, "S1", "S1") is not None


def test_whoever_reads_the_result_waits_for_every_instance(separated):
    found, dependences = separated(SUM)
    every = isl.Map("[n] -> { S1[i] -> S2[] : 0 <= i < n }")
    assert between(dependences.flow, "S1", "S2").is_equal(every)
    last = isl.Map("[n] -> { S1[n - 1] -> S2[] : n > 0 }")
    assert between(found.dependences.flow, "S1", "S2").is_equal(last)


def test_every_instance_waits_for_what_comes_before(separated):
    _, dependences = separated(SUM)
    assert between(dependences.flow, "S0", "S1").is_equal(isl.Map("[n] -> { S0[] -> S1[i] : 0 <= i < n }"))


def test_reductions_of_distinct_elements_change_nothing(separated):
    found, dependences = separated("for (int i = 0; i < n; i++) b[i] += a[i];")
    assert dependences is found.dependences


def test_groups_of_one_array_keep_their_order(separated):
    _, dependences = separated("for (int i = 0; i < n; i++) { s[0] += a[i]; s[0] *= b[i]; }")
    assert len(dependences.reductions) == 2
    for source, target in (("S0", "S1"), ("S1", "S0")):
        assert between(dependences.validity, source, target) is not None
    # another group writes between two instances of one group, but not for certain
    for name in ("S0", "S1"):
        assert between(dependences.validity, name, name) is None


def test_a_write_between_ends_a_group_of_instances(separated):
    _, dependences = separated(
        "for (int i = 0; i < n; i++) { s[0] = 0; for (int j = 0; j < n; j++) s[0] += a[j]; b[i] = s[0]; }"
    )
    (group,) = dependences.reductions
    expected = isl.Map("[n] -> { S1[i, j] -> S1[i, k] : 0 <= i < n and 0 <= j < k < n }")
    assert isl.Map.from_union_map(group.pairs).is_equal(expected)


def test_private_accumulators_keep_their_live_ranges(separated):
    _, dependences = separated(
        "for (int i = 0; i < n; i++) { t = 0; for (int j = 0; j < n; j++) t += a[j]; b[i] = t; }",
        before="int t;",
    )
    (private,) = dependences.private
    assert private.array.name == "t"
    (group,) = dependences.reductions
    assert private.order.intersect(group.pairs).is_empty()
    assert between(private.flow, "S1", "S2").is_equal(isl.Map("[n] -> { S1[i, j] -> S2[i] : 0 <= i, j < n }"))


def test_any_order_of_a_sum_is_legal_but_not_at_the_same_time(separated):
    found, dependences = separated("for (int i = 0; i < n; i++) s[0] += a[i];")
    domain = found.scop.domain
    reverse = isl.Schedule.from_domain(domain).insert_partial_schedule(
        isl.MultiUnionPwAff("[n] -> [{ S0[i] -> [(-i)] }]")
    )
    check_schedule(reverse, dependences, domain)
    parallel = reverse.get_root().child(0).band_member_set_coincident(0, 1).get_schedule()
    with pytest.raises(IllegalSchedule, match="carries a reduction"):
        check_schedule(parallel, dependences, domain)
    with pytest.raises(IllegalSchedule):
        check_schedule(reverse, found.dependences, domain)
