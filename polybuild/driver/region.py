"""One region: its passes, with a simpler strategy where one fails, and the report of what was done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from polybuild import effort
from polybuild.c.syntax_tree import location, walk
from polybuild.codegen.file.region import RegionText
from polybuild.context import CompileContext
from polybuild.diagnostics import Unsupported, UsageError
from polybuild.driver import passes
from polybuild.driver.advice import advice
from polybuild.driver.details import Details
from polybuild.driver.device_prediction import device_prediction_of
from polybuild.driver.isolation import Position, Watch
from polybuild.driver.pass_printer import SILENT, PassPrinter
from polybuild.driver.prediction import prediction_of
from polybuild.driver.unused_settings import changed_sizes, unused_settings
from polybuild.machine.model import Machine
from polybuild.options import Options
from polybuild.poly.budget import (
    effort_is_spent,
    effort_limit,
    found_within,
    operation_budget,
    was_spent,
)
from polybuild.poly.marks import MarkKind
from polybuild.poly.memory import remembering
from polybuild.report.record.failure import DEBUG_VARIABLE, describe
from polybuild.report.record.model import (
    TRANSFORMED,
    UNCHANGED,
    DevicePrediction,
    Prediction,
    RegionReport,
    Sequential,
)
from polybuild.schedule.legality import IllegalSchedule
from polybuild.source.blocks import is_repeated
from polybuild.source.model import Region
from polybuild.storage.buffers import IllegalStorage
from polybuild.targets.cpu.target import OPENMP
from polybuild.targets.lookup import TARGETS
from polybuild.transform.bands import coincident_members


def begin_region(watch: Watch, position: Position, region: Region) -> int:
    """Begin to work on a region; how many processes ended that were at work on it before.

    Raises Unsupported if too many did, or if the time of its file is spent.
    """
    crashes = watch.crashes.get(position, ())
    if len(crashes) > effort.MAXIMUM_CRASHES:
        raise Unsupported(
            "internal",
            f"internal error: the process at work on this region {crashes[-1]}; it is left as it is",
            region.begin,
            "please report it, with the region; smaller regions may do",
        )
    if watch.is_over():
        raise Unsupported("not-tried", "the time for this file is spent", region.begin, "ask for more time")
    watch.begins(position)
    return len(crashes)


def compile_region(
    region: Region,
    context: CompileContext,
    *,
    crashes: int,
    printer: PassPrinter = SILENT,
    share: int = 1,
    search: int | None = None,
) -> tuple[RegionText | None, RegionReport, Details]:
    """Run the passes of one region; raises Unsupported where it must stay as it is.

    What takes isl too long, or fails the proof, is tried again with a simpler strategy; after
    SEARCH_OPERATIONS, or so many as ``search`` says, only the simplest is. After ``crashes`` of processes at
    work on it the simplest comes first, and after several of them dependences are over-approximated. A region
    that stays as it is gets no text, unless its runs are counted. The region gets one of so many ``share`` of
    isl's operations.
    """
    operations = operations_for(region) // share
    attempt = partial(_by_strategies, region, context, operations, crashes=crashes, printer=printer)
    asked = context.with_options(_with_clauses(region, context.options))
    purpose = _purpose(asked)
    with effort_limit(effort.SEARCH_OPERATIONS if search is None else search), remembering():
        if purpose is passes.ModelPurpose.DEVICE and asked.options.distribute == "off":
            return _with_kernels_of_either_form(attempt, calls=bool(region.callees))
        return attempt(purpose)


_Result = tuple[RegionText | None, RegionReport, Details]


def _with_kernels_of_either_form(
    attempt: Callable[[passes.ModelPurpose], _Result], *, calls: bool
) -> _Result:
    """What ``attempt`` makes of a region for a device, which is to call functions of the user's as they are.

    Where that has no kernels, what is made of the model for the host: functions with loops are read through
    there, private variables and conditions are others.
    """
    try:
        made = attempt(passes.ModelPurpose.DEVICE)
    except Unsupported as refusal:
        if not calls or refusal.diagnostic.code in _OUR_LIMITS:
            raise
        return attempt(passes.ModelPurpose.HOST)
    if made[1].kernels or effort_is_spent():
        return made
    try:
        other = attempt(passes.ModelPurpose.HOST)
    except Unsupported:
        return made
    return other if other[1].kernels else made


_OUR_LIMITS = frozenset({"illegal-schedule", "internal", "too-complex"})
"""Refusals that say nothing about a region."""


def _by_strategies(
    region: Region,
    context: CompileContext,
    operations: int,
    purpose: passes.ModelPurpose,
    *,
    crashes: int,
    printer: PassPrinter,
) -> _Result:
    options = _with_clauses(region, context.options)
    context = replace(context.with_options(options), repeated=is_repeated(region.function, region.index))
    if crashes:  # kernels of tiles over time may have been what did not come to an end
        options = replace(options, tile_shape="rectangular")
    strategies = fallback_strategies(context.with_options(options))[-1 if crashes else 0 :]
    exact = crashes < effort.MAXIMUM_CRASHES
    model: passes.RegionModel | None = None
    for strategy in strategies:
        is_last = strategy is strategies[-1]
        try:
            if model is None:
                model = _analyse(region, operations, printer, exact=exact, purpose=purpose)
            if (model.is_huge or effort_is_spent()) and not is_last:
                continue  # no scheduler comes to an end with so much
            whole = is_last or strategy is strategies[0]
            with operation_budget(operations if whole else operations // 3):
                work = _transform(model, strategy, context, printer)
                text, report, details = _unchanged(work) if work.stays else _reported(work)
                simplified = bool(model.approximated) or strategy is not strategies[0]
                return text, report, replace(details, took_all=simplified)
        except Unsupported:
            raise
        except (IllegalSchedule, IllegalStorage) as illegal:
            if is_last or model is None:
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
            if is_last or model is None:
                raise Unsupported(
                    "too-complex",
                    "this region takes too long to analyse",
                    region.begin,
                    "split the region into smaller ones",
                ) from error
    raise AssertionError("there is at least one strategy")


def operations_for(region: Region) -> int:
    """How many of isl's operations one analysis may take.

    Large regions take more, and are worth it: it is their number that must not matter. Functions that they
    call are parts of them.
    """
    called = sum(_lines(each.body) for each in region.callees.values() if each.body is not None)
    lines = region.end.line - region.begin.line + called
    return effort.REGION_OPERATIONS * (1 + lines // effort.REGION_LINES)


def _lines(function: Region) -> int:
    """The lines of a called function that have code."""
    nodes = (node for statement in function.statements for node in walk(statement))
    return len({location(node).line for node in nodes if node.coord is not None})


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


def _purpose(context: CompileContext) -> passes.ModelPurpose:
    """What the model of a region is for: its loops may need memory if they are alone, and asked for."""
    options = context.options
    if TARGETS[options.backend].has_kernels:
        return passes.ModelPurpose.DEVICE
    if options.distribute != "off" or options.contract_arrays == "off":
        return passes.ModelPurpose.HOST
    if options.verify or options.adapt:
        return passes.ModelPurpose.STORAGE
    grids = options.contract_arrays == "on"
    return passes.ModelPurpose.MEMORY if grids else passes.ModelPurpose.VALUES


def _analyse(
    region: Region, operations: int, printer: PassPrinter, *, exact: bool, purpose: passes.ModelPurpose
) -> passes.RegionModel:
    """The model of a region after all analyses, for a few times so many of isl's ``operations``."""
    model = passes.RegionModel(region, operations, exact, purpose)
    for each in passes.ANALYSES:
        with printer.runs(each.name, region):
            each.run(model)
        printer.after(each.name, region, partial(each.show, model))
    return model


