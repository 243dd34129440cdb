"""Copies and barriers in a kernel's tree (PPCG 7.3).

Each is a statement of its own that an extension node adds before or after the
node whose loops it serves::

    for (k tiles) {
      copy A, B to shared memory     all threads together
      barrier
      the points of the tile         each thread its own
      barrier                        before the next copies
    }

The instances of a copy are ``copy[d0, ..., dn, x0, ...]``: the loops around it and
the element; those of a load or a store of registers ``load[d0, ..., dn, s0, ..., p0, ...]``:
the loops, the turns of the threads and the point.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from polybuild.analysis.dependences import certain_writers
from polybuild.poly import spaces
from polybuild.poly.marks import MarkKind
from polybuild.poly.relations import maps_of
from polybuild.scop.model import AccessKind, Scop
from polybuild.storage.buffers import element_size
from polybuild.targets.device import (
    AddedStatement,
    Axis,
    Box,
    Kernel,
    KernelAccess,
    Purpose,
    SharedTile,
    StagedCopy,
    ThreadTile,
    Transfer,
)
from polybuild.targets.gpu.placement import relation_of, union_of
from polybuild.targets.gpu.tree import find_mark, prefix_of, result_bands, time_stamps_of
from polybuild.targets.instructions import CopyStages

_set, _out = isl.dim_type.set, isl.dim_type.out


def add_barrier(
    node: isl.ScheduleNode, name: str, *, after: bool, at: isl.Set | None = None
) -> tuple[isl.ScheduleNode, AddedStatement]:
    """Let all threads of a block meet before or after ``node``, ``at`` some of its iterations; returns it."""
    depth, stamps = node.get_schedule_depth(), time_stamps_of(node)
    graft = extended(stamps if at is None else stamps.intersect(at), name, node).root()
    node = node.graft_after(graft) if after else node.graft_before(graft)
    return node, AddedStatement(name, Purpose.BARRIER, depth)


def add_exchange(
    node: isl.ScheduleNode, name: str, tile: ThreadTile, purpose: Purpose
) -> tuple[isl.ScheduleNode, AddedStatement]:
    """Let all threads of a block begin parts before ``node``, or combine them after it; returns that node."""
    depth = node.get_schedule_depth()
    graft = extended(time_stamps_of(node), name, node).root()
    node = node.graft_after(graft) if purpose is Purpose.COMBINE else node.graft_before(graft)
    return node, AddedStatement(name, purpose, depth, tile)


def add_copy(
    node: isl.ScheduleNode, name: str, tile: SharedTile, kernel: Kernel, elements: isl.Set
) -> tuple[isl.ScheduleNode, AddedStatement]:
    """Copy to shared memory before ``node``, neighbours by neighbouring threads; returns that node.

    ``elements`` are those to copy, ``{ [d0, ..., dn, x0, ...] }``.
    """
    depth = node.get_schedule_depth()
    wide = [depth + dim for dim, size in enumerate(tile.box.sizes) if size > 1]
    graft = extended(elements, name, node)
    graft = graft.insert_partial_schedule(_dimensions(elements, name, depth))
    graft = graft.insert_filter(_spread(elements.set_tuple_name(name), wide, kernel.threads))
    return node.graft_before(graft.root()), AddedStatement(name, Purpose.COPY, depth, tile)


def add_stages(
    node: isl.ScheduleNode, tiles: Sequence[tuple[SharedTile, StagedCopy]], names: Iterator[str]
) -> tuple[isl.ScheduleNode, list[AddedStatement]]:
    """Fill one stage of ``tiles`` while the other is used below ``node``; returns the band above it.

    The band is over the tiles of one sequential loop::

        fetch and put the first tile
        for (k tiles) {
          barrier
          fetch the next tile, if there is one    from the device's memory to registers
          the points of this tile
          put the next tile                       from registers to the other stage
        }
        barrier

    Copies that need no registers are only waited for instead of put, once for all tiles.
    """
    depth, stamps = node.get_schedule_depth(), time_stamps_of(node)
    following = _next(stamps)
    added = [AddedStatement(next(names), Purpose.BARRIER, depth)]
    node = node.graft_before(extended(stamps, added[0].name, node).root())
    for purpose in (Purpose.FETCH, Purpose.PUT):
        for tile, staged in tiles if purpose is Purpose.FETCH else _put(tiles):
            one = AddedStatement(next(names), purpose, depth, tile, staged=staged)
            graft = _extend(following.set_tuple_name(_out, one.name)).root()
            node = node.graft_before(graft) if purpose is Purpose.FETCH else node.graft_after(graft)
            added.append(one)
    band = node
    while band.get_schedule_depth() == depth:
        band = band.parent()
    first = stamps.identity().project_out(isl.dim_type.in_, depth - 1, 1).lexmin()
    for purpose in (Purpose.FETCH, Purpose.PUT):
        for tile, staged in tiles if purpose is Purpose.FETCH else _put(tiles)[::-1]:
            one = AddedStatement(next(names), purpose, depth, tile, staged=staged)
            band = band.graft_before(_extend(first.set_tuple_name(_out, one.name)).root())
            added.append(one)
    band, barrier = add_barrier(band, next(names), after=True)
    return band, [*added, barrier]


def _put(tiles: Sequence[tuple[SharedTile, StagedCopy]]) -> list[tuple[SharedTile, StagedCopy]]:
    """What is put, last first: of copies that are only waited for the one that is waited for last."""
    waiting = [each for each in tiles if each[1].asynchronous]
    return [*waiting[:1], *(each for each in tiles if not each[1].asynchronous)]


def _next(stamps: isl.Set) -> isl.Map:
    """``{ [d0, ..., dn] -> [d0, ..., dn + 1] }`` within ``stamps``."""
    values = isl.MultiAff.identity(stamps.get_space().map_from_set())
    last = stamps.dim(_set) - 1
    values = values.set_aff(last, values.get_aff(last).add_constant_val(isl.Val(1)))
    return isl.Map.from_multi_aff(values).intersect_domain(stamps).intersect_range(stamps)


def _extend(instances: isl.Map) -> isl.ScheduleNode:
    """The node below an extension by ``{ [d0, ...] -> name[...] }``."""
    return isl.ScheduleNode.from_extension(isl.UnionMap.from_map(instances)).child(0)


def staged_copy(
    tile: SharedTile, wanted: isl.Set, threads: tuple[Axis, ...], stages: CopyStages
) -> StagedCopy:
    """How ``threads`` copy what is ``wanted``, ``{ [d0, ..., dn, x0, ...] }``, of the box of ``tile``."""
    depth, count = tile.depth, len(tile.box.sizes)
    box = inside(tile.box, wanted.get_space(), depth)
    reached = wanted.project_out(_set, depth, count)
    missing = box.subtract(wanted).project_out(_set, depth, count)
    known = box.intersect(reached.add_dims(_set, count))
    whole = reached.subtract(missing).coalesce()
    wide = tile.vector if tile.lies_alike else 1
    asynchronous = stages.asynchronous and wide * element_size(tile.array) >= stages.narrowest
    return StagedCopy(wanted.gist(known).coalesce(), whole, threads, asynchronous)


def add_transfer(
    node: isl.ScheduleNode, name: str, tile: ThreadTile, purpose: Purpose, elements: isl.Map
) -> tuple[isl.ScheduleNode, AddedStatement]:
    """Load registers before ``node``, or store them after it; returns that node.

    ``elements`` is ``{ [d0, ..., dn, s0, ..., p0, ...] -> array[x0, ...] }`` for one thread.
    """
    depth = node.get_schedule_depth()
    points = elements.domain()
    graft = extended(points, name, node)
    graft = graft.insert_partial_schedule(_dimensions(points, name, depth))
    for position in range(2 * len(tile.sizes)):
        graft = graft.band_member_set_ast_loop_type(position, isl.ast_loop_type.unroll)
    graft = graft.root()
    node = node.graft_after(graft) if purpose is Purpose.STORE else node.graft_before(graft)
    element = isl.PwMultiAff.from_map(elements.set_tuple_name(isl.dim_type.in_, name))
    return node, AddedStatement(name, purpose, depth, tile, element)


def extended(instances: isl.Set, name: str, node: isl.ScheduleNode) -> isl.ScheduleNode:
    """The node below an extension by ``name[d0, ..., dn, ...]`` for the loops above ``node``."""
    depth = node.get_schedule_depth()
    added = isl.Map.identity(instances.get_space().map_from_set()).intersect_domain(instances)
    added = added.project_out(isl.dim_type.in_, depth, instances.dim(_set) - depth)
    added = added.intersect_domain(time_stamps_of(node)).set_tuple_name(_out, name)
    return isl.ScheduleNode.from_extension(isl.UnionMap.from_map(added)).child(0)


def _dimensions(instances: isl.Set, name: str, first: int) -> isl.MultiUnionPwAff:
    """A schedule of ``name[d0, ..., dn, ...]`` along its dimensions from the one at ``first`` on."""
    space = instances.set_tuple_name(name).get_space()
    chosen = isl.MultiAff.identity(space.map_from_set()).drop_dims(_out, 0, first)
    chosen = chosen.reset_tuple_id(_out) if chosen.has_tuple_id(_out) else chosen
    return isl.MultiUnionPwAff.from_union_map(isl.UnionMap.from_map(isl.Map.from_multi_aff(chosen)))


def _spread(instances: isl.Set, dims: Sequence[int], threads: Sequence[Axis]) -> isl.UnionSet:
    """The elements that one thread copies: the last of the dimensions ``dims`` goes along x."""
    space = instances.get_space()
    chosen = instances
    for back, axis in enumerate(reversed(threads)):
        index = isl.PwAff.param_on_domain_id(isl.Set.universe(space), spaces.identifier(axis.parameter))
        if back < len(dims):
            value = isl.PwAff.var_on_domain(isl.LocalSpace.from_space(space), _set, dims[-1 - back])
            chosen = chosen.intersect(value.sub(index).mod_val(isl.Val(axis.size)).zero_set())
        else:
            chosen = chosen.intersect(index.zero_set())
    return isl.UnionSet.from_set(chosen)


def elements_of(tile: SharedTile, transfer: Transfer, node: isl.ScheduleNode, scop: Scop) -> isl.Set:
    """The elements of ``tile`` to copy before ``node``, ``{ [d0, ..., dn, x0, ...] }``.

    The whole box, as far as it lies in what goes to the device; where nothing
    does, the elements that the tile's references touch.
    """
    prefixes = {each.get_tuple_name(isl.dim_type.in_): each for each in maps_of(prefix_of(node))}
    touched = union_of(
        [
            prefixes[each.statement.name].reverse().apply_range(relation_of(each, scop))
            for each in tile.references
        ]
    )
    flat = touched.set_tuple_name(_out, "x").wrap().flatten()
    if not transfer.goes_in:
        return flat
    depth = node.get_schedule_depth()
    space = flat.get_space()
    return inside(tile.box, space, depth).intersect(on_device(transfer, space, depth))


def on_device(transfer: Transfer, space: isl.Space, depth: int) -> isl.Set:
    """``{ [d0, ..., dn, x0, ...] }``: the elements on the device; ``space`` is that of the result."""
    found = isl.Set.universe(space)
    for dim in range(len(transfer.lowest)):
        value = isl.PwAff.var_on_domain(isl.LocalSpace.from_space(space), _set, depth + dim)
        for corner, holds in ((transfer.lowest[dim], value.ge_set), (transfer.highest[dim], value.le_set)):
            found = found.intersect(holds(corner.project_domain_on_params().insert_domain(space)))
    return found


def inside(box: Box, space: isl.Space, depth: int) -> isl.Set:
    """``{ [d0, ..., dn, x0, ...] }``: the elements of ``box``; ``space`` is that of the result."""
    found = isl.Set.universe(space)
    loops = spaces.outer_loops(space, depth)
    for dim, (offset, size) in enumerate(zip(box.offset, box.sizes, strict=True)):
        value = isl.PwAff.var_on_domain(isl.LocalSpace.from_space(space), _set, depth + dim)
        low = isl.PwAff.from_aff(offset).pullback_multi_aff(loops)
        found = found.intersect(value.ge_set(low)).intersect(
            value.lt_set(low.add_constant_val(isl.Val(size)))
        )
    return found


def owned(
    tile: ThreadTile, root: isl.ScheduleNode, kernel: Kernel, scop: Scop, *, initialised: bool
) -> tuple[isl.Map, isl.Map]:
    """What a thread loads and what it stores: ``{ [d0, ..., dn, s0, ..., p0, ...] -> array[x0, ...] }``.

    It loads what it touches; of an array that is not ``initialised`` only what kernels have written before,
    and in kernels with prologues nothing that these write.
    ``root`` is the root of a tree whose filters bind the loops to the thread.
    """
    points = find_mark(root, kernel.mark(MarkKind.POINTS))
    results = result_bands(find_mark(root, kernel.mark()), kernel)
    by_statement: dict[str, isl.Map] = {}
    for here in (points.child(0).child(0), *results):
        prefix = prefix_of(here).flat_range_product(here.band_get_partial_schedule_union_map())
        prefix = prefix.intersect_domain(here.get_domain())
        inner = here.get_schedule_depth() - len(kernel.threads) - tile.depth  # the loops of a sum
        for one in maps_of(prefix):
            by_statement[one.get_tuple_name(isl.dim_type.in_)] = one.project_out(_out, tile.depth, inner)
    fresh = None if initialised and not results else _fresh_uses(tile, scop)
    loaded: list[isl.Map] = []
    stored: list[isl.Map] = []
    for each in tile.references:
        stamps = by_statement[each.statement.name]
        loaded.append(stamps.reverse().apply_range(_old(each, fresh, scop)))
        if each.access.kind is not AccessKind.READ:
            stored.append(stamps.reverse().apply_range(relation_of(each, scop)))
    return union_of(loaded), union_of(stored) if stored else isl.Map.empty(loaded[0].get_space())


def _old(reference: KernelAccess, fresh: isl.UnionMap | None, scop: Scop) -> isl.Map:
    """The elements of ``reference`` that it may find as they were before the tile."""
    elements = relation_of(reference, scop)
    if fresh is None:
        return elements
    if reference.access.kind is AccessKind.WRITE:
        return isl.Map.empty(elements.get_space())
    return elements.subtract(fresh.extract_map(elements.get_space()))


def _fresh_uses(tile: ThreadTile, scop: Scop) -> isl.UnionMap:
    """``{ U[j] -> a[x] }``: the uses of elements that were certainly written before in the same tile."""
    loops = isl.UnionMap.empty(scop.context.get_space())
    for each in tile.loops.values():
        loops = loops.union(isl.UnionMap.from_map(isl.Map.from_pw_multi_aff(each)))
    together = loops.apply_range(loops.reverse())
    values = certain_writers(scop, tile.array).uncurry().intersect_domain(together.wrap())
    return values.curry().range().unwrap()
