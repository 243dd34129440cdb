"""When strips of tiles over time store what they have computed in shared memory (thesis, section 5.3.3).

A strip that stores all it has written when it is over (table 4, (b)) has to find out what that is, and to
wait for its last step. *Interleaved* with the computation (table 4, (c)) each value is stored by the thread
that computes it. The thesis stores every value. Here those are left out that the strip itself, or the next
one where it finds the values of this one in shared memory, certainly computes anew: nobody else can have
read them.
"""

from __future__ import annotations

import islpy as isl

from polybuild.poly.marks import MarkKind
from polybuild.poly.relations import maps_of
from polybuild.scop.model import AccessKind, Scop
from polybuild.targets.device import Kernel
from polybuild.targets.gpu.placement import relation_of, union_of
from polybuild.targets.gpu.tile_caches import TileCache
from polybuild.targets.gpu.tree import find_mark, prefix_of
from polybuild.values import dataclass

_in, _out = isl.dim_type.in_, isl.dim_type.out


@dataclass(frozen=True, slots=True)
class StoredWrites:
    """``writes`` of a statement, ``{ S[i] -> array[x0, ...] }``, that are stored when they are ``last``.

    That is told of the loops down to the steps, ``{ [d0, ..., dn, t] -> [x0, ...] }``.
    """

    writes: isl.Map
    last: isl.Map


def stored_writes(cache: TileCache, mark: isl.ScheduleNode, kernel: Kernel, scop: Scop) -> list[StoredWrites]:
    """The writes to the array of ``cache`` by the ``kernel`` below ``mark``."""
    steps = find_mark(mark, kernel.mark(MarkKind.STEPS)).child(0)
    stamps = _prefix(steps.child(0))
    writes = [each for each in cache.tile.references if each.access.kind is not AccessKind.READ]
    elements = [
        stamps[each.statement.name].reverse().apply_range(relation_of(each, scop)).reset_tuple_id(_out)
        for each in writes
    ]
    certain = [
        one for one, each in zip(elements, writes, strict=True) if each.access.kind is AccessKind.WRITE
    ]
    result = []
    for each, now in zip(writes, elements, strict=True):
        last = isl.Map.universe(now.get_space())
        later = _later(now, union_of(certain), cache) if certain else None
        if later is not None:
            last = _unless(later.apply_range(union_of(certain)).coalesce(), now)
        if not now.intersect(last).is_empty():
            result.append(StoredWrites(relation_of(each, scop), last))
    return result


def _unless(condition: isl.Map, context: isl.Map) -> isl.Map:
    """Where ``condition`` does not hold within ``context``: one of its constraints, for each of its pieces.

    The cases overlap, which makes for shorter code than parting them. Pieces that remainders decide are left
    out.
    """
    found = isl.Map.universe(condition.get_space())
    for piece in condition.gist(context).coalesce().get_basic_maps():
        plain = piece.remove_divs()
        if not isl.Map.from_basic_map(plain).intersect(context).is_subset(condition):
            continue
        other = isl.Map.empty(condition.get_space())
        for each in plain.get_constraints():
            one = isl.Map.universe(condition.get_space()).add_constraint(each)
            other = other.union(one.complement())
        found = found.intersect(other)
    return found.coalesce()


def _later(now: isl.Map, certain: isl.Map, cache: TileCache) -> isl.Map | None:
    """``{ [d0, ..., dn, t] -> [d0, ..., dn, t + k] }``, and the next strip if values are retained.

    After ``k`` steps elements written ``now`` are written by ``certain``, at the earliest; None: never.
    """
    depth = cache.tile.depth
    pairs = now.apply_range(certain.reverse()).order_lt(_in, depth, _out, depth)
    for dim in range(depth):
        pairs = pairs.equate(_in, dim, _out, dim)
    distance = pairs.deltas().dim_min_val(depth)
    if not distance.is_int():
        return None
    values = isl.MultiAff.identity(now.domain().get_space().map_from_set())
    values = values.set_aff(depth, values.get_aff(depth).add_constant_val(distance))
    same = isl.Map.from_multi_aff(values)
    if not cache.retained:
        return same
    strip = values.get_aff(depth - 1).add_constant_val(isl.Val(1))
    return same.union(isl.Map.from_multi_aff(values.set_aff(depth - 1, strip)))


def _prefix(node: isl.ScheduleNode) -> dict[str, isl.Map]:
    return {each.get_tuple_name(_in): each for each in maps_of(prefix_of(node))}
