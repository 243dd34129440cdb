"""Full unrolling of small-trip-count loops, as over the window of a filter: they stay inside of all others.

Outside they would repeat long loops a few times over, and tiles or vectors of them have next to no
iterations. Unrolled, they leave the loop around to the vector unit, whichever compiler follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
from polybuild.poly.relations import largest, maps_of, sets_of, tuple_name
from polybuild.poly.trees import (
    children,
    descendants,
    insert_mark,
    is_band,
    is_mark,
    member,
    prefix_schedule,
)
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


@dataclass(frozen=True, slots=True)
class UnrollingLimits:
    """Loops of at most so many ``iterations`` are unrolled where what they become is at most of a ``size``.

    That is the sum of the ``sizes`` of the statements by their names, each of size 1 where there are none.
    """

    iterations: int = UNROLLED_ITERATIONS
    size: int = UNROLLED_STATEMENTS
    sizes: Mapping[str, int] | None = None

    def sizes_of(self, leaf: isl.ScheduleNode) -> dict[str, int]:
        """The sizes of the statements that run at ``leaf``."""
        names = [tuple_name(each) for each in sets_of(leaf.get_domain())]
        return {each: 1 if self.sizes is None else self.sizes[each] for each in names}


def unroll_small_trip_counts(
    scop: Scop, schedule: isl.Schedule, limits: UnrollingLimits | None = None, *, elements: bool = True
) -> isl.Schedule:
    """``schedule`` with the small-trip-count loops of permutable bands innermost, unrolled below marks.

    Those are the loops within ``limits``; larger ones for the ``elements`` of small private arrays, which
    they may sort or shift: with constant subscripts each of these is in a register.
    """
    limits = limits or UnrollingLimits()
    statements = scop.statements if elements else ()
    own = frozenset(
        each.name for each in statements if any(is_in_registers(access.array) for access in each.accesses)
    )
    few = limits.iterations
    if not has_small_trip_counts(scop, max(few, ELEMENT_ITERATIONS) if own else few):
        return schedule
    return _Unrolling(limits, own).visit(schedule.get_root())[0].get_schedule()


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
    """Loops within ``limits`` are unrolled, and larger ones around statements of the names ``own``."""

    limits: UnrollingLimits
    own: frozenset[str]

    def visit(self, node: isl.ScheduleNode) -> tuple[isl.ScheduleNode, dict[str, int] | None]:
        """The tree at ``node``, and the sizes of what its statements become if all its loops are unrolled.

        None for these if they cannot be.
        """
        if is_mark(node, MarkKind.UNROLLED):
            return node, None
        sizes: dict[str, int] | None = {} if node.n_children() else self.limits.sizes_of(node)
        for index in range(node.n_children()):
            below, found = self.visit(node.child(index))
            node = below.parent()
            sizes = None if sizes is None or found is None else {**sizes, **found}
        if sizes is None or not is_band(node):
            return node, sizes
        few, copies = self._limits(node)
        small: list[int] = []
        for position in reversed(range(node.band_n_member())):
            if _is_small(maximum_trips(node, position), few):
                larger = _unrolled_sizes(node, position, sizes)
                if sum(larger.values()) <= copies:
                    small.insert(0, position)
                    sizes = larger
        large = [each for each in range(node.band_n_member()) if each not in small]
        if not large:
            return node, sizes
        if small and node.band_get_permutable():
            node = permute(node, [*large, *small]).band_split(len(large))
        return _marked(node.child(0), sizes, copies).parent(), None

    def _limits(self, node: isl.ScheduleNode) -> tuple[int, int]:
        """The iterations of a loop that is unrolled, and the size of what becomes of ``node``, at most."""
        limits = self.limits
        if any(tuple_name(each) in self.own for each in sets_of(node.get_domain())):
            return max(limits.iterations, ELEMENT_ITERATIONS), ELEMENT_STATEMENTS
        return limits.iterations, limits.size


def _marked(node: isl.ScheduleNode, sizes: Mapping[str, int], maximum: int) -> isl.ScheduleNode:
    """The tree at ``node`` with its loops unrolled below a mark if they become ``maximum`` at most.

    Else those parts of a sequence that do.
    """
    if not any(map(is_band, descendants(node))):
        return node
    if sum(sizes[tuple_name(each)] for each in sets_of(node.get_domain())) <= maximum:
        return insert_mark(_unrolled(node), Mark(MarkKind.UNROLLED))
    for index in range(node.n_children()) if not is_band(node) else ():
        node = _marked(node.child(index), sizes, maximum).parent()
    return node


def _unrolled(node: isl.ScheduleNode) -> isl.ScheduleNode:
    """The tree at ``node`` with all its loops unrolled."""
    for index in range(node.n_children()):
        node = _unrolled(node.child(index)).parent()
    for position in range(node.band_n_member()) if is_band(node) else ():
        node = node.band_member_set_ast_loop_type(position, isl.ast_loop_type.unroll)
    return node


def _is_small(trips: isl.Val, few: int) -> bool:
    return bool(trips.is_int() and 1 < trips.to_python() <= few)


def _unrolled_sizes(node: isl.ScheduleNode, position: int, sizes: Mapping[str, int]) -> dict[str, int]:
    """The ``sizes`` of statements times the iterations that each has of a member of a band."""
    stamps = [each for each in maps_of(_time_stamps(node, position)) if not each.is_empty()]
    trips = {each.get_tuple_name(_in): _steps_of_last(each.range()).to_python() for each in stamps}
    return {name: size * trips.get(name, 0) for name, size in sizes.items()}


def maximum_trips(node: isl.ScheduleNode, position: int) -> isl.Val:
    """The maximum number of values of a member of a band for equal values of the members before it.

    Zero where nothing runs.
    """
    stamps = _time_stamps(node, position)
    if stamps.is_empty():
        return isl.Val.zero(node.get_ctx())
    return _steps_of_last(isl.Set.from_union_set(stamps.range()))


def _time_stamps(node: isl.ScheduleNode, position: int) -> isl.UnionMap:
    """When instances run, in the loops around a band and in its members up to one."""
    stamps = node.get_prefix_schedule_relation()
    for each in range(position + 1):
        stamps = stamps.flat_range_product(isl.UnionMap.from_multi_union_pw_aff(member(node, each)))
    return stamps


def _steps_of_last(values: isl.Set) -> isl.Val:
    """The maximum number of values of the last dimension of ``values`` for equal ones of the others."""
    before = values.dim(_set) - 1
    stride = values.get_stride(before)
    relation = isl.Map.from_range(values).move_dims(_in, 0, _out, 0, before)
    steps = largest(relation.dim_max(0).sub(relation.dim_min(0))).div(stride)
    return steps.floor().add(isl.Val.one(values.get_ctx()))


def has_conditional_copies(loop: isl.ScheduleNode) -> bool:
    """Whether loops inside of ``loop``, which are unrolled, have other iterations for some of its counters.

    Then each copy of what is in them runs under a condition of its own.
    """
    if not any(map(is_band, descendants(loop.child(0)))):
        return False
    partial = isl.UnionMap.from_multi_union_pw_aff(loop.band_get_partial_schedule())
    stamps = prefix_schedule(loop).flat_range_product(partial).intersect_domain(loop.get_domain())
    inside = loop.child(0).get_subtree_schedule_union_map()
    own = (isl.UnionMap.from_map(each).reverse().apply_range(inside) for each in maps_of(stamps))
    return not all(_is_the_same_for_each(isl.Map.from_union_map(each)) for each in own)


def _is_the_same_for_each(inside: isl.Map) -> bool:
    """Whether ``{ (outer, counter) -> inside }`` is the same for each value of the counter that there is."""
    places = inside.domain()
    counter = places.dim(_set) - 1
    for_any = inside.project_out(_in, counter, 1).insert_dims(_in, counter, 1)
    return bool(for_any.intersect_domain(places).is_subset(inside))
