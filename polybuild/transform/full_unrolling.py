"""Full unrolling of small-trip-count loops, as over the window of a filter: they stay inside of all others.

Outside they would repeat long loops a few times over, and tiles or vectors of them have next to no
iterations. Unrolled, they leave the loop around to the vector unit, whichever compiler follows.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import islpy as isl

from polybuild.analysis.trip_counts import trip_counts
from polybuild.effort import (
    ELEMENT_ITERATIONS,
    ELEMENT_STATEMENTS,
    UNROLLED_ELEMENTS,
    UNROLLED_ITERATIONS,
    UNROLLED_STATEMENTS,
)
from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.relations import largest, sets_of, tuple_name
from polybuild.poly.trees import children, descendants, insert_mark, is_band, is_mark, member
from polybuild.scop.model import Array, Scop
from polybuild.transform.bands import permute
from polybuild.values import dataclass

_in, _out, _set = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


def has_small_trip_counts(scop: Scop, few: int = UNROLLED_ITERATIONS) -> bool:
    """Whether a statement has a loop of ``few`` iterations at most around it, besides others."""
    for counts in trip_counts(scop):
        small = [_is_small(each, few) for each in map(largest, counts)]
        if any(small) and not all(small):
            return True
    return False


def unroll_small_trip_counts(
    scop: Scop, schedule: isl.Schedule, few: int = UNROLLED_ITERATIONS, *, elements: bool = True
) -> isl.Schedule:
    """``schedule`` with the small-trip-count loops of permutable bands innermost, unrolled below marks.

    Those are loops of ``few`` iterations at most; of more for the ``elements`` of small private arrays, which
    they may sort or shift: with constant subscripts each of these is in a register.
    """
    statements = scop.statements if elements else ()
    own = frozenset(
        each.name for each in statements if any(is_in_registers(access.array) for access in each.accesses)
    )
    if not has_small_trip_counts(scop, max(few, ELEMENT_ITERATIONS) if own else few):
        return schedule
    return _Unrolling(few, own).visit(schedule.get_root())[0].get_schedule()


def is_in_registers(array: Array) -> bool:
    """Whether ``array`` is one of the region that registers hold where its subscripts are constant."""
    sizes = [None if each is None else largest(each) for each in array.extents]
    if not (array.local and sizes) or array.provenance.allocated:
        return False
    counts = [each.to_python() for each in sizes if each is not None and each.is_int()]
    return len(counts) == len(sizes) and prod(counts) <= UNROLLED_ELEMENTS


def outside_unrolled(node: isl.ScheduleNode) -> Iterator[isl.ScheduleNode]:
    """``node`` and what is below it, but for loops that are unrolled."""
    if not is_mark(node, MarkKind.UNROLLED):
        yield node
        for each in children(node):
            yield from outside_unrolled(each)


@dataclass(frozen=True, slots=True)
class _Unrolling:
    """Loops of ``few`` iterations are unrolled, and larger ones around statements of the names ``own``."""

    few: int
    own: frozenset[str]

    def visit(self, node: isl.ScheduleNode) -> tuple[isl.ScheduleNode, int | None]:
        """The tree at ``node``; how many statements it becomes if all its loops are unrolled, else None."""
        if is_mark(node, MarkKind.UNROLLED):
            return node, None
        counts: list[int | None] = []
        for index in range(node.n_children()):
            below, count = self.visit(node.child(index))
            node = below.parent()
            counts.append(count)
        total = sum(each or 0 for each in counts) if counts else 1
        inside = None if None in counts else total
        if inside is None or not is_band(node):
            return node, inside
        few, copies = self._limits(node)
        small: list[int] = []
        for position in reversed(range(node.band_n_member())):
            trips = maximum_trips(node, position)
            if _is_small(trips, few) and inside * trips.to_python() <= copies:
                small.insert(0, position)
                inside *= trips.to_python()
        large = [each for each in range(node.band_n_member()) if each not in small]
        if not large:
            return node, inside
        if small and node.band_get_permutable():
            node = permute(node, [*large, *small]).band_split(len(large))
        if any(map(is_band, descendants(node.child(0)))) and inside <= copies:
            node = insert_mark(_unrolled(node.child(0)), Mark(MarkKind.UNROLLED)).parent()
        return node, None

    def _limits(self, node: isl.ScheduleNode) -> tuple[int, int]:
        """The iterations of a loop that is unrolled, and the statements that become of ``node``, at most."""
        if any(tuple_name(each) in self.own for each in sets_of(node.get_domain())):
            return max(self.few, ELEMENT_ITERATIONS), ELEMENT_STATEMENTS
        return self.few, UNROLLED_STATEMENTS


def _unrolled(node: isl.ScheduleNode) -> isl.ScheduleNode:
    """The tree at ``node`` with all its loops unrolled."""
    for index in range(node.n_children()):
        node = _unrolled(node.child(index)).parent()
    for position in range(node.band_n_member()) if is_band(node) else ():
        node = node.band_member_set_ast_loop_type(position, isl.ast_loop_type.unroll)
    return node


def _is_small(trips: isl.Val, few: int) -> bool:
    return bool(trips.is_int() and 1 < trips.to_python() <= few)


def maximum_trips(node: isl.ScheduleNode, position: int) -> isl.Val:
    """The maximum number of values of a member of a band for equal values of the members before it."""
    time_stamps = node.get_prefix_schedule_relation()
    for each in range(position + 1):
        time_stamps = time_stamps.flat_range_product(isl.UnionMap.from_multi_union_pw_aff(member(node, each)))
    values = isl.Set.from_union_set(time_stamps.range())
    before = values.dim(_set) - 1
    relation = isl.Map.from_range(values).move_dims(_in, 0, _out, 0, before)
    return largest(relation.dim_max(0).sub(relation.dim_min(0))).add(isl.Val.one(node.get_ctx()))
