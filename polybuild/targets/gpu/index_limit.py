"""Which parameters leave all indices in the range of ``int``: devices count faster in it."""

from __future__ import annotations

import islpy as isl

from polybuild.poly.relations import maps_of
from polybuild.scop.model import Scop

_param = isl.dim_type.param
_LIMITS = (1 << 29, 1 << 26, 1 << 23)
# Counters and what they are made from stay well below the end of the range: a loop may step behind its end.
_MAXIMUM = 1 << 30


def index_limit(scop: Scop, schedule: isl.Schedule) -> int:
    """The largest limit of the parameters that keeps the counters of all loops in range; 0: there is none."""
    prefixes = maps_of(schedule.get_map().intersect_domain(scop.domain))
    values = [each.range() for each in prefixes] + [each.domain() for each in prefixes]
    for limit in _LIMITS:
        box = _box(scop.context, limit)
        if all(_fits(each.intersect_params(box)) for each in values):
            return limit
    return 0


def _box(context: isl.Set, limit: int) -> isl.Set:
    for position in range(context.dim(_param)):
        context = context.lower_bound_val(_param, position, isl.Val(-limit))
        context = context.upper_bound_val(_param, position, isl.Val(limit))
    return context


def _fits(values: isl.Set) -> bool:
    if values.is_empty():
        return True
    for dim in range(values.dim(isl.dim_type.set)):
        low, high = values.dim_min_val(dim), values.dim_max_val(dim)
        if not (low.is_int() and high.is_int() and low.ge(isl.Val(-_MAXIMUM)) and high.le(isl.Val(_MAXIMUM))):
            return False
    return True
