"""Ranks run what they need of others in a tile of steps, and no tile is made where that is not known."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.schedule.original import original_bands
from polybuild.targets.ranks.messages import value_flow
from polybuild.targets.ranks.model import END, FIRST
from polybuild.targets.ranks.phases import mark_phases, phases_of
from polybuild.targets.ranks.step_tiles import tile_time

ROWS = "int n, int steps, double a[restrict n], double b[restrict n]"


def tiles(found, steps):
    marked = mark_phases(original_bands(found.scop, found.dependences))
    return tile_time(marked, phases_of(marked), value_flow(found.scop, found.dependences).pairs, steps)


def widths(made):
    return [(each.below, each.above, *each.growths) for each in made.halos]


FORTH = "for (int i = 2; i < n - 1; i++) b[i] = {};"
BACK = " for (int i = 2; i < n - 1; i++) a[i] = {};"


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("a[i - 1] + a[i + 1]", "b[i - 1] + b[i + 1]", [(1, 1, 2, 2), (0, 0, 2, 2)]),
        ("a[i - 1] + a[i + 1]", "0.5 * b[i]", [(0, 0, 1, 1), (0, 0, 1, 1)]),
        ("a[i - 2] + a[i]", "0.5 * b[i]", [(0, 0, 2, 0), (0, 0, 2, 0)]),
    ],
)
def test_halos_are_as_wide_as_values_travel(model, first, second, expected):
    body = FORTH.format(first) + BACK.format(second)
    made = tiles(model(f"for (int t = 0; t < steps; t++) {{ {body} }}", ROWS), 3)
    assert widths(made) == expected


def test_a_rank_has_all_that_it_reads_in_a_tile(model):
    """Counted: three steps, a block of ten values and two phases with a radius of one."""
    found = model(
        "for (int t = 0; t < steps; t++) {"
        "  for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1];"
        "  for (int i = 1; i < n - 1; i++) a[i] = b[i - 1] + b[i + 1]; }",
        ROWS,
    )
    made = tiles(found, 3)
    run = made.run_by(FIRST, END)
    for name, value in {FIRST: 20, END: 30, "n": 100, "steps": 9}.items():
        run = run.intersect_params(isl.Set(f"[{name}] -> {{ : {name} = {value} }}"))
    counts = {}
    run.foreach_set(
        lambda each: each.foreach_point(lambda at: counts.update({step(at): counts.get(step(at), 0) + 1}))
    )
    assert counts == {(t, p): 10 + 2 * (2 * (2 - t % 3) + 1 - p) for t in range(9) for p in range(2)}
    beyond = sum(counts.values()) // 3 - 3 * 2 * 10
    point = isl.Set("[n, steps] -> { : n = 100 and steps = 9 }")
    assert made.instances_beyond(point) == beyond == 30


def step(point):
    """Which step and phase an instance is of."""
    name = point.to_set().get_tuple_name()
    return point.get_coordinate_val(isl.dim_type.set, 0).to_python(), int(name[1:])


@pytest.mark.parametrize(
    "body",
    [
        "b[0] = a[n - 1]; for (int i = 1; i < n; i++) b[i] = a[i]; for (int i = 1; i < n; i++) a[i] = b[i];",
        "for (int i = 0; i < n; i++) b[i] = a[i]; for (int i = 0; i < n; i++) a[i] = b[n - 1 - i];",
    ],
)
def test_what_all_run_or_what_travels_anywhere_has_no_tiles(model, body):
    assert tiles(model(f"for (int t = 0; t < steps; t++) {{ {body} }}", ROWS), 2) is None


def test_phases_before_the_loop_over_time_have_no_tiles(model):
    found = model(
        "for (int i = 0; i < n; i++) a[i] = i;"
        "for (int t = 0; t < steps; t++) {"
        "  for (int i = 1; i < n; i++) b[i] = a[i - 1];"
        "  for (int i = 1; i < n; i++) a[i] = b[i]; }",
        ROWS,
    )
    assert tiles(found, 2) is None
