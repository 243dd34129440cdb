"""Trials: what ``polybuild tune`` tells the builds that it starts, and what these tell it.

``POLYBUILD_TRIAL`` names a file with the settings to try for regions, by their digests, and the name of a
log. Each compilation appends the regions it met to that log, a line of JSON each.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from pathlib import Path

from polybuild.tuning.record import Build
from polybuild.values import dataclass

VARIABLE = "POLYBUILD_TRIAL"


@dataclass(frozen=True, slots=True)
class Trial:
    """Settings to try for regions by their digests; the ``log`` is told which regions there are.

    Programs count the time in each region where they are ``timed`` by that.
    """

    settings: Mapping[str, Mapping[str, str]]
    log: str
    timed: bool = True

    def write(self, path: Path) -> None:
        """Write the file that ``VARIABLE`` is to name."""
        path.write_text(json.dumps(dataclasses.asdict(self)), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class MetRegion:
    """A region that a build met: where it is, how it is built, its tiles, and what its user set by hand.

    Equal ``code`` is the same generated code. With kernels for a device there are ``block_sizes``, the
    threads of that one which has the most loops, and its tiles.
    """

    digest: str
    file: str
    line: int
    build: Build
    tile_sizes: tuple[int, ...]
    given: tuple[str, ...]
    parallel: bool
    code: str
    block_sizes: tuple[int, ...] = ()


def current_trial() -> Trial | None:
    """The trial that this process is a part of; None if there is none, as in every other build."""
    path = os.environ.get(VARIABLE)
    if not path:
        return None
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        return Trial(content["settings"], content["log"])
    except (OSError, ValueError, KeyError):
        return None


def tell(trial: Trial, region: MetRegion) -> None:
    """Append ``region`` to the log of ``trial``; a line is written in one piece."""
    line = json.dumps(dataclasses.asdict(region)) + "\n"
    descriptor = os.open(trial.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, line.encode("ascii"))
    finally:
        os.close(descriptor)


def met_regions(log: Path) -> tuple[MetRegion, ...]:
    """The regions in a log, each once, as it was met last."""
    found: dict[tuple[str, str], MetRegion] = {}
    if log.exists():
        for line in log.read_text(encoding="ascii").splitlines():
            entry = json.loads(line)
            region = MetRegion(
                entry["digest"],
                entry["file"],
                entry["line"],
                Build.from_json(entry["build"]),
                tuple(entry["tile_sizes"]),
                tuple(entry["given"]),
                parallel=entry["parallel"],
                code=entry["code"],
                block_sizes=tuple(entry["block_sizes"]),
            )
            found[region.file, region.digest] = region
    return tuple(found.values())
