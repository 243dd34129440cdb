"""Which arrays a thread owns: every value written by it is read by it, in the same kernel."""

from __future__ import annotations

from polybuild.analysis.dependences import Dependences, PrivateArray
from polybuild.poly import spaces
from polybuild.scop.model import Array
from polybuild.targets.gpu.model import GpuMapping
from polybuild.targets.gpu.ownership import same_thread

# that a thread keeps of one array
MOST_ELEMENTS = 64


def find_private(mapping: GpuMapping, dependences: Dependences) -> tuple[Array, ...]:
    """The private arrays that become variables of a thread: small, and no value crosses threads."""
    return tuple(
        each.array for each in dependences.private if _is_small(each.array) and _stays(each, mapping)
    )


def _stays(private: PrivateArray, mapping: GpuMapping) -> bool:
    return bool(same_thread(mapping, private.flow).is_equal(private.flow))


def _is_small(array: Array) -> bool:
    elements = 1
    for extent in array.extents:
        size = None if extent is None else spaces.constant_value(extent)
        if size is None or size < 1:
            return False
        elements *= size
    return elements <= MOST_ELEMENTS
