"""Whether results stay right when a driver fails: ``python -m benchmarks.gpu.failures``.

Each kernel runs once for every call that it makes of the driver, and that call fails; then again, and
all calls after it fail as well. This is done with the emulated driver of CUDA, and with a library in
front of the machine's OpenCL. Whatever fails, the results must be the original's: then the exit code is 0.
Where the only values of a resident array are lost with the device the program must stop instead: counted.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cpu.processes import Failure
from benchmarks.cpu.suites import Kernel
from benchmarks.gpu.check import SMALL
from benchmarks.gpu.programs import ON_HOST, Made, OddSizes, Workshop, build_runtime, make
from polybuild.options import Options
from tests.emulator import failing_opencl
from tests.emulator.stand_ins import build

KERNELS = ("gemm", "jacobi-2d", "bicg", "lu", "resident")
_STOPPED = "signal 6: polybuild: the program cannot go on"


@dataclass(frozen=True, slots=True)
class Driver:
    """One that fails at will: how many calls a program makes, and the environment for ``7`` or ``7+``."""

    name: str
    calls: Callable[[list[str]], int]
    environment: Callable[[str], dict[str, str]]


def drivers(workshop: Workshop) -> Iterator[Driver]:
    """Those of this machine."""
    cuda = workshop.stand_ins
    yield Driver(
        "cuda",
        lambda command: int(cuda.report(command)["calls"]),
        lambda fail: cuda.environment(fail=fail),
    )
    opencl = failing_opencl.build(workshop.folder / "opencl")
    if opencl is not None:
        yield Driver("opencl", opencl.calls, opencl.environment)


def kernels(workshop: Workshop) -> list[Kernel]:
    """Those of tests/kernels, and one whose arrays stay on the device between regions."""
    known = workshop.suite.kernels
    return [*known, Kernel("resident", Path(__file__).with_name("resident.c"), known[0].companion)]


@dataclass(frozen=True, slots=True)
class Found:
    """How many failures were tried; after how many the host went on, or the program stopped; the others."""

    calls: int
    tried: int
    taken_over: int
    stopped: int
    wrong: tuple[str, ...]


def failures(made: Made, driver: Driver, *, first: int = 1, step: int = 1) -> Found:
    """Let every ``step``-th call from the ``first`` on fail, alone and with all after it."""
    calls = driver.calls(list(made.command))
    tried = [f"{number}{beyond}" for number in range(first, calls + 1, step) for beyond in ("", "+")]
    problems = {fail: made.problem(driver.environment(fail)) for fail in tried}
    wrong = tuple(
        f"{fail}: {problem}" for fail, problem in problems.items() if problem not in {"", ON_HOST, _STOPPED}
    )
    outcomes = list(problems.values())
    return Found(calls, len(tried), outcomes.count(ON_HOST), outcomes.count(_STOPPED), wrong)


def main() -> int:
    """Print a line for each kernel and driver; the exit code."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.gpu.failures", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("kernels", nargs="*", default=KERNELS, help=f"of tests/kernels ({' '.join(KERNELS)})")
    parser.add_argument("--step", type=int, default=1, metavar="N", help="only every N-th call (1)")
    request = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="polybuild-failures-") as name:
        folder = Path(name)
        workshop = Workshop(folder, build(folder / "stand-ins"), OddSizes())
        runtime = build_runtime(folder)
        for driver in drivers(workshop):
            options = Options().with_settings({**SMALL, "backend": driver.name})
            for kernel in (each for each in kernels(workshop) if each.name in request.kernels):
                try:
                    found = failures(make(workshop, kernel, options, runtime), driver, step=request.step)
                except Failure as failure:
                    found = Found(0, 0, 0, 0, (str(failure),))
                told = f"{found.calls} calls, {found.tried} failures, {found.taken_over} runs on the host"
                told += f", {found.stopped} stopped" if found.stopped else ""
                print(
                    f"{driver.name:8} {kernel.name:16} {told}" + "".join(f"; {each}" for each in found.wrong),
                    flush=True,
                )
                failed += bool(found.wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
