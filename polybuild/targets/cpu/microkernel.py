"""What the loops of a band are to an update that one of them repeats on the same element.

For ``C[i][j] += A[i][k] * B[k][j]`` a block of ``C`` can stay in vector registers over ``k``.
Its rows and vectors come from the register file, the tile of ``k`` from the first-level
cache, and that of ``i`` from the second-level cache: with them a panel of ``B`` stays in
the former and a part of ``A`` in the latter (Goto and van de Geijn, Anatomy of
High-Performance Matrix Multiplication, 2008, section 4). Nothing here asks for a product:
what is needed is an update within a permutable band, one member of which leaves the
element alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import islpy as isl

from polybuild.context import CompileContext
from polybuild.targets.cpu.lanes import Update, find_update, kept_parts
from polybuild.targets.cpu.strides import Reference, Stride
from polybuild.transform.tiling.registers import RegisterBlock

_VECTORS = 2
# Beside the block: its column of operands, one that all lanes share, and one to spare.
_OTHER_REGISTERS = _VECTORS + 2
_MOST_ROWS = 8
# Registers of this size come in a file of 32, others of 16 at least.
_WIDEST = 64
_FEWEST_STEPS, _MOST_STEPS = 16, 512
# More rows at once would save little copying, and leave too few tiles to share among threads.
_MOST_PACKED_ROWS = 128
_COLUMNS = 256


# The vectors of a block that has one row, and the widest in bytes: wider ones that are not aligned
# lie across two lines of the cache each.
_LINE_VECTORS = 8
_LINE_WIDTH = 32


@dataclass(frozen=True, slots=True)
class Roles:
    """An update and the positions of the members of the band that are its rows, steps and lanes.

    If ``single`` there is but one row: nothing that is loaded serves another one.
    """

    update: Update
    rows: int
    steps: int
    lanes: int
    single: bool = False


@dataclass(frozen=True, slots=True)
class Sizes:
    """A register tile, and the tiles of rows, steps and columns around it."""

    block: RegisterBlock
    rows: int
    steps: int
    columns: int


def find_roles(node: isl.ScheduleNode, accesses: list[Reference]) -> Roles | None:
    """An update below a permutable band that can stay in registers, None if there is none."""
    if node.band_n_member() < 3 or not node.band_get_permutable():
        return None
    for update in _updates(accesses):
        roles = _roles(update, node.band_n_member())
        if roles:
            return roles
    return None


def find_line(node: isl.ScheduleNode, accesses: list[Reference]) -> Roles | None:
    """An update below a permutable band ``(single row, ...)`` that can stay in registers.

    For ``y[j] += x[k] * B[k][j]``, where ``B`` serves the loops around again: else it streams from
    memory, which wants long rows of it. None if there is none.
    """
    members = node.band_n_member()
    if members < 3 or not node.band_get_permutable():
        return None
    for update in _updates(accesses):
        strides = [update.accumulator.stride(member) for member in range(members)]
        steps = [member for member in range(1, members) if strides[member] is Stride.NONE]
        lanes = [member for member in range(1, members) if strides[member] is Stride.UNIT]
        if not steps or not lanes or not _is_forward(update.accumulator, lanes[0]):
            continue
        streams = [each for each in update.operands if each.stride(lanes[0]) is not Stride.NONE]
        if all(_loads(each, lanes[0]) for each in update.operands) and all(
            _serves_again(node, each) for each in streams
        ):
            return Roles(update, 0, steps[-1], lanes[0], single=True)
    return None


def _updates(accesses: list[Reference]) -> Iterator[Update]:
    """The updates among the statements that make ``accesses``."""
    for name in dict.fromkeys(each.statement.name for each in accesses):
        update = find_update([each for each in accesses if each.statement.name == name])
        if update is not None:
            yield update


def _serves_again(node: isl.ScheduleNode, reference: Reference) -> bool:
    """Whether an element is accessed in several iterations of the loops around ``node``."""
    relation = isl.UnionMap.from_map(reference.access.relation)
    return not relation.reverse().apply_range(node.get_prefix_schedule_union_map()).is_single_valued()


def _roles(update: Update, members: int) -> Roles | None:
    strides = [update.accumulator.stride(member) for member in range(members)]
    steps = [member for member in range(members) if strides[member] is Stride.NONE]
    rows = [member for member in range(members) if strides[member] is Stride.FAR]
    for lanes in range(members):
        if strides[lanes] is not Stride.UNIT or not _is_forward(update.accumulator, lanes):
            continue
        for row in rows:
            for step in reversed(steps):
                roles = Roles(update, row, step, lanes)
                if _feeds_lanes(roles):
                    return roles
    return None


def _is_forward(reference: Reference, member: int) -> bool:
    return reference.matrix[-1][member] == 1


def _feeds_lanes(roles: Roles) -> bool:
    """Whether each operand can be loaded as a vector, or is the same for all lanes, or may be packed."""
    packed = {
        id(each.access.node)
        for part in kept_parts(roles.update, roles.rows, roles.steps, roles.lanes)
        for each in part.references
    }
    return all(_loads(each, roles.lanes) or id(each.access.node) in packed for each in roles.update.operands)


def _loads(reference: Reference, lanes: int) -> bool:
    """Whether the lanes of an operand lie side by side, or are one."""
    stride = reference.stride(lanes)
    return stride is Stride.NONE or (stride is Stride.UNIT and _is_forward(reference, lanes))


def choose_sizes(roles: Roles, members: int, context: CompileContext) -> Sizes:
    """Sizes from the register file and the caches; given tile sizes count for rows and steps.

    A panel of operands and the part of a row block that meets it fill the first-level cache,
    the packed rows a quarter of the second-level one.
    """
    element = roles.update.type.size
    if roles.single:
        block = RegisterBlock(
            1, _LINE_VECTORS, max(2, min(context.machine.vector.bytes, _LINE_WIDTH) // element)
        )
        return _whole_blocks(block, 1, _MOST_STEPS, _COLUMNS)
    registers = 32 if context.machine.vector.bytes == _WIDEST else 16
    rows = min(_MOST_ROWS, (registers - _OTHER_REGISTERS) // _VECTORS)
    block = RegisterBlock(rows, _VECTORS, max(2, context.machine.vector.bytes // element))
    if context.options.tile_sizes:
        given = [*context.options.tile_sizes[:members], *[context.options.tile_sizes[-1]] * members]
        return _whole_blocks(block, given[roles.rows], given[roles.steps], given[roles.lanes])
    steps = context.machine.l1.bytes // (element * (block.columns + block.rows)) // 8 * 8
    steps = max(_FEWEST_STEPS, min(_MOST_STEPS, steps))
    return _whole_blocks(
        block, min(_MOST_PACKED_ROWS, context.machine.l2.bytes // 4 // (element * steps)), steps, _COLUMNS
    )


def _whole_blocks(block: RegisterBlock, rows: int, steps: int, columns: int) -> Sizes:
    return Sizes(block, _multiple(rows, block.rows), steps, _multiple(columns, block.columns))


def _multiple(size: int, unit: int) -> int:
    return max(1, size // unit) * unit
