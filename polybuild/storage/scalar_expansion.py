"""Private variables as arrays with one dimension for each loop that they are private to (array expansion).

Feautrier 1988, but only for the values that outlast a loop, and only on paper: what is expanded has to be
contracted again under the order that is found. ``s = 0; for k: s += ...; c[i][j] = alpha * s + c[i][j]``
within loops over ``i`` and ``j`` becomes ``s[i][j] = 0`` and so on, whose instances for different ``i`` and
``j`` have nothing to do with each other.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import reduce

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.dependences import Dependences
from polybuild.c.symbols import StorageClass
from polybuild.effort import SMALL_VALUES
from polybuild.poly.relations import largest, maps_of, sets_of, tuple_name, union_of
from polybuild.poly.trees import children, is_band
from polybuild.scop.duplicates import unused_name
from polybuild.scop.model import Array, Provenance, Scop, Statement
from polybuild.storage.coalescing import outlasts_loops, private_obstacles, same_reads, without_unused
from polybuild.storage.webs import Web, webs_of
from polybuild.values import dataclass

_in, _out = isl.dim_type.in_, isl.dim_type.out


@dataclass(frozen=True, slots=True, eq=False)
class PrivateNest:
    """A nest of a region, its ``statements`` by name, with ``webs`` that are private to its loops.

    In one iteration of the ``outer`` loops around it, instances with different ``coordinates`` have nothing
    to do with each other but for the variables of the webs: those are counters of its outermost
    loops, and subscripts of private arrays. The statements ``in_order`` depend on each other besides, and
    nothing on them.
    """

    statements: frozenset[str]
    webs: tuple[Web, ...]
    outer: int
    coordinates: tuple[isl.UnionPwAff, ...]
    in_order: frozenset[str] = frozenset()

    @property
    def depth(self) -> int:
        """The number of coordinates."""
        return len(self.coordinates)


@dataclass(frozen=True, slots=True)
class ExpandedNest:
    """A ``nest`` with the values of its webs in ``arrays``, one for each web."""

    nest: PrivateNest
    arrays: tuple[Array, ...]


@dataclass(frozen=True, slots=True)
class Expansion:
    """A region with the private variables of some of its nests expanded."""

    scop: Scop
    nests: tuple[ExpandedNest, ...]


def names_below(node: isl.ScheduleNode) -> frozenset[str]:
    """The names of the statements below ``node``."""
    return frozenset(map(tuple_name, sets_of(node.get_domain())))


def private_nests(
    scop: Scop,
    dependences: Dependences,
    live_out: frozenset[str],
    readers: Collection[str] = (),
    in_order: frozenset[str] = frozenset(),
) -> tuple[PrivateNest, ...]:
    """The nests of ``scop`` that only private variables keep from running their iterations in any order.

    Outer ones are preferred. ``dependences`` are those of ``scop``, or of what it was made of by another
    storage of values. Values count that outlast a loop, or that the statements ``readers`` read.
    Nests may have statements that run ``in_order``, by names, if nothing else depends on them.
    """
    webs = [
        web
        for array in private_obstacles(scop, live_out, readers)
        for web in webs_of(scop, array)
        if outlasts_loops(scop, web) or not web.readers.isdisjoint(readers)
    ]
    if not webs:
        return ()
    validity = dependences.validity
    free = [each for each in maps_of(validity) if not _pair_of(each) <= in_order]
    top, between = scop.schedule.get_root().child(0), union_of(free, validity.get_space())
    nests = _nests(scop, top, webs, between, 0, rows=bool(in_order))
    if not in_order:
        return tuple(nests)
    found = [replace(each, in_order=in_order & each.statements) for each in nests]
    return tuple(each for each in found if _is_freed(each, validity))


def _is_freed(nest: PrivateNest, dependences: isl.UnionMap) -> bool:
    """Whether nothing but what runs in order keeps the loops of ``nest`` from any order, and that does.

    That takes one value of each iteration: whole rows of values cost more than they gain, as was measured.
    """
    if any(
        each.depth - nest.outer > nest.depth
        for each in nest.webs
        if not each.readers.isdisjoint(nest.in_order)
    ):
        return False
    inside = _between(dependences, nest.statements)
    awaited = any(
        each.get_tuple_name(_in) in nest.in_order and each.get_tuple_name(_out) not in nest.in_order
        for each in maps_of(inside)
    )
    return (
        not awaited
        and nest.in_order < nest.statements
        and not all(_is_free(_between(inside, nest.in_order), each) for each in nest.coordinates)
    )


def _pair_of(dependences: isl.Map) -> set[str]:
    """The statements that ``dependences`` are between."""
    return {dependences.get_tuple_name(_in), dependences.get_tuple_name(_out)}


def _nests(
    scop: Scop,
    node: isl.ScheduleNode,
    webs: Sequence[Web],
    dependences: isl.UnionMap,
    outer: int,
    *,
    rows: bool,
) -> Iterator[PrivateNest]:
    """The nests below ``node``, which is within so many ``outer`` loops that order other ``dependences``.

    Values may be in ``rows``, one for each iteration of one loop.
    """
    if node.n_children() > 1:
        for each in children(node):
            yield from _nests(scop, each.child(0), webs, dependences, outer, rows=rows)
        return
    names = names_below(node)
    own = tuple(each for each in webs if each.readers <= names and each.writers <= names)
    statements = [each for each in scop.statements if each.name in names]
    shared = min(len(each.iterators) for each in statements) - outer
    if not own or not is_band(node) or shared <= 0:
        return
    inside = _between(dependences, names)
    counters = [_counters(statements, outer + each) for each in range(shared)]
    free = next((n for n, each in enumerate(counters) if not _is_free(inside, each)), shared)
    coordinates = _coordinates(statements, own, inside, outer, counters[:free], rows=rows)
    if coordinates:
        yield PrivateNest(names, own, outer, tuple(coordinates))
    elif isl.UnionMap.from_union_pw_aff(counters[0]).is_equal(_values(node)):
        same = inside.eq_at_multi_union_pw_aff(node.band_get_partial_schedule())
        yield from _nests(scop, node.child(0), own, same, outer + 1, rows=rows)


def _values(node: isl.ScheduleNode) -> isl.UnionMap:
    """The values of the first member of a band."""
    values = isl.UnionMap.from_union_pw_aff(node.band_get_partial_schedule().get_union_pw_aff(0))
    return values.intersect_domain(node.get_domain())


def _between(validity: isl.UnionMap, names: frozenset[str]) -> isl.UnionMap:
    """The dependences between statements ``names``."""
    inside = [
        each
        for each in maps_of(validity)
        if each.get_tuple_name(_in) in names and each.get_tuple_name(_out) in names
    ]
    return union_of(inside, validity.get_space())


def _is_free(dependences: isl.UnionMap, coordinate: isl.UnionPwAff) -> bool:
    """Whether instances that depend on each other have the same ``coordinate``."""
    place = isl.MultiUnionPwAff.from_union_pw_aff(coordinate)
    return bool(dependences.is_subset(dependences.eq_at_multi_union_pw_aff(place)))


def _coordinates(
    statements: Sequence[Statement],
    webs: Sequence[Web],
    dependences: isl.UnionMap,
    outer: int,
    counters: Sequence[isl.UnionPwAff],
    *,
    rows: bool,
) -> Sequence[isl.UnionPwAff]:
    """Coordinates of ``statements`` such that each value of ``webs`` is used at those where it was made.

    ``counters`` are those of loops within the ``outer`` ones that may be coordinates. Empty without any. A
    coordinate may have ``rows`` of values of one web.
    """
    widest = max(webs, key=lambda each: each.depth + len(each.array.extents))
    if not _is_small(widest.array) and (subscripts := _own_subscripts(statements, widest)):
        cells = _cells(statements, widest, subscripts)[outer:]
        if cells and all(_is_free(dependences, each) for each in cells):
            return cells
    depth = min(each.depth for each in webs) - outer
    if rows:
        depth = min(depth, len(counters))
    return counters[:depth] if 0 < depth <= len(counters) else ()


def _counters(statements: Sequence[Statement], position: int) -> isl.UnionPwAff:
    """The counters of the loops at ``position`` of ``statements``."""
    return reduce(isl.UnionPwAff.union_add, [_counter(each, position) for each in statements])


def _counter(statement: Statement, position: int) -> isl.UnionPwAff:
    local = isl.LocalSpace.from_space(statement.domain.get_space())
    value = isl.PwAff.var_on_domain(local, isl.dim_type.set, position)
    return isl.UnionPwAff.from_pw_aff(value.intersect_domain(statement.domain))


def _own_subscripts(statements: Sequence[Statement], web: Web) -> list[int]:
    """The subscripts of the array of ``web`` that its counters do not say: others tell no cells apart."""
    cells = [
        web.cells(access).intersect_domain(statement.domain).range()
        for statement in statements
        for access in statement.accesses
        if web.has(statement, access)
    ]
    touched = isl.Map.from_range(reduce(isl.Set.union, cells)).move_dims(_in, 0, _out, 0, web.depth)
    count = len(web.array.extents)
    return [
        position for position in range(count) if not _subscript(touched, position, count).is_single_valued()
    ]


def _subscript(touched: isl.Map, position: int, count: int) -> isl.Map:
    """One of the ``count`` output dimensions of ``touched``."""
    return touched.project_out(_out, position + 1, count - position - 1).project_out(_out, 0, position)


def _cells(statements: Sequence[Statement], web: Web, subscripts: Sequence[int]) -> list[isl.UnionPwAff]:
    """The coordinates of the one cell of ``web`` that each of ``statements`` touches.

    Counters of outer loops for a statement that touches none; empty if one touches several.
    """
    kept = [*range(web.depth), *(web.depth + each for each in subscripts)]
    count = len(kept)
    places: list[list[isl.UnionPwAff]] = [[] for _ in range(count)]
    for statement in statements:
        touched = [web.cells(each) for each in statement.accesses if web.has(statement, each)]
        if any(not each.is_equal(touched[0]) or not each.is_single_valued() for each in touched):
            return []
        if not touched and len(statement.iterators) < count:
            return []
        cell = isl.PwMultiAff.from_map(touched[0].intersect_domain(statement.domain)) if touched else None
        for number, (position, place) in enumerate(zip(kept, places, strict=True)):
            place.append(
                isl.UnionPwAff.from_pw_aff(cell.get_pw_aff(position))
                if cell is not None
                else _counter(statement, number)
            )
    return [reduce(isl.UnionPwAff.union_add, each) for each in places]


def expand_private(scop: Scop, nests: Sequence[PrivateNest]) -> Expansion | None:
    """``scop`` with the private values of ``nests`` in arrays; None if a value would be another one."""
    changed, expanded = scop, []
    for nest in nests:
        arrays = []
        for web in nest.webs:
            subscripts = _own_subscripts(changed.statements, web)
            dimensions = web.depth - nest.outer + len(subscripts)
            own = _array_for(web, dimensions, {each.name for each in changed.arrays})
            moved = _on_array(changed, web, own, nest.outer, subscripts)
            if not same_reads(changed, moved, web.array, own):
                return None
            changed = moved
            arrays.append(own)
        expanded.append(ExpandedNest(nest, tuple(arrays)))
    return Expansion(without_unused(changed, scop), tuple(expanded))


def _array_for(web: Web, dimensions: int, taken: set[str]) -> Array:
    """An array of so many ``dimensions`` for the cells of ``web``; it is never declared."""
    name = unused_name(f"{web.array.name}_expanded", taken)
    extents = (None,) * dimensions
    return Array(
        name,
        c_ast.ID(name),
        web.array.element,
        extents,
        Provenance(StorageClass.LOCAL),
        web.array.location,
        local=True,
        suffixes=("",) * len(extents),
        expanded=web.array.source_name,
    )


def elements_of_small(array: Array) -> int:
    """How many elements ``array`` has if they are a few, as of sums that are computed together; else one."""
    counts = [None if each is None else largest(each) for each in array.extents]
    known = [each.to_python() for each in counts if each is not None and each.is_int()]
    count = math.prod(known) if len(known) == len(counts) else 0
    return count if 0 < count <= SMALL_VALUES else 1


def _is_small(array: Array) -> bool:
    return elements_of_small(array) > 1


def _on_array(scop: Scop, web: Web, own: Array, outer: int, subscripts: Sequence[int]) -> Scop:
    """``scop`` with the elements of ``own`` in place of the cells of ``web``.

    They are counted by the counters within the ``outer`` loops and the ``subscripts``; by those of
    a small array first: what is side by side in a loop is in memory.
    """
    count = len(web.array.extents)

    def place(cells: isl.Map) -> isl.Map:
        loops = cells.project_out(_out, web.depth, count).project_out(_out, 0, outer)
        elements = cells.project_out(_out, 0, web.depth)
        for position in reversed(range(count)):
            if position not in subscripts:
                elements = elements.project_out(_out, position, 1)
        pair = (elements, loops) if _is_small(web.array) else (loops, elements)
        return pair[0].flat_range_product(pair[1]).set_tuple_name(_out, own.name)

    return replace(scop, statements=web.kept_in(scop, own, place), arrays=(*scop.arrays, own))
