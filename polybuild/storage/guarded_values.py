"""Variables that an iteration sets and uses under one condition, set in any case.

What such a variable holds where the condition does not hold is never used::

    for i:                                     for i:
      if (a[i] > 0) t = sqrt(a[i]);              t = 0;
      b[i] = c[i];                       ->      if (a[i] > 0) t = sqrt(a[i]);
      if (a[i] > 0) b[i] += t;                   b[i] = c[i];
                                                 if (a[i] > 0) b[i] += t;

Only whoever compares the two conditions knows that ``t`` is a value of its own in each iteration: dependences
know that it is set perhaps. Set to 0 before, it is private.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.dependences import may_be_private
from polybuild.c.syntax_tree import always_evaluates, key, walk
from polybuild.c.types import FloatingType, IntegerType
from polybuild.effort import GUARDED_VALUE_OPERATIONS
from polybuild.poly.budget import found_within
from polybuild.poly.relations import lexicographically_after
from polybuild.scop.duplicates import unused_names
from polybuild.scop.model import Access, AccessKind, Array, Scop, Statement
from polybuild.storage.coalescing import Reaching
from polybuild.storage.insertion import with_statements

_in, _out = isl.dim_type.in_, isl.dim_type.out


def set_guarded_values(scop: Scop, live_out: frozenset[str]) -> Scop:
    """``scop`` with private scalars that are set and used under the same condition set to 0 before."""
    for array in scop.arrays:
        if array.is_scalar and may_be_private(array, live_out):
            users = [each for each in scop.statements if each.accesses_to(array)]
            if _is_guarded(users, array):
                changed = found_within(GUARDED_VALUE_OPERATIONS, partial(_set_first, scop, array, users))
                scop = changed or scop
    return scop


def _is_guarded(users: list[Statement], array: Array) -> bool:
    """Whether one of ``users`` sets ``array`` and others read it, in the same loops under one condition."""
    if not isinstance(array.element, IntegerType | FloatingType):
        return False
    writers = [each for each in users if any(_writes(access) for access in each.accesses_to(array))]
    bodies = [each.body for each in users]
    return (
        len(writers) == 1 < len(users)
        and all(map(_writes, writers[0].accesses_to(array)))
        and bool(writers[0].iterators)
        and len({each.iterators for each in users}) == 1
        and all(isinstance(each, c_ast.If) and each.iffalse is None for each in bodies)
        and len({key(each.cond) for each in bodies}) == 1
        and all(_is_inside(each, array) for each in users)
    )


def _writes(access: Access) -> bool:
    return access.kind is not AccessKind.READ


def _is_inside(statement: Statement, array: Array) -> bool:
    """Whether ``statement`` accesses ``array`` below its condition alone, and sets it there for certain."""
    below = {id(part) for part in walk(statement.body.iftrue)}
    return not statement.dynamic and all(
        id(each.node) in below
        and each.exact
        and (not _writes(each) or always_evaluates(statement.body.iftrue, each.node))
        for each in statement.accesses_to(array)
    )


def _set_first(scop: Scop, array: Array, users: list[Statement]) -> Scop | None:
    """``scop`` with ``array`` set to 0 before all of ``users``; None if one could see another value."""
    (writer,) = (each for each in users if any(map(_writes, each.accesses_to(array))))
    if not all(_follows(scop, writer, each) for each in users if each is not writer):
        return None
    (name,) = unused_names(scop, 1)
    access = next(each for each in writer.accesses_to(array) if _writes(each))
    node = c_ast.ID(array.source_name, writer.body.coord)
    relation = access.relation.set_tuple_name(_in, name)
    start = replace(
        writer,
        name=name,
        domain=writer.domain.set_tuple_name(name),
        body=c_ast.Assignment("=", node, c_ast.Constant("int", "0"), writer.body.coord),
        accesses=(Access(array, relation, AccessKind.WRITE, node),),
        locals=(),
    )
    return with_statements(scop, writer, len(writer.iterators), before=[start])


def _follows(scop: Scop, writer: Statement, reader: Statement) -> bool:
    """Whether ``reader`` runs behind ``writer`` in the iterations that it runs in, and chooses the same."""
    space = reader.domain.get_space()
    same = isl.Set.universe(space).identity().set_tuple_name(_in, writer.name)
    pairs = same.intersect_range(reader.domain).intersect_domain(writer.domain)
    if not reader.domain.intersect_params(scop.context).is_subset(pairs.range()):
        return False
    order = lexicographically_after(scop.schedule.get_map())
    if not isl.UnionMap.from_map(pairs).is_subset(order):
        return False
    first, second = (_read_by_condition(each) for each in (writer, reader))
    return len(first) == len(second) and all(
        _is_same_value(scop, one, other, isl.UnionMap.from_map(pairs))
        for one, other in zip(first, second, strict=True)
    )


def _read_by_condition(statement: Statement) -> list[Access]:
    parts = {id(part) for part in walk(statement.body.cond)}
    return [each for each in statement.accesses if id(each.node) in parts]


def _is_same_value(scop: Scop, one: Access, other: Access, pairs: isl.UnionMap) -> bool:
    """Whether two reads, in the instances of ``pairs``, see the same value of the same element."""
    elements = isl.UnionMap.from_map(one.relation), isl.UnionMap.from_map(other.relation)
    second = elements[1].intersect_domain(pairs.range())
    if not one.exact or not other.exact or not pairs.reverse().apply_range(elements[0]).is_equal(second):
        return False
    reaching = Reaching(scop, [one.array])
    before, after = reaching.sources(one), reaching.sources(other)
    here = pairs.range()
    return bool(before[0].apply_range(pairs).is_equal(after[0].intersect_range(here))) and bool(
        before[1].apply(pairs).is_equal(after[1].intersect(here))
    )
