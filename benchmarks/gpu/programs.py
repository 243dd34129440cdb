"""Programs with kernels for a device, and the same ones as they were written: built, run, compared."""

from __future__ import annotations

import math
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cpu.processes import Failure, Output, run
from benchmarks.cpu.suites import Kernel, OwnKernels, PolyBench, Suite
from polybuild.codegen.file.module import kernel_file
from polybuild.diagnostics import PolybuildError
from polybuild.driver.file import FileResult, compile_source
from polybuild.options import Options
from polybuild.targets.kernel_file import KernelFile
from tests.emulator.stand_ins import RUNTIME, StandIns

LIMIT = 300.0
LEAVE = "--allow-reassociation"
"""What the compiler says would give a region kernels that sums in the order of the original do not have."""
ON_HOST = "it ran on the host"
"""What is wrong with a run that was right otherwise."""
FLAGS = ("-O1", "-ffp-contract=off", "-w", "-I", str(RUNTIME / "include"))
LIBRARIES = ("-lm", "-ldl", "-lpthread")
_MANY_DIGITS, _FEW_DIGITS = 1e-7, 1e-5


class OddSizes(OwnKernels):
    """``tests/kernels`` at sizes that no tile divides."""

    _SIZES: tuple[str, ...] = ("21", "13", "18", "11")
    _OTHERS: tuple[tuple[str, ...], ...] = (
        ("25", "26", "27", "22"),
        ("16", "24", "8", "20"),
    )  # more tiles, odd numbers of them along sums, where two stages take turns; all of them full

    def arguments_for(self, kernel: Kernel) -> list[str]:
        """As many sizes as the kernel has."""
        return list(self._SIZES[: _sizes_of(kernel)])

    def data_of(self, kernel: Kernel) -> str:  # noqa: ARG002
        """The size that is said to the compiler: of no effect, as sizes are arguments."""
        return "mini"

    def other_arguments(self, kernel: Kernel) -> list[list[str]]:
        """Other sizes to try."""
        return [list(sizes[: _sizes_of(kernel)]) for sizes in self._OTHERS]


class Accumulations(OddSizes):
    """What users of devices try first: sums, places, histograms and sparse rows."""

    name = "accumulations"
    _SIZES = ("3001", "13")
    _OTHERS = (("500", "40"), ("33", "2"))

    def __init__(self) -> None:
        super().__init__()
        driver = self.kernels[0].companion
        sources = sorted((Path(__file__).parent / "accumulations").glob("*.c"))
        self.kernels = [Kernel(file.stem, file, driver) for file in sources]


def _sizes_of(kernel: Kernel) -> int:
    described = kernel.source.read_text(encoding="utf-8").rpartition("const struct kernel kernel")[2]
    return len(described.split('"')[3].split())


class ExactDumps(PolyBench):
    """PolyBench/C with results printed to the last bit; its files are copied to ``folder`` for that."""

    def __init__(self, directory: Path, folder: Path) -> None:
        super().__init__(directory)
        self.kernels = [_exact(kernel, folder / kernel.name) for kernel in self.kernels]

    def arguments_for(self, kernel: Kernel) -> list[str]:  # noqa: ARG002
        """None: all was said to the compiler."""
        return []

    def data_of(self, kernel: Kernel) -> str:
        """The size: the smallest one, but where loops are so short then that sums would be reordered.

        The columns of the smallest matrix of gramschmidt depend on each other: what is left of them is
        rounding alone, and other sums are no mistake.
        """
        return "small" if kernel.name == "gramschmidt" else "mini"

    def other_arguments(self, kernel: Kernel) -> list[list[str]]:  # noqa: ARG002
        """No other ones: sizes are said to the compiler."""
        return []

    def results(self, output: Output) -> str:
        """The dump, without what the runtime and the OpenCL compiler say before and after it."""
        dump = re.search(r"==BEGIN DUMP_ARRAYS==.*==END +DUMP_ARRAYS==", output.stderr, re.DOTALL)
        return dump[0] if dump else "no results"


def _exact(kernel: Kernel, folder: Path) -> Kernel:
    shutil.copytree(kernel.source.parent, folder, dirs_exist_ok=True)
    for file in folder.glob("*.[ch]"):
        file.write_text(re.sub(r"%0\.2l?f", "%a", file.read_text(encoding="utf-8")), encoding="utf-8")
    return Kernel(kernel.name, folder / kernel.source.name, kernel.companion)


Exact = OddSizes | ExactDumps


