"""Small-trip-count loops stay inside of all others, and are unrolled there."""

from __future__ import annotations

import islpy as isl
import pytest
from contexts import context_of

from polybuild.poly.marks import MarkKind
from polybuild.poly.trees import descendants, is_band, is_mark
from polybuild.schedule.legality import check_schedule
from polybuild.schedule.scheduler import Fusion, compute_schedule
from polybuild.targets.cpu.choice import choose_mapping
from polybuild.transform.full_unrolling import (
    has_conditional_copies,
    has_small_trip_counts,
    maximum_trips,
    outside_unrolled,
    unroll_small_trip_counts,
)

PARAMETERS = "int n, float a[restrict n][n], float b[restrict n][n], float w[restrict 9][9]"
WINDOW = "for (int i = 0; i < n - 9; i++) for (int j = 0; j < n - 9; j++)"
UPDATE = "a[i][j] += b[i + k][j + l] * w[k][l];"


def trees(found):
    before = compute_schedule(found.scop, found.dependences, Fusion.MIN)
    after = unroll_small_trip_counts(found.scop, before)
    check_schedule(after, found.dependences, found.scop.domain)
    return before, after


def bands(nodes):
    return [each for each in nodes if is_band(each)]


def test_the_window_is_inside_of_the_picture(model):
    found = model(f"{WINDOW} for (int k = 0; k < 5; k++) for (int l = 0; l < 5; l++) {UPDATE}", PARAMETERS)
    before, after = trees(found)
    assert bands(descendants(before.get_root()))[0].band_n_member() > 2
    (outer,) = bands(outside_unrolled(after.get_root()))
    assert outer.band_n_member() == 2
    assert [bool(outer.band_member_get_coincident(each)) for each in range(2)] == [True, True]
    (mark,) = (each for each in descendants(after.get_root()) if is_mark(each, MarkKind.UNROLLED))
    assert "unroll" in str(mark.child(0).band_get_ast_build_options())


@pytest.mark.parametrize(
    "body",
    [
        f"{WINDOW} for (int k = 0; k < 9; k++) for (int l = 0; l < 9; l++) {UPDATE}",
        "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) a[i][j] += b[j][i];",
        "for (int k = 0; k < 3; k++) for (int l = 0; l < 3; l++) w[k][l] = 0;",
    ],
    ids=["long", "parametric", "nothing else"],
)
def test_other_loops_are_left_alone(model, body):
    found = model(body, PARAMETERS)
    assert not has_small_trip_counts(found.scop)
    before, after = trees(found)
    assert after.get_root().is_equal(before.get_root())


def test_only_as_many_as_are_unrolled(model):
    loops = "for (int i = 0; i < n; i++) for (int k = 0; k < 6; k++) for (int l = 0; l < 6; l++)"
    _, after = trees(model(f"{loops} a[i][0] += b[k][l];", PARAMETERS))
    assert [each.band_n_member() for each in bands(outside_unrolled(after.get_root()))] == [2]


def test_what_is_computed_over_a_window_is_stored_at_once(model):
    body = f"{WINDOW} {{ a[i][j] = 0; for (int k = 0; k < 5; k++) for (int l = 0; l < 5; l++) {UPDATE} }}"
    found = model(body, PARAMETERS)
    mapping = choose_mapping(found.scop, found.dependences, context_of())
    assert (mapping.parallel_loops, mapping.simd_loops, mapping.tile_sizes) == (1, 1, ())
    (vector,) = mapping.vector_loops()
    assert vector.get_domain().is_equal(found.scop.domain)


@pytest.mark.parametrize(
    ("place", "conditional"), [("[i][j] += b[i + k][j + l]", False), ("[i + k][j + l] += b[i][j]", True)]
)
def test_copies_of_a_scattered_window_run_under_conditions(model, place, conditional):
    found = model(
        f"{WINDOW} for (int k = 0; k < 3; k++) for (int l = 0; l < 3; l++) a{place} * w[k][l];", PARAMETERS
    )
    _, after = trees(found)
    loops = bands(outside_unrolled(after.get_root()))
    assert any(has_conditional_copies(each) for each in loops) is conditional


def test_loops_of_statements_that_do_not_run_have_no_trips(model):
    found = model("for (int k = 0; k < 9; k++) for (int l = 0; l < 9; l++) w[k][l] = 0;", PARAMETERS)
    schedule = compute_schedule(found.scop, found.dependences, Fusion.MIN)
    nowhere = schedule.intersect_domain(isl.UnionSet.empty(schedule.get_domain().get_space()))
    trips = [maximum_trips(each.get_root().child(0), 0) for each in (nowhere, schedule)]
    assert [int(each.to_python()) for each in trips] == [0, 9]
