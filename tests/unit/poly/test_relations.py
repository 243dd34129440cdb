"""What isl's own functions do not do for us."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.poly.relations import coalesced_union, largest, maps_of, span


@pytest.mark.parametrize(
    "union",
    [
        "[n] -> { S2[i] -> a[i]; S10[i] -> a[i]; S1[i, j] -> b[]; S1[i, j] -> a[j]; S1[i, j] -> B[j] }",
        "{ S2[i] -> [i]; S10[i] -> [i, 0]; S1[i] -> [i] }",  # no names at one end
        "{ [S2[i] -> a[i]] -> S1[i]; [S1[i] -> a[i]] -> S2[i]; [S1[i] -> b[i]] -> S1[i]; S1[i] -> S1[j] }",
        "{ S[i] -> a[i]; S[i, j] -> a[j]; S[] -> a[i] }",  # names that do not tell them apart
    ],
)
def test_maps_are_in_the_order_of_what_isl_prints_of_their_spaces(union):
    printed = [str(each.get_space()) for each in maps_of(isl.UnionMap(union))]

    assert printed == sorted(printed)
    assert len(printed) == union.count(";") + 1


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("[n] -> { [(2 + n)/3] : n = 7 }", 3),
        ("[n] -> { [(2 + n)/3] : (2 + n) mod 3 = 0 and n <= 20 }", 7),
        ("[n] -> { [floor(n/3)] : n <= 8 }", 2),
    ],
)
def test_the_largest_value_of_fractions(value, expected):
    assert largest(isl.PwAff(value)).to_python() == expected


def test_the_largest_value_where_there_is_none():
    assert not largest(isl.PwAff("[n] -> { [(2 + n)/3] : n >= 1 }")).is_int()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ("{ S[i] -> [(i)] : 3 <= i < 10 }", 7),
        ("{ S[i] -> [((2 + i)/3)] : i mod 3 = 1 and 1 <= i <= 20; T[i] -> [(i)] : i = 9 }", 9),
        ("[n] -> { S[i] -> [(i)] : 0 <= i < n }", None),
    ],
)
def test_how_far_values_reach(values, expected):
    assert span(isl.UnionPwAff(values)) == expected


def test_unions_of_neighbours_are_one_piece():
    columns = [isl.Map(f"{{ S[i] -> a[i, {column}] : 0 <= i < 9 }}") for column in range(500)]
    assert coalesced_union(columns, 8).n_basic_map() == 1
    assert coalesced_union(columns, 8).is_equal(isl.Map("{ S[i] -> a[i, j] : 0 <= i < 9 and 0 <= j < 500 }"))


def test_unions_that_stay_in_many_pieces_are_only_unions():
    apart = [isl.Map(f"{{ S[i] -> a[{column * column}] : 0 <= i < 9 }}") for column in range(3, 40)]
    union = coalesced_union(apart, 8)
    assert union.n_basic_map() == 37
    assert all(each.is_subset(union) for each in apart)
