"""Boxes of strips in shared memory: what is copied, kept, moved and stored, and between which barriers."""

from dataclasses import replace

import islpy as isl
import pytest

from polybuild.poly.marks import MarkKind
from polybuild.schedule.legality import IllegalSchedule
from polybuild.targets.device import Purpose
from polybuild.targets.gpu.barriers import check_barriers

PLANE = "int n, int steps, float u[restrict 2][n][n]"
JACOBI = """
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        u[(t + 1) % 2][i][j] = u[t % 2][i][j - 1] + u[t % 2][i][j + 1] + u[t % 2][i - 1][j];"""
SHARED, INTERLEAVED = ("shared-memory",), ("shared-memory", "interleaved-copy-out")


@pytest.fixture
def tiled(planned):
    def make(*steps, sizes=(6, 16, 32), body=JACOBI, parameters=PLANE):
        return planned(
            body, parameters, tile_shape="hybrid", tile_sizes=sizes, block_sizes=(8, 32), device_tiles=steps
        )

    return make


def boxes(found):
    tiles = found.plan.tree.tiles
    return [[tile.extents for tile in tiles[each.mark()]] for each in found.plan.kernels]


def purposes(found):
    return {each.purpose for each in found.plan.tree.added.values()}


def test_a_strip_has_a_box_of_what_it_touches(tiled):
    """Both planes; ten rows and the one before; a strip of 32, leant by five, and its neighbours."""
    found = tiled(*SHARED)
    assert boxes(found) == [[(2, 11, 39)], [(2, 11, 39)]]
    assert purposes(found) == {Purpose.BARRIER, Purpose.COPY, Purpose.STORE}


def test_what_strips_reuse_is_in_a_ring_or_moved(tiled):
    assert boxes(tiled(*INTERLEAVED, "static-reuse")) == [[(2, 11, 64)], [(2, 11, 64)]]
    assert Purpose.MOVE in purposes(tiled(*INTERLEAVED, "dynamic-reuse"))


SPACE = """
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          u[(t + 1) % 2][i][j][k] = u[t % 2][i - 1][j][k] + u[t % 2][i][j + 1][k] + u[t % 2][i][j][k + 1];"""


@pytest.mark.parametrize(("width", "places"), [(32, 35), (16, 32)])
def test_strips_along_two_loops_reuse_values_too(tiled, width, places):
    """They begin later in the rows at an end; rings of 64 places would not fit."""
    parameters = "int n, int steps, float u[restrict 2][n][n][n]"
    found = tiled(*INTERLEAVED, "static-reuse", sizes=(6, 14, 12, width), body=SPACE, parameters=parameters)
    (one,), (other,) = found.plan.tree.tiles.values()
    assert one.ring == other.ring == (3, places)


def test_values_that_are_computed_anew_in_their_tile_are_not_stored(tiled):
    stores = [each for each in tiled(*INTERLEAVED).plan.tree.added.values() if each.purpose is Purpose.STORE]
    assert len(stores) == 2
    assert not any(each.only is None or each.only.plain_is_universe() for each in stores)


def starts(found):
    """Where rows of boxes begin, less whole lines of 32 floats."""
    boxes_of = [tile.box for tiles in found.plan.tree.tiles.values() for tile in tiles]
    return {box.offset[-1].get_constant_val().to_python() % 32 for box in boxes_of}


def test_strips_are_moved_to_lines_of_memory(tiled):
    assert starts(tiled(*INTERLEAVED)) == {26}
    assert starts(tiled(*INTERLEAVED, "aligned-loads")) == {0}
    reused = tiled(*INTERLEAVED, "aligned-loads", "static-reuse")  # seven places are of the strip before
    assert starts(reused) == {32 - 7}


def test_boxes_that_do_not_fit_stay_in_memory(tiled):
    """Who gave the sizes is told."""
    found = tiled(*INTERLEAVED, sizes=(16, 64, 512))
    assert boxes(found) == [[], []]
    told = "'u' stays in memory: the 169280 bytes of its box are too many for the 49152 of shared memory"
    assert found.plan.exceeded == (told,)
    assert f"on the device {told}" in found.plan.remarks


@pytest.mark.parametrize(("body", "extents"), [(JACOBI, "[n][n]"), (SPACE, "[n][n][n]")])
def test_tiles_without_sizes_are_such_that_their_boxes_fit(planned, body, extents):
    parameters = f"int n, int steps, float u[restrict 2]{extents}"
    found = planned(body, parameters, tile_shape="hybrid", device_tiles=INTERLEAVED)
    assert all(boxes(found))
    assert not found.plan.exceeded


def test_full_strips_are_those_that_nothing_cuts_off(tiled):
    """Neither the ends of the plane nor those of time: inside, a strip of a tile of 6 steps has all."""
    found = tiled("full-tiles")
    full = [found.plan.tree.full[each.mark(MarkKind.STEPS)].tiles for each in found.plan.kernels]
    large = [each.fix_val(isl.dim_type.param, 0, isl.Val(100)) for each in full]
    assert all(not each.is_empty() for each in large)
    small = isl.Set("[n] -> { : n <= 6 }").params()
    assert all(each.intersect_params(small.align_params(each.get_space())).is_empty() for each in full)
    assert not tiled().plan.tree.full


def test_a_missing_barrier_between_a_copy_and_a_step_is_found_out(tiled):
    plan = tiled(*SHARED).plan
    check_barriers(plan.tree, plan.kernels)
    added = {
        name: replace(each, purpose=Purpose.LOAD) if each.purpose is Purpose.BARRIER else each
        for name, each in plan.tree.added.items()
    }
    with pytest.raises(IllegalSchedule):
        check_barriers(replace(plan.tree, added=added), plan.kernels)
