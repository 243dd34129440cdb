"""Buffers for arrays at a node of the original tree: their sizes, and which element a cell goes to."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.analysis.dependences import written_and_flow
from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.trees import descendants, insert_mark, is_band
from polybuild.storage.buffers import contract_at, mapping_at
from polybuild.storage.liveness import LiveValues

BUFFER = Mark(MarkKind.BUFFER, 0)
PARAMETERS = "int n, double A[restrict n][8], double B[restrict n][8], double T[restrict n][8]"
ROWS = """
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < 8; j++) T[i][j] = A[i][j] + 1;
    for (int j = 0; j < 8; j++) B[i][j] = T[i][j] * 2;
  }"""
# the value of the row before is still needed
SHIFTED = """
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < 8; j++) T[i][j] = A[i][j] + 1;
    if (i > 0) for (int j = 0; j < 8; j++) B[i][j] = T[i][j] + T[i - 1][j];
  }"""
LONG = "int n, double A[restrict n][n], double B[restrict n][n], double T[restrict n][n]"
LONG_ROWS = ROWS.replace("8", "n")


@pytest.fixture
def at(model):
    """What ``ask`` says of array ``T`` in ``body``, inside of the outer loop or around all."""

    def find(ask, body: str, parameters: str = PARAMETERS, *, inside: bool = True, **options):
        scop = model(body, parameters).scop
        (array,) = (each for each in scop.arrays if each.name == "T")
        node = scop.schedule.get_root().child(0)
        if inside:
            node = next(each for each in descendants(node) if is_band(each)).child(0)
        values = LiveValues(*written_and_flow(scop, array))
        return ask(node, array, values, scop.context, **options)

    return find


def test_a_row_that_lives_in_one_iteration_is_a_buffer_of_that_row(at):
    buffer = at(contract_at, ROWS, mark=BUFFER)
    assert buffer.extents == (8,)
    assert (buffer.cells, buffer.size) == (8, 64)
    layout = isl.Map.from_multi_aff(buffer.layout)
    assert isl.Map("[n] -> { [[i] -> T[i, j]] -> buffer0[j] : 0 <= i < n and 0 <= j < 8 }").is_subset(layout)


def test_the_flow_of_a_buffer_is_from_its_writes_to_their_reads(at):
    buffer = at(contract_at, ROWS, mark=BUFFER)
    expected = isl.UnionMap("[n] -> { S0[i, j] -> S1[i, j] : 0 <= i < n and 0 <= j < 8 }")
    assert buffer.flow.is_equal(expected)


def test_values_that_outlive_an_iteration_have_no_buffer_inside_of_it(at):
    assert at(contract_at, SHIFTED, mark=BUFFER) is None
    assert at(mapping_at, SHIFTED) is None


def test_values_of_two_rows_need_two_rows_around_the_loop(at):
    buffer = at(contract_at, SHIFTED, inside=False, mark=BUFFER)
    assert buffer.cells == 16
    assert sorted(buffer.extents) == [2, 8]


def test_one_row_is_enough_around_the_loop_where_none_outlives_its_iteration(at):
    assert at(contract_at, ROWS, inside=False, mark=BUFFER).cells == 8


def test_rows_that_grow_with_a_parameter_have_a_mapping_but_no_buffer(at):
    mapping = at(mapping_at, LONG_ROWS, LONG)
    assert mapping.rows == ((0, 1),)
    assert mapping.sizes == (None,)
    assert at(contract_at, LONG_ROWS, LONG, mark=BUFFER) is None


def test_elements_that_are_variables_are_told_by_remainders(at):
    buffer = at(contract_at, SHIFTED, inside=False, mark=BUFFER, scalars=True)
    assert buffer.scalars
    assert sorted(buffer.extents) == [2, 8]
    assert all(buffer.layout.get_aff(each).dim(isl.dim_type.div) for each in range(2))


def test_lanes_of_a_vector_loop_have_cells_of_their_own(model):
    body = "for (int i = 0; i < n; i++) { T[i] = A[i] + 1; B[i] = T[i] * 2; }"
    scop = model(body, "int n, double A[restrict n], double B[restrict n], double T[restrict n]").scop
    (array,) = (each for each in scop.arrays if each.name == "T")
    values = LiveValues(*written_and_flow(scop, array))
    root = scop.schedule.get_root()
    band = next(each for each in descendants(root) if is_band(each))
    sizes = isl.MultiVal.zero(band.band_get_space()).set_val(0, isl.Val(4))
    inner = band.band_tile(sizes).child(0)
    plain = contract_at(inner, array, values, scop.context, BUFFER)
    lanes = contract_at(insert_mark(inner, Mark(MarkKind.SIMD, 0)), array, values, scop.context, BUFFER)
    assert plain.cells == 1
    assert lanes.extents == (4,)


@pytest.mark.parametrize(
    ("kind", "filters", "cells"),
    [("sequence", ["S1", "S0"], 1), ("sequence", ["S0", "S1"], 2), ("set", ["S1", "S0"], 2)],
)
def test_what_comes_in_any_order_shares_nothing(kind, filters, cells, model):
    """A value is read in the iteration in which the next one is written, before it, after it, or either."""
    body = "for (int i = 0; i < n; i++) { T[i] = A[i] + 1; B[i] = T[i] * 2; }"
    scop = model(body, "int n, double A[restrict n], double B[restrict n], double T[restrict n]").scop
    (array,) = (each for each in scop.arrays if each.name == "T")
    values = LiveValues(*written_and_flow(scop, array))
    children = ", ".join(f'{{ filter: "[n] -> {{ {each}[i] }}" }}' for each in filters)
    schedule = isl.Schedule(
        '{ domain: "[n] -> { S0[i] : 0 <= i < n; S1[i] : 0 <= i < n }", child: {'
        ' schedule: "[n] -> [{ S0[i] -> [(i)]; S1[i] -> [(1 + i)] }]",'
        f" child: {{ {kind}: [{children}] }} }} }}"
    )
    buffer = contract_at(schedule.get_root().child(0), array, values, scop.context, BUFFER)
    assert buffer.cells == cells
