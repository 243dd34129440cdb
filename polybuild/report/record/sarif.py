"""What was said about the regions of files as SARIF 2.1.0, for code hosts and editors."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polybuild
from polybuild.diagnostics import Diagnostic, Location, Severity
from polybuild.report.record.model import RegionReport

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.REMARK: "note"}


def as_sarif(regions: Sequence[RegionReport], diagnostics: Sequence[Diagnostic]) -> bytes:
    """One run with a result for each of the ``diagnostics`` and each piece of advice on ``regions``."""
    results = [*map(_said, diagnostics), *(each for region in regions for each in _advised(region))]
    rules = [{"id": rule} for rule in dict.fromkeys(each["ruleId"] for each in results)]
    driver = {"name": "polybuild", "version": polybuild.__version__, "rules": rules}
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "utf16CodeUnits", "results": results}],
    }
    return (json.dumps(log, indent=2) + "\n").encode("ascii")


def _said(diagnostic: Diagnostic) -> dict[str, Any]:
    hint = f" ({diagnostic.hint})" if diagnostic.hint else ""
    rule = f"polybuild-{diagnostic.code}" if diagnostic.code else "polybuild"
    return _result(rule, _LEVELS[diagnostic.severity], diagnostic.message + hint, diagnostic.location)


def _advised(region: RegionReport) -> Iterator[dict[str, Any]]:
    for each in region.advice:
        rule = f"polybuild-advice-{each.kind}"
        yield _result(rule, "note", each.message, Location(region.file, each.line))


def _result(rule: str, level: str, message: str, place: Location) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(place.file)}}
    if place.line:
        physical["region"] = {"startLine": place.line}
        if place.column:
            physical["region"]["startColumn"] = place.column
    location = {"physicalLocation": physical}
    return {"ruleId": rule, "level": level, "message": {"text": message}, "locations": [location]}


def _uri(file: str) -> str:
    """The address of a file: relative where it is below the current folder, as code hosts want it."""
    path = Path(file)
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
