"""Dependences where the exact ones take too long: more of them, and only for the arrays that need it."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.analysis.bounded import (
    arrays_of_many_cases,
    bounded_dependences,
    overapproximate_dependences,
)
from polybuild.analysis.dependences import compute_dependences as compute
from polybuild.poly.relations import maps_of
from polybuild.schedule.legality import check_schedule

BODIES = {
    "stencil": "for (int t = 0; t < n; t++) for (int i = 1; i < 30; i++) A[i] = A[i - 1] + A[i + 1];",
    "triangle": "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) A[i] -= A[j] * B[i + j];",
    "strides": "for (int i = 0; i < n; i += 2) { A[3 * i] = B[i]; if (i % 3 == 1) B[i / 2] = A[n - i]; }",
    "apart": "for (int i = 0; i < n; i++) A[i] = 0; for (int i = 9; i >= 0; i--) B[i] = A[i] + A[9 - i];",
    "scalar": "for (int i = 0; i < n; i++) { double x = A[i];"
    " for (int j = 0; j < n; j++) x += B[j];\n A[i] = x; }",
}
PARAMETERS = "int n, double A[restrict 90], double B[restrict 90]"


@pytest.mark.parametrize("name", BODIES)
def test_the_overapproximation_has_the_exact_ones_and_the_original_order_respects_it(name, model):
    found = model(BODIES[name], PARAMETERS)
    approximated = overapproximate_dependences(found.scop)
    exact = found.dependences
    assert exact.flow.is_subset(approximated.flow)
    assert exact.false.is_subset(approximated.false)
    assert exact.live_in.is_subset(approximated.live_in)
    check_schedule(found.scop.schedule, approximated, found.scop.domain)


@pytest.mark.parametrize("name", [each for each in BODIES if each != "stencil"])
def test_array_by_array_they_are_the_same(name, model, monkeypatch):
    found = model(BODIES[name], PARAMETERS)
    whole = []

    def once(scop, live):
        if not whole:
            whole.append(scop)
            isl.DEFAULT_CONTEXT.set_max_operations(1)
        return compute(scop, live)

    monkeypatch.setattr("polybuild.analysis.bounded.compute_dependences", once)
    parts, approximated = bounded_dependences(found.scop, found.live, 10_000_000)
    assert approximated == ()
    assert parts.flow.is_equal(found.dependences.flow)
    assert parts.false.is_equal(found.dependences.false)
    assert parts.live_in.is_equal(found.dependences.live_in)
    assert [each.array.name for each in parts.private] == [
        each.array.name for each in found.dependences.private
    ]


def test_steps_are_exact_apart_from_what_is_done_once(model, monkeypatch):
    nest = "for (int t = 0; t < n; t++) for (int i = 1; i < 89; i++) A[i] = A[i - 1] + A[i + 1];"
    found = model(
        f"for (int i = 0; i < n; i++) A[i] = i; {nest} for (int i = 0; i < n; i++) B[i] = A[i];", PARAMETERS
    )
    whole = []

    def once(scop, live):
        if not whole:
            whole.append(scop)
            isl.DEFAULT_CONTEXT.set_max_operations(1)
        return compute(scop, live)

    monkeypatch.setattr("polybuild.analysis.bounded.compute_dependences", once)
    apart, approximated = bounded_dependences(found.scop, found.live, 10_000_000)
    assert approximated == ()
    exact = found.dependences
    assert exact.flow.is_subset(apart.flow)
    assert exact.false.is_subset(apart.false)
    assert exact.live_in.is_subset(apart.live_in)
    (steps,) = (
        isl.UnionSet.from_set(each.domain) for each in found.scop.statements if len(each.iterators) == 2
    )
    inside = apart.within(steps)
    assert inside.flow.is_equal(exact.within(steps).flow)
    assert not inside.flow.is_equal(overapproximate_dependences(found.scop).within(steps).flow)
    assert [each.array.name for each in apart.private] == []
    check_schedule(found.scop.schedule, apart, found.scop.domain)


def test_borders_in_each_step_are_not_taken_apart(model, monkeypatch):
    sweep = "for (int i = 1; i < 89; i++) A[i] = A[i - 1] + A[i + 1];"
    found = model(f"for (int t = 0; t < n; t++) {{ A[0] = A[1]; {sweep} }}", PARAMETERS)
    asked = []

    def never(scop, live):
        asked.append(len(scop.statements))
        isl.DEFAULT_CONTEXT.set_max_operations(1)
        return compute(scop, live)

    monkeypatch.setattr("polybuild.analysis.bounded.compute_dependences", never)
    _, approximated = bounded_dependences(found.scop, found.live, 10_000_000)
    assert [each.name for each in approximated] == ["A"]
    assert asked == [2]


def test_a_single_array_is_not_tried_again(model, monkeypatch):
    found = model(BODIES["stencil"], PARAMETERS)
    tried = []

    def too_long(scop, live):
        tried.append(scop)
        isl.DEFAULT_CONTEXT.set_max_operations(1)
        return compute(scop, live)

    monkeypatch.setattr("polybuild.analysis.bounded.compute_dependences", too_long)
    known, approximated = bounded_dependences(found.scop, found.live, 10_000_000)
    assert [each.name for each in approximated] == ["A"]
    assert len(tried) == 1
    check_schedule(found.scop.schedule, known, found.scop.domain)


def test_only_the_arrays_that_take_too_long_lose_precision(model, monkeypatch):
    found = model(BODIES["triangle"], PARAMETERS)

    def too_long(scop, live):
        if any(array.name == "A" for array in scop.arrays):
            isl.DEFAULT_CONTEXT.set_max_operations(1)
        return compute(scop, live)

    monkeypatch.setattr("polybuild.analysis.bounded.compute_dependences", too_long)
    known, approximated = bounded_dependences(found.scop, found.live, 10_000_000)
    assert [each.name for each in approximated] == ["A"]
    assert {each.get_tuple_name(isl.dim_type.out) for each in maps_of(known.live_in)} == {"A", "B"}
    check_schedule(found.scop.schedule, known, found.scop.domain)


def test_arrays_for_which_isl_fails_lose_precision_too(model, monkeypatch):
    """Found by the fuzzer: isl's analysis may end with an error of its own."""
    found = model(BODIES["strides"], PARAMETERS)

    def fails(scop, live):
        if any(array.name == "B" for array in scop.arrays):
            raise isl.Error("affine expression involves some of the domain dimensions")
        return compute(scop, live)

    monkeypatch.setattr("polybuild.analysis.bounded.compute_dependences", fails)
    known, approximated = bounded_dependences(found.scop, found.live, 10_000_000)
    assert [each.name for each in approximated] == ["B"]
    check_schedule(found.scop.schedule, known, found.scop.domain)


