"""One statement in place of an original and its copies, which run through what all of them did."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce

import islpy as isl

from polybuild.effort import REROLLED_STATEMENTS
from polybuild.poly import spaces
from polybuild.poly.integers import integer_of
from polybuild.poly.sampling import points
from polybuild.rerolling.loop_tree import Part, schedule_of
from polybuild.rerolling.matching import Copy, Place
from polybuild.rerolling.shapes import Shape, ShapedAccess
from polybuild.rerolling.touched import function_of
from polybuild.scop.model import Access, Scop, Statement

_in, _out, _set = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


def joined(
    scop: Scop, tree: Part, place: Place, copies: Sequence[Copy], shapes: Mapping[str, Shape]
) -> Scop | None:
    """``scop``, whose order is ``tree``, with the originals of ``copies`` alone, in the order of their loops.

    None if nothing plain comes of it: instances of copies have to be apart from each other, without
    a gap, and each original has to touch what its copies do. Whether values stay the same is not asked.
    """
    new: dict[str, Statement] = {}
    for name in dict.fromkeys(each.original.name for each in copies):
        own = [each for each in copies if each.original.name == name]
        statement = _joined(own, place.depth, shapes, scop.context)
        if statement is None:
            return None
        new[name] = statement
    gone = {each.statement.name for each in copies} - new.keys()
    if not gone:
        return None
    statements = tuple(new.get(each.name, each) for each in scop.statements if each.name not in gone)
    schedule = schedule_of(tree, {each.name: each.domain for each in statements}, place.depth, new.keys())
    return None if schedule is None else replace(scop, statements=statements, schedule=schedule)


def _joined(
    copies: Sequence[Copy], position: int, shapes: Mapping[str, Shape], context: isl.Set
) -> Statement | None:
    """The original of ``copies`` with the instances of all of them."""
    original = copies[0].original
    images = [each.instances.intersect_domain(each.statement.domain).range() for each in copies]
    union = images[0]
    for each in images[1:]:
        if not union.is_disjoint(each):
            return None
        union = union.union(each)
    pieces = max(each.statement.domain.n_basic_set() for each in copies)
    domain = _without_gaps(union, position, context, pieces)
    domain = domain or _evenly_spaced(union, position, context, pieces)
    if domain is None:
        return None
    for index, iterator in enumerate(original.iterators):
        domain = domain.set_dim_name(_set, index, iterator.name)
    accesses = dict[int, Access]()
    for index, use in enumerate(shapes[original.name].operands):
        relation = _touched(index, use, copies, shapes, context)
        if relation is None:
            return None
        accesses[id(use.access)] = replace(use.access, relation=relation.intersect_domain(domain).coalesce())
    first = min(copies, key=lambda each: each.statement.location.line).statement
    return replace(
        original,
        domain=domain,
        accesses=tuple(accesses[id(each)] for each in original.accesses),
        location=first.location,
    )


def _touched(
    index: int, use: ShapedAccess, copies: Sequence[Copy], shapes: Mapping[str, Shape], context: isl.Set
) -> isl.Map | None:
    """What access ``index`` of an original touches where its copies run; None if that is not theirs."""
    if not use.access.exact:
        parts = [
            each.instances.reverse().apply_range(shapes[each.statement.name].operands[index].access.relation)
            for each in copies
        ]
        return reduce(isl.Map.union, parts)
    relation = function_of((use, copies[0].original))
    for each in copies:
        theirs = shapes[each.statement.name].operands[index]
        if theirs.cell is not None:
            continue
        runs = each.statement.domain.intersect_params(context)
        here = each.instances.intersect_domain(runs).apply_range(relation)
        if not here.is_equal(theirs.access.relation.intersect_domain(runs)):
            return None
    return relation


def _without_gaps(instances: isl.Set, position: int, context: isl.Set, pieces: int) -> isl.Set | None:
    """``instances`` as a set without strides along dimension ``position``, of few ``pieces``; None if not.

    In one piece if that is found: what is known of the pieces does not always show that they are one.
    """
    here = instances.intersect_params(context)
    found: list[isl.Set] = []
    for whole in _candidates(instances, position, context):
        if _suits(whole, position, pieces) and whole.intersect_params(context).is_equal(here):
            found.append(whole)
            if whole.n_basic_set() == 1:
                break
    return min(found, key=isl.Set.n_basic_set, default=None)


def _evenly_spaced(instances: isl.Set, position: int, context: isl.Set, pieces: int) -> isl.Set | None:
    """``instances`` as of ``_without_gaps`` in equal steps of dimension ``position``; None if they are not.

    A loop in steps and what is left after it, where what stands between two steps is something else.
    """
    values = _by_outer(instances, position)
    first = values.lexmin()
    starts = first.as_pw_multi_aff().get_at(0).get_pieces()
    step = _step(first.reverse().apply_range(values).deltas())
    if step < 2 or len(starts) != 1 or starts[0][1].dim(isl.dim_type.div):
        return None
    start = starts[0][1]
    same = isl.Map.identity(instances.get_space().map_from_set())
    counted = isl.Map.universe(same.get_space())
    for index in (each for each in range(instances.dim(_set)) if each != position):
        counted = counted.equate(_in, index, _out, index)
    equal = isl.Constraint.alloc_equality(isl.LocalSpace.from_space(counted.get_space()))
    for kind, other in ((isl.dim_type.param, isl.dim_type.param), (_in, _in)):
        for index in range(start.dim(kind)):
            equal = equal.set_coefficient_val(other, index, start.get_coefficient_val(kind, index))
    equal = equal.set_constant_val(start.get_constant_val())
    equal = equal.set_coefficient_val(_in, position, -1).set_coefficient_val(_out, position, step)
    counted = counted.add_constraint(equal)
    whole = _without_gaps(instances.apply(counted), position, context, pieces)
    return None if whole is None else whole.apply(counted.reverse()).coalesce()


def _step(distances: isl.Set) -> int:
    """What all ``distances`` are multiples of; 1 where that is not known."""
    distances = distances.project_out_all_params()
    step = integer_of(distances.get_stride(0))
    if step != 1 or not distances.is_bounded():
        return step
    few = points(distances, REROLLED_STATEMENTS + 1)
    return math.gcd(*(value for (value,) in few)) if len(few) <= REROLLED_STATEMENTS else 1


def _by_outer(instances: isl.Set, position: int) -> isl.Map:
    """The values of dimension ``position`` for given outer ones."""
    inner = instances.dim(_set) - position - 1
    return spaces.innermost_map(instances.project_out(_set, position + 1, inner).reset_tuple_id())


def _candidates(instances: isl.Set, position: int, context: isl.Set) -> Iterator[isl.Set]:
    """What may be ``instances``, simpler, cheapest first."""
    yield instances.coalesce()
    yield instances.intersect_params(context).coalesce().gist_params(context)
    yield _hull(instances, position)
    yield _between_extremes(instances, position)


def _hull(instances: isl.Set, position: int) -> isl.Set:
    """What fulfils the constraints without divisions of some of ``instances`` that all of them fulfil.

    And those that say nothing of dimension ``position``, or, where that is not one piece, equalities such as
    that outer loops count blocks.
    """
    hull = instances.drop_constraints_involving_dims(_set, position, 1).coalesce()
    if hull.n_basic_set() > 1:
        hull = isl.Set.from_basic_set(instances.affine_hull())
    for piece in instances.remove_divs().get_basic_sets():
        for constraint in piece.get_constraints():
            value = constraint.get_aff()
            for each in (value, value.neg()) if constraint.is_equality() else (value,):
                bound = isl.Set.universe(instances.get_space()).add_constraint(
                    isl.Constraint.inequality_from_aff(each)
                )
                if not hull.is_subset(bound) and instances.is_subset(bound):
                    hull = hull.intersect(bound)
    return hull


def _suits(whole: isl.Set, position: int, pieces: int) -> bool:
    """Whether ``whole`` has at most so many ``pieces``, and no divisions of dimension ``position``."""
    plain = whole.remove_divs_involving_dims(_set, position, 1)
    return whole.n_basic_set() <= pieces and bool(plain.is_equal(whole))


def _between_extremes(instances: isl.Set, position: int) -> isl.Set:
    """What is between the first and the last value of dimension ``position`` for given outer ones."""
    inner = instances.dim(_set) - position - 1
    by_outer = _by_outer(instances, position)
    up = isl.Map.lex_le(by_outer.get_space().range())
    ends = by_outer.lexmin().apply_range(up).intersect(by_outer.lexmax().apply_range(up.reverse()))
    between = ends.wrap().flatten().add_dims(_set, inner).set_tuple_name(instances.get_tuple_name())
    plain = instances.coalesce().remove_divs_involving_dims(_set, position, 1)
    return plain.intersect(between).coalesce()
