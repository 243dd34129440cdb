"""Verdicts in a file, a line of JSON each, so that a run that was cut short can go on."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from pathlib import Path

from benchmarks.model.judging import Candidate, Verdict


def written(path: Path) -> list[Verdict]:
    """The verdicts that a file has; none if there is no file."""
    if not path.exists():
        return []
    return [_verdict(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write(path: Path, verdicts: Iterable[Verdict]) -> None:
    """Append ``verdicts`` to a file."""
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(dataclasses.asdict(each)) + "\n" for each in verdicts)


def _verdict(line: str) -> Verdict:
    entry = json.loads(line)
    candidates = tuple(Candidate(**each) for each in entry.pop("candidates"))
    return Verdict(**entry, candidates=candidates)
