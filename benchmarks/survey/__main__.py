"""The command line: ``python -m benchmarks.survey DIR... [-- flags]``.

Each folder is a code base that lies there: all its C files are looked at as ``polybuild survey`` does, with
its folders that have headers on the path of includes. Of the numeric nests it counts those that are
transformed and run in parallel, and of the others those that are right as they are: compilers make as much
of them (``as good``), no order with a parallel loop was found, as of recurrences and sums that have to be
added up in order (``in order``), or they reach ``outside`` of the program (``benchmarks.survey.numeric``).
What ``of rest`` says is how many are transformed of those that are none of these three.
Public ones that suit: SimpleMOC, XSBench, CoMD, CloverLeaf_OpenMP,
neutral, MD-Bench, TheBandwidthBenchmark, TSVC_2, NPB3.0-omp-C, hpgmg, AMG, the Kernels of ParRes,
SuiteSparse's CSparse; genann, kann, darknet, llama2.c, llm.c, GloVe, word2vec, rnnoise; kissfft, speexdsp;
vlfeat; sep, rebound, astrometry.net; gsl.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TextIO

from benchmarks.cpu import machine
from benchmarks.survey.marked import Difference, differences
from benchmarks.survey.numeric import is_numeric, reaches_outside
from polybuild.driver.request import Request
from polybuild.source.reader import text_of
from polybuild.survey.files import survey_file
from polybuild.survey.model import FileSurvey, SurveyedNest

LONG = 20.0  # seconds
_REASONS = 12
_COUNTED = (
    "files", "unread", "nests", "numeric", "transformed", "parallel", "as_good", "in_order", "outside",
    "seconds",
)  # fmt: skip
_AS_GOOD = "not-worthwhile"
"""The code of loops that are modelled, and left alone because compilers make as much of them."""
_IN_ORDER = frozenset({"no-parallel-order", "sums-in-order"})
"""The codes of loops that are modelled, and of which no order has a parallel loop."""


@dataclass
class Totals:
    """What was found in some files: nests, numeric ones, and those of them that are transformed."""

    files: int = 0
    unread: int = 0
    nests: int = 0
    numeric: int = 0
    transformed: int = 0
    parallel: int = 0
    as_good: int = 0
    in_order: int = 0
    outside: int = 0
    seconds: float = 0.0
    longest: float = 0.0
    reasons: Counter[str] = field(default_factory=Counter)
    differences: list[tuple[str, *Difference]] = field(default_factory=list)

    def add(self, other: Totals) -> None:
        """Count what ``other`` has, too."""
        for name in _COUNTED:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.longest = max(self.longest, other.longest)
        self.reasons.update(other.reasons)

    def line(self, name: str) -> str:
        """A line of the table."""
        counts = (self.transformed, self.parallel, self.as_good, self.in_order, self.outside)
        shares = [f"{100 * part / max(1, self.numeric):9.0f}" for part in counts]
        rest = self.numeric - self.as_good - self.in_order - self.outside
        shares.append(f"{100 * self.transformed / max(1, rest):9.0f}")
        return (
            f"{name:<24}{self.files:>6}{self.unread:>8}{self.nests:>7}{self.numeric:>9}"
            f"{''.join(shares)}{self.seconds:>9.0f}{self.longest:>9.1f}"
        )


def main(words: Sequence[str]) -> int:
    """Survey the folders that ``words`` name; 1 if a file took too long."""
    own, flags = (list(words), [])
    if "--" in own:
        cut = own.index("--")
        own, flags = own[:cut], own[cut + 1 :]
    parser = argparse.ArgumentParser("python -m benchmarks.survey", description="Surveys code bases.")
    parser.add_argument("folders", metavar="DIR", nargs="+", help="a code base each")
    parser.add_argument("--cc", default="gcc", help="the compiler (gcc)")
    parser.add_argument("--jobs", type=int, default=1, help="files that are looked at together (1)")
    parser.add_argument("--seconds", type=int, default=60, help="processor time for a file (60)")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="an option of polybuild"
    )
    parser.add_argument(
        "--nests", metavar="FILE", help="add a line of JSON for each numeric nest, as they come"
    )
    parser.add_argument(
        "--marks", action="store_true", help="mark the loops, too, and tell where that makes a difference"
    )
    arguments = parser.parse_args(own)
    settings = dict(each.split("=", 1) for each in arguments.set)
    facts = machine.describe(arguments.cc)
    print(f"{facts['processor']}, {facts['cores']} cores, {facts['compiler']}; flags: {' '.join(flags)}\n")
    print(
        f"{'code base':<24}{'files':>6}{'unread':>8}{'nests':>7}{'numeric':>9}{'taken':>9}"
        f"{'parallel':>9}{'as good':>9}{'in order':>9}{'outside':>9}{'of rest':>9}"
        f"{'seconds':>9}{'longest':>9}"
    )
    everything = Totals()
    with (
        ProcessPoolExecutor(arguments.jobs) as pool,
        Path(arguments.nests or os.devnull).open("a", buffering=1, encoding="utf-8") as nests,
    ):
        for folder in arguments.folders:
            found = Totals()
            command = (arguments.cc, *flags, *_include_flags(folder))
            look = partial(_look, settings, command, arguments.seconds, arguments.marks)
            for survey, others in pool.map(look, _c_files(folder)):
                found.add(_totals(survey, nests))
                everything.differences += [(survey.path, *each) for each in others]
            print(found.line(Path(folder).name), flush=True)
            everything.add(found)
    print(everything.line("all"))
    if arguments.marks:
        print(f"\nloops of which marks make something else: {len(everything.differences)}")
        for path, line, *gains in everything.differences:
            found_there, made = (" and ".join(each) or "kept" for each in gains)
            print(f"{path}:{line}: {found_there}, marked: {made}")
    print("\nnumeric nests that are kept, by the reason")
    for code, count in everything.reasons.most_common(_REASONS):
        print(f"{code:<28}{count:>6}{100 * count / max(1, everything.numeric):>5.1f} %")
    return int(everything.longest > LONG)


def _look(
    settings: dict[str, str], command: Sequence[str], seconds: int, marks: bool, path: str
) -> tuple[FileSurvey, list[Difference]]:
    compiler, *flags = command
    survey = survey_file(Request(path, settings, (compiler,), tuple(flags)), "", seconds)
    return survey, differences(survey, settings, (compiler,), flags, seconds) if marks else []


def _totals(survey: FileSurvey, nests: TextIO) -> Totals:
    """What one file adds to the totals; each numeric nest, and a file not read, gets a line in ``nests``."""
    if survey.problem:
        nests.write(json.dumps({"place": survey.path, "problem": survey.problem}) + "\n")
    found = Totals(1, int(bool(survey.problem)), len(survey.nests), longest=survey.seconds)
    found.seconds = survey.seconds
    lines = text_of(survey.path).splitlines() if survey.nests else []
    for each in survey.nests:
        text = "\n".join(lines[each.nest.first_line - 1 : each.nest.last_line])
        if not is_numeric(text):
            continue
        found.numeric += 1
        found.transformed += bool(each.gains)
        found.parallel += "parallel" in each.gains
        if not each.gains:
            found.as_good += each.code == _AS_GOOD
            found.in_order += each.code in _IN_ORDER
            found.outside += each.code not in {_AS_GOOD, *_IN_ORDER} and reaches_outside(text)
            found.reasons[_code(each)] += 1
        place = f"{survey.path}:{each.nest.first_line}"
        line = {"place": place, "gains": each.gains, "code": each.code, "reason": each.reason}
        nests.write(json.dumps(line) + "\n")
    return found


def _code(nest: SurveyedNest) -> str:
    return nest.code or "transformed without gain"


def _c_files(folder: str) -> list[str]:
    """The C files of a code base, in the order of their names."""
    return sorted(str(each) for each in Path(folder).rglob("*.c"))


def _include_flags(folder: str) -> list[str]:
    """The folders of a code base that have headers, as flags, those near its top first."""
    return [
        f"-I{each}" for each in sorted(_with_headers(folder), key=lambda each: (each.count(os.sep), each))
    ]


def _with_headers(folder: str) -> Iterator[str]:
    for path, inner, names in os.walk(folder):
        inner[:] = [each for each in inner if not each.startswith(".")]
        top = path == folder or (Path(path).name == "include" and Path(path).parent == Path(folder))
        if top or any(each.endswith((".h", ".inc")) for each in names):
            yield path


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
