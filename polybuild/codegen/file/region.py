"""One region as C: if what the transformation relies on holds, the new loops, else the original text."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from polybuild.analysis.aliasing import Overlap, in_stages
from polybuild.analysis.dependences import Dependences
from polybuild.analysis.inspectors import Inspector
from polybuild.codegen.c.accumulators import ActiveAccumulators
from polybuild.codegen.c.allocations import OwnMemory
from polybuild.codegen.c.ast import GeneratedAst, build_ast
from polybuild.codegen.c.ast_checks import check_instance_coverage, check_scopes, has_divisions
from polybuild.codegen.c.buffers import NamedBuffer, Scopes
from polybuild.codegen.c.conditions import Condition, ConditionPrinter, either, has_too_little_work
from polybuild.codegen.c.directives import DirectivePrinter, thread_copies
from polybuild.codegen.c.exchanges import RankLoopPrinter
from polybuild.codegen.c.exits import write_exit_tests
from polybuild.codegen.c.inspectors import (
    InspectorText,
    extrema_declarations,
    inspectors_of,
    write_inspectors,
)
from polybuild.codegen.c.instances import COUNTER_TYPE
from polybuild.codegen.c.layout import CodeLine, Role, belonging
from polybuild.codegen.c.locals import local_declarations
from polybuild.codegen.c.loop_heads import register
from polybuild.codegen.c.loops import LoopPrinter
from polybuild.codegen.c.names_in_scope import NamesInScope
from polybuild.codegen.c.names_in_use import NamesInUse
from polybuild.codegen.c.outline import Line
from polybuild.codegen.c.shared_tables import hoisted_declarations, table_declarations
from polybuild.codegen.device.model import BlocksRequest, BlockTexts, DeviceRequest, DeviceText, HostNames
from polybuild.codegen.file.adapting import Adapting, chosen
from polybuild.codegen.file.boundary import BoundaryPrinter
from polybuild.codegen.file.names import PREFIX, fresh
from polybuild.codegen.file.prologue import Helper
from polybuild.codegen.file.ranks import Agreement
from polybuild.codegen.file.region_names import RegionNames, name_region
from polybuild.codegen.file.verification import CHECK, RUNS, Verification, verification
from polybuild.poly.marks import Mark
from polybuild.poly.memory import Itself, remembered
from polybuild.scop.model import ExitTests, Scop
from polybuild.source.model import Region
from polybuild.storage.buffers import Buffer
from polybuild.targets.model import Accumulator, Enough, LoopDirective, RegisterTile, ThreadLimits
from polybuild.targets.ranks.model import Sharing
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class HostPlan:
    """How a region runs on the host.

    ``directives`` has what is told of the loop under a mark of ``schedule``. ``buffers`` stand for
    temporary arrays, ``accumulators`` for what reductions accumulate in; ``registers`` are register
    tiles: all have marks in ``schedule``, too. Where the compiler is ``unoptimised`` counters and
    parameters ask for registers. ``tile_sizes`` are told to who reads the code. A plan that has no
    ``gains_alone`` is for several threads: one runs the original loops as fast. Of a region that ranks share
    it is for the block of one, ``sharing`` says how. Memory that each thread has some of is a ``line`` apart,
    in bytes.
    """

    schedule: isl.Schedule
    directives: Mapping[Mark, LoopDirective]
    buffers: tuple[Buffer, ...] = ()
    registers: tuple[RegisterTile, ...] = ()
    accumulators: tuple[Accumulator, ...] = ()
    unoptimised: bool = False
    tile_sizes: tuple[tuple[int, ...], ...] = ()
    gains_alone: bool = True
    sharing: Sharing | None = None
    line: int = 0

    @property
    def shared_loops(self) -> list[ThreadLimits]:
        """From what work on the loops pay that several threads may run."""
        parallel = [each for each in self.directives.values() if each.parallel]
        return [each.limits for each in parallel if not has_too_little_work(each.limits)]

    @property
    def is_parallel(self) -> bool:
        """Whether threads share a loop."""
        return any(each.parallel for each in self.directives.values())

    @property
    def gains_threads_only(self) -> bool:
        """Whether one thread runs about what the compiler makes of the original loops."""
        return not (self.tile_sizes or self.buffers or self.registers or self.accumulators)


@dataclass(frozen=True, slots=True)
class RunTimeChecks:
    """What is looked at when a region runs, before the new order may.

    ``overlaps`` must not be. ``work`` has upper bounds on the trip counts of the loops of each statement;
    the original loops run when the sum of their products is below ``min_work``, on one thread where ``alone``
    does not hold, on several where ``shared`` does not. With ``verified``, the dependences that the new order
    respects, the region can compare itself with the original.
    ``reported``: the region counts its runs and the conditions that did not hold. One that ``adapts`` may
    choose among its versions by their time.
    """

    overlaps: tuple[Overlap, ...] = ()
    work: tuple[tuple[isl.PwAff, ...], ...] = ()
    min_work: int = 0
    alone: tuple[Enough, ...] = ()
    shared: tuple[Enough, ...] = ()
    verified: Dependences | None = None
    reported: bool = False
    adapts: bool = False

    @property
    def minimum_alone(self) -> int:
        """The least work for which one thread runs the new loops, if it does."""
        return self.alone[0].minimum if self.alone else self.min_work


@dataclass(frozen=True, slots=True)
class Stage:
    """Lines that look at data where all conditions so far hold, and the conditions on what they saw.

    They may look for early exits of the original loops, by which control ``leaves`` the region. Some bring
    what they look at ``home`` from a device, where it may be.
    """

    declarations: tuple[str, ...]
    lines: tuple[str, ...]
    conditions: tuple[Condition, ...]
    leaves: bool = False
    home: bool = False


@dataclass(frozen=True, slots=True)
class RegionText:
    """The generated part of a region, and the conditions under which it runs.

    ``declarations`` and ``loops`` are lines of C, none where the region stays as it is; ``helpers`` names
    what the loops need from the prologue; ``outline`` lists the loops and their statements.
    ``kernels`` are for a device, if it can run it; ``host`` names the region's object where
    it cannot, but other regions of the program may. ``verification`` has the parts of a check
    at run time, ``reported`` says whether runs are counted. ``stages`` follow the ``conditions``, one after
    the other. Where a device may run the region, ``worthwhile`` are conditions on the host's new loops alone.
    ``decision`` is what the region needs to choose among its versions by their time, or for ranks to agree.
    """

    declarations: tuple[str, ...]
    conditions: tuple[Condition, ...]
    loops: tuple[str, ...]
    helpers: frozenset[Helper]
    outline: tuple[Line, ...] = ()
    kernels: DeviceText | None = None
    verification: Verification | None = None
    stages: tuple[Stage, ...] = ()
    host: str = ""
    reported: bool = False
    worthwhile: tuple[Condition, ...] = ()
    decision: Adapting | Agreement | None = None

    @property
    def device(self) -> DeviceText | None:
        """What a device runs instead of the loops, if it can."""
        return None if self.kernels is None or self.kernels.within_loops else self.kernels

    @property
    def blocks(self) -> DeviceText | None:
        """What the devices of ranks run within the loops, if they can."""
        return None if self.kernels is None or not self.kernels.within_loops else self.kernels

    @property
    def all_conditions(self) -> tuple[Condition, ...]:
        """The conditions of the text, of its stages and of the host's new loops."""
        staged = (each for stage in self.stages for each in stage.conditions)
        return (*self.conditions, *staged, *self.worthwhile)


