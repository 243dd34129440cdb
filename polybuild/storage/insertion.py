"""Statements put into a model, at the begin and at the end of the iterations of a loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import islpy as isl

from polybuild.poly.relations import tuple_name
from polybuild.poly.spaces import outer_loops
from polybuild.poly.trees import children, is_band, node_kind
from polybuild.scop.model import Scop, Statement


def with_statements(
    scop: Scop,
    anchor: Statement,
    depth: int,
    *,
    before: Sequence[Statement] = (),
    after: Sequence[Statement] = (),
) -> Scop | None:
    """``scop`` with more statements in the ``depth`` outer loops around ``anchor``, where it has instances.

    In each of their iterations those ``before`` come before all others, those ``after`` behind them. The
    iterators of all of them are these ``depth`` loops. None if the loops are no bands of their own.
    """
    new = (*before, *after)
    everywhere = (isl.Set.universe(each.domain.get_space()).identity() for each in scop.statements)
    to_old = reduce(isl.UnionMap.union, map(isl.UnionMap.from_map, everywhere))
    outer = isl.Map.from_multi_aff(outer_loops(anchor.domain.get_space(), depth))
    first = outer.intersect_domain(anchor.domain).reverse().lexmin()
    for each in new:
        here = first.set_tuple_name(isl.dim_type.in_, each.name).intersect_domain(each.domain)
        to_old = to_old.union(isl.UnionMap.from_map(here))
    schedule = scop.schedule.pullback_union_pw_multi_aff(isl.UnionPwMultiAff.from_union_map(to_old))
    node = _inside(schedule.get_root(), anchor.name, depth)
    if node is None:
        return None
    firsts, lasts = ([isl.UnionSet.from_set(each.domain) for each in own] for own in (before, after))
    others = reduce(isl.UnionSet.subtract, [*firsts, *lasts], node.get_domain())
    parts = isl.UnionSetList.alloc(node.get_ctx(), len(new) + 1)
    for part in (*firsts, others, *lasts):
        parts = parts.add(part)
    schedule = node.insert_sequence(parts).get_schedule()
    return replace(scop, statements=(*scop.statements, *new), schedule=schedule)


def _inside(node: isl.ScheduleNode, name: str, depth: int) -> isl.ScheduleNode | None:
    """What is inside the ``depth`` outer loops around the statement ``name``; None if that is no node."""
    while depth:
        if is_band(node):
            depth -= node.band_n_member()
        if depth < 0 or not node.has_children():
            return None
        node = next(each for each in _ways(node) if name in _names_in(each))
    return node


def _ways(node: isl.ScheduleNode) -> list[isl.ScheduleNode]:
    """The children of ``node``, those of a sequence below their filters."""
    filters = isl.schedule_node_type.filter
    return [each.child(0) if node_kind(each) == filters else each for each in children(node)]


def _names_in(node: isl.ScheduleNode) -> set[str]:
    found: list[isl.Set] = []
    node.get_domain().foreach_set(found.append)
    return set(map(tuple_name, found))
