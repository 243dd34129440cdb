"""The loop for the vector unit: which member of an innermost band, and with which statements."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.schedule.legality import is_legal_below
from polybuild.targets.cpu.innermost import (
    active_dependences,
    carries_nothing,
    fixed_around,
    vector_candidates,
)
from polybuild.targets.cpu.reductions import carried_reductions
from polybuild.targets.cpu.strides import Reference
from polybuild.transform.bands import split_last
from polybuild.transform.distribution import dependence_groups, distribute


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
