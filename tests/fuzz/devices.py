"""Where programs with kernels run: CUDA's by the emulator, OpenCL's by the machine's own driver."""

from __future__ import annotations

import functools
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.emulator import stand_ins

INCLUDE = ("-I", str(stand_ins.RUNTIME / "include"))
LIBRARIES = ("-lm", "-ldl", "-lpthread")

# Tiles over time: plain stencils have these alone.
OVER_TIME: tuple[Mapping[str, str], ...] = (
    {
        "min-work": "0",
        "tile-shape": "hybrid",
        "tile-sizes": "4,6,8",
        "block-sizes": "2,4",
        "device-tiles": "shared-memory,interleaved-copy-out,aligned-loads,static-reuse,full-tiles",
        "device-launches": "together",
    },
    {
        "min-work": "0",
        "tile-shape": "split",
        "tile-sizes": "3,8,8",
        "block-sizes": "2,4",
        "device-tiles": "full-tiles",
        "device-launches": "graphs",
    },
    {"min-work": "0", "tile-shape": "overlapped", "tile-sizes": "3,5,4", "block-sizes": "4,2"},
    {
        "min-work": "0",
        "tile-shape": "overlapped",
        "tile-sizes": "2,7",
        "block-sizes": "8",
        "device-tiles": "full-tiles",
    },
)
# Options to transform with, besides the backend: small blocks and tiles, of which a few rows fill several.
SETTINGS: tuple[Mapping[str, str], ...] = (
    {"min-work": "0"},
    {"min-work": "0", "tile-sizes": "4,3,2", "block-sizes": "2,3", "grid-sizes": "2,3"},
    {"min-work": "0", "tile-sizes": "3,5", "block-sizes": "3,2,2", "grid-sizes": "2"},
    {"min-work": "0", "tile": "off", "block-sizes": "5", "grid-sizes": "3"},
    {"min-work": "0", "tile-sizes": "8,8,4", "block-sizes": "4,4,4", "grid-sizes": "2,3", "fusion": "max"},
    {"min-work": "0", "tile-sizes": "4", "block-sizes": "2", "verify": "on"},
    {
        "min-work": "0",
        "contract-arrays": "on",
        "tile-sizes": "4,3,2",
        "block-sizes": "2,3",
        "grid-sizes": "2,3",
    },
    {"min-work": "0", "schedule": "pluto", "tile-sizes": "4,5", "block-sizes": "4,2"},
    *OVER_TIME,
)


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


@functools.cache
def stand_in() -> stand_ins.StandIns:
    """The emulator of CUDA."""
    return stand_ins.build(Path(_folder().name) / "stand-ins")


@functools.cache
def runtime() -> Path:
    """The runtime as one object."""
    made = Path(_folder().name) / "runtime.o"
    sources = sorted(map(str, (stand_ins.RUNTIME / "src").glob("*.c")))
    subprocess.run(["gcc", "-O1", "-r", *INCLUDE, *sources, "-o", str(made)], check=True, timeout=300)
    return made


def to_transform() -> dict[str, str]:
    """The environment to transform in."""
    return {**os.environ, "NVCC": stand_in().nvcc}


def to_run(backend: str, order: str) -> dict[str, str]:
    """The environment to run in; ``order`` is the emulator's of the threads."""
    if backend == "cuda":
        return stand_in().environment(order=order, POLYBUILD_VERBOSE="1")
    return {**os.environ, "POLYBUILD_BACKEND": backend, "POLYBUILD_VERBOSE": "1"}
