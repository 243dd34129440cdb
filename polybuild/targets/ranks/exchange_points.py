"""A schedule tree with the points at which ranks exchange values, as statements of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import islpy as isl

from polybuild.poly import spaces
from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.trees import children, descendants, is_band, is_mark, mark_of, node_kind, prefix_schedule
from polybuild.targets.ranks.overlap import SplitBlock
from polybuild.targets.ranks.phases import SharedLoop
from polybuild.values import dataclass

_Kind = isl.schedule_node_type


@dataclass(frozen=True, slots=True)
class Point:
    """The names of what all ranks do right before and right after a phase, together.

    What is ``posted`` they do after the border of a block that is ``split``, before its interior.
    """

    phase: SharedLoop
    before: tuple[str, ...]
    after: tuple[str, ...]
    posted: tuple[str, ...] = ()
    split: SplitBlock | None = None


@dataclass(frozen=True, slots=True)
class Alone:
    """The ``instances`` of a subtree that all ranks run alike, and the statement ``name`` to put before it.

    ``around`` has the values of the loops around, ``{ [t0, ...] }``.
    """

    name: str
    instances: isl.UnionSet
    around: isl.Set


def subtrees_alone(schedule: isl.Schedule, name: str) -> list[Alone]:
    """The largest subtrees in which ranks share nothing; their statements are called after ``name``."""
    found: list[Alone] = []
    _collect_alone(schedule.get_root().child(0), name, found)
    return found


def _collect_alone(node: isl.ScheduleNode, name: str, found: list[Alone]) -> None:
    if node_kind(node) == _Kind.filter:  # what reaches it is not yet filtered
        node = node.child(0)
    if any(is_mark(each, MarkKind.RANKS) for each in descendants(node)):
        for each in () if is_mark(node, MarkKind.RANKS) else children(node):
            _collect_alone(each, name, found)
        return
    domain = node.get_domain()
    around = prefix_schedule(node).intersect_domain(domain).range()
    if not domain.is_empty():
        found.append(Alone(f"{name}{len(found)}", domain, isl.Set.from_union_set(around)))


def insert_exchanges(
    schedule: isl.Schedule,
    points: Sequence[Point],
    first: Sequence[str],
    last: Sequence[str],
    alone: Sequence[Alone] = (),
) -> isl.Schedule:
    """``schedule`` with the exchanges at ``points``, in their order, and those ``first`` and ``last``.

    So have the subtrees ``alone`` a statement before them.

    An exchange ``E`` has an instance ``E[t0, ...]`` for each value of the loops around its phase, whether or
    not a rank has a part of the phase then: all ranks meet there. It is part of the tree's domain, as an
    extension runs only where another statement has the loops around run.
    """
    by_mark = {
        mark: [each for each in points if each.phase.mark == mark]
        for mark in dict.fromkeys(each.phase.mark for each in points)
    }
    found = _rebuilt(schedule.get_root().child(0), by_mark, alone)
    before, after = ([_point(name, spaces.universe(0)) for name in names] for names in (first, last))
    return reduce(isl.Schedule.sequence, [*before, found, *after])


def _rebuilt(
    node: isl.ScheduleNode, points: Mapping[Mark, Sequence[Point]], alone: Sequence[Alone]
) -> isl.Schedule:
    """The tree at ``node`` with exchanges in it."""
    for one in alone:
        if node.get_domain().is_equal(one.instances):
            return _point(one.name, one.around).sequence(_rebuilt(node, points, ()))
    kind, below = node_kind(node), children(node)
    if kind == _Kind.leaf:
        return isl.Schedule.from_domain(node.get_domain())
    if kind in {_Kind.sequence, _Kind.set}:
        return reduce(isl.Schedule.sequence, (_rebuilt(each, points, alone) for each in below))
    (inner,) = (_rebuilt(each, points, alone) for each in below)
    if is_band(node):
        return _with_band(node, inner)
    mark = mark_of(node)
    if mark is None:
        return inner
    inner = inner.get_root().child(0).insert_mark(isl.Id(mark.name)).get_schedule()
    for each in points.get(mark, ()):
        runs = isl.Set.from_union_set(each.phase.around.range())
        before, posted, after = (
            [_point(name, runs) for name in names] for names in (each.before, each.posted, each.after)
        )
        parts = [inner]
        if each.split is not None:
            border, interior = each.split.border, each.split.interior
            parts = [inner.intersect_domain(border), *posted, inner.intersect_domain(interior)]
        inner = reduce(isl.Schedule.sequence, [*before, *parts, *after])
    return inner


def _with_band(node: isl.ScheduleNode, inner: isl.Schedule) -> isl.Schedule:
    """``inner`` below the band ``node``; exchanges run where their loop has their own value."""
    depth, members = node.get_schedule_depth(), node.band_n_member()
    partial = node.band_get_partial_schedule().intersect_domain(node.get_domain())
    added = inner.get_domain().subtract(node.get_domain())
    sets: list[isl.Set] = []
    added.foreach_set(sets.append)
    for each in sets:
        identity = isl.MultiAff.identity(each.get_space().map_from_set())
        count = each.dim(isl.dim_type.set)
        values = identity.drop_dims(isl.dim_type.out, depth + members, count - depth - members)
        values = values.drop_dims(isl.dim_type.out, 0, depth).reset_tuple_id(isl.dim_type.out)
        own = isl.MultiUnionPwAff.from_union_map(isl.UnionMap.from_map(isl.Map.from_multi_aff(values)))
        partial = partial.union_add(own.intersect_domain(isl.UnionSet.from_set(each)))
    band = inner.insert_partial_schedule(partial).get_root().child(0)
    band = band.band_set_permutable(int(node.band_get_permutable()))
    for position in range(members):
        band = band.band_member_set_coincident(position, int(node.band_member_get_coincident(position)))
        kind = isl.ast_loop_type(node.band_member_get_ast_loop_type(position))
        band = band.band_member_set_ast_loop_type(position, kind)
    return band.get_schedule()


def _point(name: str, stamps: isl.Set) -> isl.Schedule:
    """The order of ``name[t0, ...]`` for each of ``stamps``, which are values of the loops around."""
    return isl.Schedule.from_domain(isl.UnionSet.from_set(stamps.set_tuple_name(name)))
