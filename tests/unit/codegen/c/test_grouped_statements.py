"""Statements that are one while isl makes their loops: which, and what comes of them."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.codegen.c.grouped_statements import group_statements, members_of_groups, without_groups
from polybuild.poly.relations import sets_of
from polybuild.poly.trees import descendants, node_kind

PLACES = "0 <= i < n and 0 <= j < m"
SHIFTED = {"A": 0, "B": 0, "C": 1, "D": 1, "E": 1}


def tree(order, loops=""):
    """A nest of tiles with statements in ``order``, of which those in ``SHIFTED`` run an iteration later.

    The one of ``loops`` has a loop of its own.
    """
    names = sorted(order)
    domain = "; ".join(f"{each}[i, j] : {PLACES}" for each in names)
    tiles = "; ".join(f"{each}[i, j] -> [floor((i + {SHIFTED[each]})/8)]" for each in names)
    rows = "; ".join(f"{each}[i, j] -> [i + {SHIFTED[each]}]" for each in names)
    columns = "; ".join(f"{each}[i, j] -> [j]" for each in names)

    def part(name):
        below = f', child: {{ schedule: "[{{ {name}[i, j] -> [2j] }}]" }}' if name in loops else ""
        return f'{{ filter: "{{ {name}[i, j] }}"{below} }}'

    parts = ", ".join(map(part, order))
    return isl.Schedule(
        f'{{ domain: "[n, m] -> {{ {domain} }}", child: {{ schedule: "[{{ {tiles} }}]",'
        f' child: {{ schedule: "[{{ {rows} }}, {{ {columns} }}]", child: {{ sequence: [{parts}] }} }} }} }}'
    )


def groups_of(schedule):
    """The names of the statements of each group."""
    found = []
    for node in descendants(schedule.get_root()):
        if node_kind(node) == isl.schedule_node_type.expansion:
            members = sets_of(node.expansion_get_expansion().range())
            found.append("".join(each.get_tuple_name() for each in members))
    return sorted(found)


def text_of(schedule):
    context = isl.Set("[n, m] -> { : }")
    return isl.AstBuild.from_context(context).node_from_schedule(schedule).to_C_str()


@pytest.mark.parametrize(
    ("order", "loops", "groups"),
    [
        ("AB", "", ["AB"]),
        ("ABCD", "", ["AB", "CD"]),
        ("ACBDE", "", ["DE"]),
        ("CAEBD", "", []),
        ("ABCDE", "D", ["AB"]),
        ("CDE", "", ["CDE"]),
        ("A", "", []),
    ],
)
def test_neighbours_with_one_place_are_a_group_and_the_loops_stay(order, loops, groups):
    schedule = tree(order, loops)

    grouped = group_statements(schedule)

    assert groups_of(grouped) == groups
    assert text_of(grouped) == text_of(schedule)


def test_loops_are_those_of_the_statements():
    schedule = tree("ABC")
    grouped = group_statements(schedule)
    members = members_of_groups(grouped)

    def when(root):
        nodes = descendants(root.get_root())
        sequence = next(each for each in nodes if node_kind(each) == isl.schedule_node_type.sequence)
        return sequence.get_prefix_schedule_relation()

    assert not when(grouped).is_equal(when(schedule))
    assert without_groups(when(grouped), members).is_equal(when(schedule))
    assert members_of_groups(schedule) is None
    assert without_groups(when(schedule), None).is_equal(when(schedule))
