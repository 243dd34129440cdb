"""Bounds of parameters that no loop of a schedule comes near.

Arrays of fixed sizes bound parameters: ``double A[2000][2000]`` says ``n <= 2000``. Where that is less than a
tile, the loop over tiles has one iteration, and is not written. Where it is more than anything in the
schedule, nothing follows from it but a constraint more in each set that isl makes of the loops, which takes
half of its time, and loops of their own for what only happens at ``n == 2000``.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from polybuild.poly.integers import integer_of
from polybuild.poly.relations import sets_of
from polybuild.poly.trees import descendants, is_band

_param, _set, _div = isl.dim_type.param, isl.dim_type.set, isl.dim_type.div


def without_far_bounds(context: isl.Set, schedule: isl.Schedule) -> isl.Set:
    """``context`` without upper bounds of parameters above all numbers in ``schedule``.

    ``n <= 2000`` goes for ``S[i] -> [floor(i/128), i]`` with ``0 <= i < n``, but stays for ``floor(i/2048)``.
    """
    pieces = context.get_basic_sets()
    if len(pieces) != 1 or not any(map(_upper_bound, pieces[0].get_constraints())):
        return context
    largest = max(_numbers(schedule), default=0)
    near = isl.BasicSet.universe(context.get_space())
    for each in pieces[0].get_constraints():
        if _upper_bound(each) <= largest:
            near = near.add_constraint(each)
    return isl.Set.from_basic_set(near)


def _upper_bound(constraint: isl.Constraint) -> int:
    """The number ``b`` of a constraint ``p <= b`` on one parameter; 0 if it is none."""
    if constraint.is_equality() or constraint.dim(_div):
        return 0
    count = constraint.dim(_param)
    factors = [integer_of(constraint.get_coefficient_val(_param, each)) for each in range(count)]
    if [each for each in factors if each] != [-1]:
        return 0
    return max(integer_of(constraint.get_constant_val()), 0)


def _numbers(schedule: isl.Schedule) -> Iterator[int]:
    """What bounds statements, and what the loops over tiles divide by."""
    for domain in sets_of(schedule.get_domain()):
        for piece in domain.get_basic_sets():
            for each in piece.get_constraints():
                yield abs(integer_of(each.get_constant_val()))
    for node in filter(is_band, descendants(schedule.get_root())):
        band = node.band_get_partial_schedule()
        for member in range(node.band_n_member()):
            values = band.get_union_pw_aff(member).get_pw_aff_list()
            for position in range(values.n_pw_aff()):
                for _, value in values.get_at(position).get_pieces():
                    for div in range(value.dim(_div)):
                        yield integer_of(value.get_div(div).get_denominator_val())
