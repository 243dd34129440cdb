"""Unions of sets and relations in a fixed order, and what isl's own functions leave to say of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import islpy as isl


def maps_of(union: isl.UnionMap, target: str | None = None) -> list[isl.Map]:
    """The maps of a union in a fixed order (isl's own order depends on hashing), or those to ``target``."""
    maps: list[isl.Map] = []
    union.foreach_map(maps.append)
    if target is not None:
        maps = [each for each in maps if each.get_tuple_name(isl.dim_type.out) == target]
    return _in_order(maps) if len(maps) > 1 else maps


def union_of(maps: Iterable[isl.Map], space: isl.Space) -> isl.UnionMap:
    """The union of many ``maps``, two by two: one after the other copies what is there each time."""
    unions = [isl.UnionMap.from_map(each) for each in maps] or [isl.UnionMap.empty(space)]
    while len(unions) > 1:
        pairs = itertools.zip_longest(unions[::2], unions[1::2])
        unions = [one if other is None else one.union(other) for one, other in pairs]
    return unions[0]


def coalesced_union(maps: Sequence[isl.Map], pieces: int) -> isl.Map:
    """The union of ``maps`` of one space, in few pieces where neighbours make one, as ``a[0]`` and ``a[1]``.

    It is coalesced as it grows, by halves, as long as it has no more than so many ``pieces``: isl compares
    each with each.
    """
    if len(maps) == 1:
        return maps[0]
    middle = len(maps) // 2
    union = coalesced_union(maps[:middle], pieces).union(coalesced_union(maps[middle:], pieces))
    return union.coalesce() if union.n_basic_map() <= pieces else union


def sets_of(union: isl.UnionSet) -> list[isl.Set]:
    """The sets of a union, ordered by tuple name."""
    sets: list[isl.Set] = []
    union.foreach_set(sets.append)
    return sorted(sets, key=lambda each: natural_key(tuple_name(each))) if len(sets) > 1 else sets


def _in_order(maps: Sequence[isl.Map]) -> list[isl.Map]:
    """``maps`` in the order of what isl prints of their spaces, by names alone where these do."""
    by_names = {tuple(map(each.get_tuple_name, _ENDS)): each for each in maps}
    if len(by_names) < len(maps) or any(None in names for names in by_names):
        return sorted(maps, key=lambda each: str(each.get_space()))
    return [by_names[names] for names in sorted(by_names, key=_as_printed)]


def _as_printed(names: Sequence[str]) -> list[str]:
    """What puts ``names`` into the order in which isl prints them, as ``S10[i]`` before ``S1[i]``."""
    return [f"{name}[" for name in names]


_ENDS = (isl.dim_type.in_, isl.dim_type.out)


def largest(value: isl.PwAff) -> isl.Val:
    """The largest value of an expression that is a whole number wherever it is defined.

    isl takes none whose terms are fractions, though their sum is whole.
    """
    return value.floor().max_val()


def span(values: isl.UnionPwAff) -> int | None:
    """How many whole numbers there are from the smallest of ``values`` to the largest; None without a bound.

    They are whole numbers, and taken as by ``largest``.
    """
    whole = values.floor()
    first, last = whole.min_val(), whole.max_val()
    return 1 + last.to_python() - first.to_python() if first.is_int() and last.is_int() else None


def natural_key(name: str) -> tuple[str, int]:
    """Sort key that puts ``S2`` before ``S10``."""
    digits = len(name.rstrip("0123456789"))
    return name[:digits], int(name[digits:] or -1)


def tuple_name(each: isl.Set) -> str:
    """The tuple name of a set, ``""`` if it has none."""
    name: str | None = each.get_tuple_name() if each.has_tuple_name() else None
    return name or ""


def parameter_set(text: str, context: isl.Context | None = None) -> isl.Set:
    """A set of parameter values read from isl's notation."""
    return isl.Set.read_from_str(context or isl.DEFAULT_CONTEXT, text)


def equal_outer(pairs: isl.Map, depth: int) -> isl.Map:
    """Those of ``pairs`` whose two ends are equal in the first ``depth`` dimensions."""
    for position in range(depth):
        pairs = pairs.equate(isl.dim_type.in_, position, isl.dim_type.out, position)
    return pairs


def depends_on(schedule: isl.Map, position: int) -> bool:
    """Whether the values of ``schedule`` depend on dimension ``position`` of its domain."""
    return bool(schedule.gist_domain(schedule.domain()).involves_dims(isl.dim_type.in_, position, 1))


def lexicographically_after(schedule: isl.UnionMap) -> isl.UnionMap:
    """Pairs ``x -> y`` of instances that ``schedule`` runs in this order."""
    return schedule.lex_lt_union_map(schedule)


def only_piece(function: isl.PwMultiAff) -> isl.MultiAff | None:
    """What ``function`` is wherever it is defined; None if it is that in several pieces."""
    pieces: list[isl.MultiAff] = []
    function.foreach_piece(lambda _where, piece: pieces.append(piece))
    return pieces[0] if len(pieces) == 1 else None


def everywhere(function: isl.PwMultiAff) -> isl.PwMultiAff:
    """``function`` without the conditions of its only piece; as it is if it has several."""
    piece = only_piece(function)
    return function if piece is None else isl.PwMultiAff.from_multi_aff(piece)
