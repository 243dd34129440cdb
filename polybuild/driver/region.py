"""A region down the road: model, order, mapping, text. Reading this file is reading the design."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import islpy as isl

from polybuild.analysis.aliasing import Overlap, find_overlaps
from polybuild.analysis.bounded import bounded_dependences
from polybuild.analysis.dependences import Dependences, by_memory, compute_dependences
from polybuild.analysis.liveness import live_after
from polybuild.analysis.reductions import find_reductions
from polybuild.analysis.trip_counts import is_small, trip_counts
from polybuild.codegen.device.host import DeviceRequest
from polybuild.codegen.file.region import HostPlan, RegionText, RunTimeChecks, write_region
from polybuild.context import CompileContext
from polybuild.diagnostics import Diagnostic, Severity, Unsupported, UsageError
from polybuild.driver.details import Details
from polybuild.options import Options
from polybuild.poly.budget import found_within, operation_budget, was_spent
from polybuild.poly.marks import MarkKind
from polybuild.poly.relations import maps_of
from polybuild.report.record.failure import DEBUG_VARIABLE, describe
from polybuild.report.record.model import RegionReport
from polybuild.schedule.legality import IllegalSchedule, check_schedule
from polybuild.schedule.paranoid import check_by_running
from polybuild.scop.extract import extract_scop
from polybuild.scop.model import AccessKind, Array, Scop
from polybuild.source.model import Region
from polybuild.storage.buffers import Buffer, IllegalStorage
from polybuild.storage.temporaries import refusals, temporaries
from polybuild.targets.cpu.expansion import Mapped, choose_with_copies
from polybuild.targets.cpu.reduction_parallelisation import choose_with_reductions
from polybuild.targets.cpu.target import OPENMP
from polybuild.targets.lookup import TARGETS

# A launch takes some microseconds, in which one core runs this many statement instances.
_LAUNCH_WORK = 10_000

# isl's budget for each so many lines of a region, at most about twenty seconds' work
_MOST_OPERATIONS = 10_000_000
_LINES = 100
# and for what is proved a second time
_PROOF_OPERATIONS = 1_000_000
# processes that may be lost with a region before it is left alone
MOST_LOST = 2
# pieces of dependences beyond which only the original order is tried
_MOST_PIECES = 10_000
# pairs of accesses to one array beyond which statements that follow each other are one
_MOST_PAIRS = 10_000


def not_worthwhile(region: Region, context: CompileContext) -> Diagnostic | None:
    """Why an unmarked region is better left alone, None if it should be taken."""
    reason = "no order of this loop is parallel or tiled"
    try:
        with operation_budget(_MOST_OPERATIONS // 8):
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
    region: Region, context: CompileContext, *, lost: int
) -> tuple[RegionText, RegionReport, Details]:
    """One region down the road; raises Unsupported where it must stay as it is.

    What takes isl too long, or fails the proof, is tried again with less ambition; from the start
    with the least if processes were ``lost`` with it, and if several were without exact dependences.
    """
    context = context.with_options(_with_clauses(region, context.options))
    ladder = _ladder(context)[-1 if lost else 0 :]
    # large regions take more, and are worth it: it is their number that must not matter
    most = _MOST_OPERATIONS * (1 + (region.end.line - region.begin.line) // _LINES)
    model: _Model | None = None
    for attempt in ladder:
        try:
            if model is None:
                model = _read_model(region, most, exact=lost < MOST_LOST)
            if model.is_huge and attempt is not ladder[-1]:
                continue  # no scheduler comes to an end with so much
            with operation_budget(most if attempt in {ladder[0], ladder[-1]} else most // 3):
                return _transform(model, attempt, context)
        except Unsupported:
            raise
        except (IllegalSchedule, IllegalStorage) as illegal:
            if attempt is ladder[-1] or model is None:
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
            if attempt is ladder[-1] or model is None:
                raise Unsupported(
                    "too-complex",
                    "this region takes too long to analyse",
                    region.begin,
                    "split the region into smaller ones",
                ) from error
    raise AssertionError("the ladder has at least one step")


def _ladder(context: CompileContext) -> list[CompileContext]:
    """What to try for a region, each step simpler than the one before.

    Those between the first and the last get less of a budget, so that all take no more than a minute.
    """
    options = context.options
    simple = replace(options, contract_arrays="off")
    if options.schedule != "original":
        simple = replace(simple, schedule="isl")
    steps = [options]
    if options.tile:
        steps.append(replace(simple, tile_shape="rectangular", registers=False))
    steps.append(replace(simple, tile=False))
    if options.fusion not in {"auto", "min"}:  # statements apart are smaller problems
        steps.append(replace(simple, tile=False, fusion="min"))
    steps.append(replace(simple, tile=False, schedule="original"))
    return [context.with_options(each) for each in dict.fromkeys(steps)]


@dataclass(frozen=True, slots=True)
class _Model:
    """What is known of a region at first.

    ``coarse`` are the arrays whose dependences are not exact; ``in_blocks`` says that statements
    that follow each other are one.
    """

    region: Region
    scop: Scop
    live: frozenset[str]
    dependences: Dependences
    coarse: tuple[Array, ...]
    in_blocks: bool

    @property
    def is_huge(self) -> bool:
        """Whether there are more dependences than schedulers are made for."""
        return sum(each.n_basic_map() for each in maps_of(self.dependences.validity)) > _MOST_PIECES

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a user should know of it."""
        found = []
        if self.in_blocks:
            found.append("statements that follow each other stay together, as the region has very many")
        if self.coarse:
            names = ", ".join(each.spelling for each in self.coarse)
            found.append(f"the exact dependences of {names} were not found in time; more of them are assumed")
        return tuple(found)


