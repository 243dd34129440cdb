"""Tiles that begin where loops do."""

from __future__ import annotations

import islpy as isl

from polybuild.transform.tiling.alignment import align_members


def band(domain: str, members: str, around: str = "") -> isl.ScheduleNode:
    inner = f'{{ schedule: "[{members}]", permutable: 1 }}'
    child = f'{{ schedule: "[{around}]", child: {inner} }}' if around else inner
    node = isl.Schedule(f'{{ domain: "{domain}", child: {child} }}').get_root().child(0)
    return node.child(0) if around else node


def values(node: isl.ScheduleNode) -> isl.Set:
    schedule = isl.UnionMap.from_multi_union_pw_aff(node.band_get_partial_schedule())
    return isl.Set.from_union_set(schedule.intersect_domain(node.get_domain()).range())


ROWS, COLUMNS = "{ S[i, j] -> [(i)] }", "{ S[i, j] -> [(j)] }"


def test_members_begin_at_a_multiple():
    node = band("[n] -> { S[i, j] : 1 <= i <= n and 16 <= j <= n }", f"{ROWS}, {COLUMNS}")
    moved = align_members(node, {0: 8, 1: 8})
    assert values(moved).is_equal(
        isl.Set("[n] -> { [i, j] : 0 <= i < n and 16 <= j <= n }").intersect_params(
            isl.Set("[n] -> { : n >= 16 }")
        )
    )
    assert moved.band_get_permutable()


def test_a_member_that_begins_at_zero_stays():
    node = band("[n] -> { S[i, j] : 0 <= i < n and 0 <= j < n }", f"{ROWS}, {COLUMNS}")
    assert align_members(node, {0: 8, 1: 8}).is_equal(node)


def test_a_member_that_begins_anywhere_stays():
    node = band("[n] -> { S[i, j] : 0 <= i < n and i < j < n }", COLUMNS, around=ROWS)
    assert align_members(node, {0: 8}).is_equal(node)
    blocks = band("[n] -> { S[i, j] : 0 <= i < n and 8i < j <= 8i + 8 }", COLUMNS, around=ROWS)
    assert not align_members(blocks, {0: 8}).is_equal(blocks)


def test_of_triangles_what_begins_with_a_row_stays():
    upper = band("[n] -> { S[i, j] : 0 <= i < j < n }", f"{ROWS}, {COLUMNS}")
    assert align_members(upper, {0: 8, 1: 8}).is_equal(upper)
    lower = band("[n] -> { S[i, j] : 1 <= j <= i <= n }", f"{ROWS}, {COLUMNS}")
    assert values(align_members(lower, {0: 8, 1: 8})).is_equal(isl.Set("[n] -> { [i, j] : 0 <= j <= i < n }"))
