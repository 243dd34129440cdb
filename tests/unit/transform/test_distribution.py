"""Statements of one loop in loops of their own."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.poly.relations import sets_of
from polybuild.poly.trees import children
from polybuild.schedule.legality import IllegalSchedule, check_schedule
from polybuild.transform.distribution import dependence_groups, distribute

ARRAYS = ", ".join(["int n", *(f"double *restrict {each}" for each in "ABCDE")])

# what: (body of a loop over j, groups of statements in their order)
CASES = {
    "the example of its description": ("B[j] = A[j]; C[j] = B[j + 1];", [["S1"], ["S0"]]),
    "definition, then use": ("B[j] = A[j]; C[j] = B[j];", [["S0"], ["S1"]]),
    "a use of the previous iteration": ("C[j] = B[j]; B[j + 1] = A[j];", [["S1"], ["S0"]]),
    "free": ("B[j] = A[j]; C[j] = A[j]; D[j] = A[j];", [["S0"], ["S1"], ["S2"]]),
    "each needs the other": ("B[j + 1] = A[j]; A[j + 1] = B[j];", [["S0", "S1"]]),
    "a circle and what overwrites its input": (
        "B[j + 1] = A[j] + C[j]; A[j + 1] = B[j]; C[j] = D[j];",
        [["S0", "S1"], ["S2"]],
    ),
    "a circle and what it feeds": (
        "B[j + 1] = A[j]; A[j + 1] = B[j]; D[j] = A[j] + B[j];",
        [["S0", "S1"], ["S2"]],
    ),
}


def groups_of(found):
    return dependence_groups(found.scop.domain, found.dependences.validity)


@pytest.fixture
def loop(model):
    return lambda body: model(f"for (int j = 0; j < n; j++) {{ {body} }}", ARRAYS)


@pytest.mark.parametrize("what", CASES)
def test_groups(what, loop):
    body, expected = CASES[what]
    found = groups_of(loop(body))
    assert [[each.get_tuple_name() for each in sets_of(group)] for group in found] == expected


@pytest.mark.parametrize("what", CASES)
def test_distribution_is_legal_and_the_other_order_is_not(what, loop):
    found = loop(CASES[what][0])
    groups = groups_of(found)
    band = found.scop.schedule.get_root().child(0)
    node = distribute(band, groups)
    assert len(children(node)) == len(groups)
    check_schedule(node.get_schedule(), found.dependences, found.scop.domain)
    if len(groups) > 1 and not found.dependences.validity.is_empty():
        with pytest.raises(IllegalSchedule):
            check_schedule(
                distribute(band, groups[::-1]).get_schedule(), found.dependences, found.scop.domain
            )


def test_names_are_ordered_by_their_numbers(loop):
    found = loop(" ".join(f"B[{k} * n + j] = A[j];" for k in range(12)))
    names = [each.get_tuple_name() for group in groups_of(found) for each in sets_of(group)]
    assert names == [f"S{k}" for k in range(12)]


def test_all_instances_are_there_once(loop):
    found = loop(CASES["a circle and what it feeds"][0])
    union = isl.UnionSet.empty(found.scop.domain.get_space())
    for group in groups_of(found):
        assert union.intersect(group).is_empty()
        union = union.union(group)
    assert union.is_equal(found.scop.domain)
