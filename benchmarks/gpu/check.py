"""Whether kernels are right, without a GPU: ``python -m benchmarks.gpu.check``.

For each kernel of a suite, one line:

- ``nvcc``: the kernels that nvcc compiles for sm_90, the most registers that one uses, and the bytes
  that are spilled;
- ``emulated``: with the usual tiles, and with small ones so that there are several, in four orders of
  blocks and threads, each access checked (races, uninitialised reads, bounds), results to the bit;
- ``OpenCL``: the same comparison on the OpenCL device of this machine (PoCL).

The exit code is 0 if all is right.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cpu.processes import Failure
from benchmarks.cpu.suites import Kernel
from benchmarks.gpu.programs import ExactDumps, Made, OddSizes, Workshop, build_runtime, make
from polybuild.options import Options
from polybuild.targets.gpu.nvcc import ImageError, build_image, find_nvcc
from tests.emulator.stand_ins import ORDERS, build

SMALL = {"min_work": "0", "tile_sizes": "8,8,4", "block_sizes": "4,4", "grid_sizes": "2,1"}
USUAL = {"min_work": "0"}
RIGHT = "right"


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
        try:
            image = build_image(made.kernels, self.nvcc, (90,), contract=True)
        except ImageError as error:
            return str(error), emulated
        usage = [each for each in image.usage if each.architecture == "sm_90"]
        most, spilled = max(each.registers for each in usage), sum(each.spills for each in usage)
        return f"{len(usage)} kernels, {most} registers, {spilled} spilled", emulated

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
    parser.add_argument("--polybench", type=Path, metavar="DIR", help="PolyBench/C, instead of tests/kernels")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="options of polybuild"
    )
    parser.add_argument("--no-opencl", action="store_true", help="leave OpenCL out")
    request = parser.parse_args()
    settings = dict(each.split("=", 1) for each in request.set)
    with tempfile.TemporaryDirectory(prefix="polybuild-check-") as name:
        folder = Path(name)
        suite = ExactDumps(request.polybench, folder) if request.polybench else OddSizes()
        workshop = Workshop(folder, build(folder / "stand-ins"), suite)
        chosen = [each for each in suite.kernels if not request.kernels or each.name in request.kernels]
        checks = Checks(workshop, build_runtime(folder), settings, find_nvcc() or "", not request.no_opencl)
        rows = [_printed(kernel.name, checks.row(kernel)) for kernel in chosen]
    right = sum(rows)
    print(f"{right} of {len(rows)} kernels are right")
    return 0 if right == len(rows) else 1


def _printed(name: str, row: Sequence[str]) -> bool:
    compiled, emulated, opencl = row
    print(f"{name:16} nvcc: {compiled:40} emulated: {emulated:8} OpenCL: {opencl}", flush=True)
    wrong = "kernels," not in compiled and compiled != "-"
    return not wrong and emulated == RIGHT and opencl in {RIGHT, "-"}


if __name__ == "__main__":
    sys.exit(main())
