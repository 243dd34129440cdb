"""The loops around a micro-kernel in the schedule tree, and expressions of where things are in them."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from polybuild.poly.relations import sets_of
from polybuild.targets.cpu.microkernel import MicroKernel, MicroKernelSizes
from polybuild.targets.model import Offset
from polybuild.transform.tiling.registers import BlockSchedule
from polybuild.values import dataclass

# Positions in the band (M, K, N) within a block.
M, K, N = range(3)


@dataclass(frozen=True, slots=True)
class BlockDepths:
    """The schedule dimensions around a block; ``panel`` is the one that counts panels of N."""

    panel: int

    @property
    def row_block(self) -> int:
        """The dimension that counts blocks of MR iterations of M."""
        return self.panel + 1

    @property
    def inner(self) -> int:
        """The first dimension within a block."""
        return self.panel + 2


@dataclass(frozen=True, slots=True)
class BlockedNest:
    """A band ``(M, K, N)`` within blocks: ``full`` are the time stamps that register tiles take.

    Of blocks that are not full, partial ones may take those that are ``begun`` before all else in the block.
    """

    kernel: MicroKernel
    sizes: MicroKernelSizes
    depths: BlockDepths
    band: isl.ScheduleNode
    schedule: BlockSchedule
    full: isl.Set
    begun: isl.Set | None = None

    @property
    def is_mixed(self) -> bool:
        """Whether other statements are in the band, or the update reads other elements of what it writes."""
        update = self.kernel.update
        written = update.accumulator.access.array
        others = len(sets_of(self.band.get_domain())) > 1
        return others or any(each.access.array is written for each in update.operands)

    @property
    def block_instances(self) -> list[int | tuple[int, int]]:
        """What tells the vectors of a block apart: all loops around it, the row, the vector."""
        inner = self.depths.inner
        return [*range(inner), inner + M, (inner + N, self.sizes.block.lanes)]


def offsets(values: Sequence[isl.PwAff], sizes: Sequence[int]) -> tuple[Offset, ...]:
    """``values`` within tiles of ``sizes``."""
    return tuple(Offset(value, size) for value, size in zip(values, sizes, strict=True))


def dimensions(instances: isl.Map, first: int) -> tuple[isl.PwAff, ...]:
    """The dimensions of copy statements' instances, the range of a map, from ``first`` on."""
    local = isl.LocalSpace.from_space(instances.get_space().range())
    count = instances.dim(isl.dim_type.out)
    return tuple(isl.PwAff.var_on_domain(local, isl.dim_type.set, each) for each in range(first, count))


def chunk(value: isl.PwAff, size: int) -> isl.PwAff:
    """The number of the chunk of ``size`` that ``value`` lies in."""
    return value.scale_down_val(isl.Val(size)).floor()
