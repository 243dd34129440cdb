"""What mapping a tree on a GPU decides: which subtrees are kernels, and on what grid each runs.

A kernel is the subtree under a mark node ``kernel<k>``. In it stand, from the top:
the band over the tiles that is mapped to the grid; the band over the tiles of its
sequential loops, if it has any; under a mark node ``threads<k>``, the band over the
points of these sequential loops; the band over the points of one thread; and, under
a mark node ``points<k>``, the band over the threads of a block. A serial kernel is
any subtree, run by one thread.
"""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from polybuild.poly.marks import Mark, MarkKind

GRID_LIMIT = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Axis:
    """One dimension of the grid or of a block: the isl parameter that is its index, and how many there are.

    Iteration ``i`` of the loop that is mapped to it runs at index ``i mod size``.
    """

    parameter: str
    size: int


@dataclass(frozen=True, slots=True)
class Kernel:
    """The kernel of number ``index``; ``blocks`` and ``threads`` are outermost first, x last.

    ``tile`` has the sizes of all members of its band; the first ``len(blocks)``
    members are mapped to the grid and, of their points, to the threads. Both are
    empty for a serial kernel.
    """

    index: int
    blocks: tuple[Axis, ...] = ()
    threads: tuple[Axis, ...] = ()
    tile: tuple[int, ...] = ()

    def mark(self, kind: MarkKind = MarkKind.KERNEL) -> Mark:
        """The mark of ``kind`` that the tree of this kernel has."""
        return Mark(kind, self.index)

    @property
    def is_serial(self) -> bool:
        """Whether one thread runs it all."""
        return not self.blocks

    @property
    def axes(self) -> tuple[Axis, ...]:
        """All dimensions of the grid and of its blocks."""
        return self.blocks + self.threads


@dataclass(frozen=True, slots=True)
class GpuMapping:
    """A tree whose marks name the kernels; what is above them runs on the host."""

    schedule: isl.Schedule
    kernels: tuple[Kernel, ...]
