"""The mapping with reductions in any order where that is allowed and of use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polybuild.analysis.dependences import Dependences
from polybuild.analysis.reductions import Reductions
from polybuild.analysis.relaxation import relax
from polybuild.options import Options
from polybuild.schedule.legality import IllegalSchedule, check_schedule
from polybuild.scop.model import Array, Scop
from polybuild.targets.cpu.choice import choose_mapping
from polybuild.targets.cpu.mapping import CpuMapping
from polybuild.targets.model import Accumulator


def choose_with_reductions(
    scop: Scop,
    dependences: Dependences,
    reductions: Reductions,
    options: Options,
    temporaries: Sequence[Array] = (),
) -> tuple[CpuMapping, Dependences]:
    """The mapping on the host, and the dependences that its order respects.

    Reductions are taken out of their order where loops of threads or vectors come of it, and
    none are lost; else the exact dependences count.
    """
    exact = choose_mapping(scop, dependences, options, temporaries)
    relaxed = relax(scop, dependences, reductions.found)
    if relaxed is not dependences:
        mapping = choose_mapping(scop, relaxed, options, temporaries)
        useful = mapping.accumulators and mapping.parallel_loops >= exact.parallel_loops
        if useful and _is_legal(scop, mapping, relaxed):
            remarks = (*mapping.remarks, *map(_remark, mapping.accumulators))
            return replace(mapping, remarks=remarks), relaxed
    if options.parallel and reductions.ordered and not exact.parallel_loops:
        exact = replace(exact, remarks=(*exact.remarks, *_hints(scop, dependences, reductions, options)))
    return exact, dependences


def _is_legal(scop: Scop, mapping: CpuMapping, dependences: Dependences) -> bool:
    try:
        check_schedule(mapping.schedule, dependences, scop.domain)
    except IllegalSchedule:  # the shapes of tiles know nothing of reductions
        return False
    return True


def _remark(accumulator: Accumulator) -> str:
    lines = sorted({each.statement.location.line for each in accumulator.reductions})
    where = ", ".join(map(str, lines))
    how = "" if all(each.exact for each in accumulator.reductions) else ", in another order"
    return (
        f"line {where}: '{accumulator.array.spelling}' is accumulated in parts ({accumulator.operator}){how}"
    )


def _hints(scop: Scop, dependences: Dependences, reductions: Reductions, options: Options) -> list[str]:
    """That threads could share a region's loops if floating-point operations might change their order."""
    relaxed = relax(scop, dependences, (*reductions.found, *reductions.ordered))
    if relaxed is dependences or not choose_mapping(scop, relaxed, options).parallel_loops:
        return []
    lines = dict.fromkeys(each.statement.location.line for each in reductions.ordered)
    return [
        f"line {line}: only the order of floating-point operations keeps the loop serial;"
        " with --allow-reassociation on threads would share it"
        for line in lines
    ]
