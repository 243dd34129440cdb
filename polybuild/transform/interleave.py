"""The statements of one time step row by row, each as soon as its operands are there.

::

    for (t) {                                    for (t)
        for (i) for (j) B[i][j] = f(A);              for (i) {
        for (i) for (j) A[i][j] = g(B);                  for (j) B[i][j] = f(A);
    }                                                    for (j) A[i - 1][j] = g(B);
                                                     }

This is fusion with shifts (PLDI 2008, section 3.2: one hyperplane for all statements, with offsets of
their own). A statement lags behind those it depends on by as many rows as their distances ask for, so
that rows are used again while they are in the first-level cache. The innermost loops stay separate,
for the vector unit.
"""

from __future__ import annotations

import islpy as isl

from polybuild.poly.relations import maps_of, natural_key
from polybuild.poly.trees import node_kind
from polybuild.transform.tiling.stencil import Stencil


def interleave(
    node: isl.ScheduleNode,
    stencil: Stencil,
    dependences: isl.UnionMap,
    together: isl.UnionMap | None = None,
) -> isl.ScheduleNode:
    """Interleave the nests in the sequence below the loop over time, ``node``; returns that loop.

    ``dependences`` hold those of one time step, among others; pairs that are ``together`` stay in one row.
    What is no sequence stays as it is.
    """
    below = node.child(0)
    outer = stencil.counters[1:-1]
    if node_kind(below) != isl.schedule_node_type.sequence or not outer:
        return node
    order = [
        each.get_tuple_name()
        for index in range(below.n_children())
        for each in sorted(_sets(below.child(index)), key=lambda one: natural_key(one.get_tuple_name()))
    ]
    if together is not None:
        dependences = dependences.union(together).union(together.reverse())
    within = dependences.eq_at_multi_union_pw_aff(isl.MultiUnionPwAff.from_union_pw_aff(stencil.counters[0]))
    partial = isl.MultiUnionPwAff.zero(outer[0].get_space().add_unnamed_tuple_ui(0))
    for counter in outer:
        lags = _lags(order, counter, within)
        if lags is None:
            return node
        member = isl.MultiUnionPwAff.from_union_pw_aff(_lagging(counter, lags))
        partial = partial.flat_range_product(member)
    return below.insert_partial_schedule(partial).parent()


def _sets(child: isl.ScheduleNode) -> list[isl.Set]:
    sets = child.filter_get_filter().get_set_list()
    return [sets.get_at(position) for position in range(sets.n_set())]


def _lags(order: list[str], counter: isl.UnionPwAff, dependences: isl.UnionMap) -> dict[str, int] | None:
    """How far each statement runs behind, at least; None if no distance suffices."""
    place = isl.UnionMap.from_union_pw_aff(counter)
    between: dict[tuple[str, str], int] = {}  # by how much a statement runs behind another
    for each in maps_of(dependences):
        ends = each.get_tuple_name(isl.dim_type.in_), each.get_tuple_name(isl.dim_type.out)
        if ends[0] == ends[1] or each.is_empty():
            continue
        relation = isl.UnionMap.from_map(each).apply_domain(place).apply_range(place)
        minimum = isl.Set.from_union_set(relation.deltas()).dim_min_val(0)
        if not minimum.is_int():
            return None
        lag = -minimum.to_python()
        between[ends] = max(between.get(ends, lag), lag)
    lags = dict.fromkeys(order, 0)
    for _ in order:  # those that run behind each other settle, or never do
        before = dict(lags)
        for name in order:
            behind = (lags[source] + each for (source, target), each in between.items() if target == name)
            lags[name] = max(lags[name], *behind, 0)
        if lags == before:
            return lags
    return None


def _lagging(counter: isl.UnionPwAff, lags: dict[str, int]) -> isl.UnionPwAff:
    """``counter`` plus the lag of each statement."""
    parts = counter.get_pw_aff_list()
    result = isl.UnionPwAff.empty(counter.get_space())
    for position in range(parts.n_pw_aff()):
        each = parts.get_at(position)
        lag = lags[each.domain().get_tuple_name()]
        result = result.union_add(isl.UnionPwAff.from_pw_aff(each.add_constant_val(isl.Val(lag))))
    return result
