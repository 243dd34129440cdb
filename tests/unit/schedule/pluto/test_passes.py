"""The passes of our scheduler, one by one."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.components import components
from polybuild.schedule.pluto.farkas import nonnegative_forms
from polybuild.schedule.pluto.hyperplane import find_hyperplane
from polybuild.schedule.pluto.independence import orthogonal_basis, rank
from polybuild.schedule.pluto.model import Edge, EdgeKind, Node, Row
from polybuild.schedule.pluto.satisfaction import is_carried, left_by

DOMAIN = isl.Set("[n] -> { S[i, j] : 0 <= i, j < n }")
NODE = Node("S", DOMAIN, (1, 1))


def edge(relation, kind=EdgeKind.ORDER):
    relation = isl.Map(relation)
    return Edge("S", "S", relation, kind, nonnegative_forms(relation))


DOWN = edge("[n] -> { S[i, j] -> S[i + 1, j - 1] : 0 <= i < n - 1 and 1 <= j < n }")
RIGHT = edge("[n] -> { S[i, j] -> S[i, j + 1] : 0 <= i < n and 0 <= j < n - 1 }")


@pytest.mark.parametrize(
    ("form", "holds"),
    [
        ("c0 = 0 and cn = 0 and ci = 1 and co = 0", True),  # i >= 0
        ("c0 = -1 and cn = 1 and ci = -1 and co = 0", True),  # n - 1 - i >= 0
        ("c0 = 0 and cn = 0 and ci = -1 and co = 1", True),  # o - i >= 0, as o = i + 1
        ("c0 = -2 and cn = 0 and ci = -1 and co = 1", False),  # o - i >= 2
        ("c0 = 5 and cn = 0 and ci = -1 and co = 0", False),  # i <= 5
    ],
)
def test_forms_that_are_nonnegative(form, holds):
    forms = nonnegative_forms(isl.Map("[n] -> { S[i] -> T[o] : o = i + 1 and 0 <= i < n }"))
    assert forms.intersect(isl.BasicSet(f"{{ [c0, cn, ci, co] : {form} }}")).is_empty() != holds


def test_forms_hold_on_all_pieces():
    both = isl.Map("{ S[i] -> S[i + 1]; S[i] -> S[i + 3] }")
    forms = nonnegative_forms(both)
    assert not forms.intersect(isl.BasicSet("{ [c, s, t] : c = -1 and s = -1 and t = 1 }")).is_empty()
    assert forms.intersect(isl.BasicSet("{ [c, s, t] : c = -2 and s = -1 and t = 1 }")).is_empty()


def test_a_basis_of_what_is_orthogonal():
    assert orthogonal_basis((), 2) == [(1, 0), (0, 1)]
    assert orthogonal_basis([Row((1, 0, 0), 7)], 3) == [(0, 1, 0), (0, 0, 1)]
    assert orthogonal_basis([Row((1, 1), 0)], 2) == [(1, -1)]
    assert orthogonal_basis([Row((1, 0), 0), Row((1, 1), 0)], 2) == []


def test_rank_counts_independent_rows():
    assert rank(()) == 0
    assert rank([Row((1, 1), 0), Row((2, 2), 1)]) == 1
    assert rank([Row((1, 1), 0), Row((0, 1), 0)]) == 2


def test_the_first_hyperplane_is_the_outermost_that_costs_least():
    free = find_hyperplane([NODE], [], {"S": ()}, 1)
    assert free.coincident
    assert free.hyperplane["S"].coefficients == (1, 0)
    along = find_hyperplane([NODE], [DOWN, RIGHT], {"S": ()}, 1)
    assert along.hyperplane["S"].coefficients == (1, 0)
    assert along.distance == (0, 1)


def test_the_second_hyperplane_is_skewed_as_far_as_needed():
    found = {"S": (Row((1, 0), 0),)}
    assert find_hyperplane([NODE], [DOWN, RIGHT], found, 1).hyperplane["S"].coefficients == (1, 1)


def test_negative_coefficients_where_there_is_no_other_way():
    up = edge("[n] -> { S[i, j] -> S[i, j'] : 0 <= i < n and 0 <= j' < j < n }")
    found = {"S": (Row((1, 0), 0),)}
    assert find_hyperplane([NODE], [up], found, 1).hyperplane["S"].coefficients == (0, -1)


def test_nothing_where_nothing_is_legal():
    both = [
        edge("[n] -> { S[i, j] -> S[i, j'] : 0 <= i < n and 0 <= j' < j < n }"),
        edge("[n] -> { S[i, j] -> S[i, j'] : 0 <= i < n and 0 <= j < j' < n }"),
    ]
    assert find_hyperplane([NODE], both, {"S": (Row((1, 0), 0),)}, 1) is None


def test_reads_are_brought_together_but_not_ordered():
    reads = edge("[n] -> { S[i, j] -> S[i', j] : 0 <= i < i' < n and 0 <= j < n }", EdgeKind.INPUT)
    near = find_hyperplane([NODE], [reads], {"S": ()}, 1)
    assert near.hyperplane["S"].coefficients == (0, 1)
    assert near.reuse == (0, 0)


def test_local_values_do_not_move():
    local = edge("[n] -> { S[i, j] -> S[i + 1, j] : 0 <= i < n - 1 and 0 <= j < n }", EdgeKind.LOCAL)
    assert find_hyperplane([NODE], [local], {"S": ()}, 1).hyperplane["S"].coefficients == (0, 1)


def test_what_a_hyperplane_carries_and_leaves():
    outer = {"S": Row((1, 0), 0)}
    nodes = {"S": NODE}
    assert is_carried(DOWN, outer, nodes)
    assert left_by(DOWN, [outer], nodes) is None
    assert not is_carried(RIGHT, outer, nodes)
    assert left_by(RIGHT, [outer], nodes) is RIGHT
    inner = {"S": Row((1, 1), 0)}
    assert not is_carried(DOWN, inner, nodes)
    assert is_carried(RIGHT, inner, nodes)


def test_components_keep_the_textual_order_where_they_may():
    assert components("abc", []) == [("a",), ("b",), ("c",)]
    assert components("abc", [("c", "a")]) == [("b",), ("c",), ("a",)]
    assert components("abcd", [("a", "b"), ("b", "a"), ("d", "c")]) == [("a", "b"), ("d",), ("c",)]
