"""Temporary arrays that threads of a device keep: the kernels of the report, in tiles larger than some."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.contraction.__main__ import (
    ALL,
    KERNELS,
    SETTINGS,
    compile_original,
    without_extents,
    wrong_on_device,
)
from benchmarks.contraction.devices import SETTINGS as ON_DEVICES
from benchmarks.contraction.devices import Devices

SIZES = (1, 2, 3, 6, 13)

IN_MEMORY = "on the device 't' is in memory: its values go from thread to thread"
COSTS = (
    "on the device 't' is in memory: threads that keep it would share fewer loops, or reuse less"
    " (--contract-arrays on)"
)
ONE = "on the device 't' is kept in a variable"
TWO, THREE = (f"on the device 't' is kept in a buffer of {count} elements" for count in (2, 3))
# fibonacci has no parallel loop; in pc_1d threads would need what others made
WANTED = {
    "blur": THREE,
    "blur_permuted": THREE,
    "blur_stages": THREE,
    "pc_1d": IN_MEMORY,
    "pc_2d_interleaved": ONE,
    "pc_2d": TWO,
    "cnn": ONE,
    "two_products": ONE,
    "gemm": ONE,
    "poly": ONE,
}


@pytest.fixture(scope="module")
def devices(tmp_path_factory):
    return Devices.at(tmp_path_factory.mktemp("devices"))


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    return compile_original(tmp_path_factory.mktemp("original"), SETTINGS["O0"])


def kept_on_device(program):
    return {
        kernel.name: without_extents(each)
        for kernel, remarks in zip(ALL, program.remarks, strict=True)
        for each in remarks
        if each.startswith("on the device")
    }


def test_cuda(devices, original):
    program = devices.program(KERNELS, "cuda", ON_DEVICES["on, small tiles"])
    assert kept_on_device(program) == WANTED
    assert [
        (each.name, n) for each in ALL for n in SIZES if wrong_on_device(original, program, each, n)
    ] == []
    assert [each.name for each in ALL if not program.run(each.arguments(13))[1]] == ["fibonacci"]


@pytest.mark.skipif(not Path("/etc/OpenCL/vendors").is_dir(), reason="needs an OpenCL platform")
def test_opencl(devices, original):
    """Where it pays: no loop that was parallel is lost for it."""
    program = devices.program(KERNELS, "opencl", ON_DEVICES["small tiles"])
    kept = kept_on_device(program)
    assert kept["cnn"] == kept["pc_2d_interleaved"] == ONE
    assert (kept["blur"], kept["gemm"]) == (COSTS, "on the device 't' is kept in registers")
    some = [each for each in ALL if each.name in {"pc_2d_interleaved", "cnn", "pc_1d"}]
    assert [
        (each.name, n) for each in some for n in (2, 7) if wrong_on_device(original, program, each, n)
    ] == []
    assert all(program.run(each.arguments(7))[1] for each in some)
