"""Stencils on devices in tiles whose blocks compute their surroundings again: equal to the bit."""

from __future__ import annotations

import device_programs
import pytest
from test_device_time_tiles import SMALL, WAYS, compare, nvcc, original, program, tiled

from tests.emulator.stand_ins import ORDERS

__all__ = ["nvcc", "original"]
SIZES = [(n, steps) for n in (0, 1, 2, 7, 33) for steps in (0, 1, 4, 13)]
OPTIONS = {"tile_shape": "overlapped", "tile_sizes": (3, 6, 8)}


def overlapped(way, backend, folder, **options):
    """What a stencil becomes, whose tiles must overlap."""
    result = tiled(way, backend, folder, **{**OPTIONS, **options})
    assert any("overlapped tiles of" in each for each in result.regions[0].remarks), result.regions
    return result


@pytest.mark.usefixtures("nvcc")
@pytest.mark.fast(way=["line"])
@pytest.mark.parametrize("way", WAYS)
def test_every_access_is_right(way, emulator, runtime, original, tmp_path):
    """In four orders of blocks and threads: no race, nothing uninitialised, nothing out of bounds.

    Blocks read memory once and write it once for the steps of a tile, all else is in shared memory.
    """
    made = device_programs.build(overlapped(way, "cuda", tmp_path), "program", runtime, tmp_path)
    compare(made, way, original, SIZES, emulator.environment(order="1"))
    for order in ORDERS:
        compare(made, way, original, [(7, 5), (33, 13)], emulator.environment(order=order))
    kernels = list(emulator.report([str(made), "33", "13"])["kernels"].values())
    assert [each["launches"] for each in kernels if each["shared_reads"]["accesses"]] == [5]  # for 13 steps


@pytest.mark.usefixtures("nvcc")
@pytest.mark.parametrize(
    "options",
    [
        {"device_tiles": ("full-tiles",)},
        {"device_launches": "together"},
        {"device_launches": "graphs"},
        {"tile_sizes": (), "block_sizes": ()},
        {"tile_sizes": (1, 5, 7)},
    ],
    ids=str,
)
def test_other_settings(options, emulator, runtime, original, tmp_path):
    result = overlapped("two grids", "cuda", tmp_path, **options)
    made = device_programs.build(result, "program", runtime, tmp_path)
    sizes = [(7, 1), (33, 4), (33, 13), (100, 3)]
    for order in ("descending", "1"):
        compare(made, "two grids", original, sizes, emulator.environment(order=order))


@pytest.mark.skipif(not device_programs.HAS_OPENCL, reason="needs an OpenCL platform")
@pytest.mark.parametrize("way", ["there and back", "parity", "staggered"])
def test_opencl(way, runtime, original, tmp_path):
    made = device_programs.build(overlapped(way, "opencl", tmp_path), "program", runtime, tmp_path)
    compare(made, way, original, SIZES, device_programs.on("opencl"))


def test_tiles_without_room(tmp_path):
    """Steps have the next simpler form, and who gave the sizes is told."""
    options = {**SMALL, **OPTIONS, "tile_sizes": (8, 64, 64)}
    result = device_programs.transform(program("two grids"), "opencl", tmp_path, **options)
    (region,) = result.regions
    assert any("hybrid tiles of 8x64x64" in each for each in region.remarks)
    (told,) = (each for each in result.diagnostics if each.code == "large-tiles")
    assert told.message == (
        "tiles over time do not overlap: the 144416 bytes that a tile works on are too many"
        " for the 32768 of shared memory"
    )


def test_a_processor_has_other_tiles(tmp_path):
    """Where there is no device to build for, who asked for the shape is told."""
    result = device_programs.transform(program("two grids"), "openmp", tmp_path, **OPTIONS)
    (told,) = (each for each in result.diagnostics if each.code == "unused-setting")
    assert "the tile shape 'overlapped' is not used for this region: it is one of devices" in told.message


@pytest.fixture
def slow_launches(tmp_path):
    """A machine with small grids, on whose device a launch takes longer than a step."""
    file = tmp_path / "machine.toml"
    file.write_text('version = 1\n[device]\nlaunch = "20 us"\ncache = "64 KiB"\n', encoding="utf-8")
    return file


def automatic(way, backend, machine):
    """What a stencil becomes that nothing is said of: its tiles are of the device's sizes."""
    result = device_programs.transform(program(way), backend, machine.parent, machine=str(machine))
    (region,) = result.regions
    first, *_, last = [each for each in region.remarks if each.startswith("on the device")]
    assert first.startswith("on the device overlapped tiles of")
    assert "a step of a large grid should take" in last
    return result


@pytest.mark.usefixtures("nvcc")
@pytest.mark.parametrize("way", ["two grids", "parity", "staggered", "space", "line", "upwind"])
def test_what_the_model_prefers(way, emulator, runtime, original, slow_launches):
    result = automatic(way, "cuda", slow_launches)
    made = device_programs.build(result, "program", runtime, slow_launches.parent)
    compare(made, way, original, SIZES, emulator.environment(order="1"))
    compare(made, way, original, [(100, 5)], emulator.environment(order="descending"))


@pytest.mark.skipif(not device_programs.HAS_OPENCL, reason="needs an OpenCL platform")
@pytest.mark.parametrize("way", ["there and back", "scalar", "flat"])
def test_what_the_model_prefers_with_opencl(way, runtime, original, slow_launches):
    result = automatic(way, "opencl", slow_launches)
    made = device_programs.build(result, "program", runtime, slow_launches.parent)
    compare(made, way, original, [*SIZES, (100, 5)], device_programs.on("opencl"))


def test_large_grids_are_left_to_kernels_of_their_own(tmp_path):
    """The model says what each form should take."""
    (region,) = device_programs.transform(program("parity"), "opencl", tmp_path).regions
    told = [each for each in region.remarks if each.startswith("on the device")]
    assert told[0] == "on the device each step has kernels of its own: tiles over time would take longer"
    assert " us in overlapped tiles, " in told[1]
    assert told[1].endswith(" us as kernels of its own")
