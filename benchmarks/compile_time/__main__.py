"""What the tool takes beside the compiler: ``python -m benchmarks.compile_time``.

Processor time (user and system, of all processes) of the whole command without a cache, of the compiler on
the original, and of the compiler on what the tool made of it; each the median of some runs in turn.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.compile_time.subjects import Subject, named, own_subjects, polybench
from benchmarks.cpu import machine
from benchmarks.overhead.timing import POLYBUILD, environment_of, timed

_HEAD = "group           file                              polybuild  original  output"


@dataclass(frozen=True, slots=True)
class Row:
    """Seconds of processor time of a file, each a median."""

    group: str
    name: str
    polybuild: float
    original: float
    output: float

    def line(self) -> str:
        """The row of the table."""
        seconds = (self.polybuild, self.original, self.output)
        return f"{self.group:15} {self.name:34}" + " ".join(f"{each:8.2f}" for each in seconds)


def main() -> int:
    """Measure, print and store; 0 if everything could be compiled."""
    parser = argparse.ArgumentParser("python -m benchmarks.compile_time", description=__doc__)
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="runs; the median counts (3)")
    parser.add_argument("--cc", default="gcc", help="the compiler (gcc)")
    parser.add_argument("--cflags", default="-O3 -march=native -w", help="its flags (-O3 -march=native -w)")
    parser.add_argument("--polybench", type=Path, metavar="DIR", help="an unpacked PolyBench/C 4.2.1, too")
    parser.add_argument("--only", default="", metavar="TEXT", help="what has this in its group or name")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures and the machine here")
    parser.add_argument("files", type=Path, nargs="*", help="these instead of ours")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="polybuild-compile-time-") as folder:
        flags = arguments.cflags.split()
        ours = named(arguments.files, ()) if arguments.files else own_subjects(Path(folder))
        others = polybench(arguments.polybench) if arguments.polybench else ()
        wanted = [each for each in (*ours, *others) if arguments.only in f"{each.group} {each.name}"]
        rows, failures = measured(wanted, [arguments.cc, *flags], arguments.runs, Path(folder))
    for line in summary(rows):
        print(line)
    print("\n".join(failures))
    if arguments.json:
        record = {"machine": machine.describe(arguments.cc), "rows": [asdict(row) for row in rows]}
        arguments.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return int(bool(failures))


def measured(
    subjects: Iterable[Subject], compiler: Sequence[str], runs: int, folder: Path
) -> tuple[list[Row], list[str]]:
    """The rows of ``subjects``, printed as they are found, and what failed."""
    rows, failures = [], []
    timed(
        [*POLYBUILD, "doctor"], environment_of(None)
    )  # its modules are compiled, and in memory, from now on
    print(_HEAD)
    for each in subjects:
        try:
            row = measure(each, compiler, runs, folder)
        except subprocess.CalledProcessError as error:
            failures.append(f"{each.name}: {error.stderr.decode(errors='replace').strip()[-200:]}")
            continue
        print(row.line(), flush=True)
        rows.append(row)
    return rows, failures


def measure(subject: Subject, compiler: Sequence[str], runs: int, folder: Path) -> Row:
    """One file."""
    output = folder / "output.c"
    command = [*compiler, *subject.flags, "-I", str(subject.source.parent)]
    words = ["-fopenmp", "-c", "-o", str(folder / "out.o")]
    commands = (
        [*POLYBUILD, "compile", str(subject.source), "-o", str(output), "--", *command],
        [*command, *words, str(subject.source)],
        [*command, *words, str(output)],
    )
    environment = environment_of(None)
    rounds = [[timed(each, environment).processor for each in commands] for _ in range(runs)]
    return Row(subject.group, subject.name, *map(statistics.median, zip(*rounds, strict=True)))


def summary(rows: Sequence[Row]) -> list[str]:
    """The median and the largest figure of each group."""
    lines = []
    for group in dict.fromkeys(each.group for each in rows):
        own = [each for each in rows if each.group == group]
        columns = [[getattr(each, what) for each in own] for what in ("polybuild", "original", "output")]
        lines += [
            Row(group, name, *map(choose, columns)).line()
            for name, choose in (("median", statistics.median), ("largest", max))
        ]
    return lines


if __name__ == "__main__":
    sys.exit(main())
