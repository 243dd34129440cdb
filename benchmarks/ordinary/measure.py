"""Building and timing the loops of a field."""

from __future__ import annotations

import argparse
import dataclasses
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cpu.processes import run
from benchmarks.ordinary.loops import Loop
from polybuild.driver.file import compile_source
from polybuild.options import Options

PLACED = "-falign-loops=64"
"""Where the same instructions lie makes a difference of up to 15 % between one program and another."""
FLAGS = ("-O3", "-march=native", "-ffp-contract=off", PLACED, "-fopenmp", "-w")
LIMIT = 300.0


@dataclass(frozen=True, slots=True)
class Programs:
    """The loops of a field as they are and transformed.

    By the loops' names: ``tool`` the seconds that the transformation took, ``left`` why a loop was left.
    """

    original: Path
    transformed: Path
    tool: dict[str, float]
    left: dict[str, str]


@dataclass(frozen=True, slots=True)
class Row:
    """One loop, size, compiler and number of threads; seconds of the compiler alone and of polybuild.

    ``right`` tells whether all results were the same to the bit, ``note`` why the loop was left as it is.
    """

    loop: str
    field: str
    size: str
    compiler: str
    threads: int
    alone: float
    seconds: float
    tool: float
    right: bool
    note: str = ""

    @property
    def ratio(self) -> float:
        """How many times as fast as by the compiler alone."""
        return self.alone / self.seconds


def with_programs(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """The arguments of a command that keeps programs, and may build them apart from running them."""
    parser.add_argument("--programs", default="", help="a folder that keeps programs, those there are run")
    parser.add_argument("--build", action="store_true", help="build the programs there, and run none")
    arguments = parser.parse_args()
    if arguments.build and not arguments.programs:
        parser.error("--build needs --programs, where they are built")
    return arguments


@contextmanager
def folder_of(kept: str) -> Iterator[Path]:
    """The folder of programs that is to be ``kept``, made if there is none; for none, one that is removed."""
    if kept:
        Path(kept).mkdir(parents=True, exist_ok=True)
        yield Path(kept)
        return
    with tempfile.TemporaryDirectory(prefix="polybuild-loops-") as directory:
        yield Path(directory)


def build(directory: Path, source: Path, compiler: str) -> Programs:
    """The programs of the loops of the field in ``source``; those that ``directory`` has are not made again.

    Raises Failure if one of both does not compile.
    """
    record = directory / f"{source.stem}.{compiler}.json"
    if record.exists():
        entry = json.loads(record.read_text(encoding="utf-8"))
        return Programs(Path(entry["original"]), Path(entry["transformed"]), entry["tool"], entry["left"])
    programs = _built(directory, source, compiler)
    record.write_text(json.dumps(dataclasses.asdict(programs), default=str), encoding="utf-8")
    return programs


def _built(directory: Path, source: Path, compiler: str) -> Programs:
    """Compile the loops by the compiler alone and transformed."""
    field = source.stem
    result = compile_source(str(source), Options(), [compiler], FLAGS)
    changed = directory / f"{field}.{compiler}.c"
    changed.write_text(result.text)
    programs = directory / f"{field}.{compiler}.alone", directory / f"{field}.{compiler}.new"
    for text, output in zip((source, changed), programs, strict=True):
        command = [compiler, *FLAGS, f"-I{source.parent}", str(text), "-o", str(output), "-lm"]
        run(command, limit=LIMIT)
    return Programs(
        *programs,
        {each.function: each.compile_seconds for each in result.regions},
        {each.function: each.code or each.status for each in result.regions if each.status != "transformed"},
    )


@dataclass(frozen=True, slots=True)
class Plan:
    """How often and with how many threads loops are run, and for how many seconds at least each time."""

    threads: Sequence[int]
    runs: int
    seconds: float


def measure(programs: Programs, loop: Loop, size: str, compiler: str, plan: Plan) -> list[Row]:
    """A row for each number of threads: the fastest runs of programs that ran in turn.

    Which pages a process gets changes what loops over memory take by up to two times, the same for both.
    """
    kinds = [(programs.original, 1), *((programs.transformed, each) for each in plan.threads)]
    times: list[list[float]] = [[] for _ in kinds]
    results = set()
    for _ in range(plan.runs):
        for (program, threads), found in zip(kinds, times, strict=True):
            done = run(
                [str(program), loop.name, str(loop.sizes[size]), str(plan.seconds)],
                limit=LIMIT,
                environment={"OMP_NUM_THREADS": str(threads)},
            )
            seconds, result, _ = done.stdout.split()
            found.append(float(seconds))
            results.add(result)
    alone, *ours = map(min, times)
    return [
        Row(
            *(loop.name, loop.field, size, compiler, threads, alone, seconds),
            tool=programs.tool.get(loop.name, 0),
            right=len(results) == 1,
            note=programs.left.get(loop.name, ""),
        )
        for threads, seconds in zip(plan.threads, ours, strict=True)
    ]
