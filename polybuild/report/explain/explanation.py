"""What was done with each region, or what stopped it, for people to read."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import TYPE_CHECKING

from polybuild.diagnostics import Diagnostic, Location, Severity
from polybuild.report.explain import ranks, sentences
from polybuild.report.explain.terminal import Style, render
from polybuild.report.record.model import KEPT, RegionReport

if TYPE_CHECKING:
    from polybuild.driver.details import Details
    from polybuild.report.explain.gather import Explained
    from polybuild.report.explain.obstacles import SourceLoop


class Level(IntEnum):
    """How much is told: each level is all of the one before, and more."""

    INDEX = 1
    """A line for each region."""
    ORDER = 2
    """What was done, under which conditions, and the new loops."""
    DEPENDENCES = 3
    """What stands in the way of each loop of the source."""
    EVERYTHING = 4
    """All dependences, conditions as they stand in the code, kernels."""


def remark(region: RegionReport) -> Diagnostic:
    """The remark that says what became of ``region``, which was not kept."""
    verb = "is" if region.gains else "stays"
    text = f"region {verb} {sentences.outcome(region)}"
    return Diagnostic(Severity.REMARK, "", text, Location(region.file, region.line))


def explain(
    path: str,
    regions: Sequence[Explained],
    rest: Sequence[Diagnostic],
    style: Style,
    level: Level = Level.DEPENDENCES,
    *,
    detected: bool = False,
) -> str:
    """The whole explanation of one file: its regions in order, then what concerns no region.

    That there are none means something else where loops were looked for that are to be ``detected``.
    """
    blocks = []
    if len(regions) > 1 or (regions and level is Level.INDEX):
        blocks.append(index(path, [each.report for each in regions], style))
    if level > Level.INDEX:
        blocks += [_region(region, style, level) for region in regions]
    if not regions:
        why = f", and no loop is taken by itself: 'polybuild survey {path}' says why" if detected else ""
        place = style.bold(f"{path}:")
        blocks.append(f"{place} no regions{why}; mark loops with '#pragma scop' and '#pragma endscop'\n")
    blocks += [render(diagnostic, style) for diagnostic in rest]
    return "\n".join(blocks)


def index(path: str, regions: Sequence[RegionReport], style: Style) -> str:
    """A line for each region of a file: where it is, and what became of it."""
    places = [f"{each.line}-{each.end_line}" for each in regions]
    widths = [max(map(len, places)), max(len(each.function) for each in regions)]
    lines = [style.bold(f"{path}: {sentences.count(len(regions), 'region')}")]
    for place, region in zip(places, regions, strict=True):
        # a region of a header is named with its file
        file = f"{region.file}: " if region.file != path else ""
        said = f"{file}{sentences.outcome(region)}"
        lines.append(f"  {place:{widths[0]}}  {region.function:{widths[1]}}  {_painted(said, region, style)}")
    return "\n".join(lines) + "\n"


def _painted(said: str, region: RegionReport, style: Style) -> str:
    """What is ``said`` of ``region`` in the colour of what became of it."""
    if region.gains:
        return style.good(said)
    kept = region.status == KEPT
    return style.severity(Severity.WARNING if kept else Severity.REMARK, said)


def _region(explained: Explained, style: Style, level: Level) -> str:
    region, diagnostics = explained.report, explained.diagnostics
    function = f" in {region.function}" if region.function else ""
    from polybuild.report.explain.wavefronts import wavefronts  # noqa: PLC0415 -- imports isl

    place = style.bold(f"{region.file}:{region.line}-{region.end_line}{function}:")
    fate = _painted(region.fate, region, style)
    if region.status != KEPT:
        for_backend = f" for {region.backend}" if region.backend else ""
        origin = " (not marked)" if region.detected else ""
        lines = [f"{place} {fate}{for_backend}{origin}"]
        lines.append(f"  {sentences.summary(region)}")
        said = sentences.expected(region), sentences.expected_on_device(region), wavefronts(explained)
        lines += [f"  {each}" for each in said if each]
        lines += _listed("runs the original loops unless", _conditions(explained, level))
        lines += _listed("what was done", region.remarks)
        lines += _listed(*ranks.table(explained.plan)) if explained.plan else []
        if explained.details is not None:
            lines += _new_loops(explained.details, style, level)
    else:
        lines = [f"{place} {fate}"]
        lines += _listed("what was tried", region.remarks)
        if not diagnostics and region.message:
            code = f" [-Wpolybuild-{region.code}]" if region.code else ""
            lines.append(f"  {region.message}{code}")
    if level >= Level.DEPENDENCES:
        lines += _source_loops(explained.loops, style, level)
    lines += _listed("advice", [f"line {each.line}: {each.message}" for each in region.advice])
    lines = [part for line in lines for part in style.wrapped(line)]
    for diagnostic in diagnostics:  # these show lines of the source, as they are
        lines += [f"  {line}" for line in render(diagnostic, style).splitlines()]
    return "\n".join(lines) + "\n"


def _conditions(explained: Explained, level: Level) -> Sequence[str]:
    """The conditions of the new loops, in words; as they stand in the code where everything is told."""
    if explained.details is None or level is Level.EVERYTHING:
        return explained.report.assumptions
    return tuple(dict.fromkeys(each.brief for each in explained.details.text.all_conditions))


def _new_loops(details: Details, style: Style, level: Level) -> list[str]:
    device = details.text.kernels
    title = "new loops, where there is no device" if device else "new loops"
    lines = []
    if device:
        lines = ["  kernels:"]
        for each in device.kernels:
            told = device.described.get(each.name, ())
            lines += [f"    {each.name}", *(f"      {line}" for line in told)]
    if device and level is Level.EVERYTHING:
        texts = "\n".join(device.kernel_texts)
        lines = ["  kernels:", *(f"    {line}" for line in texts.splitlines())]
    lines += [f"  {title}:"] if details.text.outline else []
    for depth, text, run_by in sentences.outline(details):
        lines.append(f"    {'  ' * depth}{text}" + (f"  {style.good(run_by)}" if run_by else ""))
    return lines


def _source_loops(loops: Sequence[SourceLoop], style: Style, level: Level) -> list[str]:
    lines = ["  loops of the source:"] if loops else []
    for loop in loops:
        indent = "  " * len(loop.names)
        said = sentences.verdict(loop)
        verdict = style.severity(Severity.WARNING, said) if loop.obstacles else style.good(said)
        name = style.bold(loop.names[-1])
        lines.append(f"  {indent}{name} (line {loop.location.line}) {verdict}")
        few = len(loop.obstacles) if level is Level.EVERYTHING else sentences.FEW
        for obstacle in loop.obstacles[:few]:
            lines.append(f"    {indent}{sentences.dependence(obstacle, loop)}")
            lines.append(f"      {indent}{sentences.example(obstacle)}")
        if len(loop.obstacles) > few:
            lines.append(f"    {indent}and {len(loop.obstacles) - few} more")
    return lines


def _listed(title: str, items: Sequence[str]) -> list[str]:
    return [f"  {title}:", *[f"    {item}" for item in items]] if items else []
