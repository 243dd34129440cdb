"""What is judged: loops as people write them, our own kernels, and PolyBench, each file with its cases."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from benchmarks.cpu.processes import Output
from benchmarks.cpu.suites import OwnKernels, PolyBench, Suite
from benchmarks.model.sizes import sizes_of_kernel, sizes_of_loop, sizes_of_polybench
from benchmarks.ordinary.loops import all_loops, source_of

_MARK = re.compile(r"\s*#\s*pragma\s+(end)?scop\b")
_LOOP = re.compile(r"LOOP\((\w+),")


@dataclass(frozen=True, slots=True)
class Case:
    """One region of a file: the ``line`` that it begins in, and what a program is told to run it.

    ``sizes`` are the values of its parameters then, by their names.
    """

    name: str
    line: int
    arguments: tuple[str, ...]
    sizes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Subject:
    """A file with regions, what a program of it is compiled from and with, and how its output is read."""

    name: str
    source: Path
    companions: tuple[Path, ...]
    flags: tuple[str, ...]
    cases: tuple[Case, ...]
    seconds: Callable[[Output], float]

    def text(self, cases: Collection[str]) -> str:
        """The file with marks around the regions of ``cases`` alone; every line stays where it is."""
        kept = {each.line for each in self.cases if each.name in cases}
        lines, inside = [], False
        for number, line in enumerate(self.source.read_text(encoding="utf-8").split("\n"), start=1):
            mark = _MARK.match(line)
            if mark and not mark[1]:
                inside = number in kept
            lines.append("" if mark and not inside else line)
        return "\n".join(lines)


def subjects(*, polybench: Path | None, size: str, data: str, seconds: float) -> Iterator[Subject]:
    """All subjects: loops at ``size`` for ``seconds`` each, the kernels of the suites with ``data``."""
    for field, loops in groupby(all_loops(), key=lambda each: each.field):
        source = source_of(field)
        lines = _lines_of_loops(source)
        cases = tuple(
            Case(
                loop.name,
                lines[loop.name],
                (loop.name, str(loop.sizes[size]), str(seconds)),
                sizes_of_loop(source, loop.name, loop.sizes[size]),
            )
            for loop in loops
            if loop.name in lines
        )
        yield Subject(f"ordinary/{field}", source, (), (f"-I{source.parent}",), cases, _first_number)
    yield from _of_suite("own", OwnKernels(), data, sizes_of_kernel)
    if polybench is not None:
        yield from _of_suite("polybench", PolyBench(polybench), data, sizes_of_polybench)


def _of_suite(
    name: str, suite: Suite, data: str, sizes_of: Callable[[Path, str], dict[str, int]]
) -> Iterator[Subject]:
    for kernel in suite.kernels:
        (line,) = _first_lines(kernel.source)
        arguments = tuple(suite.arguments(data))
        cases = (Case(kernel.name, line, arguments, sizes_of(kernel.source, data)),)
        flags = tuple(suite.flags(kernel, data, timed=True))
        companions = (kernel.companion,)
        yield Subject(f"{name}/{kernel.name}", kernel.source, companions, flags, cases, suite.seconds)


def _first_lines(source: Path) -> list[int]:
    """The lines in which the regions of a file begin."""
    lines = source.read_text(encoding="utf-8").split("\n")
    marks = ((number, _MARK.match(line)) for number, line in enumerate(lines, start=1))
    return [number for number, mark in marks if mark and not mark[1]]


def _lines_of_loops(source: Path) -> dict[str, int]:
    """The line in which the region of each loop begins; those with several regions are not judged."""
    found: dict[str, int] = {}
    regions: list[int] = []
    for number, line in enumerate(source.read_text(encoding="utf-8").split("\n"), start=1):
        mark, loop = _MARK.match(line), _LOOP.match(line)
        if mark and not mark[1]:
            regions.append(number)
        if loop:
            if len(regions) == 1:
                found[loop[1]] = regions[0]
            regions = []
    return found


def _first_number(output: Output) -> float:
    return float(output.stdout.split()[0])


def chosen(found: Iterator[Subject], names: str) -> list[Subject]:
    """The subjects with the cases of these names, of cases, files or suites; with all of them for none.

    Raises ValueError for a name that nothing has.
    """
    wanted = set(names.split(",")) if names else set()
    known, taken = set(), []
    for subject in found:
        around = {subject.name, *subject.name.split("/")}
        known |= around.union(each.name for each in subject.cases)
        cases = tuple(each for each in subject.cases if not wanted or wanted & {*around, each.name})
        if cases:
            taken.append(replace(subject, cases=cases))
    if not wanted <= known:
        raise ValueError(f"nothing is called {', '.join(sorted(wanted - known))}")
    return taken
