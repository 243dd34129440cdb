"""Reductions in parallel on a device: parts that threads accumulate, and their combination.

Where the only loops of an accumulation that could run in parallel are those of its terms, or one more,
threads accumulate a part of the terms each (cyclically, so neighbours touch neighbours), and the parts
are combined in the same way, until few are left::

    for i: s += a[i];       ->    for p < P: part[p] = 0;
                                  for p < P: for k: part[p] += a[P * k + p];
                                  ...               P / 32 parts of 32 parts, and so on
                                  for q < 32: s += last[q];

The number of parts and the order in which they are combined depend on nothing: results are the same on every
device and in every run. It is written as a model like any other, with dependences that are computed
anew, so kernels are found and proved as always. What is relied on is that the terms of a reduction may be
combined in any order (Doerfert et al., 2015; see ``analysis.reductions``), and that nobody looks at the
accumulator between the first term and the last: that is asked of the time stamps in the original order.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.analysis.reduction_dependences import across_lanes, separate_reduction_dependences
from polybuild.analysis.reductions import CARRIED, Reduction
from polybuild.schedule.scheduler import Fusion, compute_schedule
from polybuild.scop.model import Scop
from polybuild.targets.base import ReductionParts
from polybuild.targets.device import InspectedRange
from polybuild.targets.gpu.placed_results import PlacedSplitter
from polybuild.targets.gpu.reduction_sessions import (
    Session,
    find_scattered_session,
    find_session,
    is_undisturbed,
    kept_counters,
    may_count_otherwise,
    order_of_terms,
)
from polybuild.targets.gpu.scattered_results import (
    ScatteredSplitter,
    elements_of,
    may_count_scattered,
    parts_for,
    subscripts_of,
)
from polybuild.targets.gpu.split_reductions import Splitter


def with_partial_results(
    scop: Scop, dependences: Dependences, reductions: Sequence[Reduction], parts: ReductionParts
) -> tuple[Scop, tuple[InspectedRange, ...]]:
    """``scop`` with ``reductions`` in ``parts`` where threads gain by it; ``scop`` itself where none does.

    Then what has to be looked at to know how many elements there are. ``reductions`` are those that may be
    taken out of their order; those in lanes stay as they are.
    """
    lanes = [each for each in reductions if each.lanes is not None]
    plain = [each for each in reductions if each.lanes is None and not each.statement.dynamic]
    carried = [other for each in plain if each.selection for other in each.selection.carried]
    relaxed = separate_reduction_dependences(scop, dependences, [*plain, *carried, *lanes])
    if not plain or relaxed is dependences:
        return scop, ()
    relaxed = across_lanes(relaxed)
    try:
        schedule = compute_schedule(scop, relaxed, Fusion.MIN, outer_coincidence=True)
    except isl.Error:
        return scop, ()
    pairs = {id(each): group.pairs for group in relaxed.reductions for each in group.reductions}
    measured: tuple[InspectedRange, ...] = ()
    for group in relaxed.reductions:
        own = {node for each in group.reductions for node in each.own}
        for reduction in group.reductions:
            if reduction.operator == CARRIED or reduction.lanes is not None:
                continue
            splitter: Splitter | None
            looks: tuple[InspectedRange, ...] = ()
            if reduction.is_scattered:
                splitter, looks = _scattered(scop, reduction, group.pairs, parts, own=own, schedule=schedule)
            else:
                session = find_session(scop, reduction, group.pairs, schedule, parts)
                if session is None or not is_undisturbed(scop, session, own):
                    continue
                splitter = _splitter(scop, session, parts.combined, pairs)
            if splitter is not None:
                scop, added = splitter.split()
                measured += looks
                own |= {id(access.node) for each in added for access in each.accesses}
    return scop, measured


def _scattered(
    scop: Scop,
    reduction: Reduction,
    pairs: isl.UnionMap,
    parts: ReductionParts,
    *,
    own: Collection[int],
    schedule: isl.Schedule,
) -> tuple[ScatteredSplitter | None, tuple[InspectedRange, ...]]:
    """What makes parts of elements that data choose; None where they are not known, or too many.

    Then what tells how many there are.
    """
    array = reduction.array
    nodes = [each.node for each in reduction.statement.accesses if id(each.node) in reduction.own]
    if array.flat > 1 or any(subscripts_of(each, len(array.extents)) is None for each in nodes):
        return None, ()
    elements = elements_of(scop, reduction)
    count = None if elements is None else parts_for(elements[0], parts)
    if elements is None or count is None:
        return None, ()
    session = find_scattered_session(
        scop, reduction, pairs, replace(parts, of_scattered=(count, count)), own=own, schedule=schedule
    )
    if session is None or not all(may_count_scattered(reduction, each) for each, _ in session.lanes):
        return None, ()
    for each in elements[1]:
        there = isl.Set(f"[{each.maximum}] -> {{ : {each.maximum} >= 0 }}")
        scop = replace(scop, context=scop.context.intersect(there))
    return ScatteredSplitter(scop, session, parts.combined, elements[0]), elements[1]


def _splitter(
    scop: Scop, session: Session, combined: int, pairs: Mapping[int, isl.UnionMap]
) -> Splitter | None:
    """What makes the parts of ``session``; None if what it carries is not kept, and seen, like the value."""
    reduction = session.reduction
    if not all(may_count_otherwise(reduction.statement, position) for position, _ in session.lanes):
        return None
    if reduction.selection is None:
        return Splitter(scop, session, combined)
    for each in reduction.selection.carried:
        own = pairs.get(id(each))
        alike = own is not None and kept_counters(reduction.statement, own) == session.kept
        if not alike or not is_undisturbed(scop, replace(session, reduction=each), each.own):
            return None
    order = order_of_terms(scop, session)
    return None if order is None else PlacedSplitter(scop, session, combined, order)
