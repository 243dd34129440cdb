"""Remainders and quotients of values that lie near 0: a choice between two or three of them.

``(i + 1) % n`` for ``0 <= i < n`` is ``i + 1``, or 0 in the last iteration. So remainders by parameters are
affine, piece by piece, and those by constants have no integer divisions in them.
"""

from __future__ import annotations

from functools import reduce

import islpy as isl

from polybuild.poly.integers import value_of


def is_far(value: isl.PwAff, size: isl.PwAff, *, floor: bool) -> isl.Set:
    """Where ``quotient_near_zero`` does not know the quotient of ``value`` by ``size``."""
    limit = size if floor else size.scale_val(isl.Val(2)).sub(_one(size))
    return (
        size.neg()
        .nonneg_set()
        .union(value.ge_set(size.scale_val(isl.Val(2))))
        .union(value.lt_set(limit.neg()))
        .coalesce()
    )


def quotient_near_zero(value: isl.PwAff, size: isl.PwAff, reached: isl.Set, *, floor: bool) -> isl.PwAff:
    """``value / size`` where it is 1, 0 or -1, as numbers, for the instances that are ``reached``.

    It is rounded down if ``floor``, else towards zero; undefined where ``is_far`` says so.
    """
    below = value.neg().pos_set() if floor else value.le_set(size.neg())
    above = value.ge_set(size)
    near = reached.subtract(is_far(value, size, floor=floor))
    zero = value.sub(value)
    parts = [
        zero.add(_one(size).scale_val(value_of(number))).intersect_domain(where)
        for number, where in (
            (0, near.subtract(below).subtract(above)),
            (1, near.intersect(above)),
            (-1, near.intersect(below)),
        )
        if not where.is_empty()
    ]
    return reduce(isl.PwAff.union_add, parts, isl.PwAff.empty(value.get_space()))


def remainder(value: isl.PwAff, size: isl.PwAff, quotient: isl.PwAff) -> isl.PwAff:
    """``value - quotient * size``, where each piece of ``quotient`` is a number."""
    parts = [
        value.sub(size.scale_val(number.get_constant_val())).intersect_domain(where)
        for where, number in quotient.get_pieces()
    ]
    return reduce(isl.PwAff.union_add, parts, isl.PwAff.empty(value.get_space()))


def counters_alone(value: isl.PwAff) -> isl.PwAff | None:
    """The terms of ``value`` that loop counters have; None if it has several pieces, or no such terms."""
    pieces = value.get_pieces()
    counters = value.dim(isl.dim_type.in_)
    if len(pieces) != 1 or not value.involves_dims(isl.dim_type.in_, 0, counters):
        return None
    affine = pieces[0][1]
    if affine.dim(isl.dim_type.div):
        return None
    for position in range(affine.dim(isl.dim_type.param)):
        affine = affine.set_coefficient_val(isl.dim_type.param, position, isl.Val(0))
    return isl.PwAff.from_aff(affine.set_constant_val(isl.Val(0)))


def _one(like: isl.PwAff) -> isl.PwAff:
    """1 on the space of ``like``."""
    return isl.PwAff.val_on_domain(isl.Set.universe(like.get_domain_space()), isl.Val(1))
