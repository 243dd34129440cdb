"""What regions have to become: the build fails where one does not."""

from __future__ import annotations

from polybuild.diagnostics import Diagnostic, Severity, UsageError
from polybuild.options import Options
from polybuild.report.record.model import KEPT, RegionReport
from polybuild.source.model import Region, RejectedRegion

_GAINS = {"parallel": "parallel", "vector": "vectorised", "tiled": "tiled"}


def unmet_requirement(
    region: Region | RejectedRegion, report: RegionReport, options: Options
) -> Diagnostic | None:
    """The error that says what ``region`` had to become and why it did not; None if nothing is missing."""
    if report.detected:
        return None
    try:
        asked = options.with_clauses(region.clauses) if isinstance(region, Region) else options
    except UsageError:
        return None  # another diagnostic is about the clauses
    missing = [_GAINS[word] for word in asked.require if _GAINS[word] not in report.gains]
    if not missing:
        return None
    reason = report.message if report.status == KEPT else report.reason
    message = f"this region has to be {' and '.join(missing)}, but is {report.fate}"
    hint = "'polybuild explain' tells what stands in the way of each loop"
    text = f"{message}: {reason}" if reason else message
    return Diagnostic(Severity.ERROR, "required", text, region.begin, hint)
