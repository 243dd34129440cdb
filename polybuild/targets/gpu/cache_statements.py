"""Copies between memory and the boxes of strips in a kernel's tree (see ``tile_caches``).

The threads of a block share a box by the places in it: thread ``t`` of ``n`` along a dimension copies the
places ``t``, ``n + t``, ..., so that neighbours copy neighbours. The instances are ``copy[d0, ..., dn, p0,
...]``: the loops around and the place; of a value that is stored when it is computed ``store[d0, ..., dn]``,
the loops around.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from polybuild.poly import spaces
from polybuild.poly.marks import MarkKind
from polybuild.poly.relations import maps_of
from polybuild.targets.device import AddedStatement, Axis, Kernel, Purpose, SharedTile
from polybuild.targets.gpu.copy_out import StoredWrites
from polybuild.targets.gpu.copy_statements import extended
from polybuild.targets.gpu.tree import find_mark, prefix_of, time_stamps_of
from polybuild.targets.gpu.value_reuse import BoxPart
from polybuild.transform.bands import tile as tiled
from polybuild.values import dataclass

_set, _in, _out = isl.dim_type.set, isl.dim_type.in_, isl.dim_type.out


@dataclass(frozen=True, slots=True)
class BoxCopy:
    """What is copied of a ``tile``."""

    name: str
    purpose: Purpose
    tile: SharedTile
    part: BoxPart


def add_box_copy(
    node: isl.ScheduleNode, copy: BoxCopy, threads: Sequence[Axis], *, after: bool = False
) -> tuple[isl.ScheduleNode, AddedStatement]:
    """Copy before or after ``node``, which is below the loops over the strips; returns that node."""
    tile, depth = copy.tile, copy.tile.depth
    dims = [depth + dim for dim in range(len(tile.box.sizes))]
    places = time_stamps_of(node).add_dims(_set, len(dims))
    for dim, (first, end) in zip(dims, copy.part.places, strict=True):
        places = places.lower_bound_val(_set, dim, isl.Val(first)).upper_bound_val(
            _set, dim, isl.Val(end - 1)
        )
    graft = extended(places, copy.name, node)
    space = places.set_tuple_name(copy.name).get_space()
    graft = graft.insert_partial_schedule(_members(space, dims)).band_set_permutable(1)
    wide = [dim for dim, (first, end) in zip(dims, copy.part.places, strict=True) if end - first > 1]
    shares = dict(zip(reversed(wide), reversed(threads), strict=False))
    graft = _atomic(tiled(graft, [shares[dim].size if dim in shares else 1 for dim in dims]))
    graft = _atomic(graft.child(0))
    graft = graft.insert_filter(
        isl.UnionSet.from_set(_own(places.set_tuple_name(copy.name), shares, threads))
    )
    graft = graft.root()
    node = node.graft_after(graft) if after else node.graft_before(graft)
    to_element = _to_elements(copy.part.only.get_space().set_tuple_name(_set, copy.name), tile)
    only = copy.part.only.preimage_multi_aff(to_element.reset_tuple_id(_out))
    element = to_element.drop_dims(_out, 0, depth)
    element = element.reset_tuple_id(_out) if element.has_tuple_id(_out) else element
    function = isl.PwMultiAff.from_multi_aff(element)
    return node, AddedStatement(copy.name, copy.purpose, depth, tile, function, only=only)


def _own(places: isl.Set, shares: Mapping[int, Axis], threads: Sequence[Axis]) -> isl.Set:
    """Those of ``places`` that one thread copies: dimensions are the ``shares`` of its axes."""
    space = places.get_space()
    for axis in threads:
        value = isl.PwAff.param_on_domain_id(isl.Set.universe(space), spaces.identifier(axis.parameter))
        for dim in (each for each, one in shares.items() if one is axis):
            place = isl.PwAff.var_on_domain(isl.LocalSpace.from_space(space), _set, dim)
            value = place.mod_val(isl.Val(axis.size)).sub(value)
        places = places.intersect(value.zero_set())
    return places


def add_stores(
    root: isl.ScheduleNode, kernel: Kernel, name: str, tile: SharedTile, stored: StoredWrites
) -> tuple[isl.ScheduleNode, AddedStatement]:
    """Store what is written of a ``tile``, right behind that; takes and gives the root of the tree."""
    node = find_mark(root, kernel.mark(MarkKind.POINTS)).child(0).child(0).child(0)
    statement = stored.writes.get_tuple_name(_in)
    (prefix,) = (each for each in maps_of(prefix_of(node)) if each.get_tuple_name(_in) == statement)
    values = prefix.reverse().apply_range(stored.writes).reset_tuple_id(_out)
    graft = extended(values.domain(), name, node).root()
    element = isl.PwMultiAff.from_map(values.set_tuple_name(_in, name))
    outer = spaces.outer_loops(element.get_space().domain(), stored.last.dim(_in))
    step = isl.PwMultiAff.from_multi_aff(outer).range_product(element)
    only = stored.last.wrap().preimage_pw_multi_aff(step)
    depth = node.get_schedule_depth()
    return node.graft_after(graft).root(), AddedStatement(
        name, Purpose.STORE, depth, tile, element, only=only
    )


def _to_elements(space: isl.Space, tile: SharedTile) -> isl.MultiAff:
    """``{ [d0, ..., dn, p0, ...] -> [d0, ..., dn, x0, ...] }``: the elements at the places of ``tile``."""
    loops = spaces.outer_loops(space, tile.depth)
    values = isl.MultiAff.identity(space.map_from_set())
    for dim, offset in enumerate(tile.box.offset):
        corner = offset.pullback_multi_aff(loops)
        values = values.set_aff(tile.depth + dim, values.get_aff(tile.depth + dim).add(corner))
    return values


def _atomic(band: isl.ScheduleNode) -> isl.ScheduleNode:
    """``band`` each of whose loops is written once."""
    for position in range(band.band_n_member()):
        band = band.band_member_set_ast_loop_type(position, isl.ast_loop_type.atomic)
    return band


def _members(space: isl.Space, dims: Sequence[int]) -> isl.MultiUnionPwAff:
    """The dimensions ``dims`` of ``space``, the last ones, as members of a band."""
    chosen = isl.MultiAff.identity(space.map_from_set()).drop_dims(_out, 0, dims[0])
    chosen = chosen.reset_tuple_id(_out) if chosen.has_tuple_id(_out) else chosen
    return isl.MultiUnionPwAff.from_union_map(isl.UnionMap.from_map(isl.Map.from_multi_aff(chosen)))
