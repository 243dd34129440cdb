"""Which parameters leave all indices in the range of ``int``: devices count faster in it."""

from __future__ import annotations

import islpy as isl

from polybuild.effort import INDEX_LIMITS
from polybuild.poly.relations import maps_of
from polybuild.scop.model import Scop

_param, _dim = isl.dim_type.param, isl.dim_type.set
# Counters and what they are made from stay well below the end of the range: a loop may step behind its end.
_MAXIMUM = 1 << 30


def index_limit(scop: Scop, schedule: isl.Schedule) -> int:
    """The largest limit of the parameters that keeps all indices in range; 0: there is none.

    These are the counters of loops, the subscripts of elements, and the extents by which subscripts are
    multiplied. Subscripts that depend on data are computed as the user wrote them. Where data are bounds of
    loops, no parameter tells how far their counters go.
    """
    if any(statement.dynamic for statement in scop.statements):
        return 0
    prefixes = maps_of(schedule.get_map().intersect_domain(scop.domain))
    values = [each.range() for each in prefixes] + [each.domain() for each in prefixes]
    values += [
        access.relation.intersect_domain(statement.domain).range()
        for statement in scop.statements
        for access in statement.accesses
        if access.exact and access.array.extents
    ]
    values += [_values(extent) for array in scop.arrays for extent in array.extents[1:] if extent is not None]
    for limit in INDEX_LIMITS:
        box = _box(scop.context, limit)
        if all(_fits(each.intersect_params(box)) for each in values):
            return limit
    return 0


def _values(extent: isl.PwAff) -> isl.Set:
    """What an extent may be, for all parameters."""
    return isl.Set.from_pw_aff(extent.project_domain_on_params())


def _box(context: isl.Set, limit: int) -> isl.Set:
    for position in range(context.dim(_param)):
        context = context.lower_bound_val(_param, position, isl.Val(-limit))
        context = context.upper_bound_val(_param, position, isl.Val(limit))
    return context


def _fits(values: isl.Set) -> bool:
    """Whether nothing is outside: that takes isl far less than to find the ends of tiles over time."""
    limit = isl.Val(_MAXIMUM + 1)
    return all(
        values.lower_bound_val(_dim, dim, limit).is_empty()
        and values.upper_bound_val(_dim, dim, limit.neg()).is_empty()
        for dim in range(values.dim(_dim))
    )
