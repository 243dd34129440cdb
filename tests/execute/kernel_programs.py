"""The kernels of ``tests/kernels`` as programs: transform, build, run, compare."""

from __future__ import annotations

import functools
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from polybuild.driver.file import FileResult, compile_source
from polybuild.options import Options

DIRECTORY = Path(__file__).parents[1] / "kernels"
DRIVER = DIRECTORY / "driver.c"
KERNELS = sorted(path.stem for path in DIRECTORY.glob("*.c") if path != DRIVER)

Sizes = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A compiler and its flags; every kernel must compile under it without a warning.

    Contraction to fused multiply-adds is off throughout, so that all toolchains
    and all legal orders of a kernel give the same bits.
    """

    name: str
    compiler: str
    flags: tuple[str, ...]

    @property
    def command_line(self) -> tuple[str, ...]:
        return ("-ffp-contract=off", "-Wall", "-Wextra", "-Werror", *self.flags, "-I", str(DIRECTORY))


GCC = Toolchain("gcc", "gcc", ("-O2", "-fopenmp"))
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize=vla-bound", "-fno-sanitize-recover=all")
SERIAL = Toolchain("serial", "gcc", ("-O2", "-Wno-unknown-pragmas"))


def source(kernel: str) -> Path:
    return DIRECTORY / f"{kernel}.c"


@functools.cache
def transform(kernel: str, options: Options, toolchain: Toolchain = GCC) -> FileResult:
    """The kernel's file, transformed for ``toolchain``."""
    return compile_source(str(source(kernel)), options, [toolchain.compiler], toolchain.command_line)


def build(file: Path, program: Path, toolchain: Toolchain) -> Path:
    """Compile ``file`` with the driver; a warning fails the test."""
    _compile(toolchain, file, _driver(toolchain), "-lm", "-o", program)
    return program


@functools.cache
def _driver(toolchain: Toolchain) -> Path:
    """The driver's object: it takes four times as long to compile as a kernel."""
    made = Path(_OBJECTS.name, f"{len(list(Path(_OBJECTS.name).iterdir()))}.o")
    _compile(toolchain, "-c", DRIVER, "-o", made)
    return made


_OBJECTS = tempfile.TemporaryDirectory(prefix="polybuild-driver-")


def _compile(toolchain: Toolchain, *words: str | Path) -> None:
    command = [toolchain.compiler, *toolchain.command_line, *map(str, words)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"


def build_transformed(kernel: str, options: Options, toolchain: Toolchain, directory: Path) -> Path:
    """Transform the kernel, demand that all its regions were, and compile what came out."""
    return build_text(kernel, transform(kernel, options, toolchain), toolchain, directory)


def build_text(kernel: str, result: FileResult, toolchain: Toolchain, directory: Path) -> Path:
    """Compile what became of the kernel, all of whose regions must be transformed; each text once."""
    assert [region.status for region in result.regions] == ["transformed"], result.diagnostics
    made = _PROGRAMS.get((result.text, toolchain))
    if made is None:
        file = directory / f"{kernel}-{toolchain.name}.c"
        file.write_text(result.text, encoding="utf-8")
        made = _PROGRAMS[result.text, toolchain] = build(file, file.with_suffix(""), toolchain)
    return made


_PROGRAMS: dict[tuple[str, Toolchain], Path] = {}
"""What was built, by its text: several options often make the same of a kernel."""


def run(program: Path, arguments: tuple[str, ...], threads: int = 1) -> list[str]:
    """What the program prints, without the times."""
    # Threads that wait must not spin: there may be more of them than cores.
    environment = os.environ | {"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}
    command = [str(program), *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, f"{command} ended with {done.returncode}\n{done.stderr}"
    return [line for line in done.stdout.splitlines() if not line.startswith("seconds")]


def shapes(kernel: str, extents: Sizes) -> Sizes:
    """As many of ``extents`` as the kernel has sizes."""
    header = source(kernel).read_text(encoding="utf-8").rpartition("const struct kernel kernel")[2]
    return extents[: len(header.split('"')[3].split())]
