"""The regions of a file: each transformed, found among what is known, or kept."""

from __future__ import annotations

import time
from dataclasses import replace

from polybuild.analysis.false_promises import WrittenDirective
from polybuild.codegen.file.region import RegionText
from polybuild.context import CompileContext
from polybuild.diagnostics import Diagnostic, Severity, Unsupported, UsageError
from polybuild.driver.details import Details
from polybuild.driver.isolation import Watch
from polybuild.driver.obstacles import all_obstacles, with_advice
from polybuild.driver.pass_printer import PassPrinter
from polybuild.driver.promise_warnings import promise_warnings, promises_to_check
from polybuild.driver.region import begin_region, compile_region
from polybuild.driver.region_store import RegionResult, RegionStore
from polybuild.driver.side_by_side import side_by_side
from polybuild.driver.trials import Trials
from polybuild.driver.tuned_settings import FileTuning
from polybuild.options import Options
from polybuild.report.record.model import KEPT, RegionReport
from polybuild.source.fingerprint import lowered
from polybuild.source.model import Region, RejectedRegion, Source
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class FileRegion:
    """What one region became: its new text, or the reason why it is kept, and ``others`` besides.

    ``warnings`` are what the user should know of it all the same.
    """

    report: RegionReport
    text: RegionText | None = None
    details: Details | None = None
    diagnostic: Diagnostic | None = None
    others: tuple[Diagnostic, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def obstacles(self) -> tuple[Diagnostic, ...]:
        """All that is known to stand in the way."""
        return (*([self.diagnostic] if self.diagnostic else []), *self.others)


@dataclass(frozen=True, slots=True)
class Work:
    """How regions are compiled, who is told of it, and what is known of loops without marks and of others."""

    context: CompileContext
    watch: Watch
    printer: PassPrinter
    trials: Trials
    store: RegionStore | None

    def watched(self, watch: Watch) -> Work:
        """The same for who tells ``watch``."""
        return replace(self, watch=watch, printer=replace(self.printer, enters=watch.enters))


def results_of(source: Source, tuning: FileTuning, work: Work) -> list[FileRegion]:
    """What became of each region of a file, by ``work``, with what is known of tuned ones.

    Where several processes may be at work there are no details: they are not fit for passing between them.
    """
    alone = work.watch.jobs == 1

    def result_of(position: int, watch: Watch) -> FileRegion:
        found = _timed(source, position, tuning, work.watched(watch))
        return found if alone else replace(found, details=None)

    return side_by_side(len(source.regions), result_of, work.watch)


def _timed(source: Source, position: int, tuning: FileTuning, work: Work) -> FileRegion:
    """What becomes of one region of a file, and how long that takes."""
    started = time.perf_counter()
    found = _tuned(source, position, tuning, work)
    seconds = found.report.compile_seconds + time.perf_counter() - started
    return replace(found, report=replace(found.report, compile_seconds=seconds))


def _tuned(source: Source, position: int, tuning: FileTuning, work: Work) -> FileRegion:
    """Transform one region of a file with the settings that are known to be fastest, or keep it."""
    region = source.regions[position]
    if isinstance(region, RejectedRegion):
        return FileRegion(_kept(region, region.diagnostic), diagnostic=region.diagnostic)
    tuned = tuning.context(region, work.context)
    found = _stored_or_compiled(source, position, region, replace(work, context=tuned.context))
    tuning.tell(region, found.report, found.text)
    report = replace(found.report, remarks=(*found.report.remarks, *tuned.remarks))
    return replace(found, report=report)


def _stored_or_compiled(source: Source, position: int, region: Region, work: Work) -> FileRegion:
    """What is stored of one region of a file, or what becomes of it now."""
    anew = region.detected or _promises(source, region, work.context)  # what is stored tells of no directives
    if work.store is None or work.printer.names or anew or work.watch.crashes.get(position):
        return _compile(source, position, region, work)

    def compiled(raised: Region) -> RegionResult:
        tells = replace(work.printer, enters=lambda step: work.watch.enters(lowered(step)))
        found = _compile(source, position, raised, replace(work, printer=tells))
        return found.report, found.text, found.obstacles, found.warnings

    report, text, obstacles, warnings = work.store.result_of(region, work.context, compiled)
    first = obstacles[0] if obstacles else None
    return FileRegion(report, text, diagnostic=first, others=obstacles[1:], warnings=warnings)


def _compile(source: Source, position: int, region: Region, work: Work) -> FileRegion:
    """Transform one region of a file, or keep it."""
    context, printer = work.context, work.printer
    crashes = work.watch.crashes.get(position, ())
    try:
        known = None if printer.names else work.trials.result_of(region, context)
        if known is None:
            began = begin_region(work.watch, position, region)
            known = compile_region(region, context, crashes=began, printer=printer)
        text, report, details = known
    except Unsupported as refusal:
        diagnostic = refusal.diagnostic
        report = replace(_kept(region, diagnostic), detected=region.detected)
        if region.detected:
            return FileRegion(report, diagnostic=diagnostic)
        told = [with_advice(region, each) for each in all_obstacles(region, diagnostic)]
        first, *others = [_as_asked(region, context.options, each) for each in told]
        return FileRegion(report, diagnostic=first, others=tuple(others))
    if crashes:
        remark = f"only its original order was tried: the process at work on it {crashes[-1]}"
        report = replace(report, remarks=(*report.remarks, remark))
    report = replace(report, detected=region.detected)
    if details is None:
        return FileRegion(report, text)
    details = replace(details, original=_lines_of(source, region))
    warnings = () if region.detected else details.warnings
    warnings += promise_warnings(_promises(source, region, context), details)
    return FileRegion(report, text, details, warnings=warnings)


def _promises(source: Source, region: Region, context: CompileContext) -> tuple[WrittenDirective, ...]:
    """The directives of OpenMP in ``region`` that are to be checked."""
    return promises_to_check(_lines_of(source, region), region, context.options)


def _lines_of(source: Source, region: Region) -> str:
    return source.text[region.span.start : region.span.end]


def _as_asked(region: Region, options: Options, diagnostic: Diagnostic) -> Diagnostic:
    """``diagnostic`` as an error if a clause of the region says so."""
    try:
        wanted = options.with_clauses(region.clauses).on_unsupported
    except UsageError:
        return diagnostic  # it is the diagnostic's subject
    return replace(diagnostic, severity=Severity.ERROR) if wanted == "error" else diagnostic


def _kept(region: Region | RejectedRegion, diagnostic: Diagnostic) -> RegionReport:
    return RegionReport(
        file=region.begin.file,
        line=region.begin.line,
        end_line=region.end.line,
        status=KEPT,
        code=diagnostic.code,
        message=diagnostic.message,
        function=region.function.decl.name if isinstance(region, Region) else "",
    )
