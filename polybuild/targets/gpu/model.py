"""What mapping a tree on a GPU decides: which subtrees are kernels, and on what grid each runs.

A kernel is the subtree under a mark of kind ``KERNEL``. In it stand, from the top: the band over the tiles
that is mapped to the grid; the band over the tiles of its sequential loops, if it has any; under a mark
``THREADS``, the band over the points of these sequential loops; the band over the points of one thread; and,
under a mark ``POINTS``, the band over the threads of a block. Prologues and epilogues stand in a
sequence with the sequential loops (``epilogues``): a band over the points of one thread and, under a mark
``RESULTS``, the band over the threads. A serial kernel is any subtree, run by one
thread. In one of a phase of tiles over time stand the band over the tiles, on the grid; the band over the
strips of a tile, if it has any; under a mark ``STEPS``, the band over its steps; the band over the points of
one thread; and, under a mark ``POINTS``, the band over the threads of a block.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

import islpy as isl

from polybuild.analysis.reductions import Reduction
from polybuild.scop.model import Array
from polybuild.targets.device import Kernel
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class GpuMapping:
    """A tree whose marks name the kernels; what is above them runs on the host.

    ``remarks`` are about the tiles of stencils. ``shared`` are the reductions whose terms threads along x
    share, by the names of their statements. ``exceeded`` says of what tiles that were asked for take too
    much. Arrays ``inside`` are in shared memory alone, a box for each tile.
    """

    schedule: isl.Schedule
    kernels: tuple[Kernel, ...]
    remarks: tuple[str, ...] = ()
    shared: Mapping[str, Reduction] = field(default_factory=dict)
    exceeded: tuple[str, ...] = ()
    inside: tuple[Array, ...] = ()

    @property
    def in_steps(self) -> bool:
        """Whether stencils have tiles over time."""
        return any(each.in_steps for each in self.kernels)
