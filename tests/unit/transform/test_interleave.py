"""The nests of one time step, row by row."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.poly.trees import node_kind
from polybuild.schedule.legality import IllegalSchedule, active_dependences, check_schedule
from polybuild.transform.interleave import interleave
from polybuild.transform.tiling.stencil import find_stencil

LAGS = {
    "jacobi-2d": {"S0": 0, "S1": 1},  # the copy waits for the row below
    "fdtd-2d": {"S0": 0, "S1": 0, "S2": 0, "S3": 1},
}


@pytest.mark.parametrize("name", LAGS)
def test_statements_lag_behind_what_they_need(name, kernel):
    scop, known = kernel(name)
    loop = scop.schedule.get_root().child(0)
    stencil = find_stencil(loop, known.validity)
    assert stencil is not None
    node = interleave(loop, stencil, active_dependences(loop, known.validity))
    check_schedule(node.get_schedule(), known, scop.domain)
    rows = node.child(0)
    assert node_kind(rows) == isl.schedule_node_type.band
    partial = rows.band_get_partial_schedule().get_union_pw_aff(0)
    shift = partial.sub(stencil.counters[1])
    found = {
        each.domain().get_tuple_name(): each.max_val().to_python()
        for each in (shift.get_pw_aff_list().get_at(at) for at in range(shift.n_pw_aff()))
    }
    assert found == LAGS[name]


def test_without_the_lag_the_proof_fails(kernel):
    scop, known = kernel("jacobi-2d")
    loop = scop.schedule.get_root().child(0)
    stencil = find_stencil(loop, known.validity)
    assert stencil is not None
    rows = isl.MultiUnionPwAff.from_union_pw_aff(stencil.counters[1])
    node = loop.child(0).insert_partial_schedule(rows)
    with pytest.raises(IllegalSchedule):
        check_schedule(node.get_schedule(), known, scop.domain)


def test_in_space_all_dimensions_but_the_rows_are_shared(kernel):
    scop, known = kernel("heat-3d")
    loop = scop.schedule.get_root().child(0)
    stencil = find_stencil(loop, known.validity)
    assert stencil is not None
    node = interleave(loop, stencil, active_dependences(loop, known.validity))
    assert node.child(0).band_n_member() == 2
    check_schedule(node.get_schedule(), known, scop.domain)


def test_a_single_nest_stays(kernel):
    scop, known = kernel("jacobi-1d")
    loop = scop.schedule.get_root().child(0)
    stencil = find_stencil(loop, known.validity)
    assert stencil is not None
    node = interleave(loop, stencil, known.validity)
    assert node.get_schedule().plain_is_equal(loop.get_schedule())
