"""Loops as people write them: polybuild and the compiler against the compiler alone.

usage: python -m benchmarks.ordinary [--kernels NAME,...] [--sizes small,large] [--compilers gcc,clang]
                                     [--threads 1,2] [--runs N] [--seconds S] [--output FILE]
                                     [--programs FOLDER [--build]] [--loops FOLDER]

For each loop, size and compiler: seconds of the compiler alone on one thread, and how many times as fast the
transformed loop is on each number of threads; the fastest runs of programs that ran in turn. In all programs
loops start at multiples of 64 bytes, so that the same instructions take the same time.
Every result has to be the compiler's, to the bit. What follows are geometric means, the slowest ten, and how
many are slower than the compiler alone.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

from benchmarks.cpu.machine import describe
from benchmarks.cpu.processes import Failure
from benchmarks.ordinary.loops import HERE, SIZES, Loop, all_loops, chosen, source_of
from benchmarks.ordinary.measure import Plan, Row, build, folder_of, measure, with_programs

_SLOWER = 0.95
_WORST = 10


def main() -> int:
    """Run the command line and return the exit code."""
    arguments = _arguments()
    lines: list[str] = []

    def say(text: str) -> None:
        lines.append(text)
        print(text, flush=True)

    try:
        loops = chosen(arguments.kernels, all_loops(arguments.loops))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    complete = True
    rows: list[Row] = []
    for compiler in arguments.compilers.split(","):
        facts = describe(compiler)
        say(f"{facts['processor']}, {facts['cores']} cores, load {facts['load']}")
        say(f"{facts['compiler']}; {facts['date']}")
        ratios = "".join(f"{each + ' thr.':>8}" for each in arguments.threads.split(","))
        say(f"{'loop':20} {'field':11} {'size':6} {'alone ms':>10} {ratios} {'tool s':>7}")
        for field, members in groupby(loops, key=lambda each: each.field):
            try:
                rows += _field(field, list(members), compiler, arguments, say)
            except Failure as failure:
                complete = False
                say(f"{field}, {compiler}: {failure}")
    _summary(rows, say)
    if arguments.output:
        Path(arguments.output).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0 if complete and all(row.right for row in rows) else 1


def _field(
    field: str, loops: list[Loop], compiler: str, arguments: argparse.Namespace, say: Callable[[str], None]
) -> list[Row]:
    """The rows of a field's loops by one compiler, said as well."""
    plan = Plan([int(each) for each in arguments.threads.split(",")], arguments.runs, arguments.seconds)
    rows = []
    with folder_of(arguments.programs) as directory:
        programs = build(directory, source_of(field, arguments.loops), compiler)
        for loop in [] if arguments.build else loops:
            for size in arguments.sizes.split(","):
                found = measure(programs, loop, size, compiler, plan)
                say(_line(found))
                rows += found
    return rows


def _line(rows: list[Row]) -> str:
    """One line for the rows of one loop, size and compiler."""
    first = rows[0]
    ratios = "".join(f"{row.ratio:8.2f}" for row in rows)
    told = f"  {first.note}" if first.note else ""
    wrong = "" if first.right else "  WRONG"
    return (
        f"{first.loop:20} {first.field:11} {first.size:6} {first.alone * 1e3:10.4f} {ratios}"
        f" {first.tool:7.2f}{told}{wrong}"
    )


def _summary(rows: list[Row], say: Callable[[str], None]) -> None:
    """Means, the slowest and how many are slower, for each compiler, number of threads and size."""

    def group(row: Row) -> tuple[str, int, str]:
        return row.compiler, row.threads, row.size

    say("")
    for (compiler, threads, size), members in groupby(sorted(rows, key=group), key=group):
        found = sorted(members, key=lambda row: row.ratio)
        mean = math.exp(sum(math.log(row.ratio) for row in found) / len(found))
        slower = sum(row.ratio < _SLOWER for row in found)
        say(
            f"{compiler}, {threads} thr., {size}: geometric mean {mean:.2f}, "
            f"{slower} of {len(found)} below {_SLOWER}"
        )
        say("  slowest: " + ", ".join(f"{row.loop} {row.ratio:.2f}" for row in found[:_WORST]))
    tool = {(row.loop, row.compiler): row.tool for row in rows}
    if tool:
        slowest = max(tool, key=lambda key: tool[key])
        say(f"tool: {sum(tool.values()):.1f} s in all, at most {tool[slowest]:.1f} s ({slowest[0]})")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.ordinary", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--kernels", default="", help="names of loops or fields, all by default")
    parser.add_argument("--sizes", default=",".join(SIZES), help="small, large or both (both)")
    parser.add_argument("--compilers", default="gcc", help="gcc, clang or gcc,clang (gcc)")
    parser.add_argument("--threads", default="1,2", help="numbers of threads (1,2)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each program; the fastest counts (3)")
    parser.add_argument("--seconds", type=float, default=0.05, help="how long each runs at least (0.05)")
    parser.add_argument("--output", default="", help="a file for the table")
    parser.add_argument(
        "--loops", type=Path, default=HERE, help="a folder with other loops, written as these"
    )
    return with_programs(parser)


if __name__ == "__main__":
    raise SystemExit(main())
