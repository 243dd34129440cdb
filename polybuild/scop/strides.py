"""Counters with strides, counted in steps: ``k = 0, 2, 4, ...`` is ``2 * l`` of ``l = 0, 1, 2, ...``.

The instances are the same, in the same order; what is asked of the model is simpler without strides,
and so are the orders that are found for it.
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from polybuild.scop.determined_counters import is_mentioned
from polybuild.scop.model import Scop, Statement

_set = isl.dim_type.set


def count_steps(scop: Scop) -> Scop:
    """``scop`` with counters in steps of their strides, but those that bodies compute with."""
    changed = [_without_strides(each) for each in scop.statements]
    if all(one is other for (one, _), other in zip(changed, scop.statements, strict=True)):
        return scop
    to_old = isl.UnionPwMultiAff.empty(scop.context.get_space())
    for _, function in changed:
        to_old = to_old.union_add(isl.UnionPwMultiAff.from_pw_multi_aff(function))
    return replace(
        scop,
        statements=tuple(statement for statement, _ in changed),
        schedule=scop.schedule.pullback_union_pw_multi_aff(to_old),
    )


def _without_strides(statement: Statement) -> tuple[Statement, isl.PwMultiAff]:
    """``statement`` with its counters in steps, and its instances in the old domain."""
    function = isl.MultiAff.identity(statement.domain.get_space().map_from_set())
    found = False
    for position in range(0 if statement.dynamic else len(statement.iterators)):
        stride = statement.domain.get_stride(position)
        if not stride.is_one() and not is_mentioned(statement, position):
            start = statement.domain.get_stride_info(position).get_offset()
            counter = function.get_aff(position).scale_val(stride).add(start)
            function, found = function.set_aff(position, counter), True
    instances = isl.PwMultiAff.from_multi_aff(function)
    if not found:
        return statement, instances
    domain = statement.domain.preimage_multi_aff(function).coalesce()
    for index, each in enumerate(statement.iterators):
        domain = domain.set_dim_name(_set, index, each.name)
    accesses = tuple(
        replace(each, relation=each.relation.preimage_domain_multi_aff(function).coalesce())
        for each in statement.accesses
    )
    return replace(statement, domain=domain, accesses=accesses), instances
