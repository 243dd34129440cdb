"""One region: its passes, with a simpler strategy where one fails, and the report of what was done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from polybuild.analysis.dependences import compute_dependences
from polybuild.analysis.liveness import live_after
from polybuild.analysis.reductions import find_reductions
from polybuild.analysis.trip_counts import is_small
from polybuild.codegen.file.region import RegionText
from polybuild.context import CompileContext
from polybuild.diagnostics import Diagnostic, Severity, Unsupported, UsageError
from polybuild.driver import passes
from polybuild.driver.advice import advice
from polybuild.driver.details import Details
from polybuild.driver.pass_printer import SILENT, PassPrinter
from polybuild.driver.unused_settings import changed_sizes, unused_settings
from polybuild.options import Options
from polybuild.poly.budget import operation_budget, was_spent
from polybuild.poly.marks import MarkKind
from polybuild.report.record.failure import DEBUG_VARIABLE, describe
from polybuild.report.record.model import RegionReport
from polybuild.schedule.legality import IllegalSchedule
from polybuild.scop.extract import extract_scop
from polybuild.source.model import Region
from polybuild.storage.buffers import IllegalStorage
from polybuild.targets.cpu.mapping import CpuMapping
from polybuild.targets.cpu.reduction_parallelisation import choose_with_reductions
from polybuild.targets.cpu.target import OPENMP
from polybuild.targets.lookup import TARGETS

MAXIMUM_CRASHES = 2
"""Processes that may crash at work on a region before it is left alone."""

# lines of a region that are worth a whole budget of isl's operations
_LINES = 100


def not_worthwhile(region: Region, context: CompileContext) -> Diagnostic | None:
    """Why an unmarked region is better left alone, None if it should be taken."""
    reason = "no order of this loop is parallel or tiled"
    try:
        with operation_budget(passes.OPERATIONS // 8):
            scop = extract_scop(region)
            if is_small(scop):
                reason = "this loop does too little"
            else:
                dependences = compute_dependences(scop, live_after(region))
                reductions = find_reductions(scop, region, reassociate=context.may_reassociate)
                mapping, _ = choose_with_reductions(scop, dependences, reductions, context)
                if mapping.parallel_loops or mapping.tile_sizes:
                    return None
    except Unsupported as refusal:
        return refusal.diagnostic
    except Exception as error:  # noqa: BLE001 - an unmarked loop stays as it is, whatever it is
        reason = f"this loop is beyond the analysis: {describe(error)}"
    return Diagnostic(Severity.REMARK, "not-worthwhile", reason, region.begin)


def compile_region(
    region: Region, context: CompileContext, *, crashes: int, printer: PassPrinter = SILENT
) -> tuple[RegionText, RegionReport, Details]:
    """Run the passes of one region; raises Unsupported where it must stay as it is.

    What takes isl too long, or fails the proof, is tried again with a simpler strategy. After
    ``crashes`` of processes at work on it the simplest comes first, and after several of them
    dependences are over-approximated.
    """
    context = context.with_options(_with_clauses(region, context.options))
    strategies = fallback_strategies(context)[-1 if crashes else 0 :]
    # large regions take more, and are worth it: it is their number that must not matter
    operations = passes.OPERATIONS * (1 + (region.end.line - region.begin.line) // _LINES)
    exact, kernels = crashes < MAXIMUM_CRASHES, TARGETS[context.options.backend].has_kernels
    model: passes.RegionModel | None = None
    for strategy in strategies:
        try:
            if model is None:
                model = _analyse(region, operations, printer, exact=exact, for_device=kernels)
            if model.is_huge and strategy is not strategies[-1]:
                continue  # no scheduler comes to an end with so much
            whole = strategy in {strategies[0], strategies[-1]}
            with operation_budget(operations if whole else operations // 3):
                return _reported(_transform(model, strategy, context, printer))
        except Unsupported:
            raise
        except (IllegalSchedule, IllegalStorage) as illegal:
            if strategy is strategies[-1] or model is None:
                raise Unsupported(
                    "illegal-schedule",
                    f"no legal order was found for this region: {illegal}",
                    region.begin,
                    "this is a fault of polybuild; please report it",
                ) from illegal
        except Exception as error:  # a fault of ours costs one region, never the file
            if not was_spent(error):
                raise Unsupported(
                    "internal",
                    f"internal error: {describe(error)}; the region is left as it is",
                    region.begin,
                    f"please report it, with the traceback that {DEBUG_VARIABLE}=1 prints",
                ) from error
            if strategy is strategies[-1] or model is None:
                raise Unsupported(
                    "too-complex",
                    "this region takes too long to analyse",
                    region.begin,
                    "split the region into smaller ones",
                ) from error
    raise AssertionError("there is at least one strategy")


def fallback_strategies(context: CompileContext) -> list[CompileContext]:
    """What to try for a region, each strategy simpler than the one before.

    Those between the first and the last get less of a budget, so that all take no more than a minute.
    """
    options = context.options
    simple = replace(options, contract_arrays="off")
    if options.schedule != "original":
        simple = replace(simple, schedule="isl")
    strategies = [options]
    if options.tile:
        strategies.append(replace(simple, tile_shape="rectangular", registers=False))
    strategies.append(replace(simple, tile=False))
    if options.fusion not in {"auto", "min"}:  # statements in loops of their own are smaller problems
        strategies.append(replace(simple, tile=False, fusion="min"))
    strategies.append(replace(simple, tile=False, schedule="original"))
    return [context.with_options(each) for each in dict.fromkeys(strategies)]


def _analyse(
    region: Region, operations: int, printer: PassPrinter, *, exact: bool, for_device: bool
) -> passes.RegionModel:
    """The model of a region after all analyses, for a few times so many of isl's ``operations``."""
    model = passes.RegionModel(region, operations, exact, for_device)
    for each in passes.ANALYSES:
        printer.before(each.name, region)
        each.run(model)
        printer.after(each.name, region, partial(each.show, model))
    return model


