"""Builds register tiles: micro-kernels and the loops around them, with what they need packed.

The tree that an innermost band ``(M, K, N)`` becomes, from the outside::

    tiles of M by MC, tiles of K by KC  for the caches; the threads get the first coincident one
      packed operands that M moves      mark, copy statement
        panels of N by NR
          packed operands that N moves
            blocks of M by MR
              full:  mark, load; for (K) block of MR x NR, unrolled; store
              rest:  the band as it was
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.context import CompileContext
from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.trees import insert_mark, is_band, prefix_schedule
from polybuild.schedule.legality import is_legal_below
from polybuild.scop.model import Scop
from polybuild.storage.buffers import windows
from polybuild.targets.cpu.blocked_nest import BlockDepths, BlockedNest, K, M, N, chunk, dimensions, offsets
from polybuild.targets.cpu.microkernel import MicroKernel, MicroKernelSizes, choose_sizes
from polybuild.targets.cpu.packing import PackedOperand, find_packed_operands
from polybuild.targets.cpu.steps import put_steps_outside
from polybuild.targets.cpu.strides import Stride
from polybuild.targets.model import BlockTransfer, PartialTile, RegisterTile
from polybuild.transform.bands import coincident_members, permute
from polybuild.transform.copy_statements import copy_instances, graft
from polybuild.transform.distribution import distribute
from polybuild.transform.tiling.alignment import align_members
from polybuild.transform.tiling.registers import (
    block_schedule,
    full_steps,
    insert_tiles,
    multiples,
    partial_steps,
    writes_whole_blocks,
)

_set = isl.dim_type.set

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
        self, node: isl.ScheduleNode, kernel: MicroKernel, *, threads: bool
    ) -> tuple[isl.ScheduleNode, tuple[int, ...]] | None:
        """Tile an innermost band; the node that took its place and the tile sizes.

        None if no block would be full, or no order of the tiles suits the threads.
        """
        members = node.band_n_member()
        sizes = choose_sizes(kernel, members, self._context)
        node = align_members(node, {kernel.m: sizes.block.mr, kernel.n: sizes.block.nr})
        sizes = _within_rows(node, kernel, sizes)
        depth = node.get_tree_depth()
        others = [each for each in range(members) if each not in kernel.members]
        others.sort(key=lambda member: not node.band_member_get_coincident(member))
        outer_first = bool(others) and bool(node.band_member_get_coincident(others[0]))
        band = permute(node, [*others, *kernel.members])
        if others:
            band = band.band_split(len(others)).child(0)
        order = _cache_order(band, sizes, threads=threads and not outer_first, single=kernel.single)
        if order is None:
            return None
        outer = band.get_schedule_depth()
        panel = outer + len(order)
        points = insert_tiles(band, list(order.items())).child(0)
        nest = self._blocked_nest(points, kernel, sizes, BlockDepths(panel))
        if nest is None:
            return None
        partial = _partial_tile(len(self.tiles), nest)
        sequence = self._begin(nest, partial)
        if sequence is None:
            nest, partial = replace(nest, begun=None), None if nest.is_mixed else partial
            sequence = self._separate(nest, partial)
        if sequence is None:
            return None
        built = self._build(sequence, nest, partial)
        if threads:
            built = self._mark_parallel(_up_to(built, outer - len(others) if outer_first else outer))
        tiled = tuple(order.get(member, sizes.block.nr) for member in range(3))
        return built.ancestor(built.get_tree_depth() - depth), (*[1] * len(others), *tiled)

    def _blocked_nest(
        self, node: isl.ScheduleNode, kernel: MicroKernel, sizes: MicroKernelSizes, depths: BlockDepths
    ) -> BlockedNest | None:
        """Cut the band of the points of a tile into panels and blocks; None if none is full."""
        update = kernel.update
        written = update.accumulator.access
        panels = insert_tiles(node, [(N, sizes.block.nr)])
        band = insert_tiles(panels.child(0), [(M, sizes.block.mr)]).child(0)
        domain = update.statement.domain.intersect_params(self._scop.context)
        schedule = block_schedule(band, update.statement.name, domain, sizes.block)
        if not writes_whole_blocks(schedule, written.relation):
            return None
        read = [each.access.relation for each in update.operands if each.access.array is written.array]
        full = full_steps(schedule, written.relation, read)
        if full.is_empty():
            return None
        nest = BlockedNest(kernel, sizes, depths, band, schedule, full)
        if not nest.is_mixed:
            return nest
        begun = partial_steps(schedule, full, written.relation, read)
        triangle = _is_triangle(begun.union(full).coalesce(), depths.inner)
        return replace(nest, begun=begun) if triangle and not begun.is_empty() else nest

    def _run_at(self, nest: BlockedNest, stamps: isl.Set) -> isl.UnionSet:
        """The instances of the update at these time ``stamps``.

        What the parameters are anyway would make pieces of the rest, one for each of it that does not hold.
        """
        run = nest.schedule.prefix.intersect_range(stamps).domain()
        return isl.UnionSet.from_set(run).gist_params(self._scop.context)

    def _begin(self, nest: BlockedNest, partial: PartialTile | None) -> isl.ScheduleNode | None:
        """Run full blocks, then what partial ones take, then all else; the place of the full ones.

        None if that is not legal, or nothing but full blocks is for the registers.
        """
        if nest.begun is None or partial is None:
            return None
        full, begun = self._run_at(nest, nest.full), self._run_at(nest, nest.begun)
        rest = nest.band.get_domain().subtract(full).subtract(begun).coalesce()
        sequence = distribute(nest.band, [full, begun, rest])
        if rest.is_empty() or not is_legal_below(sequence, self._dependences):
            return None
        depth = sequence.get_tree_depth()
        # rows of the block do not wait for each other
        mapped = self._map_rest(permute(sequence.child(2).child(0), [K, M, N]))
        began = mapped.ancestor(mapped.get_tree_depth() - depth).child(1).child(0)
        mapped = self._map_rest(insert_mark(_in_one_piece(began), partial.mark).child(0))
        return mapped.ancestor(mapped.get_tree_depth() - depth).child(0)

    def _separate(self, nest: BlockedNest, partial: PartialTile | None) -> isl.ScheduleNode | None:
        """Run full blocks before or after all else in the band, as is legal; their place in the sequence.

        What is left may be computed as a ``partial`` tile, if given.
        """
        full = self._run_at(nest, nest.full)
        rest = nest.band.get_domain().subtract(full).coalesce()
        if rest.is_empty():
            return distribute(nest.band, [full]).child(0)
        for groups, place in (([full, rest], 0), ([rest, full], 1)):
            sequence = distribute(nest.band, groups)
            if is_legal_below(sequence, self._dependences):
                rest_band, depth = sequence.child(1 - place).child(0), sequence.get_tree_depth()
                blocks = prefix_schedule(nest.band)
                # a triangle saves less than copies of several operands take
                alone = K if partial is not None and len(partial.gathered) == 1 else None
                in_one_piece = rest.apply(blocks).is_disjoint(full.apply(blocks)) and _is_box(
                    nest.band, alone
                )
                if in_one_piece:
                    rest_band = _in_one_piece(rest_band)
                if nest.kernel.steps > 1:  # a sum waits for itself: others in between
                    rest_band = permute(rest_band, [K, M, N])
                if in_one_piece and partial is not None:
                    rest_band = insert_mark(rest_band, partial.mark).child(0)
                mapped = self._map_rest(rest_band)
                return mapped.ancestor(mapped.get_tree_depth() - depth).child(place)
        return None

    def _build(
        self, place: isl.ScheduleNode, nest: BlockedNest, partial: PartialTile | None
    ) -> isl.ScheduleNode:
        """Everything within the tiles for the caches; returns a node in it."""
        begun = partial.mark if partial is not None and nest.begun is not None else None
        # what a single row loads is used once
        operands = [] if nest.kernel.single else find_packed_operands(self._scop, nest, self._numbers, begun)
        tile = _register_tile(len(self.tiles), nest, operands, partial)
        self.tiles.append(tile)
        node = _block(place, nest, tile, self._scop.context)
        depths = nest.depths
        for filled, depth in ((depths.row_block, depths.panel + 1), (depths.panel, depths.panel)):
            node = _up_to(node, filled)
            for operand in operands:
                if operand.scope == depth:
                    node = insert_mark(node, operand.packed.mark).child(0)
                    node = node.graft_before(graft(operand.instances, depth, self._scop.context))
        return node


def _within_rows(node: isl.ScheduleNode, kernel: MicroKernel, sizes: MicroKernelSizes) -> MicroKernelSizes:
    """``sizes`` with the tile of M that the loops around leave, where that is a smaller one."""
    if node.get_schedule_depth() == 0:
        return sizes
    rows = isl.UnionMap.from_union_pw_aff(node.band_get_partial_schedule().get_union_pw_aff(kernel.m))
    around = node.get_prefix_schedule_relation()
    values = isl.Map.from_union_map(around.reverse().apply_range(rows))
    count = min((extent for _, extent in windows(values)), default=sizes.mc)
    block = sizes.block.mr
    return replace(sizes, mc=min(sizes.mc, -(-count // block) * block))


def _cache_order(
    node: isl.ScheduleNode, sizes: MicroKernelSizes, *, threads: bool, single: bool
) -> dict[int, int] | None:
    """The tiles around the blocks, outermost first: member of ``(M, K, N)`` to size.

    The first is coincident if it is for ``threads``; None if no order is so. With M
    outermost, what is packed of it serves all of N; a ``single`` row cannot be shared.
    """
    coincident = coincident_members(node)
    if not threads or (M in coincident and not single):
        return {M: sizes.mc, K: sizes.kc}
    if N in coincident:
        return {N: sizes.nc, K: sizes.kc, M: sizes.mc}
    return None


def _block(
    place: isl.ScheduleNode, nest: BlockedNest, tile: RegisterTile, context: isl.Set
) -> isl.ScheduleNode:
    """The loop K, its block unrolled, between loading and storing the block.

    Row by row, so that what the lanes of a row share needs a register for that row only.
    """
    node = insert_mark(place.child(0), tile.mark).child(0)
    depth = node.get_tree_depth()
    node = put_steps_outside(permute(node, [K, M, N]).band_split(1).child(0))
    rows = insert_mark(node.band_split(1), Mark(MarkKind.LANES)).child(0)
    node = insert_tiles(rows.child(0), [(0, tile.lanes)])
    node = node.ancestor(node.get_tree_depth() - depth)
    load, store = (
        graft(
            copy_instances(name, nest.full, nest.block_instances),
            nest.depths.inner,
            context,
            Mark(MarkKind.LANES),
        )
        for name in (tile.transfer.load, tile.transfer.store)
    )
    return node.graft_before(load).graft_after(store)


def _is_box(band: isl.ScheduleNode, alone: int | None = None) -> bool:
    """Whether no two members of ``band`` bound each other but by numbers, as they do in triangles.

    There, borders have too little in common for loops of all of them: these would have conditions inside.
    With a member that has to be ``alone`` in this, others may bound each other.
    """
    loops = isl.UnionMap.from_multi_union_pw_aff(band.band_get_partial_schedule())
    values = isl.Set.from_union_set(loops.intersect_domain(band.get_domain()).range())
    members = range(values.dim(_set))
    pieces = values.get_basic_sets()
    if alone is not None and len(pieces) > 1:
        alone = None
    return not any(
        sum(each.involves_dims(_set, position, 1) for position in members) > 1
        and (alone is None or each.involves_dims(_set, alone, 1))
        for piece in pieces
        for each in piece.get_constraints()
    )


def _is_triangle(stamps: isl.Set, inner: int) -> bool:
    """Whether, in all iterations of the loops before ``inner``, steps are the same for all rows and lanes."""
    rows, steps, lanes = inner + M, inner + K, inner + N
    pieces = stamps.get_basic_sets()
    return len(pieces) == 1 and not any(
        each.involves_dims(_set, steps, 1)
        and any(each.involves_dims(_set, other, 1) for other in (rows, lanes))
        for each in pieces[0].get_constraints()
    )


def _in_one_piece(band: isl.ScheduleNode) -> isl.ScheduleNode:
    """``band`` with the same loops for its instances at all borders."""
    for member in range(band.band_n_member()):
        band = band.band_member_set_ast_loop_type(member, isl.ast_loop_type.atomic)
    return band


def _register_tile(
    index: int, nest: BlockedNest, operands: list[PackedOperand], partial: PartialTile | None
) -> RegisterTile:
    block, inner, schedule, update = nest.sizes.block, nest.depths.inner, nest.schedule, nest.kernel.update
    load = f"load{index}"
    first = multiples(nest.full.get_space(), inner + N, block.lanes)
    instances = copy_instances(load, nest.full.intersect(first), nest.block_instances)
    element = instances.reverse().apply_range(schedule.touched(update.accumulator.access.relation))
    shape = (block.mr, block.vectors)
    return RegisterTile(
        mark=Mark(MarkKind.REGISTERS, index),
        update=update.statement,
        own=update.own,
        vectors=frozenset(
            id(each.access.node) for each in update.operands if each.stride(nest.kernel.n) is Stride.UNIT
        ),
        array=update.accumulator.access.array,
        type=update.type,
        types=update.types,
        lanes=block.lanes,
        block=offsets((schedule.row, chunk(schedule.lane, block.lanes)), shape),
        transfer=BlockTransfer(
            load,
            f"store{index}",
            isl.PwMultiAff.from_map(element.coalesce()),
            offsets(dimensions(instances, inner), shape),
            needs=schedule.prefix.apply_range(copy_instances(load, nest.full, nest.block_instances)),
        ),
        packed=tuple(each.packed for each in operands),
        partial=partial,
    )


def _partial_tile(index: int, nest: BlockedNest) -> PartialTile | None:
    """What is left of the tile that ``index`` counts, if it can be computed as full ones.

    None if they would read what they update and do not stop before, or would read more than loops do: what
    lanes have of their own is the same for all rows.
    """
    kernel, inner = nest.kernel, nest.depths.inner
    m, _, n = kernel.members
    operands = kernel.update.operands
    gathered = [each for each in operands if each.stride(n) is not Stride.NONE]
    if kernel.single or kernel.steps > 1 or not gathered or (nest.is_mixed and nest.begun is None):
        return None
    if any(each.stride(m) is not Stride.NONE for each in gathered):
        return None
    return PartialTile(
        Mark(MarkKind.PARTIAL, index),
        (inner + M, inner + K, inner + N),
        nest.sizes.kc,
        tuple(id(each.access.node) for each in operands),
        frozenset(id(each.access.node) for each in gathered),
    )


def _up_to(node: isl.ScheduleNode, depth: int) -> isl.ScheduleNode:
    """The band above ``node`` whose first member is schedule dimension ``depth``."""
    while not is_band(node) or node.get_schedule_depth() != depth:
        node = node.parent()
    return node