def _read_model(region: Region, most: int, *, exact: bool) -> _Model:
    """Model and dependences of a region, ``exact`` ones if asked for; for a few times ``most`` operations."""
    with operation_budget(most):
        scop, in_blocks = _extract(region)
    live = live_after(region)
    dependences, coarse = bounded_dependences(scop, live, most, exact=exact)
    with operation_budget(most):
        check_schedule(scop.schedule, dependences, scop.domain)
    return _Model(region, scop, live, dependences, coarse, in_blocks)


def _extract(region: Region) -> tuple[Scop, bool]:
    """The model of a region; in blocks, and then true, where it has very many statements."""
    scop = extract_scop(region)
    if _pairs(scop) > _MOST_PAIRS:
        with contextlib.suppress(Unsupported):
            blocks = extract_scop(region, in_blocks=True)
            if len(blocks.statements) < len(scop.statements):
                return blocks, True
    return scop, False


def _pairs(scop: Scop) -> int:
    """How many pairs of accesses to the same array may depend on each other."""
    accesses = [each for statement in scop.statements for each in statement.accesses]
    uses = Counter(each.array.name for each in accesses)
    return sum(uses[each.array.name] for each in accesses if each.kind is not AccessKind.READ)


def _transform(
    model: _Model, context: CompileContext, asked: CompileContext
) -> tuple[RegionText, RegionReport, Details]:
    """Order, map and write one region.

    ``context`` is a step of the ladder; kernels have an order of their own, made as ``asked``.
    """
    options = context.options
    region, scop, live, dependences = model.region, model.scop, model.live, model.dependences
    wanted = options.contract_arrays != "off"
    named = (*options.temporary, *region.temporaries)
    held = temporaries(scop, dependences, live, named) if wanted else []
    refused = refusals(scop, dependences, named) if wanted else ()
    reductions = find_reductions(scop, region, reassociate=context.may_reassociate)
    mapping, respected = choose_with_reductions(scop, dependences, reductions, context, held)
    chosen = Mapped(scop, respected, mapping)
    if context.contraction == "copies" and not TARGETS[options.backend].has_kernels:
        chosen = choose_with_copies(chosen, live, named, context)
    ordered, mapping = chosen.scop, chosen.mapping
    _prove(chosen)
    if options.paranoid:
        parallel = [mark for mark in mapping.directives if mark.kind is MarkKind.PARALLEL]
        check_by_running(ordered, mapping.schedule, chosen.dependences, parallel)
    overlaps = partial(find_overlaps, scop, region, strict=context.compiler.strict_aliasing)
    plan = HostPlan(
        mapping.schedule,
        mapping.directives,
        mapping.buffers,
        mapping.registers,
        mapping.accumulators,
        unoptimised=not context.compiler.optimises,
    )
    checks = RunTimeChecks(
        overlaps(untouched=_names_of(mapping.buffers)),
        trip_counts(scop),
        options.min_work,
        chosen.dependences if options.verify else None,
    )
    text, device_remarks = _write(
        replace(model, scop=ordered), plan, checks, asked.options, held, overlaps=overlaps
    )
    remarks = [*model.remarks, *mapping.remarks, *refused, *device_remarks]
    if options.verify and text.verification is None:
        remarks.append("the region cannot check itself: which elements it writes depends on data")
    marks = {line.mark for line in text.outline}
    report = RegionReport(
        file=region.begin.file,
        line=region.begin.line,
        end_line=region.end.line,
        status="transformed",
        backend=options.backend if text.device is not None else OPENMP.name,
        parallel_loops=sum(mark is not None and mark.kind is MarkKind.PARALLEL for mark in marks),
        tile_sizes=mapping.tile_sizes,
        statements=len(scop.statements),
        assumptions=tuple(map(str, text.all_conditions)),
        remarks=(*remarks, *(f"line {each.location.line}: {each.message}" for each in scop.remarks)),
    )
    return text, report, Details(scop, dependences, ordered, mapping.schedule, text, region)


