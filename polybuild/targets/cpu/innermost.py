"""Which loop of a band to run innermost, so that the vector unit can take it (PLDI 2008, section 5.4)."""

from __future__ import annotations

import islpy as isl
from pycparser import c_ast

from polybuild.c.syntax_tree import walk
from polybuild.scop.model import AccessKind
from polybuild.targets.cpu.strides import Reference, Stride

# How far back the result lies that an iteration of a recurrence waits for, at most.
_CHAIN = 4
# What an access costs per iteration of a vectorised loop, relative to a scalar one. A store
# that is scattered cannot be vectorised at all, a gathered load can, at a price.
_COST = {Stride.NONE: 0.0, Stride.UNIT: 0.25, Stride.FAR: 1.5}


def active_dependences(node: isl.ScheduleNode, validity: isl.UnionMap) -> isl.UnionMap:
    """The dependences between instances below ``node`` that the tree above it has not ordered."""
    here = node.get_domain()
    active = validity.intersect_domain(here).intersect_range(here)
    prefix = node.get_prefix_schedule_multi_union_pw_aff()
    if prefix.dim(isl.dim_type.out) > 0:
        active = active.eq_at_multi_union_pw_aff(prefix)
    return active


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


def is_chain(band: isl.ScheduleNode, validity: isl.UnionMap) -> bool:
    """Whether each step of the last member waits for one shortly before it.

    Dependences that reach any distance come from a few places, as the pivot's row
    in elimination: they do not stop the processor from overlapping what lies between.
    """
    partial = band.band_get_partial_schedule()
    last = partial.dim(isl.dim_type.out) - 1
    waiting = fixed_around(partial, last, active_dependences(band, validity))
    place = isl.UnionMap.from_union_pw_aff(partial.get_union_pw_aff(last))
    distances = waiting.apply_domain(place).apply_range(place).deltas()
    if distances.is_empty():
        return False
    farthest = isl.Set.from_union_set(distances).dim_max_val(0)
    return bool(farthest.is_int() and farthest.to_python() <= _CHAIN)


def vector_candidates(accesses: list[Reference], members: int) -> list[int]:
    """The members worth running innermost for the vector unit, the best first.

    None if a statement was kept whole with loops inside.
    """
    if any(_has_loops(each.statement.body) for each in accesses):
        return []
    costs = {member: member_cost(accesses, member) for member in range(members)}
    # later members first: at equal cost the order of the scheduler stays
    worth = [member for member in reversed(range(members)) if costs[member] is not None]
    return sorted(worth, key=lambda member: costs[member] or 0.0)


def member_cost(accesses: list[Reference], position: int) -> float | None:
    """Mean cost of an access if ``position`` is vectorised; None if scalar code is better."""
    if not accesses:
        return 0.0
    total = sum(
        (1.0 if each.access.kind is AccessKind.READ else 2.0) * _COST[each.stride(position)]
        for each in accesses
    )
    return total / len(accesses) if total / len(accesses) < 1.0 else None


def _has_loops(body: c_ast.Node) -> bool:
    """Whether a statement has control flow that a vector unit cannot follow."""
    return any(
        isinstance(each, c_ast.For | c_ast.While | c_ast.DoWhile | c_ast.Switch) for each in walk(body)
    )


def _member(partial: isl.MultiUnionPwAff, position: int) -> isl.MultiUnionPwAff:
    return isl.MultiUnionPwAff.from_union_pw_aff(partial.get_union_pw_aff(position))
