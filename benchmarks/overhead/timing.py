"""What processes take, polybuild among them."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
POLYBUILD = (sys.executable, str(ROOT / "bin" / "polybuild"))
"""The command, of this repository."""


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of one process and its children: processor time and wall time."""

    processor: float
    wall: float


def environment_of(cache: Path | None) -> dict[str, str]:
    """The environment of an installed polybuild that keeps results in ``cache``, or none."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("POLYBUILD_")},
        "PYTHONPATH": str(ROOT),
        "POLYBUILD_CACHE": "on" if cache else "off",
        **({"POLYBUILD_CACHE_DIR": str(cache)} if cache else {}),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installation has its bytecode
    return environment


def timed(command: Sequence[str], environment: Mapping[str, str]) -> Times:
    """Run ``command``; CalledProcessError if it fails."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, env=environment, stdin=subprocess.DEVNULL, capture_output=True)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Times(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall)