def _prove(chosen: Mapped) -> None:
    """Raise IllegalSchedule unless the order respects the dependences, and all accesses to the same memory.

    The second proof is the dearer one: where it takes isl too long, the first one stands alone.
    """
    scop, schedule = chosen.scop, chosen.mapping.schedule
    check_schedule(schedule, chosen.dependences, scop.domain)

    def prove_again() -> None:
        check_schedule(schedule, by_memory(scop, chosen.dependences), scop.domain)

    found_within(_PROOF_OPERATIONS, prove_again)


def _names_of(buffers: Sequence[Buffer]) -> set[str]:
    """The names of the arrays that ``buffers`` stand for."""
    return {each.array.name for each in buffers}


def _write(
    model: _Model,
    plan: HostPlan,
    checks: RunTimeChecks,
    options: Options,
    held: Sequence[Array],
    *,
    overlaps: Callable[..., tuple[Overlap, ...]],
) -> tuple[RegionText, tuple[str, ...]]:
    """The text of a region, with kernels for a device where it has a backend; and why there are none.

    ``held`` are its temporary arrays. ``overlaps`` finds what must be apart, given the arrays left alone.
    """
    scop, region = model.scop, model.region
    text = write_region(scop, region, plan, checks)
    target = TARGETS[options.backend]
    if target.language is None:
        return text, ()
    try:
        with operation_budget(_MOST_OPERATIONS):
            # a check looks at all that was written
            live = None if options.verify else model.live
            for_device = target.plan(scop, model.dependences, options, live, held)
        on_device = _names_of(for_device.buffers)
        if not _names_of(plan.buffers) <= on_device:  # the kernels use more memory than the host does
            checks = replace(checks, overlaps=overlaps(untouched=_names_of(plan.buffers) & on_device))
        least = _LAUNCH_WORK if options.min_work else 0
        request = DeviceRequest(for_device, target.language, checks.work, least)
        with operation_budget(_MOST_OPERATIONS * min(3, 1 + len(for_device.kernels) // 3)):
            return write_region(scop, region, plan, checks, request), for_device.remarks
    except (Unsupported, IllegalSchedule, IllegalStorage) as refusal:
        return text, (f"runs on the host: {refusal}",)
    except isl.Error as error:
        if not was_spent(error):
            raise
        return text, ("runs on the host: its kernels take too long to analyse",)


def _with_clauses(region: Region, options: Options) -> Options:
    try:
        return options.with_clauses(region.clauses)
    except UsageError as error:
        raise Unsupported(
            "bad-clause", str(error), region.begin, "see 'polybuild compile --help' for the options"
        ) from None