def write_region(
    scop: Scop,
    region: Region,
    plan: HostPlan,
    checks: RunTimeChecks,
    request: DeviceRequest | BlocksRequest | None = None,
) -> RegionText:
    """Generate the C text of one region, and of what is the ``request`` of a device, or of those of ranks.

    Raises IllegalSchedule where isl's AST is not what the schedule says, and Unsupported for
    what a device's language cannot express.
    """
    device = request if isinstance(request, DeviceRequest) else None
    blocks = request if isinstance(request, BlocksRequest) else None
    in_use = NamesInUse()
    inspectors = inspectors_of(checks.overlaps)
    names = name_region(scop, region, plan.buffers, plan.accumulators, inspectors)
    conditions = ConditionPrinter(scop, names.parameters, in_use, names.extrema)
    ast = _host_ast(scop, plan, names.buffers)
    names = names.for_accesses(each.accesses for each in ast.instances.values())
    statements = frozenset(each.name for each in scop.statements)
    scopes = Scopes({each.buffer.mark: each for each in names.buffers}, statements)
    _check(ast, scop, scopes)

    directives = _directive_printer(scop, plan, checks, names, conditions)
    host = HostNames(names.parameters, names.taken, in_use)
    on_ranks = None if blocks is None else _on_ranks(region, blocks, host, conditions)
    printer = _loop_printer(ast, plan, names, scopes, conditions, directives=directives, blocks=on_ranks)
    boundary = BoundaryPrinter(scop, names.parameters, in_use)
    loops = printer.lines()
    finals = belonging(boundary.final_values(names.taken), region.end.line)
    memory = OwnMemory(scop, names.buffered, conditions, plan.line)
    tables = table_declarations(scop, region, loops) if plan.is_parallel and device is None else []
    declared = local_declarations(scop, names.buffered, printer.declared_inside)
    declared += memory.of_threads(printer.of_threads, printer.declared_inside)
    lines = (*_told(plan), *tables, *declared, *loops, *memory.releases(), *finals)
    inspecting = _inspector_text(scop, plan, names, conditions, directives.alone)
    all_read, versions = _looks_at_everything(inspectors, scop), directives.versions
    worth = [] if device else _worth_running(plan, checks, conditions, versions, inspects=all_read)
    adapting = _adapting(plan, checks, conditions)
    # what is too little for the host's threads may still be where its data are
    before = checks if device is None else replace(checks, min_work=0)
    first, stages = _stages(before, worth, conditions, inspecting, parallel=plan.is_parallel)
    stages += _looking_for_exits(scop.exits, inspecting, [] if device is None else _looks_home(scop, host))
    first, stages = _with_memory(first, stages, memory.allocation())
    kernels = on_ranks.together if on_ranks else None
    if device is not None:
        kernels = _on_device(region, device, host, conditions).followed_by(finals)
    checked = _verification(scop, checks, plan, names, conditions=conditions, device=device)
    text = RegionText((), first, lines, frozenset(), tuple(printer.outline), kernels, checked, stages)
    kind = register(f"const {COUNTER_TYPE}", wanted=plan.unoptimised)
    before_all = [*boundary.declarations(kind=kind), *memory.pointers()]
    return replace(
        text,
        declarations=(*hoisted_declarations(region, _everything(text, before_all)), *before_all),
        helpers=frozenset(in_use.helpers),
        reported=checks.reported,
        decision=Agreement(tuple(names.parameters.values())) if plan.sharing else adapting,
        worthwhile=() if device is None else tuple(conditions.worthwhile(checks.work, checks.min_work)),
    )


