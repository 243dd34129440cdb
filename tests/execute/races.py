"""Data races: kernels on several threads under clang's thread sanitizer.

usage: python tests/execute/races.py [kernel ...]

Archer, which comes with LLVM's OpenMP, tells the sanitizer what the barriers of OpenMP
order; without it there would be false reports, so a program without races is tried first.
Prints a line for each kernel and ends with 1 if there is a race.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from kernel_programs import KERNELS, Toolchain, build_transformed, shapes

from polybuild.options import Options

RACES = Toolchain("races", "clang", ("-O1", "-g", "-fopenmp", "-fsanitize=thread", "-Wno-pass-failed"))
# small tiles, so that small sizes have many wavefronts and many tiles on each
OPTIONS = (
    Options(min_work=0, tile_sizes=(3, 4, 5)),
    Options(min_work=0, tile=False, fusion="max"),
)
SIZES = (23, 17, 19, 13)
_THREADS = 4
_FOUND = 66

_PROBE = """\
int a[1000];
int main(void) {
  for (int times = 0; times < 3; times++) {
#pragma omp parallel for
    for (int i = 1; i < 1000; i++) a[i] = a[i - RACE] + 1;
  }
  return a[5] == 0;
}
"""


def check(program: Path, *arguments: str) -> str:
    """What the sanitizer says of a run of ``program``; empty if it has nothing to say."""
    environment = os.environ | {
        "OMP_NUM_THREADS": str(_THREADS),
        "OMP_WAIT_POLICY": "passive",
        "TSAN_OPTIONS": f"ignore_noninstrumented_modules=1 exitcode={_FOUND}",
    }
    command = ["setarch", "-R", str(program), *arguments]  # the sanitizer wants its own addresses
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300, env=environment)
    if not done.returncode:
        return ""
    return done.stderr or f"ended with {done.returncode}"


@functools.cache
def is_possible() -> bool:
    """Whether this machine has clang, its sanitizer and Archer: a race is found, and nothing else."""
    if not (shutil.which("clang") and shutil.which("setarch")):
        return False
    with tempfile.TemporaryDirectory() as folder:
        return not probe(Path(folder), race=0) and "data race" in probe(Path(folder), race=1)


def probe(folder: Path, *, race: int) -> str:
    """What is said of a loop whose iterations depend on each other if ``race`` is 1."""
    source, program = folder / "probe.c", folder / f"probe{race}"
    source.write_text(_PROBE, encoding="ascii")
    command = ["clang", *RACES.flags, f"-DRACE={race}", str(source), "-o", str(program)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    return done.stderr if done.returncode else check(program)


def races(kernel: str, options: Options, folder: Path) -> str:
    """What the sanitizer says of a transformed kernel."""
    program = build_transformed(kernel, options, RACES, folder)
    return check(program, *map(str, shapes(kernel, SIZES)))


def main() -> int:
    if not is_possible():
        sys.exit("clang with its thread sanitizer and Archer (libomp) is needed")
    found = 0
    for kernel in sys.argv[1:] or KERNELS:
        for number, options in enumerate(OPTIONS, 1):
            with tempfile.TemporaryDirectory() as folder:
                said = races(kernel, options, Path(folder))
            found += bool(said)
            print(f"{kernel:20} options {number}: {said or 'no race'}", flush=True)  # noqa: T201 -- the command's result
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
