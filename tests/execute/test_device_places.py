"""Minima and maxima with their places, and searches, on devices: to the bit what the original finds."""

from __future__ import annotations

import shutil

import pytest
from device_programs import HAS_OPENCL, build, on, run, transform
from place_programs import BODIES, DECLARATIONS, FUNCTION, LOOKING, MORE, PROGRAM, RUNS

from polybuild.targets.gpu.nvcc import build_image
from tests.emulator.stand_ins import ORDERS


@pytest.mark.parametrize("backend", ["cuda", pytest.param("opencl", marks=pytest.mark.opencl)])
def test_the_places_of_the_original(backend, emulator, runtime, tmp_path, monkeypatch):
    monkeypatch.setenv("NVCC", emulator.nvcc)
    monkeypatch.setenv("POLYBUILD_CACHE", "0")
    monkeypatch.setenv("POLYBUILD_EMULATOR_KEEP", str(tmp_path / "kernels.cu"))
    result = transform(PROGRAM, backend, tmp_path)
    found = dict(zip(BODIES, result.regions, strict=True))
    on_host = {name for name, each in found.items() if each.backend != backend}
    assert on_host == ({"any of truth"} if backend == "opencl" else set())
    made = build(result, "places", runtime, tmp_path)
    some = [RUNS, *(MORE[first : first + 6] for first in range(0, len(MORE), 6))]
    runs = [(each, on("opencl")) for each in some] if HAS_OPENCL else []
    if backend == "cuda":
        orders = (*ORDERS, "7")
        runs = [([each], emulator.environment(order=order)) for each, order in zip(RUNS, orders, strict=True)]
    for runs_of_one, environment in runs:
        arguments = [word for each in runs_of_one for word in each]
        expected = run(made, *arguments, environment=on("host")).stdout
        assert expected.count("\n") == len(runs_of_one) * len(BODIES)
        assert run(made, *arguments, environment=environment).stdout == expected
    if backend == "cuda" and shutil.which("nvcc"):
        build_image((tmp_path / "kernels.cu").read_text(), "nvcc", (90,), contract=False)


def test_what_looks_at_what_it_finds_stays_on_the_host(emulator, tmp_path, monkeypatch):
    """Or at what the original does not look at once it has found something, and which may not be there."""
    monkeypatch.setenv("NVCC", emulator.nvcc)
    monkeypatch.setenv("POLYBUILD_CACHE", "0")
    functions = (FUNCTION.format(number=number, body=body) for number, body in enumerate(LOOKING.values()))
    result = transform(f"{DECLARATIONS}{''.join(functions)}", "cuda", tmp_path)
    assert {
        name for name, each in zip(LOOKING, result.regions, strict=True) if each.backend == "cuda"
    } == set()