def _everything(text: RegionText, declarations: Sequence[str]) -> Iterator[str]:
    """The lines of ``text`` and its ``declarations``."""
    yield from (*declarations, *text.loops, *(each.text for each in text.all_conditions))
    for stage in text.stages:
        yield from (*stage.declarations, *stage.lines)


def _on_device(
    region: Region, request: DeviceRequest, host: HostNames, conditions: ConditionPrinter
) -> DeviceText:
    from polybuild.codegen.device.host import write_device  # noqa: PLC0415 -- most regions have no kernels

    return write_device(region, request, host, conditions)


def _looks_home(scop: Scop, host: HostNames) -> list[str]:
    from polybuild.codegen.device.boxes import BoxPrinter  # noqa: PLC0415 -- likewise
    from polybuild.codegen.device.looks import looks_home  # noqa: PLC0415 -- likewise

    return looks_home(scop, BoxPrinter(scop, host.parameters, host.in_use))


def _on_ranks(
    region: Region, request: BlocksRequest, host: HostNames, conditions: ConditionPrinter
) -> BlockTexts:
    from polybuild.codegen.device.rank_blocks import write_blocks  # noqa: PLC0415 -- likewise

    return write_blocks(region, request, host, conditions)


def _host_ast(scop: Scop, plan: HostPlan, buffers: Sequence[NamedBuffer]) -> GeneratedAst:
    """The AST of the host's loops, found once: a region is written again when its kernels are known."""
    return _remembered_ast(
        Itself(scop),
        Itself(plan.schedule),
        Itself(plan.registers),
        Itself(plan.accumulators),
        *((Itself(each.buffer), each.name) for each in buffers),
    )


@remembered
def _remembered_ast(
    scop: Itself[Scop],
    schedule: Itself[isl.Schedule],
    registers: Itself[tuple[RegisterTile, ...]],
    accumulators: Itself[tuple[Accumulator, ...]],
    *buffers: tuple[Itself[Buffer], str],
) -> GeneratedAst:
    named = [NamedBuffer(buffer.value, name) for buffer, name in buffers]
    return build_ast(scop.value, schedule.value, named, registers.value, accumulators.value)


def _verification(
    scop: Scop,
    checks: RunTimeChecks,
    plan: HostPlan,
    names: RegionNames,
    *,
    conditions: ConditionPrinter,
    device: DeviceRequest | None,
) -> Verification | None:
    """The parts of a check at run time, if there is to be one; what has no elements is left out."""
    if checks.verified is None or not names.used.isdisjoint({CHECK, RUNS}):
        return None
    on_device = {each.array.name for each in device.plan.buffers} if device else set[str]()
    return verification(
        scop,
        checks.verified,
        names.parameters,
        conditions.sizes,
        in_use=conditions.in_use,
        dead=names.buffered | on_device,
        accumulators=plan.accumulators,
    )


