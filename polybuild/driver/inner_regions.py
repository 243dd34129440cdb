"""Marked regions that stay as they are: the loops inside of them become regions of their own.

A solver runs until it converges, a factorisation skips columns that are zero already: nobody knows an order
of ``while (error > tolerance)``, and what is under a condition on data is one statement, but the loops in
there are as good as others. Each of them is transformed if that gains something; what is around them is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polybuild.diagnostics import SourceError
from polybuild.driver.file_regions import FileRegion, Work, results_of
from polybuild.driver.trials import Trials
from polybuild.driver.tuned_settings import FileTuning
from polybuild.report.record.model import UNCHANGED, Sequential
from polybuild.source.autodetect import regions_inside
from polybuild.source.model import Region, RejectedRegion, Source
from polybuild.targets.lookup import TARGETS

_OF_THE_WHOLE = frozenset({"bad-clause", "illegal-schedule", "internal"})
"""Diagnostics of regions whose parts would have the same ones, or should not be tried."""


def with_inner_regions(
    source: Source, tuning: FileTuning, work: Work, compiler: tuple[Sequence[str], Sequence[str]]
) -> tuple[Source, Sequence[FileRegion]]:
    """``source`` and what became of its regions, with those inside of kept ones that gain, in order.

    As ``results_of``; ``compiler`` is its command, and the flags of the file.
    """
    results = results_of(source, tuning, work)
    pairs = list(zip(source.regions, results, strict=True))
    options = work.context.options
    on_host = not TARGETS[options.backend].has_kernels  # what is between kernels may be in a resident block
    kept = [
        region
        for region, found in pairs
        if isinstance(region, Region) and (on_host or found.diagnostic) and _may_be_divided(region, found)
    ]
    if not kept or options.distribute != "off":
        return source, results
    trials = Trials(work.context, work.watch, work.printer.clock, work.trials.spent)
    try:
        inner = regions_inside(
            kept,
            source.path,
            compiler,
            (trials.refusal, trials.problem),
            headers=options.headers,
            detected=options.autodetect,
        )
    except SourceError:  # the file has changed since it was read
        return source, results
    parts = results_of(replace(source, regions=tuple(inner)), tuning, replace(work, trials=trials))
    pairs = [
        (region, _with_note(found, [each for each in inner if _is_in(each, region)]))
        for region, found in pairs
    ]
    ordered = sorted([*pairs, *zip(inner, parts, strict=True)], key=lambda pair: pair[0].span.start)
    return replace(source, regions=tuple(region for region, _ in ordered)), [found for _, found in ordered]


def _with_note(found: FileRegion, inner: Sequence[Region]) -> FileRegion:
    """``found`` of a region with word of those ``inner`` ones that are taken instead."""
    if not inner:
        return found
    lines = " and ".join(f"{each.begin.line}-{each.end.line}" for each in inner)
    note = f"the loops in lines {lines} are taken by themselves"
    if found.diagnostic is None:
        remarks = (*found.report.remarks, note)
        return replace(found, report=replace(found.report, remarks=remarks))
    message = f"{found.diagnostic.message}; {note}"
    return replace(
        found,
        report=replace(found.report, message=message),
        diagnostic=replace(found.diagnostic, message=message),
    )


def _is_in(inner: Region, region: Region | RejectedRegion) -> bool:
    return region.span.start <= inner.span.start and inner.span.end <= region.span.end


def _may_be_divided(region: Region, found: FileRegion) -> bool:
    """Whether the loops inside of a region are to be tried."""
    report, problem = found.report, found.diagnostic
    if region.detected or found.text is not None:
        return False
    if problem is None:
        return report.status == UNCHANGED and report.reason == Sequential.NO_ORDER
    return problem.code not in _OF_THE_WHOLE
