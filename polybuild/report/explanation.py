"""What was done with each region, or what stopped it, for people to read."""

from __future__ import annotations

from collections.abc import Sequence

from polybuild.diagnostics import Diagnostic, Location, Severity
from polybuild.report.model import RegionReport
from polybuild.report.terminal import Style, render

TRANSFORMED = "transformed"


def summary(region: RegionReport) -> str:
    """What became of a transformed region, in one line."""
    parts = [_count(region.statements, "statement")] if region.statements else []
    parts.append(_count(region.parallel_loops, "parallel loop"))
    if region.tile_sizes:
        tiles = " and ".join("x".join(map(str, sizes)) for sizes in region.tile_sizes)
        parts.append(f"tiles of {tiles}")
    return ", ".join(parts)


def remark(region: RegionReport) -> Diagnostic:
    """The remark that says that ``region`` was transformed."""
    location = Location(region.file, region.line)
    return Diagnostic(Severity.REMARK, "", f"region transformed: {summary(region)}", location)


def explain(
    path: str, regions: Sequence[RegionReport], diagnostics: Sequence[Diagnostic], style: Style
) -> str:
    """The whole explanation of one file: its regions in order, then what concerns no region."""
    blocks = []
    rest = list(diagnostics)
    for region in regions:
        own = [diagnostic for diagnostic in rest if _concerns(diagnostic, region)]
        rest = [diagnostic for diagnostic in rest if diagnostic not in own]
        blocks.append(_region(region, own, style))
    if not regions:
        blocks.append(
            f"{style.bold(f'{path}:')} no regions; mark loops with '#pragma scop' and '#pragma endscop'\n"
        )
    blocks += [render(diagnostic, style) for diagnostic in rest]
    return "\n".join(blocks)


def _region(region: RegionReport, diagnostics: Sequence[Diagnostic], style: Style) -> str:
    place = style.bold(f"{region.file}:{region.line}-{region.end_line}:")
    if region.status == TRANSFORMED:
        for_backend = f" for {region.backend}" if region.backend else ""
        origin = " (not marked)" if region.detected else ""
        lines = [f"{place} {style.good('transformed')}{for_backend}{origin}", f"  {summary(region)}"]
        lines += _listed("runs the original loops unless", region.assumptions)
        lines += _listed("what was done", region.remarks)
    else:
        lines = [f"{place} {style.severity(Severity.WARNING, 'kept as it is')}"]
        lines += _listed("what was tried", region.remarks)
        if not diagnostics and region.message:
            code = f" [-Wpolybuild-{region.code}]" if region.code else ""
            lines.append(f"  {region.message}{code}")
    for diagnostic in diagnostics:
        lines += [f"  {line}" for line in render(diagnostic, style).splitlines()]
    return "\n".join(lines) + "\n"


def _listed(title: str, items: Sequence[str]) -> list[str]:
    return [f"  {title}:", *[f"    {item}" for item in items]] if items else []


def _concerns(diagnostic: Diagnostic, region: RegionReport) -> bool:
    # The place that stopped a region may lie in a header, inside a macro.
    elsewhere = diagnostic.location.file != region.file
    same = (diagnostic.code, diagnostic.message) == (region.code, region.message)
    return region.covers(diagnostic) or (elsewhere and same)


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}" + ("" if number == 1 else "s")
