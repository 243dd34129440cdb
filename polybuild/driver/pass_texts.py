"""What the passes of a region made, as text: C, schedule trees, sets and relations."""

from __future__ import annotations

from collections.abc import Iterable

import islpy as isl

from polybuild.analysis.aliasing import Overlap
from polybuild.analysis.dependences import Dependences
from polybuild.analysis.footprints import Footprint
from polybuild.analysis.reductions import Reductions
from polybuild.codegen.c.bodies import c_text
from polybuild.codegen.file.region import RegionText
from polybuild.poly.relations import maps_of
from polybuild.scop.model import Scop
from polybuild.source.model import Region
from polybuild.targets.cpu.mapping import CpuMapping
from polybuild.targets.cpu.schedule_choice import Order
from polybuild.targets.model import LoopDirective


def syntax(region: Region) -> str:
    """The statements of a region as C."""
    return "\n".join(c_text(each) for each in region.statements)


def tree(schedule: isl.Schedule) -> str:
    """A schedule tree as isl prints it, a node a line."""
    printer = isl.Printer.to_str(isl.DEFAULT_CONTEXT).set_yaml_style(isl.yaml_style.BLOCK)
    return str(printer.print_schedule(schedule).get_str()).rstrip()


def orders(found: Iterable[Order]) -> str:
    """The trees of all orders, each with its name if there are several."""
    several = tuple(found)
    if len(several) == 1:
        return tree(several[0].schedule)
    return "\n".join(f"{each.name}:\n{tree(each.schedule)}" for each in several)


def scop(model: Scop) -> str:
    """The model of a region: its statements with domains and accesses, then its original order."""
    lines = [f"context: {model.context}", *(f"assumption: {each.condition}" for each in model.assumptions)]
    for statement in model.statements:
        lines.append(f"{statement.name} (line {statement.location.line}): {statement.domain}")
        lines += [f"  {line}" for line in c_text(statement.body).splitlines()]
        for access in statement.accesses:
            about = "" if access.exact else ", over-approximated"
            lines.append(f"    {access.kind.name.lower().replace('_', '-')}{about}: {access.relation}")
    return "\n".join([*lines, tree(model.schedule)])


def names(found: Iterable[str]) -> str:
    """Names in the order of the alphabet."""
    return ", ".join(sorted(found)) or "none"


def dependences(found: Dependences) -> str:
    """The relations that an order must respect, and the arrays that are private to iterations."""
    lines = [*_relation("flow", found.flow), *_relation("anti and output", found.false)]
    for each in found.private:
        lines += _relation(f"live ranges of '{each.array.spelling}', which is privatisable", each.flow)
    for group in found.reductions:
        lines += _relation("reductions, in any order", group.pairs)
    return "\n".join(lines)


def _relation(title: str, relation: isl.UnionMap) -> list[str]:
    parts = [f"  {each}" for each in maps_of(relation)]
    return [f"{title}:", *(parts or ["  none"])]


def reductions(found: Reductions) -> str:
    """The reductions, and those that only the order of floating-point operations forbids."""
    lines = []
    for group, said in ((found.found, ""), (found.ordered, ", in its order")):
        for each in group:
            place = f"{each.statement.name} (line {each.statement.location.line})"
            lines.append(f"{place}: '{each.array.spelling}', {each.operator}{said}")
    return "\n".join(lines) or "none"


def mapping(found: CpuMapping) -> str:
    """The schedule tree, and what is told of the loops under its marks."""
    lines = [f"{mark.name}: {_directive(each)}" for mark, each in found.directives.items()]
    return "\n".join([tree(found.schedule), *lines])


def _directive(said: LoopDirective) -> str:
    words = [name for name in ("parallel", "simd", "independent") if getattr(said, name)]
    words += ["one by one"] if said.sharing.dynamic else []
    words += ["in strips"] if said.sharing.longest > said.sharing.tile else []
    words += [f"private '{each.spelling}'" for each in said.private]
    words += [f"accumulates '{each.array.spelling}'" for each in said.accumulators]
    return ", ".join(words)


def overlaps(found: Iterable[Overlap]) -> str:
    """The pairs of footprints that the generated code compares."""

    def box(footprint: Footprint) -> str:
        return f"'{footprint.array.spelling}'"

    lines = [f"{box(each.first)} and {box(each.second)} (line {each.location.line})" for each in found]
    return "\n".join(lines) or "none"


def code(text: RegionText) -> str:
    """The generated C of a region; that of its kernels first."""
    lines = list(text.kernels.kernel_texts) if text.kernels is not None else []
    lines += [f"/* if {condition} */" for condition in text.all_conditions]
    return "\n".join([*lines, *text.declarations, *text.loops])
