"""What a rank sends another after a phase, and after the region (Bondhugula, SC 2013, section 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import islpy as isl

from polybuild.analysis.array_flow import flow_between
from polybuild.analysis.dependences import Dependences, PrivateArray, may_be_private, only, without
from polybuild.analysis.last_writers import has_strides, last_writers
from polybuild.poly import spaces
from polybuild.poly.relations import lexicographically_after
from polybuild.scop.model import AccessKind, Array, Scop
from polybuild.targets.ranks.model import (
    FROM_END,
    FROM_FIRST,
    TO_END,
    TO_FIRST,
    Message,
)
from polybuild.targets.ranks.phases import SharedLoop
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class ValueFlow:
    """Which values the instances of a region find; of a ``private`` array only which instances use one.

    ``shared``, ``{ W[i] -> [R[j] -> a[x]] }``, is that of the other arrays; ``reads``, of these, and
    ``writes`` are accesses.
    """

    shared: isl.UnionMap
    reads: isl.UnionMap
    writes: isl.UnionMap
    private: tuple[PrivateArray, ...]

    @property
    def pairs(self) -> isl.UnionMap:
        """``{ W[i] -> R[j] }``: who reads what another wrote."""
        every = self.shared.range_factor_domain()
        return reduce(isl.UnionMap.union, (each.flow for each in self.private), every)


def value_flow(scop: Scop, dependences: Dependences) -> ValueFlow:
    """Who finds which values; an instance that may write an element finds and writes it."""
    kept = scop.accesses(AccessKind.MAY_WRITE)
    reads, writes = scop.accesses(AccessKind.READ).union(kept), scop.accesses(AccessKind.WRITE).union(kept)
    private = {each.array.name for each in dependences.private}
    shared_reads, shared_writes = without(reads, private), without(writes, private)
    if has_strides(shared_reads, shared_writes):
        flow, _ = last_writers(scop, shared_reads, shared_writes, shared_writes)
    else:
        flow = flow_between(scop, shared_reads, must=shared_writes).full
    return ValueFlow(flow, shared_reads, writes, tuple(dependences.private))


def values_read(flow: ValueFlow, readers: isl.UnionSet, accumulated: isl.UnionMap) -> isl.UnionMap:
    """``{ W[i] -> a[x] }``: the values that instances write and ``readers`` find.

    What is ``accumulated``, ``{ S[i] -> a[x] }``, all ranks read, and have afterwards: nobody sends it.
    """
    found_by = flow.reads.intersect_domain(readers).union(flow.reads.intersect(accumulated))
    found = flow.shared.intersect_range(found_by.wrap()).range_factor_range()
    for each in flow.private:
        # of a private array it is known which instances use a value, and all of it is taken to be used
        used = each.flow.intersect_range(readers.union(accumulated.domain())).domain()
        found = found.union(only(flow.writes, each.array.name).intersect_domain(used))
    return found.subtract_domain(accumulated.domain())


def last_writes(scop: Scop) -> isl.UnionMap:
    """``{ W[i] -> a[x] }``: the last writes of all elements."""
    writes = scop.accesses(AccessKind.WRITE, AccessKind.MAY_WRITE)
    later = lexicographically_after(scop.schedule.get_map())
    return writes.subtract(later.apply_range(writes))


def whole_arrays(
    last: isl.UnionMap, phases: Sequence[SharedLoop], arrays: Sequence[Array]
) -> tuple[Message, ...]:
    """What makes ``arrays`` whole on every rank after the region: the ``last`` values of all elements."""
    nothing = isl.UnionSet.from_set(spaces.universe(0))
    found: list[Message] = []
    for each in phases:
        once = isl.UnionMap.from_domain_and_range(each.domain, nothing)
        found += messages_of(arrays, last, replace(each, around=once, depth=0))
    return tuple(found)


def live_arrays(scop: Scop, live: frozenset[str]) -> list[Array]:
    """The arrays and variables that the program may read after the region."""
    return [each for each in scop.arrays if not (each.local or may_be_private(each, live))]


def messages_of(arrays: Sequence[Array], written: isl.UnionMap, phase: SharedLoop) -> tuple[Message, ...]:
    """What the sender tells of ``written``, ``{ W[i] -> a[x] }``, after its block of ``phase``."""
    named = {each.name: each for each in arrays}
    disjoint = disjoint_blocks(FROM_FIRST, FROM_END)
    found: list[Message] = []
    block = written.intersect_domain(phase.block(FROM_FIRST, FROM_END))
    for each in phase.elements_of_run(block):
        elements = each.intersect_params(disjoint).coalesce()
        name = elements.get_tuple_name()
        if name in named and not elements.is_empty():
            found.append(Message(named[name], elements.gist_params(disjoint).coalesce()))
    return tuple(found)


def disjoint_blocks(begin: str, limit: str) -> isl.Set:
    """That the block between two parameters has nothing in common with that of the rank that receives."""
    first, end, other_first, other_end = (
        spaces.parameter(0, name) for name in (begin, limit, TO_FIRST, TO_END)
    )
    before, after = end.le_set(other_first), other_end.le_set(first)
    return before.union(after).params()
