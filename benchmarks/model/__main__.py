"""How good the model's choices are: what the default chose against all that ``polybuild tune`` would try.

usage: python -m benchmarks.model [--kernels NAME,...] [--polybench DIR] [--size small|large] [--data SIZE]
                                  [--compilers gcc,clang] [--threads 1,2] [--candidates N] [--runs N]
                                  [--seconds S] [--prefix COMMAND] [--jobs N] [--output FILE]

For each kernel: milliseconds of the default, how many times as fast as the compiler alone it is, how many
times as long as the best candidate it takes (regret), the rank correlation of predicted and measured times of
the candidates, how many of these there are, and which was the best. Candidates are the default, the
compiler's own version, each other decision, and neighbouring tile sizes of the best; equal code is timed
once. A file given by --output keeps what was found: what it has already is not timed again.
"""

from __future__ import annotations

import argparse
import os
import shlex
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from benchmarks.cpu import suites
from benchmarks.cpu.machine import describe
from benchmarks.cpu.processes import Failure
from benchmarks.model.judging import Judge, Plan, Verdict
from benchmarks.model.records import write, written
from benchmarks.model.subjects import Subject, chosen, subjects
from benchmarks.ordinary.loops import SIZES
from polybuild.driver.progress import ProgressLine

_SMALL_REGRET = 1.25
_WORST = 20


def main() -> int:
    """Run the command line and return the exit code."""
    arguments = _arguments()
    known = subjects(
        polybench=arguments.polybench, size=arguments.size, data=arguments.data, seconds=arguments.seconds
    )
    try:
        wanted = chosen(known, arguments.kernels)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    verdicts = written(arguments.output) if arguments.output else []
    complete = True
    for compiler, threads in product(arguments.compilers.split(","), map(int, arguments.threads.split(","))):
        facts = describe(compiler)
        print(f"{facts['processor']}, {facts['cores']} cores; {facts['compiler']}; {facts['date']}")
        print(f"{threads} thr.; {arguments.size} loops, {arguments.data} kernels")
        print(f"{'kernel':32} {'ms':>9} {'gain':>6} {'regret':>6} {'corr.':>6} {'of':>3}  best")
        plan = Plan(
            compiler,
            threads,
            arguments.candidates,
            arguments.runs,
            shlex.split(arguments.prefix),
            arguments.jobs,
        )
        before = [each for each in verdicts if (each.compiler, each.threads) == (compiler, threads)]
        found, failed = _judged(wanted, plan, before, arguments.output)
        complete = complete and not failed
        _summary(found)
    return 0 if complete else 1


def _judged(
    wanted: Sequence[Subject], plan: Plan, before: Sequence[Verdict], output: Path | None
) -> tuple[list[Verdict], bool]:
    """The verdicts for all cases, said as they are found, and whether any failed; ``before`` has some."""
    known = {(each.subject, each.case): each for each in before}
    found, failed = [], False
    with ProgressLine(parts=len(wanted)) as progress:
        for subject in wanted:
            progress.at(subject.name)
            old = [known[key] for each in subject.cases if (key := (subject.name, each.name)) in known]
            done = {each.case for each in old}
            left = replace(subject, cases=tuple(each for each in subject.cases if each.name not in done))
            new: list[Verdict] = []
            try:
                new = _new(left, plan) if left.cases else []
            except Failure as failure:
                failed = True
                print(f"{subject.name}: {failure}", flush=True)
            progress.clear()
            if output:
                write(output, new)
            found += [*old, *new]
            for verdict in (*old, *new):
                print(_line(verdict), flush=True)
    return found, failed


def _new(subject: Subject, plan: Plan) -> list[Verdict]:
    with tempfile.TemporaryDirectory(prefix="polybuild-model-") as directory:
        return list(Judge(subject, plan, Path(directory)).verdicts())


def _line(verdict: Verdict) -> str:
    correlation = "-" if verdict.correlation is None else f"{verdict.correlation:.2f}"
    told = f"; kept: {verdict.note}" if verdict.note else ""
    return (
        f"{verdict.subject.partition('/')[0] + '/' + verdict.case:32} {verdict.default * 1e3:9.4f}"
        f" {verdict.gain:6.2f} {verdict.regret:6.2f} {correlation:>6} {len(verdict.candidates):3}"
        f"  {verdict.winner}{told}"
    )


def _summary(found: Sequence[Verdict]) -> None:
    """Mean and share of regrets, the median correlation, and the worst with what would have won."""
    if not found:
        return
    mean = statistics.geometric_mean(each.regret for each in found)
    small = sum(each.regret <= _SMALL_REGRET for each in found) / len(found)
    known = [each.correlation for each in found if each.correlation is not None]
    print(f"\n{len(found)} kernels: regret, geometric mean {mean:.3f}, {small:.0%} at most {_SMALL_REGRET}")
    if known:
        print(f"rank correlation, median {statistics.median(known):.2f} of {len(known)}")
    print("worst:")
    for each in sorted(found, key=lambda each: -each.regret)[:_WORST]:
        if each.regret > _SMALL_REGRET:
            print(f"  {each.case} {each.regret:.2f}: {each.winner}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.model", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--kernels", default="", help="names of kernels, files or suites, all by default")
    parser.add_argument("--polybench", type=Path, metavar="DIR", help="PolyBench/C 4.2.1, unpacked, as well")
    parser.add_argument("--size", choices=SIZES, default="large", help="of ordinary loops (large)")
    parser.add_argument("--data", choices=suites.SIZES, default="medium", help="of other kernels (medium)")
    parser.add_argument("--compilers", default="gcc", help="gcc, clang or both (gcc)")
    parser.add_argument("--threads", default="1", help="numbers of threads (1)")
    parser.add_argument("--candidates", type=int, default=20, help="of each kernel at most (20)")
    parser.add_argument("--runs", type=int, default=2, help="of each program; the shortest counts (2)")
    parser.add_argument("--seconds", type=float, default=0.02, help="of ordinary loops at least (0.02)")
    parser.add_argument("--prefix", default="", metavar="COMMAND", help="before programs: 'taskset -c 1'")
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        help="programs that are built at once (all processors)",
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="keeps what was found")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
