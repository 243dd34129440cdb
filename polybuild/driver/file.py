"""The pipeline of a file: C text in, C text out. That of each region is in ``region`` and ``passes``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from polybuild.codegen.device.host import DeviceText, object_name
from polybuild.codegen.file.module import (
    RUNTIME_HEADER,
    RegionPosition,
    host_head,
    kernel_source,
    module_head,
)
from polybuild.codegen.file.names import quoted
from polybuild.codegen.file.region import RegionText
from polybuild.codegen.file.splice import Replacement, splice
from polybuild.context import CompileContext
from polybuild.diagnostics import Diagnostic, Severity, Unsupported, UsageError
from polybuild.driver.chosen_machine import choose_machine
from polybuild.driver.compiler_rules import compiler_rules
from polybuild.driver.details import Details
from polybuild.driver.isolation import UNWATCHED, Watch
from polybuild.driver.obstacles import all_obstacles, with_advice
from polybuild.driver.pass_printer import SILENT, PassPrinter
from polybuild.driver.pass_times import PassClock, PassTime
from polybuild.driver.region import begin_region, compile_region
from polybuild.driver.region_store import RegionResult, RegionStore
from polybuild.driver.requirements import unmet_requirement
from polybuild.driver.trials import Trials
from polybuild.driver.tuned_settings import FileTuning
from polybuild.driver.tuning_files import UNTUNED, Tuning
from polybuild.options import Options
from polybuild.report.record.model import KEPT, RegionReport
from polybuild.source.autodetect import RefusedLoop, detect_regions
from polybuild.source.fingerprint import lowered
from polybuild.source.model import Region, RejectedRegion, ResidentBlock, Source
from polybuild.source.preprocess import predefined_macros
from polybuild.source.reader import read_source, text_of
from polybuild.targets.base import ImageError
from polybuild.targets.cpu.target import OPENMP
from polybuild.targets.lookup import TARGETS
from polybuild.tuning.record import Build
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class FileResult:
    """What one file became.

    ``text`` is the transformed file (equal to the input where nothing was
    transformed); ``dependencies`` are the files it was made from. ``refused`` are
    loops that are not marked and were left alone, where regions are detected.
    ``details`` has an entry for each of ``regions``, None where it was kept; ``times`` tells of all passes
    that were timed.
    """

    text: str
    regions: tuple[RegionReport, ...]
    diagnostics: tuple[Diagnostic, ...]
    dependencies: tuple[str, ...]
    refused: tuple[RefusedLoop, ...] = ()
    details: tuple[Details | None, ...] = ()
    times: tuple[PassTime, ...] = ()


@dataclass(frozen=True, slots=True)
class Experience:
    """What earlier runs found out: the fastest settings of some regions, and what became of some.

    Of what is found in the ``store`` there are no details.
    """

    tuning: Tuning = UNTUNED
    store: RegionStore | None = None


NO_EXPERIENCE = Experience()


def compile_source(
    path: str,
    options: Options,
    compiler: Sequence[str],
    flags: Sequence[str],
    watch: Watch = UNWATCHED,
    *,
    experience: Experience = NO_EXPERIENCE,
    printer: PassPrinter = SILENT,
) -> FileResult:
    """Transform the regions of the C file at ``path``.

    ``compiler`` is the command of the build's C compiler (``["gcc"]``), ``flags``
    the flags the file is compiled with. Raises SourceError if the file cannot be
    read or preprocessed; a region that cannot be transformed raises nothing, it
    is kept and reported. ``watch`` is told which region is worked on, and knows of those to
    leave; ``printer`` is told what the passes made of each.
    """
    tuning = experience.tuning
    with printer.clock.runs("reading"):
        source, refused, trials = _read(path, options, compiler, flags, (watch, printer.clock))
    options, problem = _available_backend(source, options)
    with printer.clock.runs("machine"):
        context, wrong = _context(path, options, compiler, flags, needed=bool(source.regions))
    tuned = FileTuning(source, tuning, Build.of(compiler, flags, context.machine))
    diagnostics = [*source.diagnostics, *problem, *wrong, *tuning.diagnostics, *tuned.stale()]
    printer = replace(printer, enters=watch.enters)
    reports: list[RegionReport] = []
    replacements: list[Replacement] = []
    details: list[Details | None] = []
    for position, region in enumerate(source.regions):
        started = time.perf_counter()
        found = _tuned(source, position, tuned, _Work(context, watch, printer, trials, experience.store))
        seconds = found.report.compile_seconds + time.perf_counter() - started
        if found.diagnostic is not None and found.report.detected:  # nobody asked for it
            refused += (RefusedLoop(found.report.line, found.report.end_line, found.diagnostic),)
            continue
        diagnostics += found.obstacles
        unmet = unmet_requirement(region, found.report, options)
        diagnostics += [unmet] if unmet else []
        diagnostics += found.unused
        if isinstance(region, Region) and found.text is not None:
            replacements.append(Replacement(region, found.text))
        reports.append(replace(found.report, compile_seconds=seconds))
        details.append(found.details)
    watch.begins(None)
    try:
        head = _device_head(replacements, context)
    except ImageError as error:
        diagnostics.append(_not_built(source, error))
        replacements, reports = _on_host(replacements, reports)
        head = _device_head(replacements, context)
    residents = _residents(source, reports, diagnostics) if TARGETS[options.backend].has_kernels else []
    if residents and not head:
        head = RUNTIME_HEADER
    text = splice(source, replacements, head, residents) if replacements or residents else text_of(path)
    times = tuple(printer.clock.times.values())
    made = text, tuple(reports), tuple(diagnostics)
    return FileResult(*made, source.dependencies, refused, tuple(details), times)


def _on_host(
    replacements: Sequence[Replacement], reports: Sequence[RegionReport]
) -> tuple[list[Replacement], list[RegionReport]]:
    """What becomes of regions whose kernels cannot be built."""
    host = [replace(each, text=replace(each.text, device=None)) for each in replacements]
    return host, [replace(each, backend=OPENMP.name if each.backend else "", kernels=0) for each in reports]


def _context(
    path: str, options: Options, compiler: Sequence[str], flags: Sequence[str], *, needed: bool
) -> tuple[CompileContext, tuple[Diagnostic, ...]]:
    """What is resolved once for a file, and what was wrong with the file of the machine.

    The compiler is asked only if that is ``needed``: if there is something to do.
    """
    if not needed:
        return CompileContext().with_options(options), ()
    macros = predefined_macros(path, compiler, flags)
    chosen = choose_machine(options, macros, flags)
    context = CompileContext(machine=chosen.machine, compiler=compiler_rules(macros, flags))
    return context.with_options(options), chosen.diagnostics


@dataclass(frozen=True, slots=True)
class _RegionResult:
    """What one region became: its new text, or the reason why it is kept, and ``others`` besides.

    Settings without effect on it are ``unused``.
    """

    report: RegionReport
    text: RegionText | None = None
    details: Details | None = None
    diagnostic: Diagnostic | None = None
    others: tuple[Diagnostic, ...] = ()
    unused: tuple[Diagnostic, ...] = ()

    @property
    def obstacles(self) -> tuple[Diagnostic, ...]:
        """All that is known to stand in the way."""
        return (*([self.diagnostic] if self.diagnostic else []), *self.others)


@dataclass(frozen=True, slots=True)
class _Work:
    """How regions are compiled, who is told of it, and what is known of loops without marks and of others."""

    context: CompileContext
    watch: Watch
    printer: PassPrinter
    trials: Trials
    store: RegionStore | None


def _tuned(source: Source, position: int, tuning: FileTuning, work: _Work) -> _RegionResult:
    """Transform one region of a file with the settings that are known to be fastest, or keep it."""
    region = source.regions[position]
    if isinstance(region, RejectedRegion):
        return _RegionResult(_kept(region, region.diagnostic), diagnostic=region.diagnostic)
    tuned = tuning.context(region, work.context)
    found = _stored_or_compiled(source, position, region, replace(work, context=tuned.context))
    tuning.tell(region, found.report, found.text)
    report = replace(found.report, remarks=(*found.report.remarks, *tuned.remarks))
    return replace(found, report=report)


def _stored_or_compiled(source: Source, position: int, region: Region, work: _Work) -> _RegionResult:
    """What is stored of one region of a file, or what becomes of it now."""
    if work.store is None or work.printer.names or region.detected or work.watch.crashes.get(position):
        return _compile(source, position, region, work)

    def compiled(raised: Region) -> RegionResult:
        tells = replace(work.printer, enters=lambda step: work.watch.enters(lowered(step)))
        found = _compile(source, position, raised, replace(work, printer=tells))
        return found.report, found.text, found.obstacles, found.unused

    report, text, obstacles, unused = work.store.result_of(region, work.context, compiled)
    first = obstacles[0] if obstacles else None
    return _RegionResult(report, text, diagnostic=first, others=obstacles[1:], unused=unused)


def _compile(source: Source, position: int, region: Region, work: _Work) -> _RegionResult:
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
            return _RegionResult(report, diagnostic=diagnostic)
        told = [with_advice(region, each) for each in all_obstacles(region, diagnostic)]
        first, *others = [_as_asked(region, context.options, each) for each in told]
        return _RegionResult(report, diagnostic=first, others=tuple(others))
    if crashes:
        remark = f"only its original order was tried: the process at work on it {crashes[-1]}"
        report = replace(report, remarks=(*report.remarks, remark))
    details = replace(details, original=source.text[region.span.start : region.span.end])
    report = replace(report, detected=region.detected)
    return _RegionResult(report, text, details, unused=() if region.detected else details.unused)


def _available_backend(source: Source, options: Options) -> tuple[Options, list[Diagnostic]]:
    """The options with the backend that can be built here, and a warning if it is not the one asked for."""
    target = TARGETS[options.backend]
    if not target.needs_compiler() or not source.regions or target.compiler(options):
        return options, []
    other = TARGETS.get(options.without_nvcc)
    diagnostic = Diagnostic(
        Severity.WARNING if other else Severity.ERROR,
        "no-nvcc",
        f"nvcc was not found, so regions are built for {other.title} instead of {target.title}"
        if other
        else "nvcc was not found",
        source.regions[0].begin,
        "install the CUDA toolkit, set CUDA_HOME, or name it with --nvcc",
    )
    return replace(options, backend=(other or OPENMP).name), [diagnostic]


def _not_built(source: Source, error: ImageError) -> Diagnostic:
    """The warning that the kernels of a file could not be compiled."""
    return Diagnostic(
        Severity.WARNING,
        "kernels-rejected",
        f"{error}; all regions of the file run on the host",
        source.regions[0].begin,
        "name with --cuda-arch what 'nvcc --list-gpu-arch' prints, or take another --backend",
    )


def _device_head(replacements: list[Replacement], context: CompileContext) -> str:
    """What a file with kernels needs at its top; empty if no backend for a device is asked for.

    Regions without kernels get the names of their objects.
    """
    target = TARGETS[context.options.backend]
    if not target.has_kernels or not replacements:
        return ""
    devices: list[tuple[DeviceText, RegionPosition]] = []
    hosts: list[tuple[str, RegionPosition]] = []
    for position, each in enumerate(replacements):
        begin = each.region.begin
        place = (quoted(begin.file), begin.line)
        if each.text.device is not None:
            devices.append((each.text.device, place))
        else:
            name = object_name(each.region)
            hosts.append((name, place))
            replacements[position] = replace(each, text=replace(each.text, host=name))
    if not devices:
        return RUNTIME_HEADER + host_head(hosts)
    kernels = kernel_source([device for device, _ in devices])
    image = target.compile_kernels(kernels, context)
    return RUNTIME_HEADER + module_head(devices, image) + host_head(hosts)


def _residents(
    source: Source, reports: Sequence[RegionReport], diagnostics: list[Diagnostic]
) -> list[ResidentBlock]:
    """The blocks of a file whose arrays may stay on a device; says of others why not."""
    taken = []
    for block in source.residents:
        last = block.location.line + source.text.count("\n", block.pragma.start, block.body.end)
        kept = [each for each in reports if each.status == KEPT and block.location.line <= each.line <= last]
        if not kept:
            taken.append(block)
            continue
        message = f"no array stays on the device here: the region in line {kept[0].line} is left as it is"
        diagnostics.append(Diagnostic(Severity.WARNING, "resident-kept", message, block.location))
    return taken


def _read(
    path: str, options: Options, compiler: Sequence[str], flags: Sequence[str], told: tuple[Watch, PassClock]
) -> tuple[Source, tuple[RefusedLoop, ...], Trials]:
    """The file with its regions, the loops without marks that are not taken, and what was tried for that."""
    context, _ = _context(path, options, compiler, flags, needed=options.autodetect)
    trials = Trials(context, *told)
    if not options.autodetect:
        return read_source(path, compiler, flags, headers=options.headers), (), trials
    found = detect_regions(path, compiler, flags, trials.problem)
    return found.source, found.refused, trials


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
