"""Where in a tree buffers may be declared, and which of these nodes they get."""

from __future__ import annotations

import pytest

from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.trees import descendants, is_band
from polybuild.storage.allocation_scope import first_buffer, scopes_below, single_members

PARAMETERS = "int n, double A[restrict n][n], double B[restrict n][n], double T[restrict n][n]"
PAIR = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { T[i][j] = A[i][j]; B[i][j] = T[i][j]; }"
ROWS = """
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < 4; j++) T[i][j] = A[i][j];
    for (int j = 0; j < 4; j++) B[i][j] = T[i][j];
  }"""
ALL = """
  for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) T[i][j] = A[i][j];
  for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) B[i][j] = T[i][j];"""


@pytest.fixture
def scopes(model):
    """The model's region and the allocation scopes of its original tree."""

    def make(body: str):
        scop = model(body, PARAMETERS).scop
        return scop, scopes_below(scop.schedule.get_root())

    return make


def loops_around(node) -> int:
    return node.get_schedule_depth()


def test_scopes_are_the_bodies_of_loops_and_the_region_deepest_first(scopes):
    _, found = scopes(PAIR)
    assert [loops_around(each) for each in found] == [2, 1, 0]


def test_scopes_may_be_restricted(model):
    scop = model(PAIR, PARAMETERS).scop
    root = scop.schedule.get_root()
    found = scopes_below(root, lambda node: loops_around(node) != 1)
    assert [loops_around(each) for each in found] == [2, 0]


@pytest.mark.parametrize(
    ("body", "depth", "cells"),
    [(PAIR, 2, 1), (ROWS, 1, 4), (ALL, 0, 16)],
    ids=["one element", "one row", "the array"],
)
def test_a_buffer_gets_the_innermost_scope_that_no_value_leaves(scopes, body, depth, cells):
    scop, found = scopes(body)
    (array,) = (each for each in scop.arrays if each.name == "T")
    node, buffer = first_buffer(found, array, scop, Mark(MarkKind.BUFFER, 0))
    assert (loops_around(node), buffer.cells) == (depth, cells)


def test_there_is_no_buffer_where_its_size_grows(scopes):
    scop, found = scopes(ALL.replace("4", "n"))
    (array,) = (each for each in scop.arrays if each.name == "T")
    assert first_buffer(found, array, scop, Mark(MarkKind.BUFFER, 0)) is None


def test_bands_are_split_into_their_members(model):
    found = model(PAIR, PARAMETERS)
    root = found.scop.schedule.get_root()
    bands = [each for each in descendants(root) if is_band(each)]
    outer, inner = (each.band_get_partial_schedule() for each in bands)
    node = bands[0].insert_partial_schedule(outer.flat_range_product(inner))
    split = single_members(node.get_schedule().get_root())
    sizes = [each.band_n_member() for each in descendants(split) if is_band(each)]
    assert sizes == [1, 1, 1, 1]
    assert split.get_schedule().get_map().is_equal(node.get_schedule().get_map())