def _transform(
    model: passes.RegionModel, strategy: CompileContext, requested: CompileContext, printer: PassPrinter
) -> passes.Transformation:
    """The region after all transformations, by ``strategy``; after those that find out that it ``stays``."""
    work = passes.Transformation(model, strategy, requested)
    for each in passes.TRANSFORMATIONS:
        with printer.runs(each.name, model.region):
            each.run(work)
        printer.after(each.name, model.region, partial(each.show, work))
        if work.stays:
            break
    return work


def _unchanged(work: passes.Transformation) -> tuple[RegionText | None, RegionReport, Details]:
    """What there is to say about a region that stays as it is."""
    model = work.model
    region, scop = model.region, model.scop
    report = RegionReport(
        file=region.begin.file,
        line=region.begin.line,
        end_line=region.end.line,
        status=UNCHANGED,
        function=region.function.decl.name,
        statements=len(scop.statements),
        remarks=work.remarks,
        advice=advice(work),
        reason=_why_sequential(work),
        prediction=_prediction(work),
    )
    options = work.context.options
    text = RegionText((), (), (), frozenset(), reported=options.runtime_report)
    details = Details(scop, model.dependences, scop, scop.schedule, text, region)
    written = text.reported or options.distribute != "off"  # what it reads may be on other ranks
    return text if written else None, report, replace(details, costs=work.comparison.costs)


