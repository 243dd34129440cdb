"""Orders that put two loops in one dimension: ``15 k + f`` for ``f`` from 0 to 15.

isl's scheduler finds them for loops with constant bounds: they are permutable with the loop over ``k``, and
tiles of them are tiles of nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from polybuild.analysis.trip_counts import trip_counts
from polybuild.effort import MINIMUM_SKEWED_TRIPS
from polybuild.poly.relations import largest
from polybuild.poly.trees import descendants, is_band
from polybuild.scop.model import Scop

_in = isl.dim_type.in_


def constant_trips(scop: Scop) -> dict[str, list[int]]:
    """How often each loop around each statement runs at most, where that is a constant, else 0."""
    return {
        statement.name: [_constant(each) for each in counts]
        for statement, counts in zip(scop.statements, trip_counts(scop), strict=True)
    }


def linearises_loops(schedule: isl.Schedule, trips: Mapping[str, Sequence[int]]) -> bool:
    """Whether a member of a band of ``schedule`` runs a whole loop between two values of another counter.

    ``trips`` are those of ``constant_trips``.
    """
    return any(
        _is_linearised(aff, trips[aff.get_domain_space().get_tuple_name(isl.dim_type.set)])
        for node in descendants(schedule.get_root())
        if is_band(node)
        for member in range(node.band_n_member())
        for aff in _expressions(node.band_get_partial_schedule().get_at(member))
    )


def _expressions(member: isl.UnionPwAff) -> list[isl.Aff]:
    """The values of a member of a band for the instances of each statement."""
    parts = member.get_pw_aff_list()
    functions = (parts.get_at(position) for position in range(parts.n_pw_aff()))
    return [aff for each in functions for _, aff in each.get_pieces()]


def _is_linearised(member: isl.Aff, trips: Sequence[int]) -> bool:
    """Whether the coefficient of one counter is what another one's whole loop adds up to."""
    # what repeats a statement within its instances has trips, too
    trips = trips[: member.dim(_in)]
    steps = [abs(member.get_coefficient_val(_in, place).to_python()) for place in range(len(trips))]
    return any(
        step and count >= MINIMUM_SKEWED_TRIPS and other != place and outer >= step * (count - 1)
        for place, (step, count) in enumerate(zip(steps, trips, strict=True))
        for other, outer in enumerate(steps)
    )


def _constant(trips: isl.PwAff) -> int:
    """The maximum of ``trips`` if it is constant, else 0."""
    bound = largest(trips)
    return int(bound.to_python()) if bound.is_int() else 0
