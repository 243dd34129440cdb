"""``polybuild summary``: what became of the regions of a whole build, a line for each, and totals."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from polybuild.diagnostics import Diagnostic, Location, Severity, SourceError
from polybuild.driver import output
from polybuild.report.explain import explanation, sentences
from polybuild.report.explain.terminal import Style
from polybuild.report.record import json as record
from polybuild.report.record.model import Advice, RegionReport
from polybuild.report.record.runs import RegionRuns, read_runs
from polybuild.values import dataclass

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


def describe_runs(build: BuildRecord, path: str, data: bytes, style: Style) -> str:
    """What ran of each region by the report ``data`` in the file ``path``, and the advice that concerns it.

    Raises SourceError if it is no such report.
    """
    try:
        runs = read_runs(data)
    except (KeyError, TypeError, ValueError) as error:
        message = f"this is no report of a program that ran: {error}"
        raise SourceError(Diagnostic(Severity.ERROR, "unreadable-file", message, Location(path, 0))) from None
    regions = {(each.file, each.line): each for each in build.regions}
    lines = [style.bold("what ran:")]
    for (file, line), ran in sorted(runs.items()):
        region = regions.get((file, line))
        function = f" in {region.function}" if region and region.function else ""
        lines.append(f"  {style.bold(f'{file}:{line}{function}')}")
        lines += [f"    {each}" for each in ran.told()]
        lines += [f"    line {each.line}: {each.message}" for each in _concerning(region, ran)]
    return "\n".join(part for line in lines for part in style.wrapped(line)) + "\n"


def _concerning(region: RegionReport | None, ran: RegionRuns) -> Iterator[Advice]:
    """The advice on a region that what ran of it does not speak against."""
    fell_back = ran.runs["original"] > 0
    for each in region.advice if region else ():
        # pointers of which some run may have shown that they overlap; sizes that never were too small
        if not (each.kind == "restrict" and fell_back) and not (each.kind == "min-work" and not fell_back):
            yield each


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
