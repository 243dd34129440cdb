"""Statements that are one while isl makes their loops: which, and what comes of them."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.codegen.c.grouped_statements import group_statements, members_of_groups, without_groups
from polybuild.poly.budget import operation_budget
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
        ("ACBDE", "", ["A", "B", "C", "DE"]),
        ("CAEBD", "", []),
        ("ABCDE", "D", ["AB", "C", "E"]),
        ("CDE", "", ["CDE"]),
        ("A", "", []),
    ],
)
def test_neighbours_with_one_place_are_a_group_and_the_loops_stay(order, loops, groups):
    schedule = tree(order, loops)

    grouped = group_statements(schedule)

    assert groups_of(grouped) == groups
    assert text_of(grouped) == text_of(schedule)


def wavefront(*, pair):
    """Rows of a table in tiles along a wavefront: the first element of a row is set, then the others.

    Of these there are a ``pair`` of statements, or one.
    """
    others = ("B", "C") if pair else ("B",)
    names = {"A": "A[i]", **{each: f"{each}[i, j]" for each in others}}
    column = {"A": "2i", **dict.fromkeys(others, "2i + j")}
    domain = "; ".join(
        f"{names[each]} : 0 < i and 2i <= n" + (" and 0 < j <= m" if each in others else "") for each in names
    )

    def loop(text):
        return "{ " + "; ".join(f"{names[x]} -> [{text.format(x=column[x])}]" for x in names) + " }"

    parts = ", ".join(f'{{ filter: "{{ {each} }}" }}' for each in names.values())
    return isl.Schedule(
        f'{{ domain: "[n, m] -> {{ {domain} }}", child: {{'
        f' schedule: "[{loop("floor(i/128) + floor(({x})/128)")}]", child: {{'
        f' schedule: "[{loop("floor(({x})/128)")}]", child: {{'
        f' schedule: "[{loop("i")}, {loop("{x}")}]", child: {{ sequence: [{parts}] }} }} }} }} }}'
    )


def test_what_stands_beside_a_group_in_tiles_is_one_too_so_that_isl_finds_loops_in_no_time():
    schedule = wavefront(pair=True)

    grouped = group_statements(schedule)

    assert groups_of(grouped) == ["A", "BC"]
    members = members_of_groups(grouped)
    assert members is not None
    assert members.domain().is_equal(schedule.get_domain())
    with operation_budget(400_000):  # an eighth of the time that it takes without
        text = text_of(grouped)
    assert "for (int c0 = 0;" in text
    assert "c0 = -1" not in text


def test_where_nothing_is_a_group_all_stay_as_they_are():
    schedule = wavefront(pair=False)

    assert groups_of(group_statements(schedule)) == []


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
