"""Statements of a model a second time, and variables for their values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import reduce

import islpy as isl
from pycparser import c_ast

from polybuild.c.symbols import StorageClass
from polybuild.c.syntax_tree import duplicate, walk
from polybuild.c.synthetic import declarator
from polybuild.c.types import FloatingType, IntegerType
from polybuild.poly.relations import natural_key, sets_of, tuple_name
from polybuild.poly.trees import map_bottom_up, node_kind
from polybuild.scop.model import Array, Provenance, Scop, Statement

_in, _out = isl.dim_type.in_, isl.dim_type.out


def unused_names(scop: Scop, count: int) -> list[str]:
    """Names for ``count`` new statements of ``scop``."""
    first = 1 + max(natural_key(each.name)[1] for each in scop.statements)
    return [f"S{first + number}" for number in range(count)]


def names_in_use(scop: Scop) -> set[str]:
    """The names of the arrays and variables of ``scop``, and all that its statements mention or declare."""
    return {each.name for each in scop.arrays} | {
        part.name
        for each in scop.statements
        for part in walk(each.body)
        if isinstance(part, c_ast.ID | c_ast.Decl)
    }


def copied(statement: Statement, name: str, domain: isl.Set) -> Statement:
    """The instances ``domain`` of ``statement`` as another one, which shares no part of its body."""
    body = duplicate(statement.body)
    parts = dict(zip(map(id, walk(statement.body)), walk(body), strict=True))
    domain = domain.set_tuple_name(name)
    return replace(
        statement,
        name=name,
        domain=domain,
        body=body,
        accesses=tuple(
            replace(
                each,
                relation=each.relation.set_tuple_name(_in, name).intersect_domain(domain).coalesce(),
                node=parts[id(each.node)],
            )
            for each in statement.accesses
        ),
        locals=tuple((parts[id(node)], array) for node, array in statement.locals),
    )


def order_of_copies(
    scop: Scop, statements: Sequence[Statement], originals: Mapping[str, str]
) -> isl.Schedule:
    """The order of ``scop`` for ``statements``: a copy runs when the one in ``originals``, by names, does."""
    to_old = (
        isl.UnionMap.from_map(
            each.domain.identity().set_tuple_name(_out, originals.get(each.name, each.name))
        )
        for each in statements
    )
    function = isl.UnionPwMultiAff.from_union_map(reduce(isl.UnionMap.union, to_old))
    return scop.schedule.pullback_union_pw_multi_aff(function)


def in_sequence(schedule: isl.Schedule, *groups: Sequence[Statement]) -> isl.Schedule:
    """``schedule`` with those of each of ``groups``, which run at the same time, one after the other."""
    filters = {frozenset(each.name for each in group): _filters(group) for group in groups}

    def sequenced(node: isl.ScheduleNode) -> isl.ScheduleNode:
        if node_kind(node) != isl.schedule_node_type.leaf:
            return node
        found = filters.get(frozenset(tuple_name(each) for each in sets_of(node.get_domain())))
        return node if found is None else node.insert_sequence(found)

    return map_bottom_up(schedule.get_root(), sequenced).get_schedule()


def _filters(statements: Sequence[Statement]) -> isl.UnionSetList:
    """The instances of each of ``statements``."""
    filters = isl.UnionSetList.alloc(statements[0].domain.get_ctx(), len(statements))
    for each in statements:
        filters = filters.add(isl.UnionSet.from_set(each.domain))
    return filters


def unused_name(wanted: str, taken: Collection[str]) -> str:
    """``wanted``, with as many underscores behind it as it takes to be none of those ``taken``."""
    while wanted in taken:
        wanted += "_"
    return wanted


def array_of_tiles(array: Array, what: str, depth: int, taken: set[str]) -> Array:
    """An array with ``depth`` counters of tiles as its first subscripts; it is never declared.

    Its name, of ``what`` it is for ``array``, is one of those ``taken`` then.
    """
    name = unused_name(f"{array.name}_{what}", taken)
    taken.add(name)
    return Array(
        name,
        c_ast.ID(name),
        array.element,
        (None,) * (depth + len(array.extents)),
        Provenance(StorageClass.LOCAL),
        array.location,
        local=True,
        suffixes=("",) * (depth + len(array.extents)),
        expanded=array.spelling,
    )


def variable_for(array: Array, what: str, taken: set[str]) -> Array:
    """A variable of the region for values of ``array``, numbers; its name is one of those ``taken`` then."""
    assert isinstance(array.element, IntegerType | FloatingType)  # noqa: S101 - as the contract says
    name = unused_name(f"{array.name}_{what}", taken)
    taken.add(name)
    declaration = c_ast.Decl(name, [], [], [], [], declarator(name, array.element), None, None)
    return replace(
        array,
        name=name,
        extents=(),
        suffixes=(),
        flat=1,
        provenance=Provenance(StorageClass.LOCAL),
        local=True,
        declared=declaration,
    )


def with_arrays(statement: Statement, arrays: Mapping[str, Array]) -> Statement:
    """``statement`` with other ``arrays`` in place of those of their names."""
    accesses = tuple(
        replace(
            each,
            array=arrays[each.array.name],
            relation=each.relation.set_tuple_name(_out, arrays[each.array.name].name),
        )
        if each.array.name in arrays
        else each
        for each in statement.accesses
    )
    named = tuple((node, arrays.get(array.name, array)) for node, array in statement.locals)
    return replace(statement, accesses=accesses, locals=named)
