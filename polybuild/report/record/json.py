"""The report as JSON, for tools: schemas/report.json says what is in it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

from polybuild.diagnostics import Diagnostic, Location, Severity
from polybuild.report.record.model import (
    Advice,
    DevicePrediction,
    PredictedCandidate,
    Prediction,
    RegionReport,
)

SCHEMA = "urn:polybuild:report:1"


def as_json(regions: Sequence[RegionReport], diagnostics: Sequence[Diagnostic] = ()) -> bytes:
    """The regions in the order of the file, one key for each field of RegionReport, and what was said."""
    return encoded([dataclasses.asdict(region) for region in regions], diagnostics)


def encoded(regions: Sequence[Mapping[str, Any]], diagnostics: Sequence[Diagnostic]) -> bytes:
    """A report of ``regions``, which have at least the keys of RegionReport."""
    said = [
        {
            "severity": each.severity.value,
            "code": each.code,
            "message": each.message,
            **dataclasses.asdict(each.location),
            "hint": each.hint,
        }
        for each in diagnostics
    ]
    record = {"schema": SCHEMA, "regions": regions, "diagnostics": said}
    return (json.dumps(record, indent=2) + "\n").encode("ascii")


def from_json(data: bytes) -> tuple[tuple[RegionReport, ...], tuple[Diagnostic, ...]] | None:
    """The regions and diagnostics of a report; None if ``data`` is no report of this version."""
    try:
        record = json.loads(data)
    except ValueError:
        return None
    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
        return None
    try:
        return tuple(map(region_of, record["regions"])), tuple(map(_diagnostic, record["diagnostics"]))
    except (KeyError, TypeError, ValueError):
        return None


def region_of(record: Mapping[str, Any]) -> RegionReport:
    """The region that ``record`` tells of; keys of others are left out. TypeError, KeyError: it is none."""
    known = {field.name for field in dataclasses.fields(RegionReport)}
    fields = {name: _frozen(value) for name, value in record.items() if name in known}
    advice = tuple(Advice(**each) for each in record["advice"])
    device = record.get("device")
    read = {
        "advice": advice,
        "prediction": _prediction(record.get("prediction")),
        "device": None if device is None else DevicePrediction(**device),
    }
    return RegionReport(**{**fields, **read})


def _prediction(record: Mapping[str, Any] | None) -> Prediction | None:
    if record is None:
        return None
    candidates = tuple(PredictedCandidate(**each) for each in record["candidates"])
    return Prediction(**{**record, "candidates": candidates})


def _frozen(value: Any) -> Any:
    """A value as JSON gives it, with tuples for lists."""
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value


def _diagnostic(record: Mapping[str, Any]) -> Diagnostic:
    location = Location(record["file"], record["line"], record["column"])
    return Diagnostic(
        Severity(record["severity"]), record["code"], record["message"], location, record["hint"]
    )
