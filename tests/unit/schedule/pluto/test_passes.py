"""The passes of our scheduler, one by one."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.poly.components import components
from polybuild.schedule.large_constants import LargeConstants
from polybuild.schedule.pluto import program
from polybuild.schedule.pluto.farkas import nonnegative_forms
from polybuild.schedule.pluto.hyperplane import find_hyperplane as find
from polybuild.schedule.pluto.independence import orthogonal_basis, rank
from polybuild.schedule.pluto.model import Edge, EdgeKind, Row, StatementNode
from polybuild.schedule.pluto.program import Constraint, Effort, TooLarge, Unsettled, smallest
from polybuild.schedule.pluto.satisfaction import is_carried, left_by

DOMAIN = isl.Set("[n] -> { S[i, j] : 0 <= i, j < n }")
ENOUGH = 10_000
NODE = StatementNode("S", DOMAIN, (1, 1))


def find_hyperplane(nodes, edges, found):
    return find(nodes, edges, found, 1, Effort(ENOUGH))


def edge(relation, kind=EdgeKind.ORDER):
    relation = isl.Map(relation)
    return Edge("S", "S", relation, kind, nonnegative_forms(relation))


DOWN = edge("[n] -> { S[i, j] -> S[i + 1, j - 1] : 0 <= i < n - 1 and 1 <= j < n }")
RIGHT = edge("[n] -> { S[i, j] -> S[i, j + 1] : 0 <= i < n and 0 <= j < n - 1 }")


@pytest.mark.parametrize(
    ("form", "holds"),
    [
        ((0, 0, 1, 0), True),  # i >= 0
        ((-1, 1, -1, 0), True),  # n - 1 - i >= 0
        ((0, 0, -1, 1), True),  # o - i >= 0, as o = i + 1
        ((-2, 0, -1, 1), False),  # o - i >= 2
        ((5, 0, -1, 0), False),  # i <= 5
    ],
)
def test_forms_that_are_nonnegative(form, holds):
    forms = nonnegative_forms(isl.Map("[n] -> { S[i] -> T[o] : o = i + 1 and 0 <= i < n }"))
    assert (form in forms) == holds


def test_forms_hold_on_all_pieces():
    both = isl.Map("{ S[i] -> S[i + 1]; S[i] -> S[i + 3] }")
    forms = nonnegative_forms(both)
    assert (-1, -1, 1) in forms
    assert (-2, -1, 1) not in forms


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
    free = find_hyperplane([NODE], [], {"S": ()})
    assert free.coincident
    assert free.hyperplane["S"].coefficients == (1, 0)
    along = find_hyperplane([NODE], [DOWN, RIGHT], {"S": ()})
    assert along.hyperplane["S"].coefficients == (1, 0)
    assert along.distance == (0, 1)


def test_the_second_hyperplane_is_skewed_as_far_as_needed():
    found = {"S": (Row((1, 0), 0),)}
    assert find_hyperplane([NODE], [DOWN, RIGHT], found).hyperplane["S"].coefficients == (1, 1)


def test_negative_coefficients_where_there_is_no_other_way():
    up = edge("[n] -> { S[i, j] -> S[i, j'] : 0 <= i < n and 0 <= j' < j < n }")
    found = {"S": (Row((1, 0), 0),)}
    assert find_hyperplane([NODE], [up], found).hyperplane["S"].coefficients == (0, -1)


def test_nothing_where_nothing_is_legal():
    both = [
        edge("[n] -> { S[i, j] -> S[i, j'] : 0 <= i < n and 0 <= j' < j < n }"),
        edge("[n] -> { S[i, j] -> S[i, j'] : 0 <= i < n and 0 <= j < j' < n }"),
    ]
    assert find_hyperplane([NODE], both, {"S": (Row((1, 0), 0),)}) is None


def test_a_program_beyond_the_effort_is_not_begun():
    with pytest.raises(TooLarge):
        find([NODE], [DOWN, RIGHT], {"S": ()}, 1, Effort(50))


def test_a_program_that_takes_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr(program, "PROGRAM_OPERATIONS", 1)
    monkeypatch.setattr(program, "CONSTRAINT_OPERATIONS", 0)
    with pytest.raises(Unsettled):
        smallest(2, [Constraint(((0, 2), (1, -3)), -1), Constraint(((0, -2), (1, 5)), -1)])
    assert find([NODE], [DOWN, RIGHT], {"S": ()}, 1, Effort(100 * ENOUGH)) is None
    with pytest.raises(TooLarge):  # it costs more than one that is settled
        find_hyperplane([NODE], [DOWN, RIGHT], {"S": ()})
    monkeypatch.undo()
    assert find_hyperplane([NODE], [DOWN, RIGHT], {"S": ()}) is not None


def test_the_smallest_point_comes_first_in_the_order_of_the_variables():
    both = [Constraint(((0, 1), (1, 1)), -3), Constraint(((0, 2), (2, -1)), constant=-1, equality=True)]
    assert smallest(3, both) == [1, 2, 1]
    assert smallest(3, both, zeros=[2]) is None
    assert smallest(3, [Constraint(((0, 2), (1, -2)), -1)]) == [1, 0, 0]


def test_large_numbers_become_sizes():
    relations = [
        isl.Map("[n] -> { S[i] -> S[i + 3] : 0 <= i <= 997 and n <= 1200 }"),
        isl.Map("[n] -> { S[i] -> T[o] : i < o < 1000 and 0 <= i and o < 40 + n }"),
    ]
    sizes = LargeConstants.of(relations)
    assert sizes.smallest == (39, 997)  # constants of constraints: 39 + n - o and 999 - o
    small, large = sizes.names
    first, second = map(sizes.abstract, relations)
    space, conditions = f"[n, {small}, {large}]", f"{small} >= 2 and {large} >= 2"
    assert first.is_equal(isl.Map(f"{space} -> {{ S[i] -> S[i + 3] : 0 <= i <= {large} and {conditions} }}"))
    related = f"0 <= i < o <= {large} + 2 and o <= {small} + n"
    assert second.is_equal(isl.Map(f"{space} -> {{ S[i] -> T[o] : {related} and {conditions} }}"))


def test_reads_are_brought_together_but_not_ordered():
    reads = edge("[n] -> { S[i, j] -> S[i', j] : 0 <= i < i' < n and 0 <= j < n }", EdgeKind.INPUT)
    near = find_hyperplane([NODE], [reads], {"S": ()})
    assert near.hyperplane["S"].coefficients == (0, 1)
    assert near.reuse == (0, 0)


def test_local_values_do_not_move():
    local = edge("[n] -> { S[i, j] -> S[i + 1, j] : 0 <= i < n - 1 and 0 <= j < n }", EdgeKind.LOCAL)
    assert find_hyperplane([NODE], [local], {"S": ()}).hyperplane["S"].coefficients == (0, 1)


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
