"""The iteration that sets the last value of a scalar, and what is computed in it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.dependences import accesses_of, flow_dependences
from polybuild.analysis.trip_counts import trip_counts
from polybuild.c.types import FloatingType, IntegerType
from polybuild.effort import SMALL_VALUES
from polybuild.poly.relations import equal_outer, largest, maps_of, sets_of, tuple_name
from polybuild.poly.spaces import outer_loops
from polybuild.scop.model import Access, AccessKind, Array, Scop, Statement
from polybuild.storage.coalescing import Reaching
from polybuild.values import dataclass

_in, _out = isl.dim_type.in_, isl.dim_type.out
_WRITES = AccessKind.WRITE, AccessKind.MAY_WRITE


@dataclass(frozen=True, slots=True)
class _Values:
    """The values of one scalar: ``flow`` from writes to reads, ``old`` names readers of what was before."""

    array: Array
    flow: tuple[isl.Map, ...]
    old: frozenset[str]

    @classmethod
    def of(cls, scop: Scop, array: Array) -> _Values:
        reads, must, may = accesses_of(scop, array)
        flow, old = flow_dependences(scop, reads, must, may, isl.UnionMap.empty(reads.get_space()))
        pairs = tuple(each for each in maps_of(flow) if not each.is_empty())
        return cls(
            array, pairs, frozenset(each.get_tuple_name(_in) for each in maps_of(old) if not each.is_empty())
        )


@dataclass(frozen=True, slots=True)
class LastIteration:
    """The instances of ``domains``, by statement, which compute ``array`` in one iteration of its loops.

    ``prefix`` are the counters of the outer loops of that iteration; ``inner`` are the other scalars
    that have values of their own in it.
    """

    array: Array
    prefix: isl.Set
    domains: dict[str, isl.Set]
    inner: tuple[Array, ...] = ()

    @property
    def depth(self) -> int:
        """How many outer loops have the iteration."""
        return int(self.prefix.dim(isl.dim_type.set))

    @property
    def scalars(self) -> tuple[Array, ...]:
        """All scalars that it computes."""
        return (self.array, *self.inner)

    def part(self, statement: Statement, context: isl.Set) -> isl.Set:
        """The instances of ``statement`` in the iteration."""
        outer = isl.Map.from_multi_aff(outer_loops(statement.domain.get_space(), self.depth))
        here = outer.intersect_range(self.prefix).domain()
        return statement.domain.intersect(here).intersect_params(context)


def find_last_iteration(scop: Scop, array: Array) -> LastIteration | None:
    """The iteration that sets the last value of ``array``; None if that is not one, or does other things."""
    _, must, may = accesses_of(scop, array)
    if must.union(may).is_empty():
        return None
    values = _Values.of(scop, array)
    found = None if values.old else _setting_last(scop, values)
    return None if found is None else _closed(scop, found)


def is_plain_scalar(array: Array) -> bool:
    """Whether ``array`` is a number that nothing reaches but by its name."""
    reachable = array.provenance.by_pointer or array.provenance.address_taken
    return (
        array.is_scalar
        and not reachable
        and isinstance(array.expression, c_ast.ID)
        and isinstance(array.element, IntegerType | FloatingType)
    )


def touches(statement: Statement, array: Array, *kinds: AccessKind) -> bool:
    """Whether ``statement`` accesses ``array`` in one of the ways ``kinds``."""
    return any(each.array.name == array.name and each.kind in kinds for each in statement.accesses)


def _setting_last(scop: Scop, values: _Values) -> LastIteration | None:
    """The iteration of the outer loops that the values stay within which sets the last one.

    None if they stay in none, if it is not one iteration, or if there are just a few.
    """
    reaching = Reaching(scop, [values.array])
    flow, old = reaching.last_writes(values.array, reaching.written(values.array))
    last = [each for each in sets_of(flow.domain()) if not each.is_empty()]
    if not old.is_empty() or not last:
        return None
    connected = {tuple_name(each) for each in last}
    pairs = _connected(values.flow, connected)
    statements = [each for each in scop.statements if each.name in connected]
    depth = min(len(each.iterators) for each in statements)
    while depth and not all(each.is_subset(equal_outer(each, depth)) for each in pairs):
        depth -= 1
    writing = [each for each in statements if each.name in map(tuple_name, last)]
    prefix = None if not depth or _are_few(scop, writing, depth) else _prefix(scop, last, depth)
    if prefix is None:
        return None
    found = LastIteration(values.array, prefix, {})
    writers = (each for each in statements if touches(each, values.array, *_WRITES))
    return replace(found, domains=_parts(scop, found, writers))


def _prefix(scop: Scop, instances: Sequence[isl.Set], depth: int) -> isl.Set | None:
    """The counters of the ``depth`` outer loops around ``instances``; None if they differ."""
    prefixes = [
        each.apply(isl.Map.from_multi_aff(outer_loops(each.get_space(), depth))).reset_tuple_id()
        for each in instances
    ]
    prefix = reduce(isl.Set.union, prefixes).intersect_params(scop.context).coalesce()
    if not prefix.is_subset(prefix.lexmin()):
        return None
    # where it exists in several cases, as of points of one colour, the statements say for which parameters
    plain = isl.Set.from_basic_set(prefix.affine_hull())
    several = prefix.n_basic_set() > 1 or prefix.involves_locals()
    return plain if several and isl.Map.from_range(plain).is_single_valued() else prefix


def _connected(pairs: Iterable[isl.Map], names: set[str]) -> list[isl.Map]:
    """The ``pairs`` of writes and reads that share values with statements of ``names``, which get theirs."""
    waiting, found = list(pairs), list[isl.Map]()
    while True:
        more = [each for each in waiting if not names.isdisjoint(_statements_of(each))]
        if not more:
            return found
        for each in more:
            names.update(_statements_of(each))
        waiting = [each for each in waiting if each not in more]
        found += more


def _statements_of(pairs: isl.Map) -> tuple[str, str]:
    return pairs.get_tuple_name(_in), pairs.get_tuple_name(_out)


def _are_few(scop: Scop, statements: Sequence[Statement], depth: int) -> bool:
    """Whether ``depth`` loops have so few iterations that one of them more counts."""
    bounds = [
        [largest(each) for each in counts[:depth]]
        for counts in trip_counts(replace(scop, statements=tuple(statements)))
    ]
    return any(
        math.prod(each.to_python() if each.is_int() else math.inf for each in own) <= SMALL_VALUES
        for own in bounds
    )


def _parts(scop: Scop, found: LastIteration, statements: Iterable[Statement]) -> dict[str, isl.Set]:
    parts = {each.name: found.part(each, scop.context) for each in statements}
    return {name: each for name, each in parts.items() if not each.is_empty()}


def _closed(scop: Scop, found: LastIteration) -> LastIteration | None:
    """``found`` with the statements that set the scalars it reads; None if it has other effects."""
    while True:
        statements = [each for each in scop.statements if each.name in found.domains]
        known = {each.name for each in found.scalars}
        missing = {
            access.array.name: access.array
            for statement in statements
            for access in statement.accesses
            if access.array.name not in known and _is_set(scop, access)
        }
        if not missing:
            return found
        if any(each.dynamic for each in statements):
            return None
        for array in missing.values():
            domains = _setting(scop, found, array)
            if domains is None:
                return None
            inner = (*found.inner, array)
            found = replace(found, inner=inner, domains=found.domains | domains)


def _is_set(scop: Scop, access: Access) -> bool:
    """Whether ``access`` writes, or reads a scalar that is set in the region."""
    if access.kind is not AccessKind.READ:
        return True
    return access.array.is_scalar and any(touches(each, access.array, *_WRITES) for each in scop.statements)


def _setting(scop: Scop, found: LastIteration, array: Array) -> dict[str, isl.Set] | None:
    """The instances in the iteration of ``found`` that set what it reads of ``array``; None if others do."""
    if not is_plain_scalar(array):
        return None
    values = _Values.of(scop, array)
    if not values.old.isdisjoint(found.domains):
        return None
    names = set(found.domains)
    pairs = _connected(values.flow, names)
    writers = {name for name in names if any(each.get_tuple_name(_in) == name for each in pairs)}
    statements = [each for each in scop.statements if each.name in writers]
    if any(len(each.iterators) < found.depth for each in statements):
        return None
    if not all(each.is_subset(equal_outer(each, found.depth)) for each in pairs):
        return None
    return _parts(scop, found, statements)
