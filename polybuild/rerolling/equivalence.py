"""Whether a model with copies joined computes what the model before did, value for value."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import islpy as isl

from polybuild.analysis.dependences import without
from polybuild.poly.relations import lexicographically_after, union_of
from polybuild.rerolling.matching import Copy
from polybuild.rerolling.shapes import Cell, Shape, ShapedAccess
from polybuild.scop.model import Access, AccessKind, Scop
from polybuild.storage.coalescing import Reaching


def computes_the_same(before: Scop, after: Scop, copies: Sequence[Copy], shapes: Mapping[str, Shape]) -> bool:
    """Whether ``after``, with ``copies`` of ``before`` joined, computes the same values in the same places.

    Instances that touch an element, one of them writing, have to stay in order. Of private
    arrays whose cells are others now, each read has to see what the same instance wrote.
    """
    renamed = _renamed(copies, shapes)
    to_new = _instances(before, copies)
    moved = isl.UnionSet.empty(before.context.get_space())
    for each in copies:
        moved = moved.union(isl.UnionSet.from_set(each.statement.domain))
    return _in_order(before, after, to_new, moved, renamed) and _same_private_values(
        before, after, to_new, _twins(copies, shapes), renamed
    )


def _operands(each: Copy, shapes: Mapping[str, Shape]) -> Iterator[tuple[ShapedAccess, ShapedAccess]]:
    """The operands of a copy and of its original that correspond."""
    pair = shapes[each.statement.name], shapes[each.original.name]
    return zip(pair[0].operands, pair[1].operands, strict=True)


def _twins(copies: Sequence[Copy], shapes: Mapping[str, Shape]) -> dict[tuple[int, AccessKind], list[Access]]:
    """The accesses of all copies, by the node and the kind of that of the original."""
    found: dict[tuple[int, AccessKind], list[Access]] = {}
    for each in copies:
        for mine, other in _operands(each, shapes):
            found.setdefault((id(other.access.node), other.access.kind), []).append(mine.access)
    return found


def _renamed(copies: Sequence[Copy], shapes: Mapping[str, Shape]) -> frozenset[str]:
    """The names of the arrays of which copies touch other cells than their originals."""
    found: set[Cell] = set()
    for each in copies:
        for mine, other in _operands(each, shapes):
            if mine.cell is not None and other.cell is not None and mine.cell != other.cell:
                found |= {mine.cell, other.cell}
    return frozenset(name for name, _ in found)


def _instances(before: Scop, copies: Sequence[Copy]) -> isl.UnionMap:
    """``{ instance before -> the same instance after }``."""
    own = {each.statement.name: each.instances for each in copies}
    maps = [
        (
            own[each.name] if each.name in own else isl.Map.identity(each.domain.get_space().map_from_set())
        ).intersect_domain(each.domain)
        for each in before.statements
    ]
    return union_of(maps, before.context.get_space())


def _in_order(
    before: Scop, after: Scop, to_new: isl.UnionMap, moved: isl.UnionSet, renamed: Collection[str]
) -> bool:
    """Whether ``moved`` instances come before and after what they did, where the same memory is concerned."""
    private = set(renamed)
    writes = before.accesses(AccessKind.WRITE).union(before.accesses(AccessKind.MAY_WRITE))
    writes = without(writes, private)
    uses = without(before.accesses(AccessKind.READ), private).union(writes)
    pairs = uses.apply_range(writes.reverse()).union(writes.apply_range(uses.reverse()))
    pairs = pairs.intersect_domain(moved).union(pairs.intersect_range(moved))
    pairs = pairs.intersect(lexicographically_after(before.schedule.get_map()))
    pairs = pairs.apply_domain(to_new).apply_range(to_new)
    return bool(pairs.is_subset(lexicographically_after(after.schedule.get_map())))


def _same_private_values(
    before: Scop,
    after: Scop,
    to_new: isl.UnionMap,
    twins: Mapping[tuple[int, AccessKind], Sequence[Access]],
    renamed: Collection[str],
) -> bool:
    """Whether each read of a ``renamed`` array sees what the same instance wrote.

    ``twins`` has the accesses before of each joined access.
    """
    if not renamed:
        return True
    if not (_is_certain(before, renamed) and _is_certain(after, renamed)):
        return False
    arrays = [each for each in before.arrays if each.name in renamed]
    then, now = Reaching(before, arrays), Reaching(after, arrays)
    for read in now.reads():
        flow, old = now.sources(read)
        flow_before = isl.UnionMap.empty(flow.get_space())
        old_before = isl.UnionSet.empty(old.get_space())
        for each in twins.get((id(read.node), read.kind), (read,)):
            sources, entry = then.sources(each)
            flow_before, old_before = flow_before.union(sources), old_before.union(entry)
        flow_before = flow_before.apply_domain(to_new).apply_range(to_new)
        if not (flow.is_equal(flow_before) and old.is_equal(old_before.apply(to_new))):
            return False
    return True


def _is_certain(scop: Scop, names: Collection[str]) -> bool:
    """Whether it is known exactly which elements of the arrays with ``names`` are written, and when."""
    return all(
        access.exact and access.kind is not AccessKind.MAY_WRITE and not statement.dynamic
        for statement in scop.statements
        for access in statement.accesses
        if access.array.name in names
    )
