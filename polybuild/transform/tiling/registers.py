"""Register tiles: blocks of one statement's instances whose results stay in registers over a whole loop.

The points of a tile, a permutable band ``(u, r, v)``, where the statement updates an
element that ``r`` leaves alone, become::

    for (v by vectors * lanes)      // panels
      for (u by rows)               // blocks
        full:  for (r) for (vector in block, row in block, lane) S;    // unrolled but for r
        rest:  for (u) for (r) for (v) S and all other statements;

``full`` takes the steps of ``r`` at which the block is complete and reads nothing that it
writes, but for the element updated (full tiles, PLDI 2008, section 5.4; unroll-and-jam).
So the block can be kept in variables from the first step to the last, and its lanes be
computed at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import islpy as isl

from polybuild.poly.memory import remembered
from polybuild.poly.relations import everywhere, maps_of
from polybuild.poly.trees import prefix_schedule
from polybuild.values import dataclass

_in, _out, _set = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


@dataclass(frozen=True, slots=True)
class RegisterBlock:
    """The sizes of a register tile: ``mr`` steps of ``u``; ``vectors`` of ``lanes`` steps of ``v``."""

    mr: int
    vectors: int
    lanes: int

    @property
    def nr(self) -> int:
        """Steps of ``v``."""
        return self.vectors * self.lanes


@dataclass(frozen=True, slots=True)
class BlockSchedule:
    """The time stamps of one statement at a band ``(u, r, v)`` within loops over blocks.

    ``prefix`` maps its instances to ``[outer..., u, r, v]``, dimensions ``panel`` and
    ``row_block`` of which count the blocks.
    """

    prefix: isl.Map
    panel: int
    row_block: int
    block: RegisterBlock

    @property
    def outer(self) -> int:
        """The number of dimensions before the band's."""
        return int(self.prefix.dim(_out)) - 3

    @property
    def row(self) -> isl.PwAff:
        """``u`` as an expression of the statement's counters."""
        return self._member(0)

    @property
    def step(self) -> isl.PwAff:
        """``r`` likewise."""
        return self._member(1)

    @property
    def lane(self) -> isl.PwAff:
        """``v`` likewise."""
        return self._member(2)

    def _member(self, position: int) -> isl.PwAff:
        return _functions_of(self.prefix).get_pw_aff(self.outer + position)

    def touched(self, relation: isl.Map) -> isl.Map:
        """``relation`` of the instances as a relation of their time stamps."""
        return self.prefix.reverse().apply_range(relation)


@remembered
def _functions_of(schedule: isl.Map) -> isl.PwMultiAff:
    return isl.PwMultiAff.from_map(schedule)


def insert_tiles(node: isl.ScheduleNode, sizes: Sequence[tuple[int, int]]) -> isl.ScheduleNode:
    """Insert above a permutable band one over tiles of some members: ``(member, size)``, outermost first.

    Unlike ``tile`` it may leave members out: they run all the way within each tile. The
    members of the new band are coincident where those of the old one are.
    """
    partial = node.band_get_partial_schedule()
    coincident = [node.band_member_get_coincident(position) for position, _ in sizes]
    tiles = []
    for position, size in sizes:
        scaled = partial.get_union_pw_aff(position).scale_down_val(isl.Val(size)).floor()
        each = isl.MultiUnionPwAff.from_union_pw_aff(scaled)
        tiles.append(each)
    partial = reduce(isl.MultiUnionPwAff.flat_range_product, tiles)
    node = node.insert_partial_schedule(partial).band_set_permutable(1)
    for position, value in enumerate(coincident):
        node = node.band_member_set_coincident(position, value)
    return node


def block_schedule(node: isl.ScheduleNode, name: str, domain: isl.Set, block: RegisterBlock) -> BlockSchedule:
    """The time stamps of the instances ``domain`` of statement ``name`` at ``node``, a band ``(u, r, v)``.

    The two dimensions before it count panels and rows of blocks.
    """
    prefix = prefix_schedule(node)
    partial = isl.UnionMap.from_multi_union_pw_aff(node.band_get_partial_schedule())
    own = next(
        each for each in maps_of(prefix.flat_range_product(partial)) if each.get_tuple_name(_in) == name
    ).intersect_domain(domain)
    depth = node.get_schedule_depth()
    return BlockSchedule(own.coalesce(), depth - 2, depth - 1, block)