def _reported(work: passes.Transformation) -> tuple[RegionText, RegionReport, Details]:
    """The text of a transformed region, and what there is to say about it."""
    model, options, text, mapped = work.model, work.context.options, work.text, work.mapped
    region, scop, mapping = model.region, model.scop, mapped.mapping
    remarks = [*model.remarks, *mapping.remarks, *work.remarks]
    remarks += (*work.without_private.remarks, *changed_sizes(work))
    if options.verify and text.verification is None:
        remarks.append("the region cannot check itself: which elements it writes depends on data")
    if effort_is_spent():
        remarks.append("not all was tried: what the search for an order may cost is spent")
    kinds = [mark.kind for mark in {line.mark for line in text.outline} if mark is not None]
    gains = kinds or mapping.tile_sizes or mapping.registers
    report = RegionReport(
        file=region.begin.file,
        line=region.begin.line,
        end_line=region.end.line,
        status=TRANSFORMED,
        function=region.function.decl.name,
        backend=options.backend if text.kernels is not None else OPENMP.name,
        parallel_loops=kinds.count(MarkKind.PARALLEL),
        vector_loops=kinds.count(MarkKind.SIMD) + len(mapping.registers),
        tile_sizes=mapping.tile_sizes,
        statements=len(scop.statements),
        assumptions=tuple(map(str, text.all_conditions)),
        remarks=(*remarks, *(f"line {each.location.line}: {each.message}" for each in scop.remarks)),
        advice=advice(work),
        kernels=len(text.kernels.kernels) if text.kernels is not None else 0,
        reason="" if gains else _why_sequential(work),
        prediction=_prediction(work),
        device=_on_device(text, work.requested.machine),
    )
    details = Details(scop, model.dependences, mapped.scop, mapping.schedule, text, region)
    shared = None if mapped.sharing is None else (mapped, work.context)
    costs = work.comparison.costs
    machine = work.requested.machine
    details = replace(details, warnings=unused_settings(work), costs=costs, shared=shared, machine=machine)
    return text, report, details


def _on_device(text: RegionText, machine: Machine) -> DevicePrediction | None:
    """What a run on a device is predicted to take, None where that would take too long, or never happens."""
    request = None if text.device is None else text.device.request
    if request is None:
        return None
    return found_within(effort.PREDICTION_OPERATIONS, partial(device_prediction_of, request, machine))


def _prediction(work: passes.Transformation) -> Prediction | None:
    """What the model of costs says of the region, None where that would take too long."""
    costs = work.comparison.costs
    return (
        None if costs is None else found_within(effort.PREDICTION_OPERATIONS, partial(prediction_of, costs))
    )


def _why_sequential(work: passes.Transformation) -> Sequential:
    if not any(map(coincident_members, work.bands)):
        costs = work.comparison.costs
        if work.stays and costs is not None and any(each.has_threads for each in costs.candidates):
            return Sequential.PREDICTED
        return Sequential.NO_ORDER
    if work.stays:
        return Sequential.COMPILERS
    return Sequential.LITTLE_WORK


def _with_clauses(region: Region, options: Options) -> Options:
    try:
        return options.with_clauses(region.clauses)
    except UsageError as error:
        raise Unsupported(
            "bad-clause", str(error), region.begin, "see 'polybuild compile --help' for the options"
        ) from None
