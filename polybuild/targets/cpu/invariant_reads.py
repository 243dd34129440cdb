"""Reads that a loop does again and again of one element, which compilers do not do beforehand.

Of an array that the loop writes elsewhere only the dependences tell that what is written is another element;
what is read under a condition need not exist, for all that a compiler knows. Such an element is best kept in
a variable (Callahan, Carr and Kennedy, PLDI 1990).
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from polybuild.analysis.readable_elements import is_certain, may_be_read
from polybuild.c.types import FloatingType, IntegerType
from polybuild.poly.relations import maps_of
from polybuild.scop.model import Access, AccessKind, Scop
from polybuild.targets.cpu.strides import Reference, Stride


def invariant_reads(loop: isl.ScheduleNode, accesses: Sequence[Reference], scop: Scop) -> frozenset[int]:
    """The identities of the nodes that read what the loop leaves as it is.

    ``loop`` is a band of one member, ``accesses`` are those of ``scop`` below it. Each of the reads is of one
    element for all iterations, and none of them writes it. All may read it, if under conditions none does.
    """
    names = {each.access.array.name for each in accesses if each.access.kind is not AccessKind.READ}
    suited = [
        each
        for each in accesses
        if _is_suited(each)
        and (each.access.array.name in names or not is_certain(each.access, each.statement))
    ]
    if not suited:
        return frozenset()
    prefix = loop.get_prefix_schedule_relation().reverse()
    around = {each.get_tuple_name(isl.dim_type.out): each for each in maps_of(prefix)}
    written: dict[str, list[isl.Map]] = {}
    for each in accesses:
        if each.access.kind is not AccessKind.READ:
            elements = _elements(around[each.statement.name], each.access)
            written.setdefault(each.access.array.name, []).append(elements)
    found = set()
    for each in suited:
        read = _elements(around[each.statement.name], each.access)
        if all(map(read.is_disjoint, written.get(each.access.array.name, ()))) and _may_be_read(each, scop):
            found.add(id(each.access.node))
    return frozenset(found)


def _may_be_read(reference: Reference, scop: Scop) -> bool:
    """Whether a program may read what ``reference`` does in all instances of its statement."""
    access, statement = reference.access, reference.statement
    return is_certain(access, statement) or may_be_read(access, scop, statement)


def _elements(around: isl.Map, access: Access) -> isl.Map:
    """What ``access`` touches, for the values of the loops ``around`` the instances of its statement."""
    return around.apply_range(access.relation)


def _is_suited(reference: Reference) -> bool:
    """Whether a reference reads one number of an array, the same in all iterations."""
    access, array = reference.access, reference.access.array
    return (
        access.kind is AccessKind.READ
        and access.exact
        and bool(array.extents)
        and not any(array.suffixes)
        and isinstance(array.element, IntegerType | FloatingType)
        and reference.stride(0) is Stride.NONE
    )
