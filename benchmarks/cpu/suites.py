"""What is measured: our own kernels, or the public PolyBench/C tree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmarks.cpu.processes import Failure, Output

ROOT = Path(__file__).parents[2]
SIZES = ("mini", "small", "medium", "large")


@dataclass(frozen=True, slots=True)
class Kernel:
    """One file with a region, and the file that makes a program of it."""

    name: str
    source: Path
    companion: Path


class Suite(Protocol):
    """The questions that a set of kernels answers."""

    name: str
    kernels: Sequence[Kernel]

    def flags(self, kernel: Kernel, size: str, *, timed: bool) -> list[str]:
        """The compiler flags of a program that prints its time, or else its results."""
        ...

    def arguments(self, size: str) -> list[str]:
        """What to say to the program when it runs."""
        ...

    def seconds(self, output: Output) -> float:
        """The time that a timed program printed."""
        ...

    def results(self, output: Output) -> str:
        """The results that an untimed program printed."""
        ...


class OwnKernels:
    """``tests/kernels``: sizes at run time, results as checksums of every array."""

    name = "own kernels"

    def __init__(self) -> None:
        directory = ROOT / "tests" / "kernels"
        driver = directory / "driver.c"
        sources = sorted(file for file in directory.glob("*.c") if file != driver)
        self.kernels: Sequence[Kernel] = [Kernel(file.stem, file, driver) for file in sources]

    def flags(self, kernel: Kernel, size: str, *, timed: bool) -> list[str]:  # noqa: ARG002
        """The driver's header; size and purpose are said at run time."""
        return ["-I", str(kernel.source.parent)]

    def arguments(self, size: str) -> list[str]:
        """The name of the size."""
        return [size]

    def seconds(self, output: Output) -> float:
        """From the line ``seconds S``."""
        return _number(r"^seconds (\S+)$", output.stdout)

    def results(self, output: Output) -> str:
        """All but the times."""
        return re.sub(r"^seconds .*\n", "", output.stdout, flags=re.MULTILINE)


class PolyBench:
    """An unpacked PolyBench/C 4.2.1: sizes at compile time, results as a dump of the live-out arrays."""

    name = "PolyBench/C"

    def __init__(self, directory: Path) -> None:
        self._utilities = directory.resolve() / "utilities"
        names = (self._utilities / "benchmark_list").read_text(encoding="utf-8").split()
        sources = [directory.resolve() / name for name in names]
        companion = self._utilities / "polybench.c"
        self.kernels: Sequence[Kernel] = [Kernel(file.stem, file, companion) for file in sources]

    def flags(self, kernel: Kernel, size: str, *, timed: bool) -> list[str]:
        """The suite's own macros for size and purpose."""
        purpose = "-DPOLYBENCH_TIME" if timed else "-DPOLYBENCH_DUMP_ARRAYS"
        includes = ["-I", str(self._utilities), "-I", str(kernel.source.parent)]
        return [*includes, f"-D{size.upper()}_DATASET", purpose]

    def arguments(self, size: str) -> list[str]:  # noqa: ARG002
        """None: all was said to the compiler."""
        return []

    def seconds(self, output: Output) -> float:
        """The only thing printed."""
        return _number(r"^(\d+\.\d+)$", output.stdout)

    def results(self, output: Output) -> str:
        """The dump goes to the error stream."""
        return output.stderr


def _number(pattern: str, text: str) -> float:
    match = re.search(pattern, text, flags=re.MULTILINE)
    if match is None:
        raise Failure("printed no time")
    return float(match.group(1))
