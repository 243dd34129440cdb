"""The command line: ``python -m benchmarks.blas``."""

from __future__ import annotations

import argparse
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
KERNELS = ("gemm", "2mm", "3mm", "syrk", "syr2k", "trmm", "symm")
DESCRIPTION = """\
Times what polybuild makes of products of matrices in plain loops against the same products of a BLAS,
one round after the other (A B A B ...), and prints the medians and the share of the BLAS's speed reached.
Needs a CBLAS: Debian's libopenblas-dev is what -lopenblas finds."""
# As far as sums in two orders may lie apart, relative to the largest result.
TOLERANCE = 1e-9


def main() -> int:
    """Measure; 0 if the results agree."""
    arguments = _parser().parse_args()
    with tempfile.TemporaryDirectory(prefix="polybuild-blas-") as folder:
        program = _build(Path(folder), arguments)
        print(f"{arguments.cc} {arguments.cflags}, n = {arguments.size}, median of {arguments.runs}, seconds")
        print("| kernel | threads | polybuild | BLAS | share | difference |\n|---|---|---|---|---|---|")
        agree = True
        for threads in arguments.threads:
            for kernel in arguments.kernels:
                agree = _measure(program, kernel, threads, arguments) and agree
    return 0 if agree else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks.blas", description=DESCRIPTION)
    parser.add_argument("--kernels", nargs="+", choices=KERNELS, default=KERNELS, help="only these")
    parser.add_argument("--size", type=int, default=2000, metavar="N", help="order of the matrices (2000)")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="rounds; the median counts (5)")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], metavar="N", help="(1 2)")
    parser.add_argument("--cc", default="gcc", help="the compiler (gcc)")
    parser.add_argument("--cflags", default="-O3 -march=native", help="its flags (-O3 -march=native)")
    parser.add_argument("--libs", default="-lopenblas", help="how the BLAS is linked (-lopenblas)")
    parser.add_argument("--options", default="", help="options for polybuild compile, as one word")
    return parser


def _build(folder: Path, arguments: argparse.Namespace) -> Path:
    flags = shlex.split(arguments.cflags)
    transformed, program = folder / "kernels.c", folder / "blas"
    compile_ = [sys.executable, "-m", "polybuild", "compile", str(HERE / "kernels.c"), "-o", str(transformed)]
    options = ["--on-unsupported", "error", *shlex.split(arguments.options)]
    subprocess.run([*compile_, *options, "--", arguments.cc, *flags], check=True)
    command = [arguments.cc, *flags, "-fopenmp", f"-I{HERE}", str(transformed), str(HERE / "driver.c")]
    subprocess.run([*command, "-o", str(program), *shlex.split(arguments.libs), "-lm"], check=True)
    return program


def _measure(program: Path, kernel: str, threads: int, arguments: argparse.Namespace) -> bool:
    """Print the row of ``kernel``; whether both results agree."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")
    done = subprocess.run(
        [str(program), str(arguments.size), str(arguments.runs), kernel],
        env={**os.environ, **dict.fromkeys(names, str(threads))},
        check=True,
        capture_output=True,
        text=True,
    )
    _, difference, *rounds = done.stdout.split()
    times = [float(each) for each in rounds]
    ours, theirs = statistics.median(times[::2]), statistics.median(times[1::2])
    share = f"{theirs / ours:.2f}"
    print(f"| {kernel} | {threads} | {ours:.4f} | {theirs:.4f} | {share} | {difference} |", flush=True)
    return float(difference) < TOLERANCE


if __name__ == "__main__":
    sys.exit(main())
