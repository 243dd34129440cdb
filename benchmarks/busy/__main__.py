"""Transformed loops on a machine with other work: polybuild and the compiler against the compiler alone.

usage: python -m benchmarks.busy [--kernels NAME,...] [--compiler CC] [--size small|large] [--runs N]
                                 [--seconds S] [--output FILE] [--programs FOLDER [--build]]

Solvers with many short loops, and some others of benchmarks.ordinary, on all processors: first quiet, then
beside as many processes that only spin. For each loop, the milliseconds of the compiler alone on one thread,
and the time of the transformed loop over it: averages over all runs of programs that ran in turn, as the
slow runs count here. Every result has to be the compiler's, to the bit.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

from benchmarks.cpu.machine import describe
from benchmarks.cpu.processes import Failure, run
from benchmarks.ordinary.loops import SIZES, Loop, all_loops, chosen, source_of
from benchmarks.ordinary.measure import Programs, build, folder_of, with_programs

_HERE = Path(__file__).parent
_KERNELS = "solvers,eliminate,life_steps,rule_110,fluid,product,box_blur,attention,rows_times,knapsack"
_LIMIT = 120.0
_SLOWER = 1.2


def main() -> int:
    """Run the command line and return the exit code."""
    arguments = _arguments()
    try:
        loops = chosen(arguments.kernels, [*all_loops(_HERE), *all_loops()])
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    facts = describe(arguments.compiler)
    lines = [
        f"{facts['processor']}, {facts['cores']} cores, load {facts['load']}",
        f"{facts['compiler']}; {facts['date']}",
        f"{'loop':22} {'quiet ms':>10} {'ratio':>6} {'busy ms':>10} {'ratio':>6}",
    ]
    print("\n".join(lines), flush=True)
    worst, right = dict.fromkeys(("quiet", "busy"), 0.0), True
    with folder_of(arguments.programs) as directory:
        for field, members in groupby(loops, key=lambda each: each.field):
            source = _HERE / f"{field}.c"
            source = source if source.exists() else source_of(field)
            try:
                programs = build(directory, source, arguments.compiler)
                for loop in [] if arguments.build else members:
                    text, ratios, same = _row(programs, loop, arguments)
                    lines.append(text)
                    print(text, flush=True)
                    worst = {each: max(worst[each], ratios[each]) for each in worst}
                    right = right and same
            except Failure as failure:
                right = False
                print(f"{field}: {failure}", flush=True)
    lines.append(f"slowest: {worst['quiet']:.2f} quiet, {worst['busy']:.2f} busy (not over {_SLOWER})")
    print(lines[-1])
    if arguments.output:
        Path(arguments.output).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0 if right else 1


def _row(programs: Programs, loop: Loop, arguments: argparse.Namespace) -> tuple[str, dict[str, float], bool]:
    """The line of a loop, its ratios and whether its results were the compiler's."""
    text, ratios, results = f"{loop.name:22}", {}, set[str]()
    for state, others in (("quiet", 0), ("busy", os.cpu_count() or 1)):
        times: dict[Path, list[float]] = {programs.original: [], programs.transformed: []}
        with _spinning(others):
            for _ in range(arguments.runs):
                for program, found in times.items():
                    words = [str(program), loop.name, str(loop.sizes[arguments.size]), str(arguments.seconds)]
                    _, result, seconds = run(words, limit=_LIMIT).stdout.split()
                    found.append(float(seconds))
                    results.add(result)
        alone, ours = (statistics.median(found) for found in times.values())
        ratios[state] = ours / alone
        text += f" {alone * 1e3:10.3f} {ours / alone:6.2f}"
    wrong = "" if len(results) == 1 else "  WRONG"
    return text + wrong, ratios, not wrong


@contextmanager
def _spinning(count: int) -> Iterator[None]:
    """Keep ``count`` processes busy meanwhile."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for each in others:
            each.kill()
            each.wait()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.busy", description=(__doc__ or "").split("\n", maxsplit=1)[0]
    )
    parser.add_argument("--kernels", default=_KERNELS, help=f"names of loops or fields ({_KERNELS})")
    parser.add_argument("--compiler", default="gcc", help="gcc or clang (gcc)")
    parser.add_argument("--size", default=SIZES[-1], choices=SIZES, help="the size of the problems (large)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each program; the medians count (3)")
    parser.add_argument("--seconds", type=float, default=0.3, help="how long each runs at least (0.3)")
    parser.add_argument("--output", default="", help="a file for the table")
    return with_programs(parser)


if __name__ == "__main__":
    raise SystemExit(main())
