"""Array expansion with copy-in and copy-out: arrays that the program sees contracted as temporary ones are.

Sadler, Alias and Thievenaz 2021, section IV-A: a loop before all others reads what comes in into
an array of the region's own, a loop after all others writes what goes out, and everything between
uses that array. A schedule that fuses the loops leaves a constant time between a copy and its use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.dependences import Dependences, accesses_of
from polybuild.c.basic_types import LONG_LONG
from polybuild.c.symbols import StorageClass
from polybuild.c.syntax_tree import always_evaluates, duplicate
from polybuild.poly.relations import sets_of
from polybuild.scop.duplicates import unused_name, unused_names
from polybuild.scop.model import Access, AccessKind, Array, Iterator, Provenance, Scop, Statement
from polybuild.storage.temporaries import unsuited_to_buffers


def worth_expanding(scop: Scop, temporaries: Sequence[Array]) -> list[Array]:
    """The arrays of ``scop`` that have elements accessed again and again, and may be expanded.

    Every access is known exactly and happens for certain: copy-in and copy-out touch nothing else.
    ``temporaries`` need no expansion.
    """
    names = {each.name for each in temporaries}
    return [
        array
        for array in scop.arrays
        if not (array.local or array.name in names)
        and not unsuited_to_buffers(scop, array)
        and _is_certain(scop, array)
        and _is_reused(scop, array)
    ]


def expand(scop: Scop, dependences: Dependences, arrays: Sequence[Array]) -> tuple[Scop, tuple[Array, ...]]:
    """``scop`` working on expanded ``arrays``, and what these became.

    Two statements are added for each array, as far as they are needed: a copy-in before all others, in whose
    domain are the elements read and not written before, and a copy-out after all others, with those written.
    """
    read_first = {each.get_tuple_name(): each for each in sets_of(dependences.live_in.range())}
    expanded: list[Array] = []
    statements = list(scop.statements)
    names = iter(unused_names(scop, 2 * len(arrays)))
    schedule = scop.schedule
    for array in arrays:
        own = _expansion_of(array, {each.name for each in (*scop.arrays, *expanded)})
        expanded.append(own)
        users = [each for each in scop.statements if _accesses(each, array)]
        statements = [_on_expansion(each, array, own) for each in statements]
        if array.name in read_first:
            statements.append(copy_statement(next(names), read_first[array.name], array, own, users[0]))
            schedule = in_own_nest(statements[-1]).sequence(schedule)
        _, written, _ = accesses_of(scop, array)
        if not written.is_empty():
            elements = isl.Set.from_union_set(written.range())
            statements.append(copy_statement(next(names), elements, own, array, users[-1]))
            schedule = schedule.sequence(in_own_nest(statements[-1]))
    changed = replace(scop, arrays=(*scop.arrays, *expanded), statements=tuple(statements), schedule=schedule)
    return changed, tuple(expanded)


def _expansion_of(array: Array, taken: set[str]) -> Array:
    """An array of the region for the elements of ``array``; it is never declared."""
    name = unused_name(f"{array.name}_copy", taken)
    return Array(
        name,
        c_ast.ID(name),
        array.element,
        array.extents,
        Provenance(StorageClass.LOCAL),
        array.location,
        local=True,
        copied=array.spelling,
    )


def _on_expansion(statement: Statement, array: Array, own: Array) -> Statement:
    """``statement`` with ``own`` in place of ``array``."""
    accesses = tuple(
        replace(each, array=own, relation=each.relation.set_tuple_name(isl.dim_type.out, own.name))
        if each.array.name == array.name
        else each
        for each in statement.accesses
    )
    return replace(statement, accesses=accesses)


def copy_statement(name: str, elements: isl.Set, source: Array, target: Array, user: Statement) -> Statement:
    """``target[e] = source[e]`` for each of ``elements``; it stands where ``user`` does."""
    domain = _in_one_piece(elements).set_tuple_name(name)
    counters = [f"{name}_{each}" for each in range(len(source.extents))]
    for position, counter in enumerate(counters):
        domain = domain.set_dim_name(isl.dim_type.set, position, counter)
    nodes = [duplicate(each.expression) for each in (source, target)]
    each_one = domain.identity()
    reads, writes = (each_one.set_tuple_name(isl.dim_type.out, each.name) for each in (source, target))
    return Statement(
        name,
        domain,
        tuple(Iterator(each, LONG_LONG, user.location) for each in counters),
        c_ast.Assignment("=", nodes[1], nodes[0]),
        (
            Access(source, reads, AccessKind.READ, nodes[0]),
            Access(target, writes, AccessKind.WRITE, nodes[1]),
        ),
        user.location,
        user.end_line,
    )


def _in_one_piece(elements: isl.Set) -> isl.Set:
    """``elements`` as one piece, if they are one: windows that overlap."""
    elements = elements.coalesce()
    hull = isl.Set.from_basic_set(elements.simple_hull()).intersect_params(elements.params())
    return hull if hull.is_subset(elements) else elements


def in_own_nest(statement: Statement) -> isl.Schedule:
    """A loop nest of ``statement`` alone, in the order of its dimensions."""
    domain = isl.UnionSet.from_set(statement.domain)
    order = isl.MultiUnionPwAff.from_union_map(
        isl.UnionMap.from_map(statement.domain.identity().reset_tuple_id(isl.dim_type.out))
    )
    return isl.Schedule.from_domain(domain).insert_partial_schedule(order)


def _accesses(statement: Statement, array: Array) -> bool:
    return any(each.array.name == array.name for each in statement.accesses)


def _is_certain(scop: Scop, array: Array) -> bool:
    """Whether each instance that accesses ``array`` does so whatever the data are."""
    return all(
        not statement.dynamic and always_evaluates(statement.body, access.node)
        for statement in scop.statements
        for access in statement.accesses
        if access.array.name == array.name
    )


def _is_reused(scop: Scop, array: Array) -> bool:
    """Whether instances of one reference, or several references, touch the same element."""
    relations = [
        access.relation
        for statement in scop.statements
        for access in statement.accesses
        if access.array.name == array.name
    ]
    copies = 2  # in and out
    return len(relations) > copies or not all(each.is_injective() for each in relations)
