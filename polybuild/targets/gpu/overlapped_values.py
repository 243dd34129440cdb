"""The proof that steps in tiles that overlap compute the values that they did.

Each copy of an instance has to read what the original one read, from a copy in its tile, or from what a tile
before has stored of one; and what is left of an array has to be what its last writers wrote. Values may go
through tiles that load and store them as they are, but through a few only.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from polybuild.analysis.dependences import accesses_of, written_and_flow
from polybuild.effort import OVERLAPPED_WAVES
from polybuild.scop.model import Array, Scop
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class CarriedArray:
    """An ``array`` that steps write: its elements ``inside`` of tiles, its ``versions`` between them.

    ``place`` says to which place of the stencil an element belongs.
    """

    array: Array
    inside: Array
    versions: Array
    place: isl.MultiAff


def keeps_values(scop: Scop, changed: Scop, carried: Sequence[CarriedArray], to_old: isl.UnionMap) -> bool:
    """Whether in ``changed`` each instance reads what it did in ``scop``, and what is left is the same.

    ``to_old`` says of which instances those of ``changed`` are copies.
    """
    return all(_keeps(scop, changed, each, to_old) for each in carried) and all(
        _stays(scop, changed, each, to_old) for each in scop.arrays if each.is_scalar
    )


def _keeps(scop: Scop, changed: Scop, carried: CarriedArray, to_old: isl.UnionMap) -> bool:
    copies = to_old.domain()
    before = to_old.apply_range(written_and_flow(scop, carried.array)[1].reverse())
    inside = written_and_flow(changed, carried.inside)[1]
    between = written_and_flow(changed, carried.versions)[1]
    reads = [accesses_of(changed, each)[0].domain() for each in (carried.inside, carried.versions)]
    if not reads[0].union(reads[1]).is_subset(inside.union(between).range()):
        return False
    reached = _reached(inside, between, copies)
    if reached is None:
        return False
    sources = reached.reverse().intersect_domain(copies).apply_range(to_old)
    _, stored, _ = accesses_of(changed, carried.array)
    left = to_old.reverse().apply_range(reached).apply_range(stored)
    return bool(sources.is_equal(before) and left.is_equal(last_writes(scop, carried.array)))


def _reached(inside: isl.UnionMap, between: isl.UnionMap, copies: isl.UnionSet) -> isl.UnionMap | None:
    """Where values of ``copies`` go, in their tile and through others; None: through many."""
    reached = found = inside.intersect_domain(copies)
    for _ in range(OVERLAPPED_WAVES):
        found = found.subtract_range(copies).apply_range(between).apply_range(inside)
        if found.is_empty():
            return reached
        reached = reached.union(found)
    return None


def last_writes(scop: Scop, array: Array) -> isl.UnionMap:
    """``{ instance -> element }`` of what no instance writes later."""
    _, must, _ = accesses_of(scop, array)
    order = scop.schedule.get_map()
    later = must.apply_range(must.reverse()).intersect(order.lex_lt_union_map(order))
    return must.subtract_domain(later.domain())


def _stays(scop: Scop, changed: Scop, private: Array, to_old: isl.UnionMap) -> bool:
    """Whether values of a ``private`` variable go where they did."""
    flow, now = (written_and_flow(each, private)[1] for each in (scop, changed))
    return bool(now.reverse().apply_range(to_old).is_equal(to_old.apply_range(flow.reverse())))
