"""The pipeline of a file: C text in, C text out. That of each region is in ``region`` and ``passes``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from polybuild.codegen.device.model import DeviceText, object_name
from polybuild.codegen.file.module import (
    RUNTIME_HEADER,
    RegionPosition,
    host_head,
    kernel_file,
    module_head,
)
from polybuild.codegen.file.names import quoted
from polybuild.codegen.file.splice import Replacement, splice
from polybuild.context import CompileContext
from polybuild.diagnostics import Diagnostic, Severity
from polybuild.driver.chosen_machine import choose_machine
from polybuild.driver.compiler_rules import compiler_rules
from polybuild.driver.details import Details
from polybuild.driver.experience import NO_EXPERIENCE, Experience
from polybuild.driver.file_regions import Work
from polybuild.driver.inner_regions import with_inner_regions
from polybuild.driver.isolation import UNWATCHED, Watch
from polybuild.driver.pass_printer import SILENT, PassPrinter
from polybuild.driver.pass_times import PassClock, PassTime
from polybuild.driver.requirements import unmet_requirement
from polybuild.driver.trials import Trials
from polybuild.driver.tuned_settings import FileTuning
from polybuild.options import Options
from polybuild.report.record.model import KEPT, RegionReport
from polybuild.source.autodetect import RefusedLoop, detect_regions
from polybuild.source.model import BlockKind, Region, RejectedRegion, ResidentBlock, Source
from polybuild.source.preprocess import predefined_macros
from polybuild.source.reader import read_source, text_of
from polybuild.targets.base import ImageError, KernelImage
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
    ``details`` has an entry for each of ``regions``, None where it was kept, and where several processes were
    at work; ``times`` tells of all passes that were timed.
    """

    text: str
    regions: tuple[RegionReport, ...]
    diagnostics: tuple[Diagnostic, ...]
    dependencies: tuple[str, ...]
    refused: tuple[RefusedLoop, ...] = ()
    details: tuple[Details | None, ...] = ()
    times: tuple[PassTime, ...] = ()


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
    with printer.clock.runs("reading"):
        source, refused, trials = _read(path, options, compiler, flags, (watch, printer.clock))
    options, problem = _available_backend(source, options)
    with printer.clock.runs("machine"):
        context, wrong = _context(path, options, compiler, flags, needed=bool(source.regions))
    tuned = FileTuning(source, experience.tuning, Build.of(compiler, flags, context.machine))
    diagnostics = [*source.diagnostics, *problem, *wrong, *tuned.tuning.diagnostics, *tuned.stale()]
    reports, details = list[RegionReport](), list[Details | None]()
    replacements, alike = list[Replacement](), list[Region]()
    distributes = options.distribute != "off"
    work = Work(context, watch, printer, trials, experience.store)
    source, results = with_inner_regions(source, tuned, work, (compiler, flags))
    for region, found in zip(source.regions, results, strict=True):
        if found.diagnostic is not None and found.report.detected:  # nobody asked for it
            refused += (_left_alone(found.report, found.diagnostic),)
            continue
        diagnostics += found.obstacles
        unmet = unmet_requirement(region, found.report, options)
        diagnostics += [unmet] if unmet else []
        diagnostics += found.warnings
        if isinstance(region, Region) and found.text is not None:
            replacements.append(Replacement(region, found.text))
        elif isinstance(region, Region) and distributes:
            alike.append(region)
        reports.append(found.report)
        details.append(found.details)
    watch.begins(None)
    try:
        head, needs = _device_head(replacements, context)
    except ImageError as error:
        diagnostics.append(_not_built(source, error))
        replacements, reports = _on_host(replacements, reports)
        head, needs = _device_head(replacements, context, compiles=False)
    blocks = _blocks(source, reports, options, diagnostics)
    if not head and any(each.kind is BlockKind.RESIDENT for each in blocks):
        head = RUNTIME_HEADER
    text = text_of(path)
    if replacements or blocks or alike:
        text = splice(source, replacements, head, blocks, distributes=distributes, alike=alike)
    made = text, tuple(reports), tuple(diagnostics)
    told, times = _with_needs(details, needs), tuple(printer.clock.times.values())
    return FileResult(*made, source.dependencies, refused, told, times)


