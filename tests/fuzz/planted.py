"""Plant bugs in polybuild, one at a time, and count the programs it takes to find each.

usage: python -m tests.fuzz.planted [fault ...]

Prints a line for each and ends with 1 if one was not found within a thousand programs.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from .__main__ import run_batch
from .faults import FAULTS

SEED = 11
BATCH = 12  # most are found by the first few
MOST = 1000 // BATCH  # batches
PROOF = "refused by the proof"
KINDS = {
    PROOF,
    "wrong",
    "crash",
    "tool",
    "hang",
}  # what a bug may show as; anything else is the harness's own


def programs_until_found(fault: str, folder: Path, most: int = MOST) -> tuple[int, str]:
    """How many programs were tried until one showed ``fault``, and as what; 0 if none did."""
    for number in range(most):
        outcome = run_batch(folder / "batch", SEED, number * BATCH, BATCH, fault=fault)
        kinds = {
            PROOF if each.message.startswith("illegal-schedule:") else each.kind for each in outcome.failures
        }
        if kinds:
            return (number + 1) * BATCH, ", ".join(sorted(kinds))
    return 0, ""


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
