"""Reads covered by a write of the same iteration of a loop with dynamic bounds.

Whether such an iteration runs is not known, so its writes are may-writes, and
hide no earlier ones. But what runs in one iteration runs together: a read finds
what the same iteration has certainly written before, and nothing older.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from polybuild.poly.relations import equal_outer, lexicographically_after
from polybuild.scop.model import Access, AccessKind, Scop, Statement

_in = isl.dim_type.in_
_out = isl.dim_type.out


def hidden_writers(scop: Scop) -> isl.UnionMap:
    """``{ W[i] -> [R[j] -> a[x]] }``: ``W`` writes ``a[x]`` before the last write that ``R`` can see.

    That is the last one of the same iteration of the dynamic loops around ``R`` which
    happens if the iteration runs. All ``W`` that come before it are there, whatever they write.
    """
    covered = _covering(scop)
    if covered.is_empty():
        return covered
    before = lexicographically_after(scop.schedule.get_map())
    return before.apply_range(covered).coalesce()


def covered_reads(scop: Scop) -> isl.UnionMap:
    """``{ R[j] -> a[x] }``: the reads that certainly find a value of their own iteration."""
    return _covering(scop).range().unwrap()


def _covering(scop: Scop) -> isl.UnionMap:
    """``{ W[i] -> [R[j] -> a[x]] }`` for certain writes and later reads of one dynamic iteration."""
    found = isl.UnionMap.empty(scop.context.get_space())
    for writer, write in _certain_writes(scop):
        for reader in scop.statements:
            if not _share_iterations(writer, reader, write.within or 0):
                continue
            for read in reader.accesses:
                if read.kind is AccessKind.READ and read.array is write.array:
                    found = found.union(isl.UnionMap.from_map(_pairs(writer, write, reader, read)))
    if found.is_empty():
        return found
    found = found.intersect_params(scop.context)
    order = lexicographically_after(scop.schedule.get_map())
    sinks = found.range().unwrap()
    later = order.apply_range(sinks.domain_map().reverse())
    return found.intersect(later)


def _certain_writes(scop: Scop) -> Iterator[tuple[Statement, Access]]:
    for statement in scop.statements:
        for access in statement.accesses:
            if access.within is not None and access.exact:
                yield statement, access


def _share_iterations(writer: Statement, reader: Statement, depth: int) -> bool:
    """Whether both run in the same dynamic loops, as far as the first ``depth`` loops go."""
    first, second = (_outermost(each, depth) for each in (writer, reader))
    return first == second


def _outermost(statement: Statement, depth: int) -> list[int]:
    return [id(loop) for loop in statement.dynamic if loop.position < depth]


def _pairs(writer: Statement, write: Access, reader: Statement, read: Access) -> isl.Map:
    """``{ W[i] -> [R[j] -> a[x]] }`` for the same element, in one iteration of the loops that both need."""
    source = write.relation.intersect_domain(writer.domain)
    sink = read.relation.intersect_domain(reader.domain)
    both = equal_outer(source.apply_range(sink.reverse()), write.within or 0)
    return both.range_product(source).intersect_range(sink.wrap())
