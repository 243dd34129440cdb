"""Which cells of an array hold values that are needed at the same time, under a schedule."""

from __future__ import annotations

import islpy as isl

from polybuild.poly.relations import maps_of
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class LiveValues:
    """The values that an array ``A[c]`` holds.

    ``written`` maps each instance that writes the array to the cells it writes;
    ``flow`` maps it to the instances that read these values.
    """

    written: isl.UnionMap
    flow: isl.UnionMap


@dataclass(frozen=True, slots=True)
class ExecutionOrder:
    """When instances run: ``schedule`` maps them to a lexicographically ordered space.

    Only those that ``sharing`` relates use the same copy of the array. ``together`` relates
    those that may run at the same time, in spite of their time stamps.
    """

    schedule: isl.UnionMap
    sharing: isl.UnionMap
    together: isl.UnionMap


def conflicts(values: LiveValues, order: ExecutionOrder) -> isl.Map | None:
    """The pairs ``c -> c'`` of different cells that must not share memory, None if there are none.

    Two cells conflict if one is written before the last use of a value in the other, and the
    other way round: their live ranges overlap (Lefebvre and Feautrier 1998, section 3). An
    instance reads before it writes, so it may write to the cell of a value that it is the last to
    use. A value that is never used still takes its cell when it is written.
    """
    alive = values.flow.coalesce().union(values.written.domain().identity())
    last = alive.apply_range(order.schedule).lexmax().coalesce()
    begun = order.schedule.intersect_domain(values.written.domain())
    later = begun.lex_lt_union_map(last).coalesce()
    outlived = later.union(order.together.apply_range(alive.reverse()).coalesce())
    outlived = outlived.intersect(order.sharing).coalesce()  # pairs of pieces are many
    overlapping = outlived.intersect(outlived.reverse()).coalesce()
    cells = values.written.reverse().apply_range(overlapping).apply_range(values.written)
    different = cells.subtract(values.written.range().identity())
    found = maps_of(different)
    return found[0] if found else None
