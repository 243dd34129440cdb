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
