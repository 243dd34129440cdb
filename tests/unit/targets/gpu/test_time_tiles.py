"""Tiles over time on a device: when they are taken, and the proof that their threads may run side by side."""

from dataclasses import replace

import pytest
from device_regions import JACOBI, MATRICES

from polybuild.machine.model import Device, Machine
from polybuild.options import Options
from polybuild.poly.marks import MarkKind
from polybuild.schedule.legality import IllegalSchedule, check_schedule
from polybuild.targets.base import DeviceLimits
from polybuild.targets.device import Purpose
from polybuild.targets.gpu.barriers import check_barriers
from polybuild.targets.gpu.cost import pays, step_work
from polybuild.targets.gpu.mapping import map_to_gpu
from polybuild.targets.gpu.thread_legality import unordered
from polybuild.targets.gpu.time_tiles import find_time_tiles
from polybuild.targets.gpu.tree import find_mark

LINE = """
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1];
    for (int i = 1; i < n - 1; i++) a[i] = b[i];
  }"""
VECTORS = "int n, int steps, double *restrict a, double *restrict b"


def mapping_of(found, **options):
    """The phases of a stencil in its original order."""
    wanted = Options(tile_shape="hybrid", **options)
    validity = found.dependences.validity
    return map_to_gpu(found.scop, found.scop.schedule, wanted, DeviceLimits(), over_time=validity)


def remarks_of(planned):
    return [each for each in planned.plan.remarks if "over time" in each]


def test_a_phase_is_a_kernel_whose_threads_meet_before_each_step(planned):
    plan = planned(LINE, VECTORS, tile_shape="hybrid").plan
    assert [kernel.in_steps for kernel in plan.kernels] == [True, True]
    added = [each.purpose for each in plan.tree.added.values()]
    assert added == [Purpose.BARRIER, Purpose.BARRIER]


def test_a_phase_without_a_point_is_no_kernel(planned):
    """All points of so few steps of a short row are in tiles of the other one."""
    body = """
      for (int t = 0; t < 2; t++)
        for (int i = 0; i < 2; i++) u[(t + 1) % 2][i] = u[t % 2][i] + u[t % 2][i + 1];"""
    parameters = "int n, double u[restrict n][n]"
    plan = planned(body, parameters, tile_shape="hybrid", tile_sizes=(8, 8)).plan
    assert [kernel.in_steps for kernel in plan.kernels] == [True]


def test_threads_need_values_of_others_only_across_barriers(model):
    found = model(LINE, VECTORS)
    mapping = mapping_of(found)
    check_schedule(mapping.schedule, found.dependences, found.scop.domain)
    assert unordered(mapping, found.dependences.validity).is_empty()


def test_steps_of_two_without_a_barrier_between_them_are_found_out(model):
    found = model(LINE, VECTORS)
    mapping = mapping_of(found)
    for kernel in mapping.kernels:
        band = find_mark(mapping.schedule.get_root(), kernel.mark(MarkKind.STEPS)).child(0)
        steps = band.band_get_partial_schedule()
        pairs = steps.scale_down_val(2).floor()
        coarse = replace(mapping, schedule=band.delete().insert_partial_schedule(pairs).get_schedule())
        assert not unordered(coarse, found.dependences.validity).is_empty()


def test_a_missing_barrier_is_found_out(model, planned):
    plan = planned(LINE, VECTORS, tile_shape="hybrid").plan
    check_barriers(plan.tree, plan.kernels)
    without = replace(plan.tree, schedule=mapping_of(model(LINE, VECTORS)).schedule)
    with pytest.raises(IllegalSchedule, match="does not begin with a barrier"):
        check_barriers(without, plan.kernels)


def test_a_kernel_for_each_step_is_there_for_the_asking(planned):
    found = planned(LINE, VECTORS, tile_shape="rectangular")
    assert not any(kernel.in_steps for kernel in found.plan.kernels)
    assert not remarks_of(found)


@pytest.mark.parametrize(("launch", "taken"), [(3000.0, True), (1.0, False)])
def test_tiles_are_for_grids_whose_steps_take_less_than_their_launches(model, launch, taken):
    found = model(LINE.replace("n - 1", "255"), VECTORS)
    node, validity = found.scop.schedule.get_root().child(0), found.dependences.validity
    limits = DeviceLimits(machine=Machine(device=Device(launch=launch)))
    tiles = find_time_tiles(node, validity, Options(), limits)
    work = step_work(found.scop, node, tiles.stencil, limits)
    assert pays(work, tiles, Options(), limits) == taken


def test_large_grids_are_tiled_without_being_asked(planned):
    found = planned(LINE, VECTORS)
    assert remarks_of(found) == ["on the device hybrid tiles of 32x512 over time, 2 kernels for 32 steps"]


@pytest.mark.parametrize(("places", "sizes"), [("255", "2x8x256"), ("n - 1", "16x32x256")])
def test_tiles_for_small_grids_are_lower_and_narrower(planned, places, sizes):
    """They have more blocks, and fewer points of a step for each thread; what is unknown is large."""
    body = JACOBI.replace("n - 1", places)
    found = planned(body, MATRICES, tile_shape="hybrid")
    assert remarks_of(found)[0].startswith(f"on the device hybrid tiles of {sizes} over time")


def test_planes_whose_steps_run_at_the_pace_of_memory(planned):
    """The steps of a tile follow one another, and take longer than its share of what moves."""
    found = planned(JACOBI, MATRICES)
    assert remarks_of(found) == [
        "on the device each step has kernels of its own: tiles over time would take longer"
    ]


def test_tiles_along_two_dimensions_are_left_to_processors(planned):
    found = planned(JACOBI, MATRICES, tile_shape="diamond-2d")
    assert not any(kernel.in_steps for kernel in found.plan.kernels)
    assert remarks_of(found) == [
        (
            "on the device each step has kernels of its own: "
            "tiles over time that start together along two dimensions are for processors"
        )
    ]


def test_too_few_steps(planned):
    found = planned(LINE.replace("t < steps", "t < 3"), VECTORS)
    assert not any(kernel.in_steps for kernel in found.plan.kernels)
    assert remarks_of(found) == [
        "on the device each step has kernels of its own: tiles over time would take longer"
    ]


def test_threads_follow_the_rows_of_memory(planned):
    """Along x go the places that are neighbours in memory, whichever loop is inside."""
    kernel = planned(JACOBI, MATRICES, tile_shape="hybrid").plan.kernels[0]
    assert [axis.size for axis in kernel.threads] == [4, 128]
    assert len(kernel.blocks) == 1


def test_tiles_that_take_too_long_to_prove(planned, monkeypatch):
    monkeypatch.setattr("polybuild.targets.gpu.choice.KERNEL_TILING_OPERATIONS", 1000)
    found = planned(LINE, VECTORS, tile_shape="hybrid")
    assert not any(kernel.in_steps for kernel in found.plan.kernels)
    assert remarks_of(found) == [
        "on the device each step has kernels of its own: tiles over time take too long to prove"
    ]
