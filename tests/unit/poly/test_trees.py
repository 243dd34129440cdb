"""What the nodes of a schedule tree are, and ways through them."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.poly.trees import children, descendants, is_band, map_bottom_up, member, node_kind, within

DOMAIN = isl.UnionSet("{ S[i, j] : 0 <= i, j < 4; T[i] : 0 <= i < 4 }")
KIND = isl.schedule_node_type


@pytest.fixture
def tree() -> isl.ScheduleNode:
    """Two statements in a sequence, one below a band of two members."""
    filters = isl.UnionSetList.alloc(isl.DEFAULT_CONTEXT, 2)
    for text in ("{ S[i, j] }", "{ T[i] }"):
        filters = filters.add(isl.UnionSet(text))
    node = isl.Schedule.from_domain(DOMAIN).get_root().child(0).insert_sequence(filters)
    node = (
        node.child(0)
        .child(0)
        .insert_partial_schedule(isl.MultiUnionPwAff("[{ S[i, j] -> [(i)] }, { S[i, j] -> [(j)] }]"))
    )
    return node.root()


def test_descendants_come_after_their_parents(tree):
    kinds = [node_kind(each) for each in descendants(tree)]
    assert kinds == [KIND.domain, KIND.sequence, KIND.filter, KIND.band, KIND.leaf, KIND.filter, KIND.leaf]


def test_a_band_without_members_is_none(tree):
    (band,) = (each for each in descendants(tree) if is_band(each))
    empty = band.child(0).insert_partial_schedule(isl.MultiUnionPwAff("[]{ S[i, j] }"))
    assert node_kind(empty) == KIND.band
    assert not is_band(empty)


def test_a_member_is_the_schedule_of_one_dimension(tree):
    (band,) = (each for each in descendants(tree) if is_band(each))
    expected = isl.UnionMap("{ S[i, j] -> [j] }")
    assert isl.UnionMap.from_multi_union_pw_aff(member(band, 1)).gist_domain(DOMAIN).is_equal(expected)


def test_within_a_filter_both_ends_pass(tree):
    relation = isl.UnionMap("{ S[i, j] -> S[i, j + 1]; S[i, j] -> T[i]; T[i] -> T[i + 1] }")
    sequence = tree.child(0)
    assert within(relation, sequence).is_equal(relation)
    first, second = (within(relation, each) for each in children(sequence))
    assert first.is_equal(isl.UnionMap("{ S[i, j] -> S[i, j + 1] }"))
    assert second.is_equal(isl.UnionMap("{ T[i] -> T[i + 1] }"))


def test_changes_are_made_below_a_node_first(tree):
    seen = []

    def change(node: isl.ScheduleNode) -> isl.ScheduleNode:
        seen.append(node_kind(node))
        return node.delete() if is_band(node) else node

    changed = map_bottom_up(tree, change)
    assert not any(is_band(each) for each in descendants(changed))
    assert seen == [KIND.leaf, KIND.band, KIND.filter, KIND.leaf, KIND.filter, KIND.sequence, KIND.domain]