@dataclass(frozen=True, slots=True)
class Workshop:
    """Where programs are made: ``folder`` is for what is built, ``runtime`` is polybuild's, compiled."""

    folder: Path
    stand_ins: StandIns
    suite: Exact

    def flags(self, kernel: Kernel) -> list[str]:
        """All flags that the kernel is compiled with."""
        header = ["-I", str(kernel.companion.parent)]
        return [*FLAGS, *header, *self.suite.flags(kernel, self.suite.data_of(kernel), timed=False)]

    def program(self, kernel: Kernel, source: Path, name: str, *more: str) -> Path:
        """The program made of ``source`` and the kernel's companion; raises Failure."""
        made = self.folder / f"{kernel.name}-{name}"
        run(
            [
                "gcc",
                *self.flags(kernel),
                str(kernel.companion),
                str(source),
                *more,
                *LIBRARIES,
                "-o",
                str(made),
            ],
            limit=LIMIT,
        )
        return made

    def expected(self, kernel: Kernel, arguments: Sequence[str] | None = None) -> str:
        """What the kernel as it was written prints, at the usual sizes if no others are given."""
        made = self.program(kernel, kernel.source, "original")
        sizes = self.suite.arguments_for(kernel) if arguments is None else arguments
        return self.suite.results(run([str(made), *sizes], limit=LIMIT))


@dataclass(frozen=True, slots=True)
class Made:
    """A program for a device: its command, what it must print, and its kernels.

    It has to print that to the bit, but where its sums are ``reordered``: then its numbers have to be near.
    """

    name: str
    command: Sequence[str]
    suite: Suite
    expected: str
    kernels: KernelFile
    reordered: bool = False

    def problem(self, environment: Mapping[str, str]) -> str:
        """What is wrong with a run in ``environment``; empty if nothing is."""
        try:
            done = run(self.command, limit=LIMIT, environment={**environment, "POLYBUILD_VERBOSE": "1"})
        except Failure as failure:
            return str(failure)
        is_same = is_near if self.reordered else str.__eq__
        if not is_same(self.suite.results(done), self.expected):
            return "other results than the original's"
        return "" if "runs on the device" in done.stderr else ON_HOST


def is_near(found: str, expected: str) -> bool:
    """Whether two outputs are the same but for checksums, and for the last digits of numbers."""
    lines = [re.sub(r"checksum \S+", "", text).splitlines() for text in (found, expected)]
    return len(lines[0]) == len(lines[1]) and all(map(_are_near, *lines))


def _are_near(found: str, expected: str) -> bool:
    """The same of one line; of an array of type ``float`` it has fewer digits."""
    digits = _FEW_DIGITS if expected.split()[2:3] == ["float"] else _MANY_DIGITS
    words = found.split(), expected.split()
    return len(words[0]) == len(words[1]) and all(
        one == other or math.isclose(_number(one), _number(other), rel_tol=digits, abs_tol=digits / 100)
        for one, other in zip(*words, strict=True)
    )


def _number(word: str) -> float:
    try:
        return float.fromhex(word) if "0x" in word else float(word)
    except ValueError:
        return math.nan


def make(workshop: Workshop, kernel: Kernel, options: Options, runtime: Path) -> Made:
    """Transform and build one kernel; raises Failure if a region of it is not for the device."""
    with variables(NVCC=workshop.stand_ins.nvcc):
        try:
            result = compile_source(str(kernel.source), options, ["gcc"], workshop.flags(kernel))
        except PolybuildError as error:
            raise Failure(str(error)) from None
    on_host = [
        "; ".join([region.message, *region.remarks]) or "no kernels"
        for region in result.regions
        if region.backend != options.backend
    ]
    if on_host or not result.regions:
        raise Failure(on_host[0] if on_host else "no region")
    text = workshop.folder / f"{kernel.name}-{options.backend}.c"
    text.write_text(result.text, encoding="utf-8", errors="surrogateescape")
    program = workshop.program(kernel, text, options.backend, str(runtime))
    return Made(
        kernel.name,
        [str(program), *workshop.suite.arguments_for(kernel)],
        workshop.suite,
        workshop.expected(kernel),
        kernels_of(result),
        options.allow_reassociation is True,
    )


def kernels_of(result: FileResult) -> KernelFile:
    """The kernels of a file all of whose regions have some."""
    devices = [each.text.kernels for each in result.details if each is not None]
    return kernel_file([each for each in devices if each is not None])


def build_runtime(folder: Path) -> Path:
    """The runtime as a library."""
    sources = sorted(map(str, (RUNTIME / "src").glob("*.c")))
    run(["gcc", "-c", *FLAGS, *sources], limit=LIMIT, directory=folder)
    library = folder / "libruntime.a"
    run(["ar", "rcs", str(library), *sorted(map(str, folder.glob("*.o")))], limit=LIMIT)
    return library


@contextmanager
def variables(**values: str) -> Iterator[None]:
    """Set variables of the environment for a while."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
