"""Reads that a loop does again and again of one element, of an array that it writes elsewhere.

Only the dependences tell that what is written is another element: a compiler loads the one that is
read in each iteration. It is best kept in a variable (Callahan, Carr and Kennedy, PLDI 1990).
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from polybuild.c.types import FloatingType, IntegerType
from polybuild.scop.model import Access, AccessKind
from polybuild.targets.cpu.strides import Reference, Stride


def invariant_reads(loop: isl.ScheduleNode, accesses: Sequence[Reference]) -> frozenset[int]:
    """The identities of the nodes that read what the loop leaves as it is, of arrays that it writes.

    ``loop`` is a band of one member, ``accesses`` are those below it. Each of the reads is of one element for
    all iterations, and none of them writes it.
    """
    prefix = loop.get_prefix_schedule_union_map().intersect_domain(loop.get_domain())
    written = {
        each.access.array.name: each.access.array
        for each in accesses
        if each.access.kind is not AccessKind.READ
    }
    found = set()
    for each in accesses:
        if _is_suited(each) and each.access.array.name in written:
            writes = (
                other.access
                for other in accesses
                if other.access.kind is not AccessKind.READ and other.access.array is each.access.array
            )
            if all(_elements(prefix, each.access).is_disjoint(_elements(prefix, other)) for other in writes):
                found.add(id(each.access.node))
    return frozenset(found)


def _elements(prefix: isl.UnionMap, access: Access) -> isl.UnionMap:
    """What ``access`` touches, for the values of the loops around."""
    return prefix.reverse().apply_range(isl.UnionMap.from_map(access.relation))


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
