"""Filters over windows of a few elements, against the compiler alone.

usage: python -m benchmarks.filters [--compiler gcc] [--threads 1,2] [--runs N]
                                   [--kernels NAME,...] [--halide]

For each kernel and size: seconds of the compiler alone on one thread, and how many times as fast the
transformed loops are on each number of threads; medians of runs in turn. Every result has to be the
compiler's, to the bit. With --halide, other filters beside Halide's (pictures.py), which has to be installed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.filters.pictures import compare
from polybuild.driver.file import compile_source
from polybuild.options import Options

_KERNELS = Path(__file__).with_name("kernels.c")
_FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-fopenmp", "-w")
_SECONDS = 0.3


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel and its problem sizes; its arrays have some more than ``factor * n ** power`` elements."""

    name: str
    sizes: tuple[int, ...]
    power: int = 2
    factor: int = 1

    def arguments(self, n: int) -> list[str]:
        """What the program is called with."""
        elements = self.factor * (n + 2) ** self.power + 16
        return [self.name, str(n), str(elements), str(_SECONDS)]


_PICTURES = (300, 3000)
ALL = (
    Kernel("square_sum", _PICTURES),
    Kernel("square_array", _PICTURES),
    Kernel("small_square", _PICTURES),
    Kernel("square_of_bytes", _PICTURES),
    Kernel("rows", _PICTURES),
    Kernel("columns", _PICTURES),
    Kernel("signal", (10_000, 3_000_000), power=1),
    Kernel("layer", (60, 400), factor=16),
)


def main() -> int:
    """Run the command line and return the exit code."""
    arguments = _arguments()
    threads = [int(each) for each in arguments.threads.split(",")]
    if arguments.halide:
        return compare(
            arguments.compiler, threads, arguments.runs, [*filter(None, arguments.kernels.split(","))]
        )
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        alone, transformed = _build(Path(name), arguments.compiler)
        print(f"{'kernel':16} {'n':>8} {'alone s':>10}", *(f"{each:>6} thr." for each in threads))
        for kernel in ALL:
            for n in kernel.sizes if kernel.name in (arguments.kernels or kernel.name).split(",") else ():
                times: dict[int, list[float]] = {each: [] for each in (0, *threads)}
                results = set()
                for _ in range(arguments.runs):
                    for count, program in ((0, alone), *((each, transformed) for each in threads)):
                        seconds, result = _run(program, kernel.arguments(n), count or 1)
                        times[count].append(seconds)
                        results.add(result)
                medians = {count: statistics.median(each) for count, each in times.items()}
                gains = [f"{medians[0] / medians[each]:11.2f}" for each in threads]
                wrong = len(results) > 1
                failures += wrong
                print(f"{kernel.name:16} {n:8} {medians[0]:10.3g}", *gains, "WRONG" * wrong, flush=True)
    return 1 if failures else 0


def _build(folder: Path, compiler: str) -> tuple[Path, Path]:
    """The kernels compiled as they are, and transformed."""
    result = compile_source(str(_KERNELS), Options(), [compiler], list(_FLAGS))
    kept = [f"{each.line}: {each.message}" for each in result.regions if each.status != "transformed"]
    if kept:
        raise SystemExit("\n".join(kept))
    programs = []
    for name, text in (("alone", _KERNELS.read_text()), ("transformed", result.text)):
        source = folder / f"{name}.c"
        source.write_text(text)
        subprocess.run([compiler, *_FLAGS, str(source), "-o", str(folder / name)], check=True)
        programs.append(folder / name)
    return programs[0], programs[1]


def _run(program: Path, arguments: list[str], threads: int) -> tuple[float, str]:
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(
        [str(program), *arguments], check=True, capture_output=True, text=True, env=environment
    )
    seconds, result = done.stdout.split()
    return float(seconds), result


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.filters", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--compiler", default="gcc")
    parser.add_argument("--threads", default="1,2", help="numbers of threads")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--kernels", default="", help="names, all by default")
    parser.add_argument("--halide", action="store_true", help="compare filters of pictures with Halide's")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