def _told(plan: HostPlan) -> list[CodeLine]:
    """A comment on how the loops run, for who reads the code."""
    sizes = "; ".join(" x ".join(map(str, each)) for each in dict.fromkeys(plan.tile_sizes))
    limits = sorted({each.minimum for each in plan.shared_loops if each.work})
    found = [f"tiles of {sizes} iterations"] if sizes else []
    found += [f"threads from {' or '.join(map(str, limits))} instances on"] if limits else []
    return [CodeLine(f"/* {'; '.join(found)} */", role=Role.SILENT)] if found else []


def _directive_printer(
    scop: Scop, plan: HostPlan, checks: RunTimeChecks, names: RegionNames, conditions: ConditionPrinter
) -> DirectivePrinter:
    """What prints the directives of ``plan``, but of loops with too little work for them."""
    own = {mark: each for mark, each in plan.directives.items() if not has_too_little_work(each.limits)}
    copies = thread_copies(scop, names.buffered)
    alone = checks.minimum_alone if plan.gains_alone and plan.sharing is None else 0
    return DirectivePrinter(own, conditions.in_use, conditions.work_of, copies, alone=alone)


def _inspector_text(
    scop: Scop, plan: HostPlan, names: RegionNames, conditions: ConditionPrinter, alone: int
) -> InspectorText:
    """What inspectors are printed with: threads look at data from as much work on as they run loops."""
    limits = min(plan.shared_loops, key=lambda each: each.minimum, default=ThreadLimits())
    known = names.parameters, names.taken, conditions.in_use, conditions.sizes, names.extrema
    return InspectorText(scop, *known, conditions.work_of, limits, alone)


def _loop_printer(
    ast: GeneratedAst,
    plan: HostPlan,
    names: RegionNames,
    scopes: Scopes,
    conditions: ConditionPrinter,
    *,
    directives: DirectivePrinter,
    blocks: BlockTexts | None,
) -> LoopPrinter:
    """What prints the loops of ``ast``, with the ``blocks`` of a rank for its device among them."""
    kind = LoopPrinter if plan.sharing is None else RankLoopPrinter
    printer = kind(
        ast,
        NamesInScope(names.parameters, names.taken),
        directives,
        scopes=scopes,
        sizes=conditions.sizes,
        accumulators=ActiveAccumulators(names.accumulators, ast.accumulators),
        unoptimised=plan.unoptimised,
    )
    if plan.sharing is not None and isinstance(printer, RankLoopPrinter):
        conditions.in_use.variables.update(names.parameters.values())  # all ranks agree on them
        return printer.of_rank(plan.sharing, blocks)
    return printer


def _stages(
    checks: RunTimeChecks,
    worth: Sequence[Condition],
    conditions: ConditionPrinter,
    inspecting: InspectorText,
    *,
    parallel: bool,
) -> tuple[tuple[Condition, ...], tuple[Stage, ...]]:
    """The conditions that need no inspector, ``worth`` included, and the stages with those that do.

    Inspectors run on several threads if ``parallel``.
    """
    runs = bool(checks.work and checks.min_work)
    steps = list(in_stages(checks.overlaps))
    plain = steps.pop(0)[1] if steps and not steps[0][0] else []
    first = conditions.all(plain, worth, runs=runs)
    stages = [
        Stage(
            tuple(extrema_declarations(inspectors, inspecting.extrema)),
            tuple(write_inspectors(inspectors, inspecting, parallel=parallel)),
            conditions.disjoint(overlaps, runs=runs),
        )
        for inspectors, overlaps in steps
    ]
    return first, tuple(stages)


def _with_memory(
    first: tuple[Condition, ...],
    stages: tuple[Stage, ...],
    memory: tuple[Condition, ...],
) -> tuple[tuple[Condition, ...], tuple[Stage, ...]]:
    """``first`` conditions and ``stages``, and at last that there is ``memory``."""
    if not stages or not memory:
        return (*first, *memory), stages
    return first, (*stages, Stage((), (), memory))


