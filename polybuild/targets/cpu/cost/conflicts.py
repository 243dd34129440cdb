"""What it costs to store columns of an array, which lie in few sets of a cache if rows are a power of two.

``for (i) for (j) b[j][i] = a[i][j]`` comes to the neighbours of the elements of a column when it has been
along all of the column: they are in the second cache then, unless rows of 1024 elements, say, let lines of
the column drive each other out. Where whether they do depends on a parameter, this is what it costs on
average.
Columns that are only read suffer less, and what is gained by other orders for them is seen without this.
"""

from __future__ import annotations

import islpy as isl

from polybuild.effort import POWERS_OF_TWO
from polybuild.machine.model import Machine
from polybuild.poly.spaces import constant_value
from polybuild.scop.model import AccessKind
from polybuild.targets.cpu.cost.core import Body
from polybuild.targets.cpu.cost.extents import Extents
from polybuild.targets.cpu.strides import Reference, Stride
from polybuild.targets.cpu.tilesizes import element_size


def time_of_conflicts(body: Body, extents: Extents, point: isl.Set, machine: Machine) -> float:
    """Nanoseconds in all instances of ``body``, with ``extents``, for values of parameters at ``point``."""
    if not body.around:
        return 0.0
    *outer, inner = body.around
    if inner.unrolled or inner.registers or any(each.lanes for each in body.around):
        return 0.0
    columns = {
        (each.access.array.name, each.matrix): _chance(each, extents.trips[inner.dim], point, machine)
        for each in body.references
        if each.access.kind is not AccessKind.READ
        and each.stride(inner.dim) is Stride.FAR
        and any(each.stride(loop.dim) is Stride.UNIT for loop in outer)
    }
    return machine.memory.conflict * extents.count * sum(columns.values())


def _chance(reference: Reference, trips: float, point: isl.Set, machine: Machine) -> float:
    """How likely it is that ``trips`` lines of the column that is stored drive each other out.

    Rows whose length is a number do, or do not: if their distance is a multiple of what each way of the first
    cache holds, a column of as many lines as there are ways is in a single set.
    """
    distance = _bytes_between(reference, point)
    length = reference.access.array.extents[-1]
    if length is not None and constant_value(length) is not None:
        in_one_set = distance > 0 and distance % (machine.l1.bytes // machine.l1.ways) == 0
        return float(in_one_set and trips >= machine.l1.ways)
    return POWERS_OF_TWO if trips * distance > machine.l2.bytes else 0.0


def _bytes_between(reference: Reference, point: isl.Set) -> int:
    """How many bytes the rows of the array of ``reference`` are apart; 0 if that is not known."""
    extent = reference.access.array.extents[-1]
    if extent is None or len(reference.matrix) == 1:
        return 0
    length = extent.intersect_params(point).max_val()
    return int(length.to_python()) * element_size(reference) if length.is_int() else 0
