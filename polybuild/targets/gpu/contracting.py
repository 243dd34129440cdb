"""Temporary arrays in variables of the threads: all values that one holds are of one point of its loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from polybuild.poly.marks import Mark, MarkKind
from polybuild.scop.model import Array, Scop
from polybuild.storage.allocation_scope import first_buffer, scopes_below, single_members
from polybuild.storage.buffers import Buffer
from polybuild.targets.gpu.model import GpuMapping
from polybuild.targets.gpu.private import MOST_ELEMENTS
from polybuild.targets.gpu.tree import find_mark


def contract_in_threads(scop: Scop, mapping: GpuMapping, temporaries: Sequence[Array]) -> tuple[Buffer, ...]:
    """Buffers for those of ``temporaries`` of which a thread needs few elements at a time.

    They are what the loops below those of the threads need: threads, and the points that a thread runs
    one after the other, share no value. So one copy for each thread does.
    """
    buffers: list[Buffer] = []
    for array in temporaries:
        found = first_buffer(_places(mapping), array, scop, Mark(MarkKind.BUFFER, len(buffers)))
        if found is not None and found[1].cells <= MOST_ELEMENTS:
            buffers.append(found[1])
    return tuple(buffers)


def _places(mapping: GpuMapping) -> Iterator[isl.ScheduleNode]:
    """The places in each kernel that one thread reaches alone, deepest first."""
    for kernel in mapping.kernels:
        mark = find_mark(mapping.schedule.get_root(), kernel.mark())
        top = mark if kernel.is_serial else find_mark(mark, kernel.mark(MarkKind.POINTS)).child(0)
        below = single_members(top.child(0))
        yield from scopes_below(below)
        yield below
