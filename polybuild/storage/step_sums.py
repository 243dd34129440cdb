"""Sums over the points of each step, added up in an element for each step.

::

    for t:                                       for t:
      for i: for j: b[i][j] = f(a)                 for i: for j: b[i][j] = f(a)
      s = 0                                        s_each[t] = 0
      for i: for j: s += b[i][j]            ->     for i: for j: s_each[t] += b[i][j]
      for i: for j: a[i][j] = b[i][j]              for i: for j: a[i][j] = b[i][j]
      norm[t] = s                                  norm[t] = s_each[t]

One variable for all steps keeps them apart: no step may begin to add before the last one has stored its sum.
With one each, the sums of several steps are under way at a time, each in its own order, in tiles that follow
each other along rows. This is scalar expansion (D. Padua, M. Wolfe, "Advanced compiler optimizations for
supercomputers", 1986) along the loop over time. It is worth it where the grid does not depend on the sums.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial

import islpy as isl

from polybuild.analysis.dependences import accesses_of, flow_dependences, may_be_private
from polybuild.c.types import FloatingType
from polybuild.effort import SPLITTING_OPERATIONS, STENCIL_STEPS
from polybuild.poly.budget import found_within
from polybuild.poly.relations import equal_outer, maps_of
from polybuild.poly.trees import descendants, is_band
from polybuild.scop.model import AccessKind, Array, Scop, Statement
from polybuild.storage.step_values import (
    TimeStepLoop,
    array_of_steps,
    mentions_other,
    steps_of,
    with_arrays,
    with_values,
    writes_of,
)

_in = isl.dim_type.in_


def expand_step_sums(scop: Scop, live_out: frozenset[str], taken: Collection[str]) -> Scop:
    """``scop`` with an element for each step for what steps over a grid sum up; itself if there is none.

    They are in memory that the region allocates, under names that are not ``taken``.
    """
    if scop.exits is not None:
        return scop
    return found_within(SPLITTING_OPERATIONS, partial(_expanded, scop, live_out, taken)) or scop


def _expanded(scop: Scop, live_out: frozenset[str], taken: Collection[str]) -> Scop:
    sums = [each for each in scop.arrays if _may_be_sum(each, live_out) and _is_added_to(scop, each)]
    for node in filter(is_band, descendants(scop.schedule.get_root())) if sums else ():
        steps = steps_of(scop, node)
        found = [] if steps is None else [each for each in sums if _is_of_each_step(scop, steps, each)]
        if steps is not None and found and _is_stencil_without(steps, found):
            return _with_elements(scop, steps, found, {*taken, *(each.name for each in scop.arrays)})
    return scop


def _may_be_sum(array: Array, live_out: frozenset[str]) -> bool:
    return array.is_scalar and isinstance(array.element, FloatingType) and may_be_private(array, live_out)


def _is_added_to(scop: Scop, array: Array) -> bool:
    """Whether statements in loops over points use the last value of ``array`` for its next one."""
    return any(
        len(each.iterators) > 1 and {AccessKind.READ, AccessKind.WRITE} <= {one.kind for one in own}
        for each in scop.statements
        if (own := each.accesses_to(array))
    )


def _is_of_each_step(scop: Scop, steps: TimeStepLoop, array: Array) -> bool:
    """Whether each of ``steps`` sets ``array`` before it reads it, and nothing else uses it.

    Sums of so few steps that whole tiles fit between them need no more than one variable.
    """
    using = [each for each in scop.statements if each.accesses_to(array)]
    exact = all(access.exact for each in using for access in each.accesses_to(array))
    if not exact or any(each.name not in steps.counters or each.dynamic for each in using):
        return False
    adding = next(each for each in using if len(each.iterators) > steps.depth)
    counts = isl.Map.from_pw_aff(steps.counters[adding.name]).intersect_domain(adding.domain).range()
    if counts.get_stride(0).to_python() >= STENCIL_STEPS:
        return False
    reads, must, may = accesses_of(scop, array)
    flow, before = flow_dependences(scop, reads, must, may, isl.UnionMap.empty(reads.get_space()))
    if not before.is_empty():
        return False
    for each in maps_of(flow):
        source, target = (steps.times[each.get_tuple_name(kind)] for kind in (_in, isl.dim_type.out))
        pairs = each.apply_domain(source).apply_range(target)
        if not pairs.is_subset(equal_outer(pairs, steps.depth)):
            return False
    return True


def _is_stencil_without(steps: TimeStepLoop, sums: Sequence[Array]) -> bool:
    """Whether points of grids are set without ``sums``, and what follows from these."""
    follows = {each.name for each in sums}
    while True:
        reading = [
            each
            for each in steps.statements
            if any(one.kind is AccessKind.READ and one.array.name in follows for one in each.accesses)
        ]
        more = {access.array.name for each in reading for access in writes_of(each)} - follows
        if not more:
            break
        follows |= more
    others = [each for each in steps.statements if each not in reading]
    points = [each for each in others if len(each.iterators) > steps.depth]
    written = {access.array.name for each in points for access in writes_of(each) if access.array.extents}
    return bool(written) and written.isdisjoint(follows)


def _with_elements(scop: Scop, steps: TimeStepLoop, sums: Sequence[Array], taken: set[str]) -> Scop:
    """``scop`` with elements of ``steps`` for each of ``sums``; itself if one of these is used otherwise."""
    arrays: dict[int, Array] = {}
    own = []
    for each in sums:
        accesses = [access for one in steps.statements for access in one.accesses_to(each)]
        own.append(array_of_steps(accesses[0], steps, scop, taken))
        arrays |= dict.fromkeys(map(id, accesses), own[-1])
    if any(mentions_other(each, arrays) for each in steps.statements):
        return scop
    changed = {each.name: with_values(each, steps, arrays) for each in steps.statements}
    first = next(each for each in steps.statements if _uses(each, sums))
    found = with_arrays(scop, steps, own, first)
    unused = {each.name for each in sums if each.local}
    return replace(
        found,
        arrays=tuple(each for each in found.arrays if each.name not in unused),
        statements=tuple(changed.get(each.name, each) for each in scop.statements),
    )


def _uses(statement: Statement, sums: Sequence[Array]) -> bool:
    return any(statement.accesses_to(each) for each in sums)
