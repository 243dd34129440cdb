"""What steps take in tiles that overlap: which sizes and blocks are the best, and when other forms are."""

import math
from dataclasses import replace

import pytest
from device_regions import JACOBI, MATRICES

from polybuild.machine.model import Device, Machine, Residency
from polybuild.options import Options
from polybuild.targets.base import DeviceLimits
from polybuild.targets.gpu.cost import in_kernels
from polybuild.targets.gpu.overlapped_cost import TileShape, find_steps, price, step_times

PLACES = "n - 1"
SMALL = JACOBI.replace(PLACES, "255").replace("t < n", "t < steps")
PARAMETERS = "int steps, double A[restrict 256][256], double B[restrict 256][256]"
PARITY = """
  for (int t = 0; t < n; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        u[(t + 1) % 2][i][j] = u[t % 2][i - 1][j] + u[t % 2][i + 1][j] + u[t % 2][i][j - 1];"""


USUAL = DeviceLimits()


def priced(found, limits=USUAL, **options):
    return price(found.scop, find_steps(found.scop, found.dependences, limits), Options(**options), limits)


def test_a_tile_needs_more_of_its_surroundings_the_higher_it_is(model):
    """Each step needs a neighbour more on either side, and the copy back reaches as far."""
    cost = priced(model(JACOBI, MATRICES))
    assert [cost.bytes((height, 8, 8)) for height in (1, 2, 4)] == [
        (8 + 4 * steps) ** 2 * 16 for steps in (1, 2, 4)
    ]


def test_planes_of_one_array_count(model):
    cost = priced(model(PARITY, "int n, double u[restrict 2][n][n]"))
    (planes,) = cost.boxes
    assert (planes.planes, planes.size) == (2, 8)


def test_more_threads_have_fewer_points_each(model):
    """Where all blocks have room at once."""
    cost = priced(model(SMALL, PARAMETERS))
    times = [cost.time(TileShape((4, 16, 32), (rows, 32))) for rows in (4, 8, 16)]
    assert times == sorted(times, reverse=True)
    assert len(set(times)) == len(times)


def test_blocks_take_turns_where_shared_memory_holds_few(model):
    found = model(JACOBI, MATRICES)
    few = Machine(residency=Residency(shared=48 * 1024))
    shape = TileShape((4, 32, 64), (4, 64))
    assert priced(found, DeviceLimits(machine=few)).time(shape) > 2 * priced(found).time(shape)


def test_tiles_without_room_are_left_out(model):
    found = model(JACOBI, MATRICES)
    shapes = priced(found, replace(DeviceLimits(), shared_bytes=16 * 1024)).shapes()
    assert shapes
    assert all(priced(found).bytes(each.sizes) <= 16 * 1024 for each in shapes)
    assert not priced(found, replace(DeviceLimits(), shared_bytes=64)).shapes()


def test_blocks_are_whole_warps_and_those_that_are_asked_for(model):
    found = model(JACOBI, MATRICES)
    assert all(math.prod(each.block) % 32 == 0 for each in priced(found).shapes())
    assert {each.block for each in priced(found, block_sizes=(2, 8)).shapes()} == {(2, 8)}


@pytest.mark.parametrize(("launch", "preferred"), [(10_000.0, True), (3000.0, True), (100.0, False)])
def test_small_grids_gain_by_fewer_launches(model, launch, preferred):
    found = model(SMALL, PARAMETERS)
    limits = DeviceLimits(machine=Machine(device=Device(launch=launch)))
    times = step_times(found.scop, found.dependences, Options(), limits)
    assert times.preferred == preferred
    assert set(times.tiles) == {"overlapped", "hybrid"}
    assert str(times).startswith("a step of a grid of 254x254 should take ")


def test_steps_of_large_grids_run_at_the_pace_of_memory(model):
    found = model(JACOBI, MATRICES)
    times = step_times(found.scop, found.dependences, Options(), DeviceLimits())
    assert not times.preferred
    assert times.kernels == in_kernels(priced(found).work, Machine())
    assert times.kernels < min(times.tiles.values())


@pytest.mark.parametrize("options", [{"tile_sizes": (4, 8, 8)}, {"device_tiles": ("shared-memory",)}])
def test_nothing_is_compared_where_a_form_is_asked_for(model, options):
    found = model(SMALL, PARAMETERS)
    assert step_times(found.scop, found.dependences, Options(**options), DeviceLimits()) is None


def test_too_few_steps(model):
    found = model(SMALL.replace("t < steps", "t < 3"), PARAMETERS)
    assert step_times(found.scop, found.dependences, Options(), DeviceLimits()) is None
