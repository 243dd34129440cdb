"""Moves on bands, with trees before and after."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.poly.trees import is_band, member
from polybuild.transform.bands import coincident_members, permute, put_first, split_last, tile


def band(*members, coincident=(), permutable=1):
    """The band node of a tree over ``S[i, j, k]`` whose members are the given expressions."""
    schedule = ", ".join(f"{{ S[i, j, k] -> [({each})] }}" for each in members)
    flags = ", ".join(str(int(each in coincident)) for each in range(len(members)))
    return (
        isl.Schedule(
            '{ domain: "[n] -> { S[i, j, k] : 0 <= i, j, k < n }", child: '
            f'{{ schedule: "[{schedule}]", permutable: {permutable}, coincident: [{flags}] }} }}'
        )
        .get_root()
        .child(0)
    )


def members(node):
    """What a band computes, member by member, as maps of the instances."""
    domain = node.get_domain()
    return [
        isl.UnionMap.from_multi_union_pw_aff(member(node, each)).intersect_domain(domain)
        for each in range(node.band_n_member())
    ]


def are(node, *expected, coincident=(), permutable=True):
    """Whether a band has the ``expected`` members and flags."""
    domain = node.get_domain()
    wanted = [isl.UnionMap(f"{{ S[i, j, k] -> [{each}] }}").intersect_domain(domain) for each in expected]
    found = members(node)
    return (
        len(found) == len(wanted)
        and all(one.is_equal(other) for one, other in zip(found, wanted, strict=True))
        and coincident_members(node) == list(coincident)
        and bool(node.band_get_permutable()) is permutable
    )


def test_permute_the_example_of_its_description():
    node = permute(band("i", "j", "k", coincident=(0, 2)), (0, 2, 1))
    assert are(node, "i", "k", "j", coincident=(0, 1))


def test_permute_keeps_the_band_where_the_order_stays():
    node = band("i", "j", "k", coincident=(1,), permutable=0)
    assert are(permute(node, (0, 1, 2)), "i", "j", "k", coincident=(1,), permutable=False)


def test_permute_keeps_what_is_below():
    node = band("i", "j").child(0).insert_partial_schedule(isl.MultiUnionPwAff("[{ S[i, j, k] -> [(k)] }]"))
    node = permute(node.parent(), (1, 0))
    assert are(node, "j", "i")
    assert are(node.child(0), "k", permutable=False)


@pytest.mark.parametrize(("position", "expected"), [(0, "ijk"), (1, "jik"), (2, "kij")])
def test_put_first(position, expected):
    node = put_first(band("i", "j", "k", coincident=(position,)), position)
    assert are(node, *expected, coincident=(0,))


@pytest.mark.parametrize(("position", "above", "last"), [(0, "jk", "i"), (1, "ik", "j"), (2, "ij", "k")])
def test_split_last(position, above, last):
    node = split_last(band("i", "j", "k", coincident=(position,)), position)
    assert are(node, last, coincident=(0,))
    assert are(node.parent(), *above)


def test_split_last_of_a_lone_member_changes_nothing():
    node = band("i", coincident=(0,))
    assert split_last(node, 0).get_schedule().plain_is_equal(node.get_schedule())


def test_tile_the_example_of_its_description():
    node = tile(band("i", "j", coincident=(1,)), (32, 8))
    assert are(node, "floor(i/32)", "floor(j/8)", coincident=(1,))
    assert are(node.child(0), "i", "j", coincident=(1,))


def test_tile_of_a_skewed_band():
    node = tile(band("i", "i + j"), (4, 4))
    assert are(node, "floor(i/4)", "floor((i + j)/4)")
    assert are(node.child(0), "i", "i + j")


def test_tiles_count_from_zero_whatever_was_set_before():
    context = isl.DEFAULT_CONTEXT
    context.set_tile_scale_tile_loops(1)
    context.set_tile_shift_point_loops(1)
    node = tile(band("i"), (10,))
    assert are(node, "floor(i/10)")
    assert are(node.child(0), "i")


def test_is_band():
    node = band("i")
    assert is_band(node)
    assert not is_band(node.parent())
    assert not is_band(node.child(0))
    nothing = node.delete().insert_partial_schedule(
        isl.MultiUnionPwAff.zero(
            isl.Space.alloc(isl.DEFAULT_CONTEXT, 0, 0, 0).params().add_unnamed_tuple_ui(0)
        )
    )
    assert not is_band(nothing)
