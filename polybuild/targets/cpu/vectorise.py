"""The loop for the vector unit: which member of an innermost band, and with which statements.

PLDI 2008, section 5.4.
"""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.dependences import Dependences
from polybuild.c.syntax_tree import walk
from polybuild.c.types import IntegerType
from polybuild.schedule.legality import is_legal_below
from polybuild.scop.model import AccessKind
from polybuild.targets.cpu.carried import active_dependences, carries_nothing, fixed_around
from polybuild.targets.cpu.reductions import carried_reductions
from polybuild.targets.cpu.strides import Reference, Stride
from polybuild.transform.bands import split_last
from polybuild.transform.distribution import dependence_groups, distribute

# What an access costs per iteration of a vectorised loop, relative to a scalar one. A store
# that is scattered cannot be vectorised at all, a gathered load can, at a price.
_COST = {Stride.NONE: 0.0, Stride.UNIT: 0.25, Stride.FAR: 1.5}
# Small elements that are a few apart, as the colours of pixels, are loaded together and sorted.
_COST_INTERLEAVED = 0.6
_INTERLEAVED_BYTES = 4


@dataclass(frozen=True, slots=True)
class VectorLoop:
    """Member ``member`` of a band, run innermost, carries no dependence, or nothing but reductions.

    Where ``groups`` is not empty, that is so once the loop is distributed over
    these sets of instances, in this order.
    """

    member: int
    groups: tuple[isl.UnionSet, ...] = ()


def find_vector_loop(
    band: isl.ScheduleNode, accesses: list[Reference], dependences: Dependences
) -> VectorLoop | None:
    """The best loop for the vector unit among the members of an innermost band, None if there is none."""
    active = active_dependences(band, dependences.carried)
    partial = band.band_get_partial_schedule()
    for member in vector_candidates(accesses, band.band_n_member()):
        innermost = fixed_around(partial, member, active)
        if carries_nothing(partial, member, innermost):
            return VectorLoop(member)
        groups = dependence_groups(band.get_domain(), innermost)
        if len(groups) > 1 and all(
            carries_nothing(partial, member, innermost.intersect_domain(each).intersect_range(each))
            for each in groups
        ):
            distributed = distribute(split_last(band, member), groups)
            if is_legal_below(distributed, dependences):
                return VectorLoop(member, tuple(groups))
        if dependences.reductions and carried_reductions(split_last(band, member), 0, accesses, dependences):
            return VectorLoop(member)
    return None


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
        _COST_INTERLEAVED
        if _is_interleaved(each, position)
        else (1.0 if each.access.kind is AccessKind.READ else 2.0) * _COST[each.stride(position)]
        for each in accesses
    )
    return total / len(accesses) if total / len(accesses) < 1.0 else None


def _is_interleaved(reference: Reference, position: int) -> bool:
    """Whether steps along a member load small elements that are close to each other."""
    element, column = reference.access.array.element, [row[position] for row in reference.matrix]
    if reference.access.kind is not AccessKind.READ or not isinstance(element, IntegerType) or not column:
        return False
    step = abs(column[-1] or 0)
    near = 1 < step <= _INTERLEAVED_BYTES * 8 // element.width
    return near and not any(reference.access.array.suffixes) and all(each == 0 for each in column[:-1])


def _has_loops(body: c_ast.Node) -> bool:
    """Whether a statement has control flow that a vector unit cannot follow."""
    return any(
        isinstance(each, c_ast.For | c_ast.While | c_ast.DoWhile | c_ast.Switch) for each in walk(body)
    )
