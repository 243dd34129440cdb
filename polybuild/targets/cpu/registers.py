"""Builds register tiles, with what they need packed, around an update that stays in registers.

The tree that an innermost band ``(rows, steps, lanes)`` becomes, from the outside::

    tiles of rows, tiles of steps          for the caches; the threads get the first coincident one
      buffers of what changes with rows    mark, copy statement
        panels of lanes
          buffers of what changes with lanes
            blocks of rows
              full:  mark, load; for (steps) block, unrolled; store
              rest:  the band as it was
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.context import CompileContext
from polybuild.poly.marks import Mark, MarkKind, insert_mark
from polybuild.poly.trees import is_band
from polybuild.schedule.legality import is_legal_below
from polybuild.scop.model import Scop
from polybuild.targets.cpu.microkernel import Roles, Sizes, choose_sizes
from polybuild.targets.cpu.packing import Buffer, find_buffers
from polybuild.targets.cpu.site import LANES, ROWS, STEPS, Frame, Site, chunk, dimensions, offsets
from polybuild.targets.cpu.strides import Stride
from polybuild.targets.model import RegisterTile
from polybuild.transform.bands import coincident_members, permute
from polybuild.transform.copy_statements import copy_instances, graft
from polybuild.transform.distribution import distribute
from polybuild.transform.tiling.registers import (
    block_schedule,
    full_steps,
    insert_tiles,
    multiples,
    writes_whole_blocks,
)

_UNROLL = isl.ast_loop_type.unroll

Mapper = Callable[[isl.ScheduleNode], isl.ScheduleNode]


class RegisterTiler:
    """Builds the register tiles of a region.

    ``mark_parallel`` is asked to give the first member of a band to the threads, ``map_rest``
    to map a band of instances that are in no register tile. ``tiles`` collects what was built.
    """

    def __init__(
        self,
        scop: Scop,
        dependences: Dependences,
        context: CompileContext,
        *,
        mark_parallel: Mapper,
        map_rest: Mapper,
    ) -> None:
        self._scop = scop
        self._dependences = dependences
        self._context = context
        self._mark_parallel = mark_parallel
        self._map_rest = map_rest
        self._numbers = count()
        self.tiles: list[RegisterTile] = []

    def tile(
        self, node: isl.ScheduleNode, roles: Roles, *, threads: bool
    ) -> tuple[isl.ScheduleNode, tuple[int, ...]] | None:
        """Tile an innermost band; the node that took its place and the tile sizes.

        None if no block would be full, or no order of the tiles suits the threads.
        """
        members = node.band_n_member()
        sizes = choose_sizes(roles, members, self._context)
        depth = node.get_tree_depth()
        others = [each for each in range(members) if each not in {roles.rows, roles.steps, roles.lanes}]
        others.sort(key=lambda member: not node.band_member_get_coincident(member))
        outer_first = bool(others) and bool(node.band_member_get_coincident(others[0]))
        band = permute(node, [*others, roles.rows, roles.steps, roles.lanes])
        if others:
            band = band.band_split(len(others)).child(0)
        order = _cache_order(band, sizes, threads=threads and not outer_first, single=roles.single)
        if order is None:
            return None
        outer = band.get_schedule_depth()
        panel = outer + len(order)
        points = insert_tiles(band, list(order.items())).child(0)
        site = self._site(points, roles, sizes, Frame(panel))
        sequence = None if site is None else self._part(site)
        if site is None or sequence is None:
            return None
        built = self._build(sequence, site)
        if threads:
            built = self._mark_parallel(_up_to(built, outer - len(others) if outer_first else outer))
        tiled = tuple(order.get(member, sizes.block.columns) for member in range(3))
        return built.ancestor(built.get_tree_depth() - depth), (*[1] * len(others), *tiled)

    def _site(self, node: isl.ScheduleNode, roles: Roles, sizes: Sizes, frame: Frame) -> Site | None:
        """Cut the band of the points of a tile into panels and blocks; None if none is full."""
        update = roles.update
        written = update.accumulator.access
        panels = insert_tiles(node, [(LANES, sizes.block.columns)])
        band = insert_tiles(panels.child(0), [(ROWS, sizes.block.rows)]).child(0)
        domain = update.statement.domain.intersect_params(self._scop.context)
        schedule = block_schedule(band, update.statement.name, domain, sizes.block)
        if not writes_whole_blocks(schedule, written.relation):
            return None
        read = [each.access.relation for each in update.operands if each.access.array is written.array]
        full = full_steps(schedule, written.relation, read)
        return None if full.is_empty() else Site(roles, sizes, frame, band, schedule, full)

    def _part(self, site: Site) -> isl.ScheduleNode | None:
        """Run full blocks before or after all else in the band, as is legal; their place in the sequence."""
        full = isl.UnionSet.from_set(site.schedule.prefix.intersect_range(site.full).domain())
        rest = site.band.get_domain().subtract(full).coalesce()
        if rest.is_empty():
            return distribute(site.band, [full]).child(0)
        for groups, place in (([full, rest], 0), ([rest, full], 1)):
            sequence = distribute(site.band, groups)
            if is_legal_below(sequence, self._dependences):
                rest_band = sequence.child(1 - place).child(0)
                return self._map_rest(rest_band).ancestor(2).child(place)
        return None

    def _build(self, place: isl.ScheduleNode, site: Site) -> isl.ScheduleNode:
        """Everything within the tiles for the caches; returns a node in it."""
        # what a single row loads is used once
        buffers = [] if site.roles.single else find_buffers(self._scop, site, self._numbers)
        tile = _register_tile(len(self.tiles), site, buffers)
        self.tiles.append(tile)
        node = _block(place, site, tile)
        frame = site.frame
        for filled, depth in ((frame.row_block, frame.panel + 1), (frame.panel, frame.panel)):
            node = _up_to(node, filled)
            for buffer in buffers:
                if buffer.scope == depth:
                    node = insert_mark(node, buffer.packed.mark).child(0)
                    node = node.graft_before(graft(buffer.instances, depth, unroll=False))
        return node


def _cache_order(
    node: isl.ScheduleNode, sizes: Sizes, *, threads: bool, single: bool
) -> dict[int, int] | None:
    """The tiles around the blocks, outermost first: member of ``(rows, steps, lanes)`` to size.

    The first is coincident if it is for ``threads``; None if no order is so. With rows
    outermost, what is packed of them serves all columns; a ``single`` row cannot be shared.
    """
    coincident = coincident_members(node)
    if not threads or (ROWS in coincident and not single):
        return {ROWS: sizes.rows, STEPS: sizes.steps}
    if LANES in coincident:
        return {LANES: sizes.columns, STEPS: sizes.steps, ROWS: sizes.rows}
    return None


def _block(place: isl.ScheduleNode, site: Site, tile: RegisterTile) -> isl.ScheduleNode:
    """The loop over the steps, its block unrolled, between loading and storing the block.

    Row by row, so that what the lanes of a row share needs a register for that row only.
    """
    node = insert_mark(place.child(0), tile.mark).child(0)
    node = permute(node, [STEPS, ROWS, LANES]).band_split(1)
    rows = node.child(0).band_split(1).band_member_set_ast_loop_type(0, _UNROLL)
    chunks = insert_tiles(rows.child(0), [(0, tile.lanes)]).band_member_set_ast_loop_type(0, _UNROLL)
    node = insert_mark(chunks.child(0), Mark(MarkKind.LANES)).ancestor(3)
    load, store = (
        graft(copy_instances(name, site.full, site.block_instances), site.frame.inner, unroll=True)
        for name in (tile.load, tile.store)
    )
    return node.graft_before(load).graft_after(store)


def _register_tile(index: int, site: Site, buffers: list[Buffer]) -> RegisterTile:
    block, frame, schedule, update = site.sizes.block, site.frame, site.schedule, site.roles.update
    load = f"load{index}"
    first = multiples(site.full.get_space(), frame.inner + LANES, block.lanes)
    instances = copy_instances(load, site.full.intersect(first), site.block_instances)
    element = instances.reverse().apply_range(schedule.touched(update.accumulator.access.relation))
    shape = (block.rows, block.vectors)
    return RegisterTile(
        mark=Mark(MarkKind.REGISTERS, index),
        update=update.statement,
        own=update.own,
        vectors=frozenset(
            id(each.access.node) for each in update.operands if each.stride(site.roles.lanes) is Stride.UNIT
        ),
        array=update.accumulator.access.array,
        type=update.type,
        lanes=block.lanes,
        load=load,
        store=f"store{index}",
        element=isl.PwMultiAff.from_map(element.coalesce()),
        block=offsets((schedule.row, chunk(schedule.lane, block.lanes)), shape),
        moves=schedule.prefix.apply_range(copy_instances(load, site.full, site.block_instances)),
        moved=offsets(dimensions(instances, frame.inner), shape),
        packed=tuple(each.packed for each in buffers),
    )


def _up_to(node: isl.ScheduleNode, depth: int) -> isl.ScheduleNode:
    """The band above ``node`` whose first member is schedule dimension ``depth``."""
    while not is_band(node) or node.get_schedule_depth() != depth:
        node = node.parent()
    return node
