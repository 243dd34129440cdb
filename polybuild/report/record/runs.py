"""What ran of regions, as programs append it to the file that POLYBUILD_REPORT names: schemas/run.json."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import field
from typing import Any

from polybuild.values import dataclass

_SCHEMA = "urn:polybuild:run:1"
_VERSIONS = {"new": "the new loops", "original": "the original loops", "device": "the kernels of the device"}


@dataclass(frozen=True, slots=True)
class RegionRuns:
    """The runs of one region in all processes: of each version how many and how long, and what failed."""

    runs: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)
    failed: Counter[str] = field(default_factory=Counter)

    def told(self) -> Iterator[str]:
        """A line for each version that ran, in the words of the program's own report."""
        for version, words in _VERSIONS.items():
            if self.runs[version]:
                failed = self.failed if version == "original" else Counter()
                why = "; ".join(f"{each} {_times(count)}" for each, count in failed.most_common())
                milliseconds = f"{self.seconds[version] * 1000:.3f} ms"
                line = f"{words} ran {_times(self.runs[version])}, {milliseconds}"
                yield f"{line}: {why}" if why else line


def _times(count: int) -> str:
    return f"{count} time" + ("" if count == 1 else "s")


def read_runs(data: bytes) -> dict[tuple[str, int], RegionRuns]:
    """The runs of all regions, by file and first line. ValueError if ``data`` is no such report."""
    found: dict[tuple[str, int], RegionRuns] = {}
    for line in data.splitlines():
        record: Any = json.loads(line)
        if not isinstance(record, dict) or record.get("schema") != _SCHEMA:
            raise ValueError(f"no line of '{_SCHEMA}'")
        runs = found.setdefault((record["file"], record["line"]), RegionRuns())
        for version, ran in record["versions"].items():
            runs.runs[version] += ran["runs"]
            runs.seconds[version] = runs.seconds.get(version, 0.0) + ran["seconds"]
        for each in record["failed"]:
            runs.failed[each["condition"]] += each["runs"]
    return found
