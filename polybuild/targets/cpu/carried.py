"""What the loops of a band carry: the dependences that are left to one of them."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
from pycparser import c_ast

from polybuild.c.syntax_tree import walk
from polybuild.c.types import FloatingType
from polybuild.machine.model import Machine
from polybuild.schedule.legality import active_dependences
from polybuild.scop.model import AccessKind, Statement


def fixed_around(partial: isl.MultiUnionPwAff, position: int, active: isl.UnionMap) -> isl.UnionMap:
    """The dependences left to one member of a band when it is innermost: equal in the others."""
    for other in range(partial.dim(isl.dim_type.out)):
        if other != position:
            active = active.eq_at_multi_union_pw_aff(_member(partial, other))
    return active


def carries_nothing(partial: isl.MultiUnionPwAff, position: int, innermost: isl.UnionMap) -> bool:
    """Whether no dependence of ``innermost`` goes from one step of the member to another."""
    same = innermost.eq_at_multi_union_pw_aff(_member(partial, position))
    return bool(innermost.subtract(same).is_empty())


def carried_by_last(band: isl.ScheduleNode, dependences: isl.UnionMap) -> isl.UnionMap:
    """Those of ``dependences`` left to the last member, from one of its iterations to another."""
    partial = band.band_get_partial_schedule()
    last = partial.dim(isl.dim_type.out) - 1
    innermost = fixed_around(partial, last, active_dependences(band, dependences))
    return innermost.subtract(innermost.eq_at_multi_union_pw_aff(_member(partial, last)))


def is_chain(band: isl.ScheduleNode, results: isl.UnionMap, machine: Machine) -> bool:
    """Whether each step of the last member waits for ``results`` of one shortly before it, on ``machine``.

    Dependences that reach any distance come from a few places, as the pivot's row
    in elimination: they do not stop the processor from overlapping what lies between.
    """
    partial = band.band_get_partial_schedule()
    last = partial.dim(isl.dim_type.out) - 1
    waiting = fixed_around(partial, last, active_dependences(band, results))
    place = isl.UnionMap.from_union_pw_aff(partial.get_union_pw_aff(last))
    distances = waiting.apply_domain(place).apply_range(place).deltas()
    if distances.is_empty():
        return False
    farthest = isl.Set.from_union_set(distances).dim_max_val(0)
    return bool(farthest.is_int() and farthest.to_python() <= machine.arithmetic.chain)


def is_slow(statements: Sequence[Statement]) -> bool:
    """Whether what waits for the results of ``statements`` waits for floating-point operations.

    Those on integers take a cycle each, and where values are selected the processor guesses which.
    """
    if any(isinstance(part, c_ast.If | c_ast.TernaryOp) for each in statements for part in walk(each.body)):
        return False
    return any(
        isinstance(access.array.element, FloatingType)
        for each in statements
        for access in each.accesses
        if access.kind is not AccessKind.READ
    )


def _member(partial: isl.MultiUnionPwAff, position: int) -> isl.MultiUnionPwAff:
    return isl.MultiUnionPwAff.from_union_pw_aff(partial.get_union_pw_aff(position))
