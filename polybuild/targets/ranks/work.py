"""The work of each value that blocks of ranks are made of: how many instances have it.

Ranks count them when they come to the region, and divide the values so that all have the same work: rows of
a triangle differ. A set of points stands for some statements; of its dimensions those alone are left that
depend on the first one, the value, as others do not change which blocks are equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import islpy as isl

from polybuild.poly.relations import maps_of
from polybuild.scop.model import Scop
from polybuild.targets.ranks.model import ValueWork
from polybuild.targets.ranks.phases import SharedLoop

_set, _div = isl.dim_type.set, isl.dim_type.div


def work_of(scop: Scop, phases: Sequence[SharedLoop]) -> tuple[ValueWork, ...]:
    """The work of the values of ``phases``; none where all values have the same.

    Loops with bounds that depend on data are taken to be alike.
    """
    found: list[ValueWork] = []
    for each in (work for phase in phases for work in _of_phase(scop, phase)):
        same = [place for place, other in enumerate(found) if _is_same(each, other)]
        if same:
            found[same[0]] = replace(found[same[0]], number=found[same[0]].number + 1)
        else:
            found.append(each)
    return tuple(found) if any(each.is_uneven for each in found) else ()


def _is_same(one: ValueWork, other: ValueWork) -> bool:
    if len(one.times) != len(other.times) or one.points.dim(_set) != other.points.dim(_set):
        return False
    alike = zip(one.times, other.times, strict=True)
    return bool(one.points.is_equal(other.points) and all(mine.is_equal(theirs) for mine, theirs in alike))


def _of_phase(scop: Scop, phase: SharedLoop) -> Iterator[ValueWork]:
    dynamic = {each.name: [loop.position for loop in each.dynamic] for each in scop.statements}
    for each in maps_of(phase.values):
        unknown = dynamic[each.get_tuple_name(isl.dim_type.in_)]
        points = each.reverse().wrap().flatten().reset_tuple_id()
        for position in sorted(unknown, reverse=True):
            points = points.project_out(_set, 1 + position, 1)
        points = points.intersect_params(scop.context)
        if not points.is_empty():
            yield _relevant(_without_determined(points).coalesce())


def _without_determined(points: isl.Set) -> isl.Set:
    """``points`` without dimensions that are given by the others: there are as many of them."""
    for place in reversed(range(1, points.dim(_set))):
        determined = any(
            each.is_equality()
            and each.get_coefficient_val(_set, place).abs().is_one()
            and not each.involves_dims(_div, 0, each.dim(_div))
            for each in points.affine_hull().get_constraints()
        )
        if determined:
            points = points.project_out(_set, place, 1)
    return points


def _relevant(points: isl.Set) -> ValueWork:
    """``points`` in the dimensions that depend on the value, and how many there are of the others."""
    related = _related(points)
    times: list[isl.PwAff] = []
    for place in reversed(range(1, points.dim(_set))):
        if place in related:
            continue
        if points.dim_has_lower_bound(_set, place) and points.dim_has_upper_bound(_set, place):
            alone = points.project_out(_set, place + 1, points.dim(_set) - place - 1)
            times.append(_count(alone.project_out(_set, 0, place)))
        points = points.project_out(_set, place, 1)
    if points.dim(_set) == _ROWS and (spans := _equal_spans(points)) is not None:
        times.append(_count(spans))
        points = points.project_out(_set, 1, 1)
    return ValueWork(points.coalesce(), tuple(times))


_ROWS = 2  # dimensions of a set of rows, one for each value


def _count(values: isl.Set) -> isl.PwAff:
    """How many values there are from the first to the last of ``values``, ``{ [i] }``."""
    return values.dim_max(0).sub(values.dim_min(0)).add_constant_val(isl.Val.one(values.get_ctx()))


def _equal_spans(points: isl.Set) -> isl.Set | None:
    """``{ [i] }`` with as many as each row of ``points`` has; None if rows are not equally long."""
    rows = isl.Map.from_domain(points).move_dims(isl.dim_type.out, 0, isl.dim_type.in_, 1, 1)
    spans: list[isl.Aff] = []
    rows.dim_max(0).sub(rows.dim_min(0)).coalesce().foreach_piece(lambda _, span: spans.append(span))
    if any(each.involves_dims(isl.dim_type.in_, 0, 1) for each in spans):
        return None
    if not all(each.plain_is_equal(spans[0]) for each in spans):
        return None
    lengths = isl.Map.from_aff(spans[0]).intersect_domain(rows.domain()).range()
    zero = isl.PwAff.val_on_domain(lengths.params(), isl.Val.zero(points.get_ctx()))
    return isl.Set.from_pw_aff(zero).union(lengths)


def _related(points: isl.Set) -> set[int]:
    """The dimensions that constraints relate to the first one, one by way of the other, itself included."""
    found = {0}
    for piece in points.get_basic_sets():
        every = [(kind, place) for kind in (_set, _div) for place in range(piece.dim(kind))]
        rows = [
            {column for column in every if each.involves_dims(*column, 1)}
            for each in piece.remove_redundancies().get_constraints()
        ]
        reached = {(_set, 0)}
        while more := {column for row in rows if row & reached for column in row} - reached:
            reached |= more
        found |= {place for kind, place in reached if kind == _set}
    return found
