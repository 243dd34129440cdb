"""Whether mistakes in kernels would be seen: ``python -m benchmarks.gpu.mutations``.

Into each kernel mistakes are put, one at a time: every barrier is deleted, every bound shifted
outwards by one, every transfer dropped. The checks of the emulator, or the results, must show it, at
one of several sizes; a deleted barrier or a dropped transfer that does not makes the exit code 1. A shifted
bound that does not show is of one of three kinds, at all of these sizes: kernels access memory exactly as
often as before, as another condition hides it (``same``); they read more and write to the device's memory as
often as before, as where a tile without points is visited (``idle``); or they write more, which nothing
reads, or which is written again. The last ones are listed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.cpu.processes import Failure
from benchmarks.cpu.suites import Kernel
from benchmarks.gpu.check import REORDERED, SMALL
from benchmarks.gpu.programs import LEAVE, ExactDumps, Made, OddSizes, Workshop, build_runtime, make
from polybuild.options import Options
from polybuild.targets.gpu.nvcc import build_image
from tests.emulator.nvcc import places, with_mistakes
from tests.emulator.stand_ins import ORDERS, build

KINDS = ("barrier", "bound", "atomic", "multiply", "wait", "drop")
# Blocks take several tiles, but no two that lie side by side: a step too far would do the same work
# twice there, of which nothing comes. All that comes back is compared, printed or not.
SETTINGS = {**SMALL, "grid_sizes": "2,2", "verify": "on", "backend": "cuda"}
_COMPARED = {"POLYBUILD_VERIFY": "1", "POLYBUILD_VERIFY_EXIT": "3"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one mistake: ``seen``, ``same``, ``idle`` or ``unseen``."""

    mistake: str
    outcome: str


class Mutator:
    """Puts mistakes into one program and looks whether they show, at the usual sizes and at others."""

    def __init__(self, workshop: Workshop, kernel: Kernel, options: Options, runtime: Path) -> None:
        made = make(workshop, kernel, options, runtime)
        self._kernels = made.kernels.text
        self._runs = [made]
        for sizes in workshop.suite.other_arguments(kernel):
            command, expected = [made.command[0], *sizes], workshop.expected(kernel, sizes)
            self._runs.append(replace(made, command=command, expected=expected))
        self._stand_ins = workshop.stand_ins
        self._folder = workshop.folder
        image = self._folder / f"{kernel.name}.image"
        text = with_mistakes(self._kernels)
        image.write_bytes(build_image(text, self._stand_ins.nvcc, (80,), contract=False).data)
        self._always = {**_COMPARED, "POLYBUILD_EMULATOR_IMAGE": str(image)}
        self._counts = [self._report(each, self._always) for each in self._runs]

    def mistakes(self, most: int) -> Iterator[str]:
        """At most ``most`` mistakes of each kind, spread evenly; 0: all there are."""
        copies = self._counts[0]["copies"]
        for kind in KINDS:
            count = copies["in"][0] + copies["out"][0] if kind == "drop" else places(self._kernels, kind)
            step = max(1, -(-count // most)) if most else 1
            yield from (f"{kind}:{number}" for number in range(1, count + 1, step))

    def outcome(self, mistake: str) -> Outcome:
        """Run the program with ``mistake``."""
        kind, _, number = mistake.partition(":")
        more = self._always if kind == "drop" else {**self._always, "POLYBUILD_EMULATOR_MISTAKE": mistake}
        drop = int(number) if kind == "drop" else 0
        orders = ORDERS if kind == "barrier" else ORDERS[:1]
        environments = [self._stand_ins.environment(order=order, drop=drop, **more) for order in orders]
        if any(run.problem(each) for run in self._runs for each in environments):
            return Outcome(mistake, "seen")
        if kind != "bound":
            return Outcome(mistake, "unseen")
        after = [self._report(each, more, mistake) for each in self._runs]
        pairs = list(zip(map(_accesses, self._counts), map(_accesses, after), strict=True))
        if all(old == new for old, new in pairs):
            return Outcome(mistake, "same")
        idle = all(_writes(old) == _writes(new) for old, new in pairs)
        return Outcome(mistake, "idle" if idle else "unseen")

    def _report(self, made: Made, more: dict[str, str], name: str = "right") -> dict[str, Any]:
        file = self._folder / f"{made.name}-{name}.json"
        return self._stand_ins.report(list(made.command), file=file, **more)


def _accesses(report: dict[str, Any]) -> dict[tuple[str, str], int]:
    """How often each kernel read and wrote each kind of memory."""
    return {
        (name, use): counts["accesses"]
        for name, kernel in report["kernels"].items()
        for use, counts in kernel.items()
        if isinstance(counts, dict)
    }


def _writes(accesses: dict[tuple[str, str], int]) -> dict[str, int]:
    """How often each kernel, of those that do, wrote to the device's memory."""
    return {name: count for (name, use), count in accesses.items() if use == "global_writes" and count}


def main() -> int:
    """Print what was seen for each kernel; the exit code."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.gpu.mutations", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("kernels", nargs="*", help="only these")
    parser.add_argument("--polybench", type=Path, metavar="DIR", help="PolyBench/C, instead of tests/kernels")
    parser.add_argument(
        "--most", type=int, default=0, metavar="N", help="of each kind, for each kernel (all)"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="options of polybuild"
    )
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="how many at a time (1)")
    request = parser.parse_args()
    own = dict(each.split("=", 1) for each in request.set)
    options = Options().with_settings({**SETTINGS, **own})
    failed = 0
    with tempfile.TemporaryDirectory(prefix="polybuild-mutations-") as name:
        folder = Path(name)
        suite = ExactDumps(request.polybench, folder) if request.polybench else OddSizes()
        workshop = Workshop(folder, build(folder / "stand-ins"), suite)
        runtime = build_runtime(folder)
        for kernel in suite.kernels:
            if request.kernels and kernel.name not in request.kernels:
                continue
            try:
                mutator = _mutator(workshop, kernel, options, runtime)
            except Failure as failure:
                print(f"{kernel.name:16} {failure}", flush=True)
                failed += 1
                continue
            with ThreadPoolExecutor(request.jobs) as pool:
                failed += _print(kernel.name, list(pool.map(mutator.outcome, mutator.mistakes(request.most))))
    return 1 if failed else 0


def _mutator(workshop: Workshop, kernel: Kernel, options: Options, runtime: Path) -> Mutator:
    """One for ``kernel``, whose sums may be reordered if it has no kernels otherwise."""
    try:
        return Mutator(workshop, kernel, options, runtime)
    except Failure as failure:
        if LEAVE not in str(failure):
            raise
        return Mutator(workshop, kernel, options.with_settings(REORDERED), runtime)


def _print(name: str, outcomes: Sequence[Outcome]) -> bool:
    """One line for a kernel; whether a barrier or a transfer can be left out unseen."""
    parts = []
    for kind in KINDS:
        found = [each.outcome for each in outcomes if each.mistake.startswith(kind)]
        hidden = [f"{found.count(each)} {each}" for each in ("same", "idle") if each in found]
        parts.append(
            f"{kind} {found.count('seen')}/{len(found)}" + (f" ({', '.join(hidden)})" if hidden else "")
        )
    unseen = [each.mistake for each in outcomes if each.outcome == "unseen"]
    print(f"{name:16} {', '.join(parts)}" + (f"; unseen: {' '.join(unseen)}" if unseen else ""), flush=True)
    return any(not each.startswith("bound") for each in unseen)


if __name__ == "__main__":
    sys.exit(main())