def _worth_running(
    plan: HostPlan,
    checks: RunTimeChecks,
    conditions: ConditionPrinter,
    versions: Collection[int],
    *,
    inspects: bool,
) -> list[Condition]:
    """That the new loops have enough work to be faster than the original ones, and threads if need be.

    Before them the region ``inspects`` all of the data that they read, or not. Parallel loops in others are
    entered by one thread each time, but for those with ``versions`` for it, by the identity of their limits.
    """
    worth = _worth_of_sizes(plan, checks, conditions, versions, inspects=inspects)
    return chosen(worth, conditions.line) if checks.adapts else worth


def _worth_of_sizes(
    plan: HostPlan,
    checks: RunTimeChecks,
    conditions: ConditionPrinter,
    versions: Collection[int],
    *,
    inspects: bool,
) -> list[Condition]:
    """The conditions above where no version is chosen by its time."""
    enough = conditions.worthwhile(checks.work, checks.min_work)
    if not checks.min_work:
        return enough
    shared = plan.shared_loops
    if inspects and plan.gains_threads_only:
        on_threads, for_threads = _worth_threads(plan, conditions)
        enough = [] if for_threads >= checks.min_work else enough
        return [*enough, *on_threads, conditions.enough_threads()]
    alone = conditions.all_worthwhile(checks.alone) if checks.alone else enough
    alone = [*alone, *conditions.full_tiles(plan.registers)]
    if shared and not (plan.gains_alone and alone == enough):
        on_threads, for_threads = _worth_threads(plan, conditions)
        on_threads = [*conditions.all_worthwhile(checks.shared), *on_threads]
        if max([for_threads, *(each.minimum for each in checks.shared)]) >= checks.min_work:
            enough = []
        if not plan.gains_alone:
            return [*enough, *on_threads]
        alone = [*enough, *([either(alone, on_threads)] if alone else [])]
    reason = "less work is not worth starting it so often"
    entered = [each for each in shared if each.entered_for and id(each) not in versions]
    often = conditions.enough_for(entered, lambda each: each.entered_for, reason)
    return [*alone, *([often] if often else [])]


def _worth_threads(plan: HostPlan, conditions: ConditionPrinter) -> tuple[list[Condition], int]:
    """That a loop has enough work for threads, and that there are some; and the least work that is enough."""
    # what is summed up in another order shall not depend on what else the machine does
    sums = any(one.inexact for each in plan.directives.values() for one in each.accumulators)
    reason = "less work is not worth threads"
    enough = conditions.enough_for(plan.shared_loops, lambda each: each.minimum, reason)
    several = conditions.several_threads(fixed=sums)
    if enough is None:
        return [several], 0
    return [enough, several], min(each.minimum for each in plan.shared_loops)


def _adapting(plan: HostPlan, checks: RunTimeChecks, conditions: ConditionPrinter) -> Adapting | None:
    """What the region needs to choose among its versions, if it ``adapts``."""
    work = conditions.instances(checks.work) or "1.0"
    return Adapting(work, parallel=bool(plan.shared_loops)) if checks.adapts else None


def _looks_at_everything(inspectors: Collection[Inspector], scop: Scop) -> bool:
    """Whether an inspector, or a test of an exit, runs as often as the innermost loops of the region."""
    deepest = max((len(each.iterators) for each in scop.statements), default=0)
    looking = [each.statement for each in inspectors]
    looking += scop.exits.statements if scop.exits is not None else ()
    return any(len(each.iterators) >= deepest for each in looking)


def _looking_for_exits(
    tests: ExitTests | None, text: InspectorText, home: Sequence[str]
) -> tuple[Stage, ...]:
    """The stage that looks whether the region would be left early, if there are ``tests`` for that.

    The lines ``home``, if there are any, bring what is looked at from a device.
    """
    if tests is None:
        return ()
    flag = fresh(f"{PREFIX}left", text.taken)
    line = min(each.location.line for each in tests.statements)
    reason = "no loop is left early"
    condition = Condition(
        f"!{flag}", reason, "the original loops run where one is left", line, "a loop was left early"
    )
    lines = (*home, *write_exit_tests(tests, flag, text))
    return (Stage((f"int {flag} = 1;",), lines, (condition,), leaves=True, home=bool(home)),)


def _check(ast: GeneratedAst, scop: Scop, scopes: Scopes) -> None:
    """Raise IllegalSchedule if isl's AST is not what the schedule says, as far as that is not certain."""
    if scopes.buffers:
        scopes.check(ast.root, {name: each.domain for name, each in ast.everything.items()})
    if ast.tiles.registers:
        check_scopes(ast.root, ast.tiles, ast.everything)
    if any(has_divisions(statement.domain) for statement in scop.statements):
        check_instance_coverage(ast.root, scop)