def full_steps(schedule: BlockSchedule, written: isl.Map, read: Sequence[isl.Map]) -> isl.Set:
    """The time stamps of the steps that a register tile can take, empty if there are none.

    ``written`` is the access of the element that is updated, ``read`` are all other
    accesses of the same array. Steps at which the block is not complete are left out, and
    those that read what the block holds.
    """
    ran = schedule.prefix.range()
    last = schedule.outer + 2
    steps = ran.project_out(_set, last, 1).project_out(_set, schedule.outer, 1)
    block = _block_time_stamps(schedule, steps)
    missing = block.subtract(ran).project_out(_set, last, 1).project_out(_set, schedule.outer, 1)
    full = block.intersect(_lift(steps.subtract(missing), schedule))
    updated = schedule.touched(written).intersect_domain(full).project_out(_in, schedule.outer, 3)
    return _without_conflicts(schedule, full, updated, read)


def partial_steps(
    schedule: BlockSchedule, full: isl.Set, written: isl.Map, read: Sequence[isl.Map]
) -> isl.Set:
    """The time stamps of the steps in blocks that are nowhere ``full``, but for those that conflict.

    The arguments are those of ``full_steps``. Blocks hold here what they would if they were complete, so that
    the steps are as many for blocks of all shapes.
    """
    ran = schedule.prefix.range()
    outside = ran.project_out(_set, schedule.outer, 3)
    whole = full.project_out(_set, schedule.outer, 3)
    element = everywhere(isl.PwMultiAff.from_map(schedule.touched(written)))
    block = _block_time_stamps(schedule, outside.insert_dims(_set, schedule.outer, 1))
    updated = isl.Map.from_pw_multi_aff(element).intersect_domain(block)
    begun = ran.subtract(whole.insert_dims(_set, schedule.outer, 3))
    return _without_conflicts(schedule, begun, updated.project_out(_in, schedule.outer, 3), read)


def _without_conflicts(
    schedule: BlockSchedule, stamps: isl.Set, written: isl.Map, read: Sequence[isl.Map]
) -> isl.Set:
    """``stamps`` without the steps that ``read`` what is ``written`` in their block."""
    own = _to_outer(stamps, schedule.outer).apply_range(written)
    for each in read:
        conflicts = schedule.touched(each).intersect_domain(stamps).intersect(own).domain()
        conflicts = conflicts.project_out(_set, schedule.outer + 2, 1).project_out(_set, schedule.outer, 1)
        stamps = stamps.subtract(_lift(conflicts, schedule))
    return stamps.coalesce()


def writes_whole_blocks(schedule: BlockSchedule, written: isl.Map) -> bool:
    """Whether each block of ``u`` and ``v`` writes as many elements, the same ones at each step of ``r``."""
    touched = schedule.touched(written)
    step = schedule.outer + 1
    # without r: still one element for each place in the block, and none twice
    blocks = touched.project_out(_in, step, 1)
    if not blocks.is_single_valued():
        return False
    outer = schedule.outer
    keep = _to_outer(blocks.domain(), outer)
    return bool(keep.range_product(blocks).is_injective())


def _block_time_stamps(schedule: BlockSchedule, steps: isl.Set) -> isl.Set:
    """All time stamps of the blocks of ``steps`` (``[outer..., r]``), whether anything runs then or not."""
    lifted = _lift(steps, schedule)
    for position, tile, size in (
        (schedule.outer, schedule.row_block, schedule.block.mr),
        (schedule.outer + 2, schedule.panel, schedule.block.nr),
    ):
        lifted = lifted.intersect(within_tile(lifted.get_space(), position, tile, size))
    return lifted


def _lift(steps: isl.Set, schedule: BlockSchedule) -> isl.Set:
    """``[outer..., r]`` as ``[outer..., u, r, v]`` with any ``u`` and ``v``."""
    return steps.insert_dims(_set, schedule.outer, 1).insert_dims(_set, schedule.outer + 2, 1)


def within_tile(space: isl.Space, position: int, tile: int, size: int) -> isl.Set:
    """``size * d[tile] <= d[position] < size * (d[tile] + 1)``."""
    local = isl.LocalSpace.from_space(space)
    start = isl.PwAff.var_on_domain(local, _set, tile).scale_val(isl.Val(size))
    distance = isl.PwAff.var_on_domain(local, _set, position).sub(start)
    limit = distance.neg().add_constant_val(isl.Val(size - 1))
    return distance.nonneg_set().intersect(limit.nonneg_set())


def _to_outer(time_stamps: isl.Set, outer: int) -> isl.Map:
    """Each of ``time_stamps`` to its first ``outer`` dimensions."""
    count = time_stamps.dim(_set)
    identity = isl.Map.identity(time_stamps.get_space().map_from_set()).intersect_domain(time_stamps)
    return identity.project_out(_out, outer, count - outer)


def multiples(space: isl.Space, position: int, size: int) -> isl.Set:
    """The elements of ``space`` whose dimension ``position`` is a multiple of ``size``."""
    value = isl.PwAff.var_on_domain(isl.LocalSpace.from_space(space), _set, position)
    return value.mod_val(isl.Val(size)).zero_set()
