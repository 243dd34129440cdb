"""What a mapping gains on one thread, beside what the compiler makes of the original loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.analysis.reduction_dependences import separate_reduction_dependences
from polybuild.analysis.reductions import Reduction
from polybuild.context import CompileContext
from polybuild.poly.relations import sets_of
from polybuild.poly.trees import is_band
from polybuild.scop.model import Scop
from polybuild.targets.cpu.estimate import estimate
from polybuild.targets.cpu.mapping import CpuMapping
from polybuild.targets.cpu.strides import Reference, Stride, references
from polybuild.targets.cpu.tilesizes import element_size
from polybuild.targets.cpu.vectorise import find_vector_loop
from polybuild.transform.full_unrolling import outside_unrolled, unroll_small_trip_counts

# How much faster it must seem: below that the estimate does not tell them apart, and the original wins.
_GAIN = 1.08
# Compilers unroll loops of so many iterations.
_UNROLLED_BY_COMPILERS = 16


def gains_on_one_thread(
    scop: Scop,
    exact: Dependences,
    reductions: Sequence[Reduction],
    found: tuple[CpuMapping, Dependences],
    context: CompileContext,
) -> bool:
    """Whether the mapping ``found``, which respects the dependences beside it, is faster on one thread.

    What one thread gains by register tiles, buffers, lanes and tiles over time is taken for granted, what it
    gains by order, tiles and loops for the vector unit is estimated. The compiler keeps the order of the
    original, unrolls short loops, and runs the innermost ones in vectors where the ``exact`` dependences
    allow that, ``reductions``, too, if any order of them gives the same.
    """
    mapping, respected = found
    if mapping.registers or mapping.buffers or mapping.beyond_order or mapping.order is None:
        return True
    threads = replace(context.machine.threads, processors=1, start=0.0)
    alone = replace(context, machine=replace(context.machine, threads=threads))
    untiled = alone.with_options(replace(alone.options, tile=False))
    reassociates = context.compiler.may_reassociate
    reordered = [each for each in reductions if each.exact or reassociates]
    relaxed = separate_reduction_dependences(scop, exact, reordered) if reordered else exact
    original = unroll_small_trip_counts(scop, scop.schedule, few=_UNROLLED_BY_COMPILERS)
    if estimate(scop, relaxed, original, untiled) > _GAIN * estimate(scop, respected, mapping.order, alone):
        return True
    # the estimate does not know how long sums wait for their terms, nor what a page of each element costs
    if not _in_vectors(scop, mapping.order, respected) <= _in_vectors(scop, original, relaxed):
        return True
    return bool(mapping.tile_sizes) and _walks_columns(scop, original, context.machine.memory.line)


def _innermost(schedule: isl.Schedule) -> Iterator[isl.ScheduleNode]:
    """The bands with but unrolled loops below them."""
    for node in outside_unrolled(schedule.get_root()):
        if is_band(node) and not any(map(is_band, outside_unrolled(node.child(0)))):
            yield node


def _in_vectors(scop: Scop, schedule: isl.Schedule, dependences: Dependences) -> set[str]:
    """The statements in innermost bands with a loop that may run in vectors."""
    return {
        each.get_tuple_name()
        for node in _innermost(schedule)
        if find_vector_loop(node, references(scop, node), dependences)
        for each in sets_of(node.get_domain())
    }


def _walks_columns(scop: Scop, schedule: isl.Schedule, line: int) -> bool:
    """Whether each iteration of an innermost loop touches another line of ``line`` bytes of an array."""
    return any(
        each.stride(node.band_n_member() - 1) is Stride.FAR and not _is_near(each, line)
        for node in _innermost(schedule)
        for each in references(scop, node)
    )


def _is_near(reference: Reference, line: int) -> bool:
    """Whether the last loop of a band stays in the row, and in a line for some iterations."""
    *others, last = (row[-1] for row in reference.matrix)
    return not any(others) and last is not None and abs(last) * element_size(reference) < line
