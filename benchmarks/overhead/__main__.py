"""The command line: ``python -m benchmarks.overhead``.

Three steps, each in turn (A B C A B C ...) by the bare compiler, by the bare
compiler on the file that it gets to see from polybuild, and through ``polybuild
cc``: a file without regions, a file whose result is in the cache, a file whose
result is not. What polybuild costs is the difference of the last two; that the
transformed file is longer shows in the first two. Processor time (user and
system, of all processes of a step) depends less than wall time on what else the
machine does; both are printed. Differences are medians of those in one round.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.cpu import machine
from benchmarks.overhead.timing import POLYBUILD, ROOT, Times, environment_of, timed

PLAIN = ROOT / "examples" / "heat" / "main.c"
MARKED = ROOT / "examples" / "heat" / "solver.c"


@dataclass(frozen=True, slots=True)
class Step:
    """One kind of compilation, and how much processor time polybuild may take, in seconds (0: no bound)."""

    name: str
    source: Path
    bound: float
    cached: bool = True


STEPS = (
    Step("no regions", PLAIN, 0.030),
    Step("regions, found in the cache", MARKED, 0.150),
    Step("regions, transformed", MARKED, 0.0, cached=False),
)


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of a step, one entry a round."""

    step: str
    original: Sequence[Times]
    transformed: Sequence[Times]
    wrapped: Sequence[Times]

    def over(self, what: str) -> float:
        """The median of what polybuild adds, in ``processor`` or ``wall`` time."""
        pairs = zip(self.transformed, self.wrapped, strict=True)
        return statistics.median(getattr(more, what) - getattr(less, what) for less, more in pairs)


def main() -> int:
    """Measure and print the table; 0 if every step keeps within its bound of processor time."""
    parser = argparse.ArgumentParser("python -m benchmarks.overhead", description=__doc__)
    parser.add_argument("--runs", type=int, default=21, metavar="N", help="rounds; the medians count (21)")
    parser.add_argument("--cc", default="gcc", help="the compiler (gcc)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every time and the machine here")
    arguments = parser.parse_args()
    about = machine.describe(arguments.cc)
    print(
        f"milliseconds of processor time, {arguments.cc} -O2 -c, median of {arguments.runs} rounds; ", end=""
    )
    print(f"{about['processor']}, {about['cores']} cores, load {about['load']}\n")
    print("| step | original | transformed | wrapper | polybuild | its wall time | promised |")
    print("|---|---|---|---|---|---|---|")
    rows = []
    with tempfile.TemporaryDirectory(prefix="polybuild-overhead-") as folder:
        for step in STEPS:
            row = measure(step, arguments.cc, arguments.runs, Path(folder))
            rows.append(row)
            columns = (row.original, row.transformed, row.wrapped)
            seconds = [statistics.median(times.processor for times in column) for column in columns]
            seconds += [row.over("processor"), row.over("wall")]
            figures = " | ".join(f"{1000 * value:.1f}" for value in seconds)
            promised = f"< {1000 * step.bound:.0f}" if step.bound else ""
            print(f"| {step.name} | {figures} | {promised} |", flush=True)
    if arguments.json:
        record = {"machine": about, "runs": arguments.runs, "steps": [asdict(row) for row in rows]}
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    pairs = zip(STEPS, rows, strict=True)
    return int(any(step.bound and row.over("processor") >= step.bound for step, row in pairs))


def measure(step: Step, compiler: str, runs: int, folder: Path) -> Row:
    """``runs`` rounds of a step, after one that does not count."""
    environment = environment_of(folder / "cache" if step.cached else None)
    same, flags = folder / step.source.name, ["-O2", "-iquote", str(step.source.parent)]
    make = ["compile", str(step.source), "-o", str(same), "--", compiler, "-fopenmp", *flags]
    timed([*POLYBUILD, *make], environment)
    words = ["-c", "-o", str(folder / "out.o")]
    openmp = ["-fopenmp"] if step.source == MARKED else []
    commands = (
        [compiler, *flags, *words, str(step.source)],
        [compiler, *flags, *openmp, *words, str(same)],
        [*POLYBUILD, "cc", "--", compiler, *flags, *words, str(step.source)],
    )
    rounds = [[timed(command, environment) for command in commands] for _ in range(runs + 1)]
    return Row(step.name, *map(list, zip(*rounds[1:], strict=True)))


if __name__ == "__main__":
    sys.exit(main())
