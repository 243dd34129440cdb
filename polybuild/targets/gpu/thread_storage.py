"""What threads keep for themselves: private arrays, and temporary arrays of which they need few elements.

A private array is one of a thread if every value that it writes is read by it, in the same kernel. Of a
temporary array all values that a thread has at a time are of one point of its loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from polybuild.analysis.dependences import Dependences, PrivateArray
from polybuild.poly import spaces
from polybuild.poly.marks import Mark, MarkKind
from polybuild.scop.model import Array, Scop
from polybuild.storage.allocation_scope import first_buffer, scopes_below, single_members
from polybuild.storage.buffers import Buffer
from polybuild.targets.base import DeviceLimits
from polybuild.targets.gpu.model import GpuMapping
from polybuild.targets.gpu.thread_legality import same_thread
from polybuild.targets.gpu.tree import find_mark


def find_private(mapping: GpuMapping, dependences: Dependences, limits: DeviceLimits) -> tuple[Array, ...]:
    """The private arrays that become variables of a thread: small, and no value crosses threads."""
    return tuple(
        each.array
        for each in dependences.private
        if _is_small(each.array, limits.private_elements) and _stays(each, mapping)
    )


def _stays(private: PrivateArray, mapping: GpuMapping) -> bool:
    return bool(same_thread(mapping, private.flow).is_equal(private.flow))


def _is_small(array: Array, maximum: int) -> bool:
    elements = 1
    for extent in array.extents:
        size = None if extent is None else spaces.constant_value(extent)
        if size is None or size < 1:
            return False
        elements *= size
    return elements <= maximum


def contract_in_threads(
    scop: Scop, mapping: GpuMapping, temporaries: Sequence[Array], limits: DeviceLimits
) -> tuple[Buffer, ...]:
    """Buffers for those of ``temporaries`` of which a thread needs few elements at a time.

    They are what the loops below those of the threads need: threads, and the points that a thread runs
    one after the other, share no value. So one copy for each thread does.
    """
    buffers: list[Buffer] = []
    for array in temporaries:
        found = first_buffer(_scopes(mapping), array, scop, Mark(MarkKind.BUFFER, len(buffers)))
        if found is not None and found[1].cells <= limits.private_elements:
            buffers.append(found[1])
    return tuple(buffers)


def _scopes(mapping: GpuMapping) -> Iterator[isl.ScheduleNode]:
    """The scopes in each kernel that one thread reaches alone, deepest first."""
    for kernel in mapping.kernels:
        mark = find_mark(mapping.schedule.get_root(), kernel.mark())
        top = mark if kernel.is_serial else find_mark(mark, kernel.mark(MarkKind.POINTS)).child(0)
        below = single_members(top.child(0))
        yield from scopes_below(below)
        yield below