def _left_alone(report: RegionReport, reason: Diagnostic) -> RefusedLoop:
    """A region that nobody asked for, and that stays as it is."""
    return RefusedLoop(report.file, report.line, report.end_line, reason)


def _on_host(
    replacements: Sequence[Replacement], reports: Sequence[RegionReport]
) -> tuple[list[Replacement], list[RegionReport]]:
    """What becomes of regions whose kernels cannot be built; the loops of ranks ask for some all the same."""
    host = [replace(each, text=replace(each.text, kernels=each.text.blocks)) for each in replacements]
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


def _device_head(
    replacements: list[Replacement], context: CompileContext, *, compiles: bool = True
) -> tuple[str, Mapping[str, str]]:
    """What a file with kernels needs at its top; empty if no backend for a device is asked for.

    Then what kernels need, by their names. Regions without kernels get the names of their objects. Unless it
    ``compiles`` kernels, they are names.
    """
    target = TARGETS[context.options.backend]
    if not target.has_kernels or not replacements:
        return "", {}
    devices: list[tuple[DeviceText, RegionPosition]] = []
    hosts: list[tuple[str, RegionPosition]] = []
    for position, each in enumerate(replacements):
        begin = each.region.begin
        place = (quoted(begin.file), begin.line)
        if each.text.kernels is not None:
            devices.append((each.text.kernels, place))
        else:
            name = object_name(each.region)
            hosts.append((name, place))
            replacements[position] = replace(each, text=replace(each.text, host=name))
    if not devices:
        return RUNTIME_HEADER + host_head(hosts), {}
    file = kernel_file([device for device, _ in devices])
    image = target.compile_kernels(file, context) if compiles else KernelImage()
    options = target.source_options(context)
    head = module_head(devices, image.data, options, context.machine)
    return RUNTIME_HEADER + head + host_head(hosts), image.needs


def _with_needs(details: Sequence[Details | None], needs: Mapping[str, str]) -> tuple[Details | None, ...]:
    """``details`` of regions with what the compiler of kernels says that each of them ``needs``."""
    found: list[Details | None] = []
    for each in details:
        device = each.text.kernels if each is not None and needs else None
        if each is not None and device is not None:
            lines = {name: (*told, needs.get(name, "")) for name, told in device.described.items()}
            described = {name: tuple(filter(None, told)) for name, told in lines.items()}
            text = replace(each.text, kernels=replace(device, described=described))
            found.append(replace(each, text=text))
        else:
            found.append(each)
    return tuple(found)


def _blocks(
    source: Source, reports: Sequence[RegionReport], options: Options, diagnostics: list[Diagnostic]
) -> list[ResidentBlock]:
    """The blocks of a file whose arrays may stay on a device, or distributed; says of others why not."""
    kernels = TARGETS[options.backend].has_kernels
    asked = {BlockKind.RESIDENT: kernels, BlockKind.DISTRIBUTED: options.distribute != "off"}
    kept = [each.line for each in reports if each.status == KEPT]
    # before a region that is understood, distributed arrays are made whole
    unread = [each.begin.line for each in source.regions if isinstance(each, RejectedRegion)]
    taken = []
    for block in source.residents:
        if not asked[block.kind]:
            continue
        last = block.location.line + source.text.count("\n", block.pragma.start, block.body.end)
        inside = [each for each in kept if block.location.line <= each <= last]
        speaking = unread if block.kind is BlockKind.DISTRIBUTED else inside
        if not speaking:
            taken.append(block)
            continue
        message = f"{block.kind.refusal}: the region in line {speaking[0]} is left as it is"
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
    found = detect_regions(
        path,
        compiler,
        flags,
        trials.problem,
        refuse=trials.refusal,
        shared=options.openmp == "use",
        headers=options.headers,
    )
    return found.source, found.refused, trials
