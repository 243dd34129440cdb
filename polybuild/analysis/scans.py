"""Scans: reductions of a line whose values between are looked at, which threads compute in two passes.

::

    for (i = 0; i < n; i++) {          ->     each part: what its terms come to
      s = s + x[i];                           one after the other: what each part starts with
      y[i] = s;                               each part: its values, from there on
    }

(G. E. Blelloch, *Prefix sums and their applications*, 1990). The first pass computes the terms alone, and all
of them before anything is stored: so nothing that the loop stores may be read by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.analysis.reductions import Reduction, Scan
from polybuild.poly.relations import maps_of
from polybuild.scop.model import AccessKind, Scop, Statement

_in = isl.dim_type.in_


def find_scans(
    scop: Scop, dependences: Dependences, reductions: Sequence[Reduction]
) -> tuple[Reduction, ...]:
    """Those of ``reductions`` that are scans, each with the accesses that look at its values."""
    found: list[Reduction] = []
    for each in reductions:
        loop = _loop(scop, each)
        readers = _readers(loop, each)
        terms = _terms(loop, dependences, each) if readers else None
        if terms is None:
            continue
        scan = Scan(terms, frozenset(statement.name for statement in loop))
        scanned = replace(each, scan=scan)
        found.append(scanned)
        found += [
            replace(scanned, statement=statement, relation=relation, own=own)
            for statement, relation, own in readers
        ]
    return tuple(found)


def _loop(scop: Scop, reduction: Reduction) -> list[Statement]:
    """The statements of the loop that ``reduction`` is in, if that is in no other and has none inside."""
    own = reduction.statement
    if len(own.iterators) != 1:
        return []
    counter = own.iterators[0]
    inside = [each for each in scop.statements if each.iterators and each.iterators[0] == counter]
    plain = all(len(each.iterators) == 1 and not each.dynamic for each in inside)
    return inside if plain else []


def _readers(
    loop: Sequence[Statement], reduction: Reduction
) -> list[tuple[Statement, isl.Map, frozenset[int]]]:
    """What looks at the values of ``reduction`` in its ``loop``; nothing if something sets them, too."""
    array, found = reduction.array, []
    element = reduction.relation.range()
    if not element.is_singleton() or reduction.selection is not None:
        return []
    for statement in loop:
        accesses = statement.accesses_to(array)
        if statement is reduction.statement or not accesses:
            continue
        if any(each.kind is not AccessKind.READ or not each.exact for each in accesses):
            return []
        if not all(each.relation.range().is_equal(element) for each in accesses):
            return []
        found.append((statement, accesses[0].relation, frozenset(id(each.node) for each in accesses)))
    return found


def _terms(
    loop: Sequence[Statement], dependences: Dependences, reduction: Reduction
) -> frozenset[str] | None:
    """The statements of ``loop`` that compute the terms of ``reduction``; None if they do more.

    Besides ``reduction`` they set variables of an iteration.
    """
    statements = {each.name: each for each in loop}
    needed, left = {reduction.statement.name}, [reduction.statement.name]
    while left:
        name = left.pop()
        wanted = isl.UnionSet.from_set(statements[name].domain)
        flow = maps_of(dependences.flow.intersect_range(wanted))
        sources = {each.get_tuple_name(_in) for each in flow if not each.is_empty()} & statements.keys()
        if name in sources and name != reduction.statement.name:
            return None  # the terms are those of another reduction, which begins anew in each part
        for source in sources - needed:
            if statements[source].accesses_to(reduction.array):
                return None
            writes = [each for each in statements[source].accesses if each.kind is not AccessKind.READ]
            if any(not each.array.local or each.array.extents for each in writes):
                return None
            needed.add(source)
            left.append(source)
    return frozenset(needed)
