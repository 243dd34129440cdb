"""The mapping with reductions in any order where that is allowed and makes loops parallel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.analysis.reduction_dependences import separate_reduction_dependences
from polybuild.analysis.reductions import CARRIED, Reduction, Reductions
from polybuild.analysis.scans import find_scans
from polybuild.context import CompileContext
from polybuild.effort import HINT_OPERATIONS, REDUCTION_OPERATIONS
from polybuild.poly.budget import budget_within
from polybuild.schedule.legality import IllegalSchedule, check_schedule
from polybuild.schedule.original import original_bands
from polybuild.scop.model import Array, Scop
from polybuild.targets.cpu.choice import choose_mapping
from polybuild.targets.cpu.cost.compilers_lanes import Aliases, nowhere
from polybuild.targets.cpu.mapping import CpuMapping
from polybuild.targets.cpu.schedule_choice import ORIGINAL, Order, orders
from polybuild.targets.cpu.search import map_orders
from polybuild.targets.model import Accumulator


def choose_with_reductions(
    scop: Scop,
    dependences: Dependences,
    reductions: Reductions,
    context: CompileContext,
    temporaries: Sequence[Array] = (),
    *,
    among: Sequence[Order] = (),
    aliases: Aliases = nowhere,
) -> tuple[CpuMapping, Dependences]:
    """The mapping on the host, and the dependences that its order respects.

    ``among`` are the orders that respect the exact dependences, if they are known; ``aliases`` tells which
    arrays may be the same memory for all that the compiler knows.

    Reductions are taken out of their order where loops of threads or vectors come of it, and
    none are lost; else the exact dependences count.
    """
    exact = choose_mapping(scop, dependences, context, temporaries, among, aliases=aliases)
    for group, wanted in _strategies(scop, dependences, reductions):
        operations = REDUCTION_OPERATIONS
        choose = partial(
            choose_mapping, context=context, temporaries=temporaries, among=wanted, aliases=aliases
        )
        tried = _try(scop, dependences, group, choose, operations=operations)
        if tried is not None and tried[0].accumulates and _shares_as_much(tried[0], exact):
            mapping, relaxed = tried
            remarks = (*mapping.remarks, *map(_remark, mapping.accumulators), *_histogram_remarks(mapping))
            return replace(mapping, remarks=remarks), relaxed
    if context.options.parallel and reductions.ordered and not exact.parallel_loops:
        exact = replace(exact, reassociable=_reassociable(scop, dependences, reductions, context))
    return exact, dependences


def _strategies(
    scop: Scop, dependences: Dependences, reductions: Reductions
) -> Iterator[tuple[Sequence[Reduction], Sequence[Order]]]:
    """The reductions to relax, and the orders to look for the best one among; none: all there are.

    Those that keep the order of their terms are in parts of the original loops, if no other order does.
    """
    scanned = {each.statement.name for each in reductions.scans}
    if reductions.in_order or reductions.histograms or scanned:
        carried = [
            other for each in reductions.in_order if each.selection for other in each.selection.carried
        ]
        plain = [each for each in reductions.found if each.statement.name not in scanned]
        every = (*plain, *reductions.in_order, *carried, *reductions.histograms, *reductions.scans)
        yield every, ()
        if reductions.in_order or scanned:
            yield every, (Order(ORIGINAL, original_bands(scop, dependences)),)
    if reductions.found:
        yield reductions.found, ()


def _try(
    scop: Scop,
    dependences: Dependences,
    reductions: Sequence[Reduction],
    choose: Callable[[Scop, Dependences], CpuMapping],
    *,
    operations: int,
) -> tuple[CpuMapping, Dependences] | None:
    """The mapping with ``reductions`` relaxed that ``choose`` finds, and its dependences.

    None if there is nothing to relax, no legal order is found, or isl needs more than so many ``operations``.
    """
    try:
        with budget_within(operations):
            relaxed = separate_reduction_dependences(scop, dependences, reductions)
            if relaxed is dependences:
                return None
            mapping = choose(scop, relaxed)
            check_schedule(mapping.schedule, relaxed, scop.domain)
    except (isl.Error, IllegalSchedule):  # the shapes of tiles know nothing of reductions
        return None
    return mapping, relaxed


def _shares_as_much(new: CpuMapping, old: CpuMapping) -> bool:
    """Whether threads share as many loops of ``new`` as of ``old``, or all that these do in fewer."""
    return new.parallel_loops >= old.parallel_loops or new.shared_statements() >= old.shared_statements()


def _remark(accumulator: Accumulator) -> str:
    lines = sorted({each.statement.location.line for each in accumulator.reductions})
    where = ", ".join(map(str, lines))
    how = "" if all(each.exact for each in accumulator.reductions) else ", in another order"
    if accumulator.operator == CARRIED:
        return f"line {where}: '{accumulator.array.spelling}' goes along with what is found in parts"
    return (
        f"line {where}: '{accumulator.array.spelling}' is accumulated in parts ({accumulator.operator}){how}"
    )


def _histogram_remarks(mapping: CpuMapping) -> list[str]:
    """What threads have elements of their own of."""
    found = [each for directive in mapping.directives.values() for each in directive.histograms]
    every = [each for accumulator in found for each in accumulator.reductions]
    return [
        f"line {each.statement.location.line}: '{each.array.spelling}' is accumulated in parts"
        f" ({each.operator}), {each.elements} elements for each thread"
        for each in {id(each): each for each in every}.values()
    ]


def _reassociable(
    scop: Scop, dependences: Dependences, reductions: Reductions, context: CompileContext
) -> tuple[int, ...]:
    """The lines of sums that threads could share if floating-point operations might change their order."""
    every: tuple[Reduction, ...] = (*reductions.found, *reductions.ordered)
    scans = find_scans(scop, dependences, every)
    scanned = {each.statement.name for each in scans}
    every = (*(each for each in every if each.statement.name not in scanned), *scans)
    if not _has_threads(scop, dependences, every, context):
        return ()
    return tuple(dict.fromkeys(each.statement.location.line for each in reductions.ordered))


def _has_threads(
    scop: Scop, dependences: Dependences, reductions: Sequence[Reduction], context: CompileContext
) -> bool:
    """Whether the best order with ``reductions`` relaxed has loops for threads.

    Which order is the best one need not be known where all of them have such loops, or none has.
    """
    try:
        with budget_within(HINT_OPERATIONS):
            relaxed = separate_reduction_dependences(scop, dependences, reductions)
            if relaxed is dependences:
                return False
            among = orders(scop, relaxed, context)
            found = [each.mapping for each in map_orders(scop, relaxed, context, among)]
            shared = [bool(each.parallel_loops) for each in found]
            if all(shared):
                check_schedule(found[0].schedule, relaxed, scop.domain)
    except (isl.Error, IllegalSchedule):  # as in _try
        return False
    if all(shared) or not any(shared):
        return shared[0]
    choose = partial(choose_mapping, context=context, among=among)
    tried = _try(scop, dependences, reductions, choose, operations=HINT_OPERATIONS)
    return tried is not None and bool(tried[0].parallel_loops)
