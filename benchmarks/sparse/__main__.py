"""The command line: ``python -m benchmarks.sparse``."""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.cpu import machine
from benchmarks.cpu.processes import run

SOURCE = Path(__file__).with_name("kernels.c")
KERNELS = ("csr", "ell", "histograms", "symmetric")
FLAGS = ("-O3", "-march=native", "-Wno-unknown-pragmas")


def main() -> int:
    """Time the kernels, original and transformed in turn; 0 if all results are equal."""
    parser = argparse.ArgumentParser("python -m benchmarks.sparse", description="Times sparse kernels.")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the matrix (1000000)")
    parser.add_argument("--rounds", type=int, default=7, help="rounds; the medians count (7)")
    parser.add_argument("--threads", type=int, default=2, help="threads of the transformed program (2)")
    parser.add_argument("--cc", default="gcc", help="the compiler (gcc)")
    arguments = parser.parse_args()
    facts = machine.describe(arguments.cc)
    print(f"{facts['processor']}, {facts['cores']} cores, load {facts['load']}, {facts['compiler']}")
    with tempfile.TemporaryDirectory(prefix="polybuild-sparse-") as directory:
        return _measure(arguments, Path(directory))


def _measure(arguments: argparse.Namespace, directory: Path) -> int:
    output, original, transformed = (str(directory / name) for name in ("out.c", "original", "transformed"))
    polybuild = [sys.executable, "-m", "polybuild", "compile", str(SOURCE), "-o", output]
    run([*polybuild, "--", arguments.cc, *FLAGS], limit=120)
    run([arguments.cc, *FLAGS, str(SOURCE), "-o", original], limit=120)
    run([arguments.cc, *FLAGS, "-fopenmp", output, "-o", transformed], limit=120)
    equal = True
    print(f"{'kernel':<12}{'compiler':>10}{'1 thread':>10}{'':>6}{f'{arguments.threads} threads':>10}")
    for kernel in KERNELS:
        times: dict[str, list[float]] = {"original": [], "one": [], "many": []}
        sums: set[str] = set()
        for _ in range(arguments.rounds):
            for name, program, threads in (
                ("original", original, 1),
                ("one", transformed, 1),
                ("many", transformed, arguments.threads),
            ):
                printed = run(
                    [program, kernel, str(arguments.rows), "5"],
                    limit=120,
                    environment={"OMP_NUM_THREADS": str(threads)},
                ).stdout.split()
                times[name].append(float(printed[0]))
                sums.add(printed[1])
        base, one, many = (statistics.median(each) for each in times.values())
        equal = equal and len(sums) == 1
        print(
            f"{kernel:<12}{base:>10.4f}{one:>10.4f}{base / one:>5.2f}x{many:>10.4f}{base / many:>5.2f}x"
            f"{'' if len(sums) == 1 else '  results differ'}"
        )
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
