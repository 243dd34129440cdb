"""One region as C: if what the transformation relies on holds, the new loops, else the original text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.aliasing import Overlap, in_stages
from polybuild.analysis.dependences import Dependences
from polybuild.analysis.inspectors import Inspector
from polybuild.c.syntax_tree import walk
from polybuild.c.types import IntegerType
from polybuild.codegen.c.accumulators import accumulator_names
from polybuild.codegen.c.ast import GeneratedAst, build_ast
from polybuild.codegen.c.ast_checks import check_instance_coverage, check_scopes
from polybuild.codegen.c.bodies import c_text
from polybuild.codegen.c.buffers import NamedBuffer, Scopes, named_buffers, with_constants
from polybuild.codegen.c.conditions import Condition, ConditionPrinter, has_too_little_work
from polybuild.codegen.c.directives import DirectivePrinter
from polybuild.codegen.c.expressions import TERNARY, ExpressionPrinter
from polybuild.codegen.c.inspectors import (
    InspectorText,
    extrema_declarations,
    inspectors_of,
    name_extrema,
    write_inspectors,
)
from polybuild.codegen.c.locals import local_declarations
from polybuild.codegen.c.loops import COUNTER_TYPE, Line, LoopPrinter, register
from polybuild.codegen.device.host import DeviceRequest, DeviceText, HostNames, write_device
from polybuild.codegen.file.names import PREFIX, fresh, identifiers
from polybuild.codegen.file.verification import CHECK, RUNS, Verification, verification
from polybuild.poly.marks import Mark
from polybuild.scop.model import FinalValue, Scop
from polybuild.source.model import Region
from polybuild.storage.buffers import Buffer
from polybuild.targets.model import Accumulator, LoopDirective, RegisterTile


@dataclass(frozen=True, slots=True)
class Plan:
    """What to write for a region: the new order and what it needs.

    ``directives`` maps the marks of ``schedule`` to what is told of
    the loop under the mark; ``buffers`` stand for temporary arrays; ``work`` lists, per
    statement, upper bounds on the trip counts of its loops; the region runs its original
    loops when the sum of their products is below ``min_work``. ``device`` says what a device
    may run instead. With ``checked`` the region can check itself when it runs. ``registers``
    are the register tiles of ``schedule``, ``accumulators`` the variables its reductions need. Where
    compilers are ``unoptimised`` counters and parameters ask for registers.
    """

    schedule: isl.Schedule
    directives: Mapping[Mark, LoopDirective]
    overlaps: tuple[Overlap, ...]
    work: tuple[tuple[isl.PwAff, ...], ...]
    min_work: int
    buffers: tuple[Buffer, ...] = ()
    device: DeviceRequest | None = None
    checked: Dependences | None = None
    registers: tuple[RegisterTile, ...] = ()
    accumulators: tuple[Accumulator, ...] = ()
    unoptimised: bool = False


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
    at run time. ``stages`` follow the ``conditions``, one after the other.
    """

    declarations: tuple[str, ...]
    conditions: tuple[Condition, ...]
    loops: tuple[str, ...]
    helpers: frozenset[str]
    outline: tuple[Line, ...] = ()
    device: DeviceText | None = None
    verification: Verification | None = None
    stages: tuple[Stage, ...] = ()
    host: str = ""

    @property
    def all_conditions(self) -> tuple[Condition, ...]:
        """The conditions of the text and of its stages."""
        return (*self.conditions, *(each for stage in self.stages for each in stage.conditions))


def write_region(scop: Scop, region: Region, plan: Plan, file: str) -> RegionText:
    """Generate the C text of one region; ``file`` is what ``#line`` calls the user's file."""
    helpers: set[str] = set()
    used = frozenset(identifiers(region.statements))
    names = _parameter_names(scop, used)
    printer = ExpressionPrinter(lambda name: names.get(name, name), helpers)
    build = isl.AstBuild.from_context(isl.Set.universe(scop.context.get_space()))

    taken = used - _only_counters(scop) | frozenset(names.values())
    extrema = name_extrema(inspectors_of(plan.overlaps), used | frozenset(names.values()))
    printed = ConditionPrinter(scop, names, helpers, extrema)
    buffers = named_buffers(plan.buffers, used | taken)
    variables = accumulator_names(plan.accumulators, {*used, *taken, *_names_of(buffers)})
    ast = build_ast(scop, plan.schedule, buffers, plan.registers, plan.accumulators)
    buffers = with_constants(buffers, (each.accesses for each in ast.instances.values()))
    scopes = Scopes({each.buffer.mark: each for each in buffers})
    _check(ast, scop, plan, scopes)
    worth = {mark: each for mark, each in plan.directives.items() if not has_too_little_work(each)}
    directives = DirectivePrinter(worth, helpers, printed.enough_work, variables)
    taken |= {*_names_of(buffers), *variables.values()}
    writer = LoopPrinter(
        ast,
        names,
        taken,
        directives,
        helpers,
        scopes=scopes,
        sizes=printed.sizes,
        variables=variables,
        places=ast.accumulators,
        unoptimised=plan.unoptimised,
    )
    loops = writer.lines(file)
    finals = [line for value in scop.final_values for line in _final_value(value, scop, build, printer)]
    held = {each.buffer.array.name for each in buffers}
    locals_ = local_declarations(scop, held)
    text = InspectorText(scop, names, taken, helpers, printed.sizes, extrema, file)
    steps = list(in_stages(plan.overlaps))
    plain = steps.pop(0)[1] if steps and not steps[0][0] else []
    conditions = printed.all(plain, plan.work, plan.min_work)
    stages = tuple(_stage(plan, each, printed, text) for each in steps)
    looking = [line for stage in stages for line in (*stage.declarations, *stage.lines)]
    lines = (*locals_, *loops, *finals)
    device = None
    if plan.device is not None:
        device = write_device(scop, region, plan.device, HostNames(names, taken, helpers), printed)
        device = device.followed_by(finals)
    check = None
    if plan.checked is not None and used.isdisjoint({CHECK, RUNS}):
        unseen = held | {each.array.name for each in (plan.device.plan.buffers if plan.device else ())}
        check, needed = verification(
            scop, plan.checked, names, printed.sizes, unseen, accumulators=plan.accumulators
        )
        helpers |= needed
    checks = (*check.walk, check.line) if check else ()
    everything = (
        *(each.text for part in (conditions, *(stage.conditions for stage in stages)) for each in part),
        *looking,
        *lines,
        *(device.text if device else ()),
        *checks,
    )
    code = set(re.findall(r"\w+", " ".join(line for line in everything if "POLYBUILD_OMP(" not in line)))
    used_names = set(re.findall(r"\w+", " ".join(everything)))
    kind = register(f"const {COUNTER_TYPE}", wanted=plan.unoptimised)
    declared = _parameter_declarations(scop, names, used_names, build, printer, kind=kind)
    # a compiler without OpenMP sees no use of what only directives mention
    declared += [f"(void)sizeof {each};" for each in names.values() if each in used_names - code]
    return RegionText(
        tuple(declared),
        conditions,
        lines,
        frozenset(helpers),
        tuple(writer.outline),
        device,
        check,
        stages,
    )


