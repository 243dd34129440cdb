"""Runs of a program's versions, one after the other, behind whatever keeps the machine quiet."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cpu.processes import run
from benchmarks.programs.recipes import Recipe, RecipeError
from benchmarks.programs.versions import ORIGINAL, Version

Column = tuple[str, int]
"""A version, and how many threads it has."""


@dataclass(frozen=True, slots=True)
class Timing:
    """How often all versions run, behind which words of a command, and in how many seconds at most."""

    rounds: int
    prefix: Sequence[str]
    limit: float


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds of the fastest run of each version with each number of threads."""

    seconds: Mapping[Column, float]

    def speed_up(self, column: Column) -> float:
        """How many times faster than the program as it is, on one thread."""
        return self.seconds[ORIGINAL, 1] / self.seconds[column]


def measured(recipe: Recipe, versions: Sequence[Version], threads: Sequence[int], timing: Timing) -> Measured:
    """Run all ``versions`` in turn, again and again, in one command; check every run.

    What else the machine does only ever adds: the fastest run counts. Raises Failure and RecipeError.
    """
    columns = [
        (each, count) for each in versions for count in ((1,) if each.name == ORIGINAL else tuple(threads))
    ]
    script = versions[0].folder.parent / "runs.sh"
    lines = [_line(recipe, each, count, number) for number in range(timing.rounds) for each, count in columns]
    script.write_text("\n".join(lines) + "\n", encoding="utf-8")
    run([*timing.prefix, "sh", str(script)], limit=timing.limit)
    original = _printed(versions[0], 1, 0)
    best: dict[Column, float] = {}
    for each, count in columns:
        for number in range(timing.rounds):
            printed = _printed(each, count, number)
            text, _, tail = printed.rpartition("\nended ")
            status, began, ended = tail.split()
            why = f"exit {status}" if status != "0" else recipe.problem(text, original)
            if why:
                raise RecipeError(f"{each.name}, {count} threads: {why}")
            taken = recipe.seconds(text, float(ended) - float(began))
            best[each.name, count] = min(taken, best.get((each.name, count), taken))
    return Measured(best)


def _line(recipe: Recipe, version: Version, threads: int, number: int) -> str:
    output = shlex.quote(str(_output(version, threads, number)))
    command = f"OMP_NUM_THREADS={threads} sh -c {shlex.quote(recipe.run)} > {output} 2>&1"
    noted = f'printf "\\nended %s %s %s" $? $began $(date +%s.%N) >> {output}'
    return f"cd {shlex.quote(str(version.folder))}; began=$(date +%s.%N); {command}; {noted}"


def _printed(version: Version, threads: int, number: int) -> str:
    return _output(version, threads, number).read_text(encoding="utf-8", errors="replace")


def _output(version: Version, threads: int, number: int) -> Path:
    return version.folder.parent / f"{version.folder.name}-{threads}-{number}.txt"
