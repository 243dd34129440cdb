"""Figures of this machine, timed by a program that the user's compiler builds: a few seconds, once."""

from __future__ import annotations

import math
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from polybuild.diagnostics import UsageError
from polybuild.machine.model import Machine, Origin
from polybuild.values import dataclass

_PROGRAM = Path(__file__).with_name("measure.c")
_FLAGS = ("-std=gnu11", "-O2", "-march=native", "-fno-tree-vectorize", "-fno-math-errno", "-fopenmp", "-w")
_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Measurement:
    """A machine with figures that were measured; ``busy`` if other work ran beside, which spoils them."""

    machine: Machine
    busy: bool


def measured(machine: Machine, compiler: Sequence[str]) -> Measurement:
    """``machine``, which is this one, with what ``compiler``'s program measures here.

    Raises UsageError if it cannot be built or does not run, or if what it finds has no meaning.
    """
    sizes = [str(level.bytes) for level in (machine.l1, machine.l2, machine.l3)]
    with tempfile.TemporaryDirectory(prefix="polybuild-") as folder:
        program = Path(folder) / "measure"
        _run([*compiler, *_FLAGS, str(_PROGRAM), "-o", str(program), "-lm"], "building")
        # the threads of idle processors are what is measured, not how long they are left spinning
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
        text = _run([str(program), *sizes], "running")
    found = {path: float(value) for path, value in (line.split() for line in text.splitlines())}
    wrong = [path for path, value in found.items() if not 0 < value < math.inf]
    if wrong:
        raise UsageError(f"the program that measures found no {', '.join(wrong)}")
    return Measurement(machine.with_figures(found, Origin.MEASURED), load > machine.threads.processors / 2)


def _run(command: Sequence[str], what: str) -> str:
    """What ``command`` prints."""
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"{what} the program that measures failed: {error}") from None
    if done.returncode:
        said = done.stderr.strip().splitlines()
        reason = said[0] if said else f"it ended with code {done.returncode}"
        raise UsageError(f"{what} the program that measures failed: {reason}")
    return done.stdout
