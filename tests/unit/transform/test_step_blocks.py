"""Steps in blocks between statements that run after each few of them: the order stays as it was."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.poly.relations import maps_of
from polybuild.poly.trees import is_band, node_kind
from polybuild.schedule.legality import check_schedule
from polybuild.transform.step_blocks import in_step_blocks, with_peeled_steps

PARAMETERS = "int n, int steps, double a[restrict n], double b[restrict n], double s[restrict 9]"
INTO_B = "for (int i = 1; i < n - 1; i++) b[i] = a[i - 1];"
BACK = "for (int i = 1; i < n - 1; i++) a[i] = b[i];"
STEP = f"{INTO_B} {BACK}"
NORM = "for (int i = 0; i < n; i++) s[0] += a[i];"
STEPS = 17


def instances_in_order(schedule):
    """All instances in the order of ``schedule``, for a few steps on a small grid."""
    stamps = schedule.get_map().intersect_params(isl.Set(f"[n, steps] -> {{ : n = 5 and steps = {STEPS} }}"))
    found = []
    for each in maps_of(stamps.intersect_domain(schedule.get_domain())):
        points = []
        each.wrap().foreach_point(points.append)
        name, dims = each.get_tuple_name(isl.dim_type.in_), each.dim(isl.dim_type.in_)
        found += [(values[dims:], name, values[:dims]) for values in map(_coordinates, points)]
    return [(name, values) for _, name, values in sorted(found)]


def _coordinates(point):
    count = point.get_space().dim(isl.dim_type.set)
    return [point.get_coordinate_val(isl.dim_type.set, dim).to_python() for dim in range(count)]


@pytest.mark.parametrize(
    "body",
    [
        f"{STEP} if (t % 4 == 3) {NORM}",
        f"{STEP} if (t % 2 == 1) {NORM}",
        f"if (t % 3 == 0) {NORM} {STEP}",
        f"{STEP} if (t % 5 == 0) {{ s[1] = 0; {NORM} }}",
        f"if (t % 6 == 2) {NORM} {STEP}",
        f"{STEP} if (t % 4 == 3) {NORM} if (t % 8 == 7) s[2] += a[1];",
        f"{INTO_B} if (t % 4 == 0) {NORM} {BACK}",
        f"{INTO_B} if (t % 5 == 3) {{ s[1] = 0; {NORM} }} {BACK} if (t % 4 == 1) s[2] += a[1];",
    ],
)
def test_the_order_stays(model, body):
    found = model(f"for (int t = 0; t < steps; t++) {{ {body} }}", PARAMETERS)
    blocks = in_step_blocks(found.scop.schedule)
    assert blocks is not None
    outer = blocks.get_root().child(0)
    assert is_band(outer)
    assert node_kind(outer.child(0)) == isl.schedule_node_type.sequence
    check_schedule(blocks, found.dependences, found.scop.domain)
    assert instances_in_order(blocks) == instances_in_order(found.scop.schedule)


def test_each_interruption_has_blocks_of_its_own(model):
    body = f"{INTO_B} if (t % 5 == 0) {NORM} {BACK} if (t % 5 == 2) s[2] += a[1];"
    found = model(f"for (int t = 0; t < steps; t++) {{ {body} }}", PARAMETERS)
    outer = in_step_blocks(found.scop.schedule)
    blocks = in_step_blocks(outer)
    assert in_step_blocks(blocks) is None
    check_schedule(blocks, found.dependences, found.scop.domain)
    assert instances_in_order(blocks) == instances_in_order(found.scop.schedule)


@pytest.mark.parametrize(
    "body",
    [
        f"{STEP} {NORM}",
        f"{INTO_B} if (t % 2 == 0) {NORM}",
        f"{INTO_B} if (t % 3 == 0) {NORM}",
        f"{STEP} if (t < 5) {NORM}",
        f"if (t % 4 == 0) {{ {STEP} }} if (t % 4 == 0) {NORM}",
    ],
)
def test_other_loops_are_left_alone(model, body):
    found = model(f"for (int t = 0; t < steps; t++) {{ {body} }}", PARAMETERS)
    assert in_step_blocks(found.scop.schedule) is None


@pytest.mark.parametrize(
    "body",
    [
        f"{STEP} if (t == steps - 1) {NORM}",
        f"if (t == 0) {NORM} {STEP}",
        f"{INTO_B} if (t == steps - 1) {NORM} {BACK}",
        f"if (t % 4 == 0 && t + 4 >= steps) {NORM} {STEP}",
        f"{STEP} if (t % 3 == 2 && t + 3 >= steps) {NORM}",
        f"{INTO_B} if (t == n) {NORM} {BACK}",
    ],
)
def test_the_step_that_does_more_is_apart(model, body):
    found = model(f"for (int t = 0; t < steps; t++) {{ {body} }}", PARAMETERS)
    apart = with_peeled_steps(found.scop.schedule)
    assert apart is not None
    outer = apart.get_root().child(0)
    assert node_kind(outer) == isl.schedule_node_type.sequence
    check_schedule(apart, found.dependences, found.scop.domain)
    assert instances_in_order(apart) == instances_in_order(found.scop.schedule)


def test_all_steps_alike_stay_together(model):
    found = model(f"for (int t = 0; t < steps; t++) {{ {STEP} }}", PARAMETERS)
    assert with_peeled_steps(found.scop.schedule) is None


def test_loops_that_run_nothing_have_no_end(model):
    found = model(f"for (int t = 0; t < steps; t++) {{ {STEP} }}", PARAMETERS)
    nothing = isl.UnionSet.empty(found.scop.domain.get_space())
    assert with_peeled_steps(found.scop.schedule.intersect_domain(nothing)) is None