def _transform(
    model: passes.RegionModel, strategy: CompileContext, requested: CompileContext, printer: PassPrinter
) -> passes.Transformation:
    """The region after all transformations, by ``strategy``."""
    work = passes.Transformation(model, strategy, requested)
    for each in passes.TRANSFORMATIONS:
        printer.before(each.name, model.region)
        each.run(work)
        printer.after(each.name, model.region, partial(each.show, work))
    return work


def _reported(work: passes.Transformation) -> tuple[RegionText, RegionReport, Details]:
    """The text of a transformed region, and what there is to say about it."""
    model, options, text, mapped = work.model, work.context.options, work.text, work.mapped
    region, scop, mapping = model.region, model.scop, mapped.mapping
    remarks = [*model.remarks, *mapping.remarks, *work.remarks]
    remarks += (*work.without_private.remarks, *changed_sizes(work))
    if options.verify and text.verification is None:
        remarks.append("the region cannot check itself: which elements it writes depends on data")
    kinds = [mark.kind for mark in {line.mark for line in text.outline} if mark is not None]
    report = RegionReport(
        file=region.begin.file,
        line=region.begin.line,
        end_line=region.end.line,
        status="transformed",
        function=region.function.decl.name,
        backend=options.backend if text.device is not None else OPENMP.name,
        parallel_loops=kinds.count(MarkKind.PARALLEL),
        vector_loops=kinds.count(MarkKind.SIMD) + len(mapping.registers),
        tile_sizes=mapping.tile_sizes,
        statements=len(scop.statements),
        assumptions=tuple(map(str, text.all_conditions)),
        remarks=(*remarks, *(f"line {each.location.line}: {each.message}" for each in scop.remarks)),
        advice=advice(work),
        kernels=len(text.device.kernels) if text.device is not None else 0,
        reason=_why_sequential(mapping, kinds),
    )
    details = Details(scop, model.dependences, mapped.scop, mapping.schedule, text, region)
    return text, report, replace(details, unused=unused_settings(work))


def _why_sequential(mapping: CpuMapping, kinds: Sequence[MarkKind]) -> str:
    """Why loops with marks of ``kinds`` are run by one thread without vectors; empty if they are not."""
    if kinds or mapping.tile_sizes or mapping.registers:
        return ""
    if any(each.parallel for each in mapping.directives.values()):
        return "it has too little work for threads"
    return "in no order that was found does a loop carry nothing"


def _with_clauses(region: Region, options: Options) -> Options:
    try:
        return options.with_clauses(region.clauses)
    except UsageError as error:
        raise Unsupported(
            "bad-clause", str(error), region.begin, "see 'polybuild compile --help' for the options"
        ) from None
