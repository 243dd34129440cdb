"""Whether kernels are right, without a GPU: ``python -m benchmarks.gpu.check``.

For each kernel of tests/kernels, of ``accumulations`` and, where it is, of PolyBench/C, one line, and one
for those of benchmarks/contraction:

- ``nvcc``: the kernels that nvcc compiles for sm_90, the most registers that one uses, and the bytes
  that are spilled, which must be none;
- ``emulated``: with the usual tiles, and with small ones so that there are several, in four orders of
  blocks and threads, each access checked (races, uninitialised reads, bounds), results to the bit;
- ``OpenCL``: the same comparison on the OpenCL device of this machine (PoCL).

Where the rules leave a kernel to the host, because nothing but sums could be shared, it is looked at with
leave to reorder them: its numbers are near those of the original then. The exit code is 0 if all is right.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from benchmarks.contraction.__main__ import KERNELS
from benchmarks.cpu.processes import Failure
from benchmarks.cpu.suites import Kernel
from benchmarks.gpu.programs import (
    FLAGS,
    LEAVE,
    Accumulations,
    Exact,
    ExactDumps,
    Made,
    OddSizes,
    Workshop,
    build_runtime,
    kernels_of,
    make,
)
from polybuild.driver.file import compile_source
from polybuild.machine.model import Multiprocessor
from polybuild.options import Options
from polybuild.targets.gpu.nvcc import ImageError, build_image, find_nvcc
from polybuild.targets.gpu.spills import build_with_fewest_spills
from polybuild.targets.kernel_file import KernelFile
from tests.emulator.stand_ins import ORDERS, build

SMALL = {"min_work": "0", "tile_sizes": "8,8,4", "block_sizes": "4,4", "grid_sizes": "2,1"}
USUAL = {"min_work": "0"}
REORDERED = {"allow_reassociation": "on"}
RIGHT = "right"
NEAR = "right, sums reordered"


@dataclass(frozen=True, slots=True)
class Checks:
    """What is looked at: ``settings`` are more options of polybuild, ``nvcc`` is empty without one."""

    workshop: Workshop
    runtime: Path
    settings: dict[str, str]
    nvcc: str
    opencl: bool

    def row(self, kernel: Kernel) -> tuple[str, str, str]:
        """The entries of one line."""
        row = self._row_as_asked(kernel)
        if not self.settings and LEAVE in row[1]:
            found = replace(self, settings=REORDERED).row(kernel)
            return found[0], *(NEAR if each == RIGHT else each for each in found[1:])
        return row

    def _row_as_asked(self, kernel: Kernel) -> tuple[str, str, str]:
        compiled, emulated = _told(lambda: self._usual(kernel))
        if emulated == RIGHT:
            emulated = _told(lambda: (self._small(kernel), ""))[0]
        return compiled, emulated, _told(lambda: (self._on_opencl(kernel), ""))[0] if self.opencl else "-"

    def _options(self, backend: str, settings: dict[str, str]) -> Options:
        return Options().with_settings({**settings, "backend": backend, **self.settings})

    def _usual(self, kernel: Kernel) -> tuple[str, str]:
        made = make(self.workshop, kernel, self._options("cuda", USUAL), self.runtime)
        emulated = self._in_all_orders(made, "usual tiles")
        if not self.nvcc:
            return "-", emulated
        return self.compiled(made.kernels), emulated

    def compiled(self, kernels: KernelFile) -> str:
        """What nvcc makes of ``kernels``."""
        try:
            build = partial(build_image, nvcc=self.nvcc, architectures=(90,), contract=True)
            image = build_with_fewest_spills(build, kernels, Multiprocessor().threads)
        except ImageError as error:
            return str(error)
        usage = [each for each in image.usage if each.architecture == "sm_90"]
        most, spilled = max(each.registers for each in usage), sum(each.spills for each in usage)
        return f"{len(usage)} kernels, {most} registers, {spilled} spilled"

    def _small(self, kernel: Kernel) -> str:
        made = make(self.workshop, kernel, self._options("cuda", SMALL), self.runtime)
        return self._in_all_orders(made, "small tiles")

    def _in_all_orders(self, made: Made, tiles: str) -> str:
        for order in ORDERS:
            problem = made.problem(self.workshop.stand_ins.environment(order=order))
            if problem:
                return f"{tiles}, {order}: {problem}"
        return RIGHT

    def _on_opencl(self, kernel: Kernel) -> str:
        made = make(self.workshop, kernel, self._options("opencl", SMALL), self.runtime)
        return made.problem({**os.environ, "POLYBUILD_BACKEND": "opencl"}) or RIGHT


def _told(work: Callable[[], tuple[str, str]]) -> tuple[str, str]:
    """What ``work`` found, or what kept it from that."""
    try:
        return work()
    except Failure as failure:
        return str(failure), str(failure)


def main() -> int:
    """Print the table; the exit code."""
    parser = argparse.ArgumentParser("python -m benchmarks.gpu.check", description=__doc__.partition("\n")[0])
    parser.add_argument("kernels", nargs="*", help="only these")
    parser.add_argument("--polybench", type=Path, metavar="DIR", help="the kernels of PolyBench/C, too")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="options of polybuild"
    )
    parser.add_argument("--no-opencl", action="store_true", help="leave OpenCL out")
    request = parser.parse_args()
    settings = dict(each.split("=", 1) for each in request.set)
    rows: list[bool] = []
    with tempfile.TemporaryDirectory(prefix="polybuild-check-") as name:
        folder = Path(name)
        stand_ins, runtime = build(folder / "stand-ins"), build_runtime(folder)
        for suite in _suites(request.polybench, folder):
            chosen = [each for each in suite.kernels if not request.kernels or each.name in request.kernels]
            workshop = Workshop(folder, stand_ins, suite)
            checks = Checks(workshop, runtime, settings, find_nvcc() or "", not request.no_opencl)
            print(f"{suite.name}:" if chosen else "", end="\n" if chosen else "", flush=True)
            rows += [_printed(kernel.name, checks.row(kernel)) for kernel in chosen]
        if not settings and (not request.kernels or "contraction" in request.kernels):
            rows.append(_contraction(checks))
    right = sum(rows)
    print(f"{right} of {len(rows)} kernels are right")
    return 0 if right == len(rows) else 1


def _suites(polybench: Path | None, folder: Path) -> Iterator[Exact]:
    yield OddSizes()
    yield Accumulations()
    if polybench:
        yield ExactDumps(polybench, folder)


def _contraction(checks: Checks) -> bool:
    """Whether the kernels with temporary arrays are right: their own command tells of each."""
    options = Options().with_settings({**USUAL, "backend": "cuda", "nvcc": checks.workshop.stand_ins.nvcc})
    free = checks.workshop.folder / KERNELS.name
    free.write_text(KERNELS.read_text(encoding="utf-8").replace(" schedule(original)", ""), encoding="utf-8")
    result = compile_source(str(free), options, ["gcc"], ["-std=gnu99", *FLAGS])
    compiled = checks.compiled(kernels_of(result)) if checks.nvcc else "-"
    found = []
    for backend in ("cuda", "opencl") if checks.opencl else ("cuda",):
        command = [sys.executable, "-m", "benchmarks.contraction", "--devices", backend]
        done = subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
        found.append(RIGHT if done.returncode == 0 else "wrong (python -m benchmarks.contraction --devices)")
    return _printed("contraction", (compiled, found[0], found[1] if checks.opencl else "-"))


def _printed(name: str, row: Sequence[str]) -> bool:
    compiled, emulated, opencl = row
    print(f"{name:16} nvcc: {compiled:40} emulated: {emulated:8} OpenCL: {opencl}", flush=True)
    wrong = not compiled.endswith(" 0 spilled") and compiled != "-"
    return not wrong and emulated in {RIGHT, NEAR} and opencl in {RIGHT, NEAR, "-"}


if __name__ == "__main__":
    sys.exit(main())
