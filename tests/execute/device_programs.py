"""Programs of one file, built for a device and run there."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from polybuild.driver.file import FileResult, compile_source
from polybuild.options import Options
from tests.emulator import stand_ins

INCLUDE = ("-I", str(stand_ins.RUNTIME / "include"))
FLAGS = ("-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-ffp-contract=off", *INCLUDE)
HAS_OPENCL = Path("/etc/OpenCL/vendors").is_dir()


def build_runtime(folder: Path) -> Path:
    """The runtime as one object."""
    made = folder / "runtime.o"
    sources = sorted(map(str, (stand_ins.RUNTIME / "src").glob("*.c")))
    subprocess.run(["gcc", "-O1", "-r", *INCLUDE, *sources, "-o", made], check=True, timeout=120)
    return made


def transform(
    text: str, backend: str, folder: Path, *, flags: Sequence[str] = FLAGS, **options: object
) -> FileResult:
    """What ``text`` becomes for a backend."""
    source = folder / "program.c"
    source.write_text(text, encoding="utf-8")
    wanted = Options(**{"backend": backend, "min_work": 0, **options})  # type: ignore[arg-type]
    return compile_source(str(source), wanted, ["gcc"], flags)


def build(result: FileResult, name: str, runtime: Path, folder: Path) -> Path:
    """The program; a warning of the compiler fails the test."""
    file, made = folder / f"{name}.c", folder / name
    file.write_text(result.text, encoding="utf-8")
    command = ["gcc", *FLAGS, file, runtime, "-lm", "-ldl", "-lpthread", "-o", made]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return made


def run(made: Path, *arguments: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """A run, which must succeed."""
    return subprocess.run(
        [made, *arguments], env=environment, check=True, capture_output=True, text=True, timeout=120
    )


def on(backend: str) -> dict[str, str]:
    """The environment in which a program runs on a backend of this machine."""
    return {**os.environ, "POLYBUILD_BACKEND": backend}


@dataclass(frozen=True)
class Workbench:
    """Where programs with kernels are made, and run: on the emulator in four orders, or on OpenCL."""

    emulator: stand_ins.StandIns
    runtime: Path
    folder: Path

    def runs(
        self, text: str, backend: str, regions: int, *arguments: Sequence[str]
    ) -> Iterator[subprocess.CompletedProcess[str]]:
        """Runs of the program ``text``, all of whose regions have kernels, with each of the ``arguments``.

        Each prints what it prints on the host, and tells of its runs.
        """
        result = transform(text, backend, self.folder, nvcc=self.emulator.nvcc)
        assert [each.backend for each in result.regions] == [backend] * regions
        made = build(result, "program", self.runtime, self.folder)
        environments = [self.emulator.environment(order=each) for each in stand_ins.ORDERS]
        if backend == "opencl":
            environments = [on("opencl")] * HAS_OPENCL
        for words in arguments or ((),):
            expected = run(made, *words, environment=on("host")).stdout
            for each in environments:
                done = run(made, *words, environment={**each, "POLYBUILD_VERBOSE": "1"})
                assert done.stdout == expected
                yield done


def is_close(found: list[str], expected: list[str]) -> bool:
    """Integers are the same, numbers but for the order of additions."""
    pairs = zip(found, expected, strict=True)
    return all(
        float.fromhex(one) == pytest.approx(float.fromhex(other), rel=1e-5, abs=1e-6)
        if one.startswith(("0x", "-0x"))
        else one == other
        for one, other in pairs
    )
