"""Kernels in many styles: how far each style is from the best one.

usage: python -m benchmarks.styles [--compiler gcc] [--threads 1,2] [--runs N] [--kernels NAME,...]

For each kernel, style and number of threads: milliseconds of the compiler alone on one thread and of the
transformed loops, and the time of the best style over that of this one; medians of runs in turn. Every
result has to be the compiler's, to the bit. The geometric means come last.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

from benchmarks.styles.kernels import KERNELS
from benchmarks.styles.program import program
from benchmarks.styles.styles import STYLES, Kernel
from polybuild.driver.file import compile_source
from polybuild.options import Options

_FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-fopenmp", "-w")
_SECONDS = "0.1"


def main() -> int:
    """Run the command line and return the exit code."""
    arguments = _arguments()
    threads = [int(each) for each in arguments.threads.split(",")]
    wanted = [each for each in KERNELS if each.name in (arguments.kernels or each.name).split(",")]
    shares: dict[int, list[float]] = {each: [] for each in threads}
    failures = 0
    print(f"{'kernel':12} {'style':12} {'thr.':>4} {'alone':>9} {'ms':>9} {'gain':>6} {'of best':>8}")
    for kernel in wanted:
        with tempfile.TemporaryDirectory() as name:
            programs = build(Path(name), kernel, arguments.compiler)
            for count in threads:
                rows = [
                    _row(programs, kernel, number, count, arguments.runs) for number in range(len(STYLES))
                ]
                best = min(time for _, time, _ in rows)
                for style, (before, time, right) in zip(STYLES, rows, strict=True):
                    shares[count].append(best / time)
                    failures += not right
                    print(
                        f"{kernel.name:12} {style:12} {count:4} {before * 1e3:9.3f} {time * 1e3:9.3f}"
                        f" {before / time:6.2f} {best / time:8.2f}{'' if right else '  WRONG'}",
                        flush=True,
                    )
    for count, found in shares.items():
        mean = math.exp(statistics.fmean(map(math.log, found)))
        print(f"{count} threads: best style's time over a style's, mean {mean:.3f}, worst {min(found):.2f}")
    return 1 if failures else 0


def build(directory: Path, kernel: Kernel, compiler: str) -> tuple[Path, Path]:
    """The program of ``kernel`` from the compiler alone, and with transformed loops."""
    source = directory / f"{kernel.name}.c"
    source.write_text(program(kernel))
    result = compile_source(str(source), Options(), [compiler], _FLAGS)
    kept = [f"{each.line}: {each.message}" for each in result.regions if each.status != "transformed"]
    if kept:
        raise SystemExit(f"{kernel.name}: loops stay as they are: {', '.join(kept)}")
    new = directory / f"{kernel.name}.new.c"
    new.write_text(result.text)
    programs = source.with_suffix(""), new.with_suffix("")
    for text, output in zip((source, new), programs, strict=True):
        subprocess.run([compiler, *_FLAGS, str(text), "-o", str(output), "-lm"], check=True)
    return programs


def run(executable: Path, style: int, size: int, threads: int = 1, seconds: str = "0") -> tuple[float, str]:
    """The shortest time of a run of a style, and the sum of all results."""
    done = subprocess.run(
        [str(executable), str(style), str(size), seconds],
        env={**os.environ, "OMP_NUM_THREADS": str(threads)},
        check=True,
        capture_output=True,
        text=True,
        timeout=600,
    )
    time, total = done.stdout.split()
    return float(time), total


def _row(
    programs: tuple[Path, Path], kernel: Kernel, style: int, threads: int, runs: int
) -> tuple[float, float, bool]:
    """Seconds of the compiler alone and of the transformed loops, and whether the results are equal."""
    times: tuple[list[float], list[float]] = ([], [])
    results = set()
    for _ in range(runs):
        for executable, count, found in zip(programs, (1, threads), times, strict=True):
            seconds, result = run(executable, style, kernel.size, count, _SECONDS)
            found.append(seconds)
            results.add(result)
    return statistics.median(times[0]), statistics.median(times[1]), len(results) == 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.styles")
    parser.add_argument("--compiler", default="gcc")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--kernels", default="")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
