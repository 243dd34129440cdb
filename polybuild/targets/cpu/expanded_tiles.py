"""Expanded private variables in a buffer for each thread: tiles around an order that is free within them.

``for i: for j: { s = 0; for k: s += a[i][k] * b[k][j]; c[i][j] = alpha * s + c[i][j]; }`` becomes::

    for (tiles of i and j)                      // shared among threads
      s[128][256]                               // the values of a tile
      for i: for j: s[i][j] = 0
      register tiles of s[i][j] += a[i][k] * b[k][j]
      for i: for j: c[i][j] = alpha * s[i][j] + c[i][j]

where memory is what the tiles need, whatever the sizes of the loops are.
"""

from __future__ import annotations

from functools import reduce

import islpy as isl

from polybuild.analysis.dependences import Dependences, written_and_flow
from polybuild.context import CompileContext
from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.relations import sets_of, tuple_name
from polybuild.poly.trees import descendants, insert_mark, is_band, is_mark
from polybuild.scop.model import Scop
from polybuild.storage.buffers import Buffer, uncontracted_at
from polybuild.storage.liveness import LiveValues
from polybuild.storage.scalar_expansion import Expansion
from polybuild.storage.temporaries import users_of
from polybuild.targets.cpu.contraction import with_buffers
from polybuild.targets.cpu.mapping import CpuMapping, map_to_cpu
from polybuild.targets.cpu.schedule_choice import choose_schedule

# The tiles of the two innermost loops: with them the values of one variable take a part of the second cache.
_ROWS, _COLUMNS = 128, 256


def map_expanded(
    expansion: Expansion, dependences: Dependences, context: CompileContext
) -> CpuMapping | None:
    """The mapping of a region with expanded variables in buffers, in register tiles or vector loops.

    None if there are none of these, the tiles around them are not free to run in any order, or a buffer
    has no constant size.
    """
    scop = expansion.scop
    schedule = _in_tiles(expansion, dependences, choose_schedule(scop, dependences, context))
    if schedule is None:
        return None
    mapping = map_to_cpu(scop, dependences, schedule, context)
    if not _gains(expansion, mapping):
        return None
    root = mapping.schedule.get_root()
    place = next(each for each in descendants(root) if is_mark(each, MarkKind.EXPANDED_TILES))
    inside = _below_band(place)
    buffers: list[Buffer] = []
    for array in expansion.arrays:
        mark = Mark(MarkKind.BUFFER, len(buffers))
        values = LiveValues(*written_and_flow(scop, array))
        buffer = uncontracted_at(inside, array, values, scop.context, mark)
        if buffer is None:
            return None
        buffers.append(buffer)
        inside = insert_mark(inside, mark)
    if sum(each.size for each in buffers) > context.machine.l2.bytes // 2:
        return None
    return with_buffers(mapping, inside.root(), buffers)


def _gains(expansion: Expansion, mapping: CpuMapping) -> bool:
    """Whether values are in register tiles, which take nothing else from buffers.

    Where there is but one loop to expand over, it is enough that this is a loop for the vector unit.
    """
    names = {each.name for each in expansion.arrays}
    if not mapping.registers and expansion.depth == 1:
        vectors = {tuple_name(each) for node in mapping.vector_loops() for each in sets_of(node.get_domain())}
        return users_of(expansion.scop, expansion.arrays) <= vectors
    return bool(mapping.registers) and not any(
        access.array.name in names and id(access.node) not in tile.own
        for tile in mapping.registers
        for access in tile.update.accesses
    )


def _below_band(node: isl.ScheduleNode) -> isl.ScheduleNode:
    """What is below the band of tiles, which may stand below marks."""
    while not is_band(node):
        node = node.child(0)
    return node.child(0)


def _in_tiles(expansion: Expansion, dependences: Dependences, schedule: isl.Schedule) -> isl.Schedule | None:
    """``schedule`` within tiles of the loops that values are private to; None if their order matters."""
    top = schedule.get_root().child(0)
    sizes = [1] * (expansion.depth - 2) + [_ROWS, _COLUMNS][-expansion.depth :]
    members = [_tiles(expansion.scop, position, size) for position, size in enumerate(sizes)]
    if any(
        not dependences.carried.is_subset(dependences.carried.eq_at_multi_union_pw_aff(each))
        for each in members
    ):
        return None
    band = top.insert_partial_schedule(reduce(isl.MultiUnionPwAff.flat_range_product, members))
    band = band.band_set_permutable(1)
    for position in range(len(members)):
        band = band.band_member_set_coincident(position, 1)
    return insert_mark(band, Mark(MarkKind.EXPANDED_TILES)).get_schedule()


def _tiles(scop: Scop, position: int, size: int) -> isl.MultiUnionPwAff:
    """The number of the tile that each instance is in, by its loop at ``position``."""
    union = isl.UnionPwAff.empty(scop.context.get_space())
    for statement in scop.statements:
        local = isl.LocalSpace.from_space(statement.domain.get_space())
        value = isl.PwAff.var_on_domain(local, isl.dim_type.set, position)
        value = value.scale_down_val(isl.Val(size)).floor().intersect_domain(statement.domain)
        union = union.union_add(isl.UnionPwAff.from_pw_aff(value))
    return isl.MultiUnionPwAff.from_union_pw_aff(union)
