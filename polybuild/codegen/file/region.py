"""One region as C: if what the transformation relies on holds, the new loops, else the original text."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from polybuild.analysis.aliasing import Overlap, in_stages
from polybuild.analysis.dependences import Dependences
from polybuild.analysis.inspectors import Inspector
from polybuild.codegen.c.accumulators import ActiveAccumulators
from polybuild.codegen.c.ast import GeneratedAst, build_ast
from polybuild.codegen.c.ast_checks import check_instance_coverage, check_scopes
from polybuild.codegen.c.buffers import Scopes
from polybuild.codegen.c.conditions import Condition, ConditionPrinter, has_too_little_work
from polybuild.codegen.c.directives import DirectivePrinter, pointers_to_copy
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
from polybuild.codegen.device.host import DeviceRequest, DeviceText, HostNames, write_device
from polybuild.codegen.file.boundary import BoundaryPrinter
from polybuild.codegen.file.prologue import Helper
from polybuild.codegen.file.region_names import RegionNames, name_region
from polybuild.codegen.file.verification import CHECK, RUNS, Verification, verification
from polybuild.poly.marks import Mark
from polybuild.scop.model import Scop
from polybuild.source.model import Region
from polybuild.storage.buffers import Buffer
from polybuild.targets.model import Accumulator, LoopDirective, RegisterTile


@dataclass(frozen=True, slots=True)
class HostPlan:
    """How a region runs on the host.

    ``directives`` has what is told of the loop under a mark of ``schedule``. ``buffers`` stand for
    temporary arrays, ``accumulators`` for what reductions accumulate in; ``registers`` are register
    tiles: all have marks in ``schedule``, too. Where the compiler is ``unoptimised`` counters and
    parameters ask for registers. ``tile_sizes`` are told to who reads the code. A plan that has no
    ``gains_alone`` is for several threads: one runs the original loops as fast.
    """

    schedule: isl.Schedule
    directives: Mapping[Mark, LoopDirective]
    buffers: tuple[Buffer, ...] = ()
    registers: tuple[RegisterTile, ...] = ()
    accumulators: tuple[Accumulator, ...] = ()
    unoptimised: bool = False
    tile_sizes: tuple[tuple[int, ...], ...] = ()
    gains_alone: bool = True

    @property
    def gains_threads_only(self) -> bool:
        """Whether one thread runs about what the compiler makes of the original loops."""
        return not (self.tile_sizes or self.buffers or self.registers or self.accumulators)


@dataclass(frozen=True, slots=True)
class RunTimeChecks:
    """What is looked at when a region runs, before the new order may.

    ``overlaps`` must not be. ``work`` has upper bounds on the trip counts of the loops of each statement;
    the original loops run when the sum of their products is below ``min_work``. With ``verified``,
    the dependences that the new order respects, the region can compare itself with the original.
    ``reported``: the region counts its runs and the conditions that did not hold.
    """

    overlaps: tuple[Overlap, ...] = ()
    work: tuple[tuple[isl.PwAff, ...], ...] = ()
    min_work: int = 0
    verified: Dependences | None = None
    reported: bool = False


@dataclass(frozen=True, slots=True)
class Stage:
    """Lines that look at data where all conditions so far hold, and the conditions on what they saw."""

    declarations: tuple[str, ...]
    lines: tuple[str, ...]
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class RegionText:
    """The generated part of a region, and the conditions under which it runs.

    ``declarations`` and ``loops`` are lines of C; ``helpers`` names what the
    loops need from the prologue; ``outline`` lists the loops and their statements.
    ``device`` is what a device runs instead, if it can; ``host`` names the region's object where
    it cannot, but other regions of the program may. ``verification`` has the parts of a check
    at run time, ``reported`` says whether runs are counted. ``stages`` follow the ``conditions``, one after
    the other.
    """

    declarations: tuple[str, ...]
    conditions: tuple[Condition, ...]
    loops: tuple[str, ...]
    helpers: frozenset[Helper]
    outline: tuple[Line, ...] = ()
    device: DeviceText | None = None
    verification: Verification | None = None
    stages: tuple[Stage, ...] = ()
    host: str = ""
    reported: bool = False

    @property
    def all_conditions(self) -> tuple[Condition, ...]:
        """The conditions of the text and of its stages."""
        return (*self.conditions, *(each for stage in self.stages for each in stage.conditions))


def write_region(
    scop: Scop, region: Region, plan: HostPlan, checks: RunTimeChecks, device: DeviceRequest | None = None
) -> RegionText:
    """Generate the C text of one region, and of what ``device`` asks for.

    Raises IllegalSchedule where isl's AST is not what the schedule says, and Unsupported for
    what a device's language cannot express.
    """
    in_use = NamesInUse()
    inspectors = inspectors_of(checks.overlaps)
    names = name_region(scop, region, plan.buffers, plan.accumulators, inspectors)
    conditions = ConditionPrinter(scop, names.parameters, in_use, names.extrema)
    ast = build_ast(scop, plan.schedule, names.buffers, plan.registers, plan.accumulators)
    names = names.for_accesses(each.accesses for each in ast.instances.values())
    scopes = Scopes({each.buffer.mark: each for each in names.buffers})
    _check(ast, scop, scopes)

    pointers = pointers_to_copy(scop, names.buffered)
    printer = _loop_printer(ast, plan, names, scopes, conditions, pointers=pointers, in_use=in_use)
    boundary = BoundaryPrinter(scop, names.parameters, in_use)
    loops = printer.lines()
    final_texts = [line for value in scop.final_values for line in boundary.final_value(value)]
    finals = belonging(final_texts, region.end.line)
    sizes = "; ".join(" x ".join(map(str, each)) for each in dict.fromkeys(plan.tile_sizes))
    told = [CodeLine(f"/* tiles of {sizes} iterations */", role=Role.SILENT)] if sizes else []
    lines = (*told, *local_declarations(scop, names.buffered, printer.declared_inside), *loops, *finals)
    inspecting = InspectorText(scop, names.parameters, names.taken, in_use, conditions.sizes, names.extrema)
    threads = any(each.parallel for each in plan.directives.values())
    first, stages = _stages(checks, conditions, inspecting, parallel=threads)
    if checks.min_work and device is None:
        first += _conditions_on_threads(plan, conditions, region.begin.line, inspectors, scop)
    kernels = None
    if device is not None:
        host = HostNames(names.parameters, names.taken, in_use)
        kernels = write_device(scop, region, device, host, conditions).followed_by(finals)
    checked = None
    if checks.verified is not None and names.used.isdisjoint({CHECK, RUNS}):
        on_device = {each.array.name for each in device.plan.buffers} if device else set()
        checked = verification(
            scop,
            checks.verified,
            names.parameters,
            conditions.sizes,
            in_use=in_use,
            dead=names.buffered | on_device,
            accumulators=plan.accumulators,
        )
    text = RegionText((), first, lines, frozenset(), tuple(printer.outline), kernels, checked, stages)
    kind = register(f"const {COUNTER_TYPE}", wanted=plan.unoptimised)
    declared = boundary.declarations(kind=kind)
    return replace(
        text,
        declarations=tuple(declared),
        helpers=frozenset(in_use.helpers),
        reported=checks.reported,
    )


def _loop_printer(
    ast: GeneratedAst,
    plan: HostPlan,
    names: RegionNames,
    scopes: Scopes,
    conditions: ConditionPrinter,
    *,
    pointers: Sequence[str],
    in_use: NamesInUse,
) -> LoopPrinter:
    """What prints the loops of ``ast``, for all but devices; threads get copies of ``pointers``."""
    directives = {mark: each for mark, each in plan.directives.items() if not has_too_little_work(each)}
    return LoopPrinter(
        ast,
        NamesInScope(names.parameters, names.taken),
        DirectivePrinter(directives, in_use, conditions.enough_work, names.accumulators, pointers),
        scopes=scopes,
        sizes=conditions.sizes,
        accumulators=ActiveAccumulators(names.accumulators, ast.accumulators),
        unoptimised=plan.unoptimised,
    )


def _stages(
    checks: RunTimeChecks, conditions: ConditionPrinter, inspecting: InspectorText, *, parallel: bool
) -> tuple[tuple[Condition, ...], tuple[Stage, ...]]:
    """The conditions that need no inspector, and the stages with those that do.

    Inspectors run on several threads if ``parallel``.
    """
    steps = list(in_stages(checks.overlaps))
    plain = steps.pop(0)[1] if steps and not steps[0][0] else []
    first = conditions.all(plain, checks.work, checks.min_work)
    stages = [
        Stage(
            tuple(extrema_declarations(inspectors, inspecting.extrema)),
            tuple(write_inspectors(inspectors, inspecting, parallel=parallel)),
            conditions.disjoint(overlaps, runs=bool(checks.work and checks.min_work)),
        )
        for inspectors, overlaps in steps
    ]
    return first, tuple(stages)


def _conditions_on_threads(
    plan: HostPlan, conditions: ConditionPrinter, line: int, inspectors: Collection[Inspector], scop: Scop
) -> tuple[Condition, ...]:
    """That there are as many threads as it takes to be faster than the original loops."""
    if plan.gains_threads_only and _looks_at_everything(inspectors, scop):
        return (conditions.enough_threads(line),)
    shared = [each for each in plan.directives.values() if each.parallel and not has_too_little_work(each)]
    return conditions.several_threads(line, shared) if shared and not plan.gains_alone else ()


def _looks_at_everything(inspectors: Collection[Inspector], scop: Scop) -> bool:
    """Whether an inspector runs as often as the innermost loops of the region."""
    deepest = max((len(each.iterators) for each in scop.statements), default=0)
    return any(len(each.statement.iterators) == deepest for each in inspectors)


def _has_divisions(domain: isl.Set) -> bool:
    """Whether integer divisions of counters tell what ``domain`` is; those of parameters are values."""
    if not domain.involves_locals():
        return False
    plain = domain.remove_divs_involving_dims(isl.dim_type.set, 0, domain.dim(isl.dim_type.set))
    return not plain.is_equal(domain)


def _check(ast: GeneratedAst, scop: Scop, scopes: Scopes) -> None:
    """Raise IllegalSchedule if isl's AST is not what the schedule says, as far as that is not certain."""
    if scopes.buffers:
        scopes.check(ast.root, {name: each.domain for name, each in ast.everything.items()})
    if ast.tiles.registers:
        check_scopes(ast.root, ast.tiles, ast.vectors)
    if any(_has_divisions(statement.domain) for statement in scop.statements):
        check_instance_coverage(ast.root, scop)