def _stage(
    plan: Plan,
    step: tuple[list[Inspector], list[Overlap]],
    printed: ConditionPrinter,
    text: InspectorText,
) -> Stage:
    """Inspectors, and the comparisons that they allow."""
    inspectors, overlaps = step
    parallel = any(each.parallel for each in plan.directives.values())
    return Stage(
        tuple(extrema_declarations(inspectors, text.extrema)),
        tuple(write_inspectors(inspectors, text, parallel=parallel)),
        printed.disjoint(overlaps, runs=bool(plan.work and plan.min_work)),
    )


def _check(ast: GeneratedAst, scop: Scop, plan: Plan, scopes: Scopes) -> None:
    """Raise IllegalSchedule if isl's AST is not what the schedule says, as far as that is not certain."""
    if scopes.buffers:
        scopes.check(ast.root, {name: each.domain for name, each in ast.instances.items()})
    if plan.registers:
        check_scopes(ast.root, ast.tiles, ast.vectors)
    if any(statement.domain.involves_locals() for statement in scop.statements):
        check_instance_coverage(ast.root, scop)


def _names_of(buffers: Iterable[NamedBuffer]) -> frozenset[str]:
    """All names that the declarations of ``buffers`` may take."""
    return frozenset(name for each in buffers for name in (each.name, *each.variables))


def _only_counters(scop: Scop) -> frozenset[str]:
    """Names that mean nothing but loop counters in the region: generated loops may use them."""
    counters = {iterator.name for statement in scop.statements for iterator in statement.iterators}
    arrays = {name for array in scop.arrays for name in identifiers([array.expression])}
    parameters = {name for parameter in scop.parameters for name in identifiers([parameter.expression])}
    declared = {
        each.name
        for statement in scop.statements
        for each in walk(statement.body)
        if isinstance(each, c_ast.Decl)
    }
    return frozenset(counters - arrays - parameters - declared)


def _parameter_names(scop: Scop, used: frozenset[str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for parameter in scop.parameters:
        names[parameter.name] = fresh(PREFIX + parameter.name, used.union(names.values()))
    return names


def _parameter_declarations(
    scop: Scop,
    names: Mapping[str, str],
    used: set[str],
    build: isl.AstBuild,
    printer: ExpressionPrinter,
    *,
    kind: str,
) -> list[str]:
    """One wide copy of each parameter, of type ``kind``, so that no expression of the loops can overflow."""
    lines: list[str] = []
    for parameter in reversed(scop.parameters):
        if names[parameter.name] not in used:
            continue
        value = c_text(parameter.expression)
        if parameter.reached is not None:
            reached = parameter.reached.align_params(scop.context.get_space())
            condition = printer.text(build.expr_from_set(reached), TERNARY + 1)
            used.update(re.findall(r"\w+", condition))
            value = f"{condition} ? {value} : 0"
        lines.append(f"{kind} {names[parameter.name]} = {value};")
    return lines[::-1]


def _final_value(value: FinalValue, scop: Scop, build: isl.AstBuild, printer: ExpressionPrinter) -> list[str]:
    """Give a counter declared before the region the value it has after the original loops."""
    if value.value is None:
        assert value.source is not None  # noqa: S101 - the model says so
        return [f"{c_text(value.expression)} = {c_text(value.source)};"]
    result = value.value.project_domain_on_params().intersect_params(scop.context).coalesce()
    defined = result.domain()
    if defined.is_empty():
        return []
    text = printer.text(build.expr_from_pw_aff(result))
    if isinstance(value.type, IntegerType) and (value.type.width < 32 or not value.type.signed):
        text = f"({value.type.name})({text})"  # the compiler need not warn that it wraps around
    if value.base is not None:
        text = f"{c_text(value.base)} + ({text})"
    assignment = f"{c_text(value.expression)} = {text};"
    if scop.context.is_subset(defined):
        return [assignment]
    return [f"if ({printer.text(build.expr_from_set(defined.gist(scop.context)))})", f"  {assignment}"]
