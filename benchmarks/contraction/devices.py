"""The kernels for a device, in small tiles, too: CUDA by emulation, OpenCL on the machine's driver."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.gpu.programs import FLAGS, LIBRARIES
from polybuild.driver import file as pipeline
from polybuild.options import Options
from tests.emulator import stand_ins

# every temporary array is kept by the threads where that leaves them any parallel loop
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "auto": {},
    "small tiles": {"tile_sizes": "4,3,2", "block_sizes": "2,3", "grid_sizes": "2,3"},
    "on": {"contract_arrays": "on"},
    "on, small tiles": {
        "contract_arrays": "on",
        "tile_sizes": "4,3,2",
        "block_sizes": "2,3",
        "grid_sizes": "2,3",
    },
    "on, one thread": {"contract_arrays": "on", "tile_sizes": "3,5", "block_sizes": "1", "grid_sizes": "1"},
}


@dataclass(frozen=True, slots=True)
class DeviceProgram:
    """A program with kernels, what it runs in, and what is said of each region's temporary array."""

    file: Path
    environment: Mapping[str, str]
    remarks: tuple[tuple[str, ...], ...]

    def run(self, arguments: Sequence[str]) -> tuple[str, bool]:
        """What it prints, and whether that was computed on the device."""
        done = subprocess.run(
            [self.file, *arguments], env=self.environment, check=True, capture_output=True, text=True
        )
        return done.stdout, "runs on the device" in done.stderr


@dataclass(frozen=True, slots=True)
class Devices:
    """Makes programs in ``folder``; CUDA's compiler and driver are stand-ins."""

    folder: Path
    stand_ins: stand_ins.StandIns

    @classmethod
    def at(cls, folder: Path) -> Devices:
        """The workshop in ``folder``, which is made."""
        return cls(folder, stand_ins.build(folder / "stand-ins"))

    def program(self, source: Path, backend: str, settings: Mapping[str, str]) -> DeviceProgram:
        """``source`` for ``backend``, its loops in any order: in the original one there are no kernels."""
        text = source.read_text(encoding="utf-8").replace(" schedule(original)", "")
        free = self.folder / source.name
        free.write_text(text, encoding="utf-8")
        wanted = {"min_work": "0", "backend": backend, "nvcc": self.stand_ins.nvcc, **settings}
        options = Options().with_settings(wanted)
        flags = ["-std=gnu99", *FLAGS]
        made = pipeline.compile_source(str(free), options, ["gcc"], flags)
        written, program = self.folder / "kernels-on-device.c", self.folder / "program"
        written.write_text(made.text, encoding="utf-8")
        runtime = sorted(map(str, (stand_ins.RUNTIME / "src").glob("*.c")))
        command = ["gcc", *flags, str(written), *runtime, *LIBRARIES, "-o", str(program)]
        subprocess.run(command, check=True)
        environment = {**os.environ, "POLYBUILD_BACKEND": backend}
        if backend == "cuda":
            environment = self.stand_ins.environment(order="descending")
        environment = {**environment, "POLYBUILD_VERBOSE": "1"}
        return DeviceProgram(program, environment, tuple(each.remarks for each in made.regions))
