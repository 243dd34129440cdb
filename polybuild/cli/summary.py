"""``polybuild summary``: what became of the regions of a whole build, a line for each, and totals."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from polybuild.diagnostics import Diagnostic
from polybuild.driver import output
from polybuild.report.explain import explanation, sentences
from polybuild.report.explain.terminal import Style
from polybuild.report.record import json as record
from polybuild.report.record.model import RegionReport

_SUFFIX = ".json"
_HEAD = 200  # bytes that have the name of the schema; other files of a build may be large


@dataclass(frozen=True, slots=True)
class BuildRecord:
    """The regions of a build, each once, in the order of files and lines, and what was said of them."""

    regions: tuple[RegionReport, ...]
    diagnostics: tuple[Diagnostic, ...]


def read_build(folders: Sequence[str]) -> BuildRecord:
    """The reports below ``folders``, or those that are named themselves, put together.

    A file of which there are several, as in builds of several configurations, is told of by the newest.
    """
    regions: dict[tuple[str, int], RegionReport] = {}
    diagnostics: dict[Diagnostic, None] = {}
    paths = sorted(_reports(folders), key=lambda path: path.stat().st_mtime)
    for path in paths:
        data = path.read_bytes()
        found = record.from_json(data) if record.SCHEMA.encode() in data[:_HEAD] else None
        if found is not None:
            regions |= {(each.file, each.line): each for each in found[0]}
            diagnostics |= dict.fromkeys(found[1])
    ordered = sorted(regions.values(), key=lambda each: (each.file, each.line))
    return BuildRecord(tuple(ordered), tuple(sorted(diagnostics, key=lambda each: each.location)))


def _reports(folders: Sequence[str]) -> Iterator[Path]:
    for folder in folders:
        if Path(folder).is_file():
            yield Path(folder)
            continue
        for place, _, names in os.walk(folder):
            yield from (Path(place, name) for name in names if name.endswith(_SUFFIX))


def describe(build: BuildRecord, style: Style) -> str:
    """A line for each region, by files, and the totals."""
    blocks = []
    for file in dict.fromkeys(each.file for each in build.regions):
        own = [each for each in build.regions if each.file == file]
        blocks.append(explanation.index(file, own, style))
    return "\n".join([*blocks, *_totals(build.regions)]) + "\n"


def _totals(regions: Sequence[RegionReport]) -> Iterator[str]:
    fates = Counter(each.fate for each in regions)
    told = ", ".join(f"{number} {fate}" for fate, number in sorted(fates.items()))
    files = sentences.count(len({each.file for each in regions}), "file")
    yield f"{sentences.count(len(regions), 'region')} in {files}" + (f": {told}" if told else "")
    seconds = sum(each.compile_seconds for each in regions)
    if regions:
        yield f"{sum(each.parallel_loops for each in regions)} parallel loops; {seconds:.1f} s of analysis"
    codes = Counter(each.code for each in regions if each.code)
    if codes:
        reasons = ", ".join(f"{code} ({number})" for code, number in codes.most_common())
        yield f"kept because of {reasons}"


def as_json(build: BuildRecord) -> bytes:
    """The whole build as one report."""
    return record.as_json(build.regions, build.diagnostics)


def write_sarif(build: BuildRecord, path: str) -> None:
    """Write what was said of the whole build as SARIF to ``path``."""
    from polybuild.report.record.sarif import as_sarif  # noqa: PLC0415 -- only where it is asked for

    output.write(path, as_sarif(build.regions, build.diagnostics))
