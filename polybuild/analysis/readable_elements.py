"""Elements that exist, so that a program may read them where it would not, as for all lanes of a vector."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

import islpy as isl

from polybuild.c.syntax_tree import always_evaluates
from polybuild.scop.model import Access, Array, Scop, Statement

_in, _out, _set = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


def is_certain(access: Access, statement: Statement) -> bool:
    """Whether each instance of ``statement`` makes ``access``, whatever the data are."""
    return not statement.dynamic and always_evaluates(statement.body, access.node)


def may_be_read(access: Access, scop: Scop, statement: Statement) -> bool:
    """Whether each instance of ``statement`` may read what ``access`` does, even where the program would not.

    An element exists if it lies between two of its row that are accessed whatever the data are.
    """
    if access.array.is_scalar:
        so_far = scop.statements[: scop.statements.index(statement) + 1]
        return any(_sets_or_reads(each, access.array, statement.domain) for each in so_far)
    certain = list(_certain(access.array, scop))
    if not certain:
        return False
    elements = access.relation.intersect_domain(statement.domain).range()
    return bool(elements.intersect_params(scop.context).is_subset(_rows(reduce(isl.Set.union, certain))))


def _sets_or_reads(statement: Statement, variable: Array, instances: isl.Set) -> bool:
    """Whether ``statement`` accesses ``variable``, whatever the data, in the iterations of ``instances``."""
    if len(statement.iterators) != instances.dim(_set):
        return False
    runs = statement.domain.set_tuple_name(instances.get_tuple_name())
    return bool(instances.is_subset(runs)) and any(
        each.array is variable and is_certain(each, statement) for each in statement.accesses
    )


def _certain(array: Array, scop: Scop) -> Iterator[isl.Set]:
    """Elements of ``array`` that are accessed whatever the data are."""
    for statement in scop.statements:
        for each in statement.accesses:
            if each.array is array and each.exact and is_certain(each, statement):
                yield each.relation.intersect_domain(statement.domain).range()


def _rows(elements: isl.Set) -> isl.Set:
    """``elements`` and all between two of them that differ in their last subscripts."""
    last = elements.dim(_set) - 1
    same = isl.Map.identity(elements.get_space().map_from_set())
    free = same.drop_constraints_involving_dims(_out, last, 1)
    before = free.order_le(_in, last, _out, last)
    after = free.order_ge(_in, last, _out, last)
    return elements.apply(before).intersect(elements.apply(after))