def test_subscripts_of_many_cases_are_overapproximated_at_once_and_others_exact(model, monkeypatch):
    body = "for (int i = 0; i < n; i++) { A[i < 9 ? 9 : i > 50 ? 50 : i] += B[i]; B[i] = 2 * B[i]; }"
    found = model(body, PARAMETERS)
    monkeypatch.setattr("polybuild.analysis.bounded.EXACT_PAIRS", 10)  # three cases are read and written
    monkeypatch.setattr("polybuild.analysis.bounded.HULL_PIECES", 2)
    asked = []

    def known(scop, live):
        asked.append([array.name for array in scop.arrays])
        return compute(scop, live)

    monkeypatch.setattr("polybuild.analysis.bounded.compute_dependences", known)
    assert [each.name for each in arrays_of_many_cases(found.scop)] == ["A"]
    some, approximated = bounded_dependences(found.scop, found.live, 10_000_000)
    assert [each.name for each in approximated] == ["A"]
    assert asked == [["B"]]
    assert found.dependences.flow.is_subset(some.flow)
    assert found.dependences.false.is_subset(some.false)
    assert all(each.n_basic_map() <= 1 for each in maps_of(overapproximate_dependences(found.scop).flow))
    check_schedule(found.scop.schedule, some, found.scop.domain)
