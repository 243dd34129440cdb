"""Marks: what is said of the subtree below a mark node of a schedule tree.

isl knows a mark by its name alone. Here is the only place that makes such a name or reads one.
"""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import TYPE_CHECKING

from polybuild.values import dataclass

if TYPE_CHECKING:  # what explains a result of the cache needs no isl
    import islpy as isl


class MarkKind(Enum):
    """What a mark says; its name in isl begins with the value."""

    # of the first member of the band right below
    PARALLEL = "parallel"  # its iterations are shared among threads
    SERIAL = "serial"  # it cannot be, as iterations would need each other's private values
    SIMD = "simd"  # its iterations are computed in the lanes of the vector unit
    INSPECTOR = "inspector"  # it looks at the data that a region will use
    # of the band right below, for tiles that run in phases (see ``transform.tiling.phases``)
    TILE_WAVE = "tile-wave"
    PARALLEL_TILES = "parallel-tiles"
    TILE_STRIPS = "tile-strips"
    # of the whole subtree
    TILE_POINTS = "tile-points"  # the instances of one tile
    EXPANDED_TILES = "expanded-tiles"  # tiles in each of which expanded variables have a buffer
    OVERLAPPED_TILES = "overlapped-tiles"  # tiles that compute what they need of other stages themselves
    UNROLLED = "full-unrolling"
    BUFFER = "buffer"  # a temporary array is kept in a buffer, declared here
    ACCUMULATOR = "accumulator"  # reductions accumulate in a variable, declared here
    REGISTERS = "registers"  # the results of a register tile are held in vector variables
    PACKED = "packed"  # operands of register tiles are packed into a buffer
    PARTIAL = "partial"  # what is left of register tiles where rows and columns end
    LANES = "lanes"  # the loops below are over the rows, vectors and lanes of a block, written at once
    RANKS = "ranks"  # ranks share the loop of the first member of the band right below
    # of the kernels of a GPU (see ``targets.gpu.model``)
    KERNEL = "kernel"
    THREADS = "threads"
    POINTS = "points"
    RESULTS = "results"  # the same of a prologue or an epilogue of a kernel
    FULL_TILE = "full"
    STEPS = "steps"  # the threads of a block meet in each iteration of the band right below


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark; ``index`` numbers those of one kind that stand for different things."""

    kind: MarkKind
    index: int | None = None

    @property
    def name(self) -> str:
        """The name by which isl knows it."""
        return self.kind.value if self.index is None else f"{self.kind.value}{self.index}"

    @classmethod
    def of_id(cls, identifier: isl.Id) -> Mark:
        """The mark that isl knows as ``identifier``; ValueError if none is called so."""
        return _of_name(str(identifier.get_name()))


@cache
def _of_name(name: str) -> Mark:
    kind = name.rstrip("0123456789")
    digits = name[len(kind) :]
    return Mark(MarkKind(kind), int(digits) if digits else None)
