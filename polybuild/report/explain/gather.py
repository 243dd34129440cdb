"""What there is to say about the regions of a file, put together for an explanation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import islpy as isl

from polybuild.diagnostics import Diagnostic
from polybuild.driver.details import Details
from polybuild.poly.budget import operation_budget
from polybuild.report.explain.obstacles import SourceLoop, source_loops
from polybuild.report.record.model import RankPlan, RegionReport
from polybuild.values import dataclass

if TYPE_CHECKING:
    from polybuild.driver.file import FileResult

# about a second's work: an explanation may be silent about a region that is too large
_MAXIMUM_OPERATIONS = 1_000_000


@dataclass(frozen=True, slots=True)
class Explained:
    """A region as it is explained: ``loops`` are those of its source, ``diagnostics`` what concerns it.

    ``details`` is None for a region that is kept; then ``source`` has its lines, if they can be read.
    ``plan`` is what it takes on more ranks, if that was asked for.
    """

    report: RegionReport
    details: Details | None
    loops: tuple[SourceLoop, ...]
    diagnostics: tuple[Diagnostic, ...]
    source: tuple[str, ...] = ()
    plan: RankPlan | None = None


def gather(result: FileResult) -> tuple[tuple[Explained, ...], tuple[Diagnostic, ...]]:
    """The regions of ``result`` in order, and the diagnostics that concern none of them."""
    found = []
    rest = [*result.diagnostics, *(each.remark for each in result.refused)]
    details = result.details or (None,) * len(result.regions)
    for region, known in zip(result.regions, details, strict=True):
        own = tuple(diagnostic for diagnostic in rest if _concerns(diagnostic, region))
        rest = [diagnostic for diagnostic in rest if diagnostic not in own]
        source = _source(region) if known is None else ()
        found.append(Explained(region, known, _loops(known), own, source))
    return tuple(found), tuple(rest)


def _loops(details: Details | None) -> tuple[SourceLoop, ...]:
    if details is None:
        return ()
    try:
        with operation_budget(_MAXIMUM_OPERATIONS):
            return source_loops(details.scop, details.dependences)
    except isl.Error:
        return ()


def _source(region: RegionReport) -> tuple[str, ...]:
    """The lines of a region, none where its file cannot be read."""
    try:
        text = Path(region.file).read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return ()
    return tuple(line.rstrip("\r") for line in text.split("\n")[region.line - 1 : region.end_line])


def _concerns(diagnostic: Diagnostic, region: RegionReport) -> bool:
    # The place that stopped a region may lie in a header, inside a macro.
    elsewhere = diagnostic.location.file != region.file
    same = (diagnostic.code, diagnostic.message) == (region.code, region.message)
    return region.covers(diagnostic) or (elsewhere and same)
