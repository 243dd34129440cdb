"""How much memory styles of kernels take, transformed and as they are."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping

from benchmarks.styles.kernels import KERNELS
from benchmarks.styles.program import Programs

# A process inherits the peak of the one that starts it: that has to be a small one.
_PEAK = """\
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def compare_memory(
    built: Mapping[str, Programs],
    factor: int,
    threads: int,
    say: Callable[[str], None],
    *,
    styles: Collection[str],
) -> None:
    """Say the peak of each style in KiB, what transformed loops take beside that, and each thread of theirs.

    Sizes are those that are timed, ``factor`` times as large. Of ``styles`` only, if there are any.
    """
    say(f"{'kernel':12} {'style':22} {'n':>8} {'alone KiB':>10} {'more KiB':>9} {'a thread':>9}")
    for kernel in (each for each in KERNELS if each.name in built):
        programs = built[kernel.name]
        size = factor * kernel.size
        for number, style in enumerate(programs.styles):
            if not styles or style in styles:
                before = peak(programs.original, number, size, 1)
                one, all_of_them = (peak(programs.transformed, number, size, each) for each in (1, threads))
                each = (all_of_them - one) / (threads - 1) if threads > 1 else 0
                say(f"{kernel.name:12} {style:22} {size:8} {before:10} {one - before:9} {each:9.0f}")


def peak(executable: str, style: int, size: int, threads: int) -> int:
    """The most memory, in KiB, that one run of a style takes."""
    words = [executable, str(style), str(style), str(size), "0"]
    done = subprocess.run(
        [sys.executable, "-S", "-E", "-c", _PEAK, *words],
        env={**os.environ, "OMP_NUM_THREADS": str(threads)},
        check=True,
        capture_output=True,
        text=True,
    )
    return int(done.stdout)
