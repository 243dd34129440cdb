"""Statements at one place, put back inside of the loops of tiles: which, where, and in what order."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.codegen.c.grafted_points import graft_points
from polybuild.poly.trees import descendants, node_kind

CONTEXT = isl.Set("[n, steps, x] -> { : 0 < x < n - 1 }")
STEPS = "0 <= t < steps"
GRID = f"{STEPS} and 0 < i < n - 1"
DOMAIN = f"N[t, i] : {GRID}; M[t, i] : {GRID}; P[t] : {STEPS}; Q[t] : {STEPS}"
TILES = "N[t, i] -> [floor((2t + i)/8)]; M[t, i] -> [floor((2t + i)/8)]; {points}"
POINTS = "N[t, i] -> [i]; M[t, i] -> [i]; {points}"


def tree(order, place="x", mark="tile-points"):
    """Tiles in which the statements of ``order`` run in each row; ``P`` and ``Q`` are at ``place``."""
    at = "; ".join(f"{name}[t] -> [floor((2t + {place})/8)]" for name in "PQ")
    rows = "; ".join(f"{name}[t] -> [{place}]" for name in "PQ")
    head = "[n, steps, x] -> "
    filters = ", ".join(f'{{ filter: "{head}{{ {each} }}" }}' for each in map(INSTANCES.get, order))
    # nests have loops of their own
    for name in "NM":
        band = f'child: {{ schedule: "{head}[{{ {name}[t, i] -> [i] }}]" }}'
        filters = filters.replace(f'{{ {name}[t, i] }}" }}', f'{{ {name}[t, i] }}", {band} }}')
    domain = "; ".join(each for each in DOMAIN.split("; ") if each[0] in order)

    def only(text):
        return "; ".join(each for each in text.split("; ") if each[0] in order)

    time = only("N[t, i] -> [t]; M[t, i] -> [t]; P[t] -> [t]; Q[t] -> [t]")
    tiles = only(TILES.format(points=at))
    return isl.Schedule(
        f'{{ domain: "{head}{{ {domain} }}", child: {{ schedule: "{head}[{{ {tiles} }}]",'
        f' child: {{ mark: "{mark}", child: {{ schedule: "{head}[{{ {time} }}, {{ '
        f'{only(POINTS.format(points=rows))} }}]", child: {{ sequence: [{filters}] }} }} }} }} }}'
    )


INSTANCES = {"N": "N[t, i]", "M": "M[t, i]", "P": "P[t]", "Q": "Q[t]"}


def calls(schedule):
    """The statements in the order in which isl's code for ``schedule`` runs them."""
    names = []

    def at_domain(node, _build):
        names.append(node.user_get_expr().op_get_arg(0).id_get_id().get_name())
        return node

    build, handle = isl.AstBuild.from_context(CONTEXT).set_at_each_domain(at_domain)
    build.node_from_schedule(schedule)
    del handle
    return names


def grafted(schedule):
    """The statements that extensions bring in."""
    found = (each for each in descendants(schedule.get_root()) if is_extension(each))
    return sorted(
        each.get_tuple_name() for node in found for each in sets(node.extension_get_extension().range())
    )


def is_extension(node):
    return node_kind(node) == isl.schedule_node_type.extension


def sets(union):
    found = union.get_set_list()
    return [found.get_at(index) for index in range(found.n_set())]


@pytest.mark.parametrize("order", ["NP", "PN", "NPQM", "NPMQ", "PQN"])
def test_points_leave_the_loops(order):
    after = graft_points(tree(order), CONTEXT)
    assert grafted(after) == [each for each in "PQ" if each in order]
    assert calls(after) == list(order)


def test_what_may_be_beside_the_grid_stays():
    before = tree("NPM", place="x - 1")  # not always in a row of the nest
    assert graft_points(before, CONTEXT).plain_is_equal(before)


def test_only_tiles_are_looked_at():
    before = tree("NPM", mark="tile-strips")
    assert graft_points(before, CONTEXT).plain_is_equal(before)
