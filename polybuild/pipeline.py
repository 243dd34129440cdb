"""The road: C text in, C text out. Reading this file top to bottom is reading the design."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import islpy as isl

from polybuild.analysis.aliasing import find_overlaps
from polybuild.analysis.dependences import compute_dependences
from polybuild.analysis.liveness import live_after
from polybuild.analysis.work import trip_counts
from polybuild.diagnostics import Diagnostic, Unsupported, UsageError
from polybuild.emit.region import Plan, write_region
from polybuild.emit.splice import Replacement, splice
from polybuild.options import Options
from polybuild.report.failure import DEBUG_VARIABLE, describe
from polybuild.report.model import RegionReport
from polybuild.schedule.legality import IllegalSchedule, check_schedule
from polybuild.scop.extract import extract_scop
from polybuild.source.model import Region, RejectedRegion
from polybuild.source.reader import read_source
from polybuild.targets.cpu.choice import choose_mapping

# isl's budget for one region, about twenty seconds' work, and how it says that it is spent
_MOST_OPERATIONS = 40_000_000
_OUT_OF_OPERATIONS = "maximal number of operations exceeded"


@dataclass(frozen=True, slots=True)
class Result:
    """What one file became.

    ``text`` is the transformed file (equal to the input where nothing was
    transformed); ``dependencies`` are the files it was made from.
    """

    text: str
    regions: tuple[RegionReport, ...]
    diagnostics: tuple[Diagnostic, ...]
    dependencies: tuple[str, ...]


def compile_source(path: str, options: Options, compiler: Sequence[str], flags: Sequence[str]) -> Result:
    """Transform the regions of the C file at ``path``.

    ``compiler`` is the command of the build's C compiler (``["gcc"]``), ``flags``
    the flags the file is compiled with. Raises SourceError if the file cannot be
    read or preprocessed; a region that cannot be transformed raises nothing, it
    is kept and reported.
    """
    source = read_source(path, compiler, flags)
    diagnostics = list(source.diagnostics)
    reports: list[RegionReport] = []
    replacements: list[Replacement] = []
    strict = _is_strict(flags)
    for region in source.regions:
        started = time.perf_counter()
        if isinstance(region, RejectedRegion):
            report = _kept(region, path, region.diagnostic)
            diagnostics.append(region.diagnostic)
        else:
            try:
                with _operation_budget():
                    replacement, report = _compile_region(region, path, options, strict_aliasing=strict)
                replacements.append(replacement)
            except Unsupported as refusal:
                report = _kept(region, path, refusal.diagnostic)
                diagnostics.append(refusal.diagnostic)
        reports.append(replace(report, compile_seconds=time.perf_counter() - started))
    return Result(splice(source, replacements), tuple(reports), tuple(diagnostics), source.dependencies)


def _compile_region(
    region: Region, path: str, options: Options, *, strict_aliasing: bool
) -> tuple[Replacement, RegionReport]:
    """One region down the road; raises Unsupported where it must stay as it is."""
    options = _with_clauses(region, options)
    try:
        scop = extract_scop(region)
        dependences = compute_dependences(scop, live_after(region))
        check_schedule(scop.schedule, dependences, scop.domain)
        mapping = choose_mapping(scop, dependences, options)
        check_schedule(mapping.schedule, dependences, scop.domain)
        plan = Plan(
            mapping.schedule,
            mapping.loop_lines,
            find_overlaps(scop, region, strict=strict_aliasing),
            trip_counts(scop),
            options.min_work,
        )
        text = write_region(scop, region, plan, path)
    except IllegalSchedule as illegal:
        raise Unsupported(
            "illegal-schedule",
            f"no legal order was found for this region: {illegal}",
            region.begin,
            "this is a fault of polybuild; please report it",
        ) from illegal
    except Unsupported:
        raise
    except Exception as error:  # a fault of ours costs one region, never the file
        if isinstance(error, isl.Error) and _OUT_OF_OPERATIONS in str(error):
            raise Unsupported(
                "too-complex",
                "this region takes too long to analyse",
                region.begin,
                "split the region into smaller ones",
            ) from error
        raise Unsupported(
            "internal",
            f"internal error: {describe(error)}; the region is left as it is",
            region.begin,
            f"please report it, with the traceback that {DEBUG_VARIABLE}=1 prints",
        ) from error
    report = RegionReport(
        file=path,
        line=region.begin.line,
        end_line=region.end.line,
        status="transformed",
        backend=options.backend,
        parallel_loops=mapping.parallel_loops,
        tile_sizes=mapping.tile_sizes,
        statements=len(scop.statements),
        assumptions=tuple(map(str, text.conditions)),
        remarks=(*mapping.remarks, *(f"line {each.location.line}: {each.message}" for each in scop.remarks)),
    )
    return Replacement(region, text), report


@contextmanager
def _operation_budget() -> Iterator[None]:
    """What runs too long under this makes isl give up and raise."""
    context = isl.DEFAULT_CONTEXT
    context.reset_operations()
    context.set_max_operations(_MOST_OPERATIONS)
    try:
        yield
    finally:
        context.set_max_operations(0)


def _is_strict(flags: Sequence[str]) -> bool:
    """Whether the compiler may rely on C's rules of effective types."""
    told = [flag for flag in flags if flag in {"-fstrict-aliasing", "-fno-strict-aliasing"}]
    return not told or told[-1] == "-fstrict-aliasing"


def _with_clauses(region: Region, options: Options) -> Options:
    try:
        return options.with_clauses(region.clauses)
    except UsageError as error:
        raise Unsupported(
            "bad-clause", str(error), region.begin, "see 'polybuild compile --help' for the options"
        ) from None


def _kept(region: Region | RejectedRegion, path: str, diagnostic: Diagnostic) -> RegionReport:
    return RegionReport(
        file=path,
        line=region.begin.line,
        end_line=region.end.line,
        status="kept",
        code=diagnostic.code,
        message=diagnostic.message,
    )
