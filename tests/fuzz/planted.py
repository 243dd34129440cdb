"""Plant bugs in polybuild, one at a time, and count the programs it takes to find each.

usage: python -m tests.fuzz.planted [fault ...]

Prints a line for each and ends with 1 if one was not found within a thousand programs.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from .__main__ import run_batch
from .faults import FAULTS, NOTHING, OF_PRIVATES

SEED = 11
BATCH = 12  # most are found by the first few
MOST = 1000 // BATCH  # batches
PROOF = "refused by the proof"
KINDS = {PROOF, "wrong", "crash", "tool", "hang"}  # what a bug may show as; else it is the harness's own


def programs_until_found(fault: str, folder: Path, most: int = MOST, batch: int = BATCH) -> tuple[int, str]:
    """How many programs were tried until one showed ``fault``, and as what; 0 if none did.

    At most so many times a ``batch`` of them is.
    """
    for first in range(0, most * batch, batch):
        found = _failures(folder, range(first, first + batch), fault)
        # what fails without the fault, too, does not count
        if found and (found := found - _failures(folder, range(first, first + batch), NOTHING)):
            return first + batch, ", ".join(sorted({kind for _, kind in found}))
    return 0, ""


def _failures(folder: Path, programs: range, fault: str) -> set[tuple[str, str]]:
    """Which of ``programs`` fail, and how; not those in which the fault itself had an error."""
    stream = "privates" if fault in OF_PRIVATES else "generate"
    outcome = run_batch(folder / "batch", SEED, programs.start, len(programs), fault=fault, stream=stream)
    return {
        (each.program.name, PROOF if each.message.startswith("illegal-schedule:") else each.kind)
        for each in outcome.failures
        if not each.message.startswith("internal:")
    }


def main() -> int:
    """Try the faults named on the command line, else all."""
    missed = 0
    for fault in sys.argv[1:] or FAULTS:
        with tempfile.TemporaryDirectory() as folder:
            count, kinds = programs_until_found(fault, Path(folder))
        missed += not count
        print(f"{fault:30} {f'{kinds} within {count} programs' if count else 'not found'}", flush=True)  # noqa: T201 -- the result
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
