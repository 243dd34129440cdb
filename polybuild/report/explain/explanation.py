"""What was done with each region, or what stopped it, for people to read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from polybuild.diagnostics import Diagnostic, Location, Severity
from polybuild.report.explain import sentences
from polybuild.report.explain.terminal import Style, render
from polybuild.report.record.model import RegionReport

if TYPE_CHECKING:
    from polybuild.driver.details import Details
    from polybuild.report.explain.gather import Explained
    from polybuild.report.explain.obstacles import SourceLoop

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


def explain(path: str, regions: Sequence[Explained], rest: Sequence[Diagnostic], style: Style) -> str:
    """The whole explanation of one file: its regions in order, then what concerns no region."""
    blocks = [_region(region, style) for region in regions]
    if not regions:
        blocks.append(
            f"{style.bold(f'{path}:')} no regions; mark loops with '#pragma scop' and '#pragma endscop'\n"
        )
    blocks += [render(diagnostic, style) for diagnostic in rest]
    return "\n".join(blocks)


def _region(explained: Explained, style: Style) -> str:
    region, diagnostics = explained.report, explained.diagnostics
    place = style.bold(f"{region.file}:{region.line}-{region.end_line}:")
    if region.status == TRANSFORMED:
        for_backend = f" for {region.backend}" if region.backend else ""
        origin = " (not marked)" if region.detected else ""
        lines = [f"{place} {style.good('transformed')}{for_backend}{origin}", f"  {summary(region)}"]
        lines += _listed("runs the original loops unless", region.assumptions)
        lines += _listed("what was done", region.remarks)
        if explained.details is not None:
            lines += _new_loops(explained.details, style)
    else:
        lines = [f"{place} {style.severity(Severity.WARNING, 'kept as it is')}"]
        lines += _listed("what was tried", region.remarks)
        if not diagnostics and region.message:
            code = f" [-Wpolybuild-{region.code}]" if region.code else ""
            lines.append(f"  {region.message}{code}")
    lines += _source_loops(explained.loops, style)
    for diagnostic in diagnostics:
        lines += [f"  {line}" for line in render(diagnostic, style).splitlines()]
    return "\n".join(lines) + "\n"


def _new_loops(details: Details, style: Style) -> list[str]:
    lines = ["  new loops:"] if details.text.outline else []
    for depth, text, run_by in sentences.outline(details):
        lines.append(f"    {'  ' * depth}{text}" + (f"  {style.good(run_by)}" if run_by else ""))
    return lines


def _source_loops(loops: Sequence[SourceLoop], style: Style) -> list[str]:
    lines = ["  loops of the source:"] if loops else []
    for loop in loops:
        indent = "  " * len(loop.names)
        said = sentences.verdict(loop)
        verdict = style.severity(Severity.WARNING, said) if loop.obstacles else style.good(said)
        name = style.bold(loop.names[-1])
        lines.append(f"  {indent}{name} (line {loop.location.line}) {verdict}")
        for obstacle in loop.obstacles[: sentences.FEW]:
            lines.append(f"    {indent}{sentences.dependence(obstacle, loop)}")
            lines.append(f"      {indent}{sentences.example(obstacle)}")
        if len(loop.obstacles) > sentences.FEW:
            lines.append(f"    {indent}and {len(loop.obstacles) - sentences.FEW} more")
    return lines


def _listed(title: str, items: Sequence[str]) -> list[str]:
    return [f"  {title}:", *[f"    {item}" for item in items]] if items else []


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}" + ("" if number == 1 else "s")
