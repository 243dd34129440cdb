"""Dependences within a budget: exact ones where isl finds them in time, else over-approximated.

Exact dependences (Feautrier 1991) take a parametric integer program for each pair of
references, and those can explode. The over-approximation relates every write of an element
to every later access, and forgets strides and unions: one convex piece for each pair of
references and level of the loops around them, as in the tests of dependences of vectorising
compilers (Allen and Kennedy 1987, section 4). An order that respects it is legal.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import islpy as isl

from polybuild.analysis.dependences import Dependences, compute_dependences
from polybuild.effort import (
    EMPTY_PIECE_OPERATIONS,
    EXACT_DEPENDENCES,
    EXACT_PAIRS,
    HULL_PIECES,
    PAIRED_PIECES,
)
from polybuild.poly.budget import found_within, operation_budget
from polybuild.poly.overapproximation import overapproximation_of_piece
from polybuild.poly.relations import maps_of, union_of
from polybuild.scop.model import AccessKind, Array, Scop, Statement

_in = isl.dim_type.in_
_out = isl.dim_type.out


def bounded_dependences(
    scop: Scop, live_out: frozenset[str], maximum: int, *, exact: bool = True
) -> tuple[Dependences, tuple[Array, ...]]:
    """Dependences of ``scop`` for about ``maximum`` operations, and the arrays whose are over-approximated.

    If not ``exact`` all are. Raises isl's error if even what stands in for them takes more.
    """
    accessed = {each.array.name for statement in scop.statements for each in statement.accesses}
    arrays = [array for array in scop.arrays if array.name in accessed]
    if not exact:
        with operation_budget(maximum):
            return overapproximate_dependences(scop), tuple(arrays)
    allowed = int(EXACT_DEPENDENCES * maximum)
    large = {array.name for array in arrays_of_many_cases(scop)}
    whole = None if large else _exact(scop, live_out, allowed)
    if whole is not None:
        return whole, ()
    nested = None if large else _exact_in_nests(scop, live_out, allowed)
    if nested is not None:
        return nested, ()
    parts, approximated = [], []
    for array in arrays:
        alone = _restricted(scop, array)
        # all of a single array was too much already
        is_worth_it = len(arrays) > 1 and array.name not in large
        found = _exact(alone, live_out, allowed // len(arrays)) if is_worth_it else None
        if found is None:
            approximated.append(array)
            with operation_budget(maximum):
                found = overapproximate_dependences(alone)
        parts.append(found)
    return _together(parts), tuple(approximated)


def arrays_of_many_cases(scop: Scop) -> list[Array]:
    """Arrays whose subscripts have so many cases that exact dependences are not found in time."""
    return [array for array in scop.arrays if _piece_pairs(scop, array) > EXACT_PAIRS]


def _piece_pairs(scop: Scop, array: Array) -> int:
    """Pairs of accesses to ``array`` that may depend on each other, each case of a subscript counted."""
    reads, writes = (
        sum(each.n_basic_map() for kind in kinds for each in maps_of(scop.accesses(kind, array=array.name)))
        for kinds in ((AccessKind.READ,), (AccessKind.WRITE, AccessKind.MAY_WRITE))
    )
    return writes * (reads + writes)


def _exact_in_nests(scop: Scop, live_out: frozenset[str], maximum: int) -> Dependences | None:
    """Exact dependences in the deepest nests, and among the other statements; None if they take too long.

    Those between the two are over-approximated: what is done once, before steps over time or after them, has
    to wait for all of these, or they for it.
    """
    depth = max(len(each.iterators) for each in scop.statements)
    deepest = [each for each in scop.statements if len(each.iterators) == depth]
    others = [each for each in scop.statements if len(each.iterators) < depth]
    around = {each.iterators[0] for each in deepest if depth}
    if not others or not around.isdisjoint(each.iterators[0] for each in others if each.iterators):
        return None
    parts = []
    for own, rest in ((deepest, others), (others, deepest)):
        used = {access.array.name for each in rest for access in each.accesses}
        found = _exact(_only(scop, own), live_out.union(used), maximum)
        if found is None:
            return None
        parts.append(found)
    reads, writes = (
        [_in_few_pieces(_only(scop, own).accesses(*kinds)) for own in (deepest, others)]
        for kinds in ((AccessKind.READ,), (AccessKind.WRITE, AccessKind.MAY_WRITE))
    )
    for one, other in ((0, 1), (1, 0)):
        flow = _pairs(scop, writes[one], reads[other])
        false = _pairs(scop, writes[one], writes[other]).union(_pairs(scop, reads[one], writes[other]))
        parts.append(Dependences(flow, false, (), isl.UnionMap.empty(scop.context.get_space())))
    return _together(parts)


def _only(scop: Scop, statements: Sequence[Statement]) -> Scop:
    """``scop`` as if it had the ``statements`` alone."""
    domain = functools.reduce(isl.UnionSet.union, (isl.UnionSet.from_set(each.domain) for each in statements))
    schedule = scop.schedule.intersect_domain(domain)
    return replace(scop, statements=tuple(statements), schedule=schedule)


def _exact(scop: Scop, live_out: frozenset[str], maximum: int) -> Dependences | None:
    """The dependences; None for too many operations, or a case that isl's analysis does not master."""
    with contextlib.suppress(isl.Error), operation_budget(maximum):
        return compute_dependences(scop, live_out)
    return None


