"""Micro-kernels: a block of results stays in vector registers while one loop updates it again and again.

For ``C[i][j] += A[i][k] * B[k][j]`` a block of ``C`` can stay in vector registers over ``k``. As in
BLAS the loops are called M (``i``), K (``k``) and N (``j``). The block has MR x NR elements, which the
register file holds; the tile of K has KC iterations, for the first-level cache, and that of M has MC, for
the second-level cache: with them a panel of ``B`` stays in the former and a part of ``A`` in the latter
(Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008, section 4).
Nothing here asks for a product: what is needed is an update within a permutable band, one member of
which leaves the element alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import islpy as isl

from polybuild.c.explicit_conversions import bytes_of
from polybuild.c.types import IntegerType
from polybuild.context import CompileContext
from polybuild.machine.model import Machine
from polybuild.targets.cpu.lanes import Update, find_update, packable_parts
from polybuild.targets.cpu.strides import Reference, Stride
from polybuild.transform.tiling.registers import RegisterBlock
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class MicroKernel:
    """An update and the positions of the members of the band that are its loops M, K and N.

    Results that are ``n`` apart lie side by side in memory, all ``k`` update the same ones. If M has a
    ``single`` iteration, nothing that is loaded serves another one. ``steps`` are the updates in one
    iteration of K, in loops of a few iterations.
    """

    update: Update
    m: int
    k: int
    n: int
    single: bool = False
    steps: int = 1

    @property
    def members(self) -> tuple[int, int, int]:
        """The positions of M, K and N."""
        return self.m, self.k, self.n


@dataclass(frozen=True, slots=True)
class MicroKernelSizes:
    """The block in registers, MR x NR, and the tiles of M, K and N around it."""

    block: RegisterBlock
    mc: int
    kc: int
    nc: int


def find_micro_kernel(
    node: isl.ScheduleNode, accesses: list[Reference], steps: int = 1
) -> MicroKernel | None:
    """An update below a permutable band that can stay in registers, None if there is none.

    Each iteration of the band runs it for so many ``steps``. What is read in one of several is not packed.
    """
    if node.band_n_member() < 3 or not node.band_get_permutable():
        return None
    for update in _updates(accesses):
        kernel = _micro_kernel(update, node.band_n_member())
        if kernel and (steps == 1 or all(_loads(each, kernel.n) for each in update.operands)):
            return replace(kernel, steps=steps)
    return None


def find_single_row_kernel(node: isl.ScheduleNode, accesses: list[Reference]) -> MicroKernel | None:
    """An update below a permutable band ``(single row, ...)`` that can stay in registers.

    For ``y[j] += x[k] * B[k][j]``, where ``B`` serves the loops around again, or ``y[j] += x[k] * b[j + k]``:
    what streams from memory wants long rows of it. None if there is none.
    """
    members = node.band_n_member()
    if members < 3 or not node.band_get_permutable():
        return None
    for update in _updates(accesses):
        strides = [update.accumulator.stride(member) for member in range(members)]
        ks = [member for member in range(1, members) if strides[member] is Stride.NONE]
        ns = [member for member in range(1, members) if strides[member] is Stride.UNIT]
        if not ks or not ns or not _is_forward(update.accumulator, ns[0]) or is_dot_product(update, ks[-1]):
            continue
        streams = [each for each in update.operands if each.stride(ns[0]) is not Stride.NONE]
        if all(_loads(each, ns[0]) for each in update.operands) and all(map(_serves_again, streams)):
            return MicroKernel(update, 0, ks[-1], ns[0], single=True)
    return None


def _updates(accesses: list[Reference]) -> Iterator[Update]:
    """The updates among the statements that make ``accesses``."""
    for name in dict.fromkeys(each.statement.name for each in accesses):
        update = find_update([each for each in accesses if each.statement.name == name])
        if update is not None:
            yield update


def _serves_again(reference: Reference) -> bool:
    """Whether an element is accessed in several iterations."""
    return not reference.access.relation.is_injective()


def _micro_kernel(update: Update, members: int) -> MicroKernel | None:
    """The loops M, K and N of ``update``: of several that may be M, one whose iterations share vectors.

    Of those that share as much it is the innermost: batches around are often small.
    """
    strides = [update.accumulator.stride(member) for member in range(members)]
    ks = [member for member in range(members) if strides[member] is Stride.NONE]
    ms = [member for member in range(members) if strides[member] is Stride.FAR]
    for n in range(members):
        if strides[n] is not Stride.UNIT or not _is_forward(update.accumulator, n):
            continue
        vectors = [each for each in update.operands if each.stride(n) is Stride.UNIT]
        own = {m: sum(each.stride(m) is not Stride.NONE for each in vectors) for m in ms}
        for m in sorted(ms, key=lambda m: (own[m], -m)):
            for k in reversed(ks):
                kernel = MicroKernel(update, m, k, n)
                if _feeds_lanes(kernel) and not is_dot_product(update, k):
                    return kernel
    return None


def is_dot_product(update: Update, k: int) -> bool:
    """Whether compilers run the loop ``k`` with instructions that add up products of small integers.

    They take twice the lanes of what the products are converted to, if neighbours lie side by side.
    """
    return isinstance(update.type, IntegerType) and all(
        isinstance(each.access.array.element, IntegerType)
        and 2 * each.access.array.element.width <= update.type.width
        and each.stride(k) is Stride.UNIT
        for each in update.operands
    )


def _is_forward(reference: Reference, member: int) -> bool:
    return reference.matrix[-1][member] == 1


def _feeds_lanes(kernel: MicroKernel) -> bool:
    """Whether each operand can be loaded as a vector, or is the same for all lanes, or may be packed."""
    packed = {
        id(each.access.node)
        for part in packable_parts(kernel.update, *kernel.members)
        for each in part.references
    }
    return all(_loads(each, kernel.n) or id(each.access.node) in packed for each in kernel.update.operands)


def _loads(reference: Reference, n: int) -> bool:
    """Whether the lanes of an operand lie side by side, or are one."""
    stride = reference.stride(n)
    return stride is Stride.NONE or (stride is Stride.UNIT and _is_forward(reference, n))


def block_rows(machine: Machine) -> int:
    """MR: how many rows of vectors the registers hold, beside what they are computed from."""
    vectors = machine.tiles.block_vectors
    others = vectors + 2  # a column of operands, one that all lanes share, and one to spare
    return min(machine.tiles.block_rows, (machine.vector.registers - others) // vectors)


def choose_sizes(kernel: MicroKernel, members: int, context: CompileContext) -> MicroKernelSizes:
    """Sizes from the register file and the caches; given tile sizes count for M and K.

    A panel of operands, KC x NR, and the part of a row block that meets it, MR x KC, fill the first-level
    cache, the packed MC x KC a quarter of the second-level one.
    """
    machine, given = context.machine, context.options.tile_sizes
    element, vector, tiles = bytes_of(kernel.update.type), machine.vector.bytes, machine.tiles
    if kernel.single:
        # wider vectors that are not aligned lie across two lines each
        width = min(vector, machine.memory.line // 2)
        block = RegisterBlock(1, tiles.block_rows, max(2, width // element))
        return _whole_blocks(block, 1, tiles.block_updates, tiles.width)
    block = RegisterBlock(block_rows(machine), tiles.block_vectors, max(2, vector // element))
    if given:
        sizes = [*given[:members], *[given[-1]] * members]
        return _whole_blocks(block, sizes[kernel.m], sizes[kernel.k], sizes[kernel.n])
    kc = multiple(machine.l1.bytes // (element * (block.nr + block.mr)), 8)
    # a block is loaded and stored once for that many updates
    kc = max(2 * tiles.block_rows, min(tiles.block_updates, kc) // kernel.steps)
    return _whole_blocks(block, min(tiles.height, machine.l2.bytes // 4 // (element * kc)), kc, tiles.width)


def _whole_blocks(block: RegisterBlock, mc: int, kc: int, nc: int) -> MicroKernelSizes:
    return MicroKernelSizes(block, multiple(mc, block.mr), kc, multiple(nc, block.nr))


def multiple(size: int, unit: int) -> int:
    """The largest multiple of ``unit`` up to ``size``, one at least."""
    return max(1, size // unit) * unit