def overapproximate_dependences(scop: Scop) -> Dependences:
    """An over-approximation of ``scop``'s dependences, none private: every read may see an older value."""
    reads = scop.accesses(AccessKind.READ)
    writes = scop.accesses(AccessKind.WRITE, AccessKind.MAY_WRITE)
    later_reads, written = _in_few_pieces(reads), _in_few_pieces(writes)
    flow = _pairs(scop, written, later_reads)
    false = _pairs(scop, written, written).union(_pairs(scop, later_reads, written))
    return Dependences(flow, false, (), reads)


def _pairs(scop: Scop, sources: isl.UnionMap, sinks: isl.UnionMap) -> isl.UnionMap:
    """Each source related to, at least, the later sinks of the same element."""
    time_stamps = {each.get_tuple_name(_in): each for each in maps_of(scop.schedule.get_map())}
    found: list[isl.Map] = []
    for source in maps_of(sources):
        for sink in maps_of(sinks):
            if source.get_tuple_name(_out) != sink.get_tuple_name(_out):
                continue
            same = source.apply_range(sink.reverse())
            first, second = (time_stamps[each.get_tuple_name(_in)] for each in (source, sink))
            for before in _levels(first, second):
                pairs = _without_empty_pieces(same.intersect(before))
                if not pairs.plain_is_empty():
                    found.append(_hull(pairs).intersect(before))
    return union_of(found, scop.context.get_space())


def _without_empty_pieces(pairs: isl.Map) -> isl.Map:
    """``pairs`` without the pieces that have none, if it is known in time which these are.

    Strides tell references apart that one convex piece for all of them does not: ``u[8 * i + 1]`` is no
    ``u[8 * k + 2]`` (the greatest common divisor test of Banerjee 1988).
    """
    if pairs.n_basic_map() <= HULL_PIECES:
        return pairs
    return found_within(EMPTY_PIECE_OPERATIONS, partial(_pieces_with_points, pairs)) or pairs


def _pieces_with_points(pairs: isl.Map) -> isl.Map:
    pieces = (isl.Map.from_basic_map(each) for each in pairs.get_basic_maps() if not each.is_empty())
    return functools.reduce(isl.Map.union, pieces, isl.Map.empty(pairs.get_space()))


def _in_few_pieces(accesses: isl.UnionMap) -> isl.UnionMap:
    """``accesses``, those of many pieces over-approximated by one: each has pairs with each of others."""
    few = (_hull(each) if each.n_basic_map() > PAIRED_PIECES else each for each in maps_of(accesses))
    return union_of(few, accesses.get_space())


def _hull(relation: isl.Map) -> isl.Map:
    pieces = [isl.Map.from_basic_map(overapproximation_of_piece(each)) for each in relation.get_basic_maps()]
    return isl.Map.from_basic_map(functools.reduce(isl.Map.union, pieces).simple_hull())


def _levels(first: isl.Map, second: isl.Map) -> Iterator[isl.Map]:
    """Pairs of instances in order, by the first dimension in which their time stamps differ."""
    space = first.get_space().range().map_from_set()
    equal = isl.Map.universe(space)
    for level in range(first.dim(_out)):
        before = first.apply_range(equal.order_lt(_in, level, _out, level)).apply_range(second.reverse())
        if not before.is_empty():
            yield before
        equal = equal.equate(_in, level, _out, level)


def _restricted(scop: Scop, array: Array) -> Scop:
    """``scop`` as if it accessed ``array`` alone."""
    statements = tuple(
        replace(each, accesses=tuple(access for access in each.accesses if access.array.name == array.name))
        for each in scop.statements
    )
    return replace(scop, arrays=(array,), statements=statements)


def _together(parts: list[Dependences]) -> Dependences:
    first, *others = parts
    for each in others:
        first = Dependences(
            first.flow.union(each.flow),
            first.false.union(each.false),
            first.private + each.private,
            first.live_in.union(each.live_in),
        )
    return first
