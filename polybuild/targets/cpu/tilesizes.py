"""Tile sizes from the caches: the largest tile whose footprint stays resident."""

from __future__ import annotations

from collections.abc import Sequence

from polybuild.options import Options
from polybuild.source.types import Floating, Integer
from polybuild.targets.cpu.strides import Reference

_VECTOR_TILE = 512
_SIZES = (128, 64, 48, 32, 24, 16, 8)


def tile_sizes(
    accesses: list[Reference], members: int, vector: int | None, options: Options
) -> tuple[int, ...]:
    """One size per band member.

    The vector member gets long tiles, so that its loop runs at full width; the
    others get the largest common size with which the tile's data fill at most
    half of the second-level cache.
    """
    if options.tile_sizes:
        given = options.tile_sizes[:members]
        return given + (given[-1],) * (members - len(given))
    for size in _SIZES:
        sizes = tuple(_VECTOR_TILE if each == vector else size for each in range(members))
        if footprint(accesses, sizes) <= options.l2_size // 2:
            return sizes
    return sizes


def footprint(accesses: list[Reference], sizes: Sequence[int]) -> int:
    """Bytes that one tile touches: per array, the box around all its references."""
    boxes: dict[str, tuple[int, int]] = {}
    for each in accesses:
        elements = 1
        for extent in each.extent(tuple(sizes)):
            elements *= extent
        size = element_size(each)
        known = boxes.get(each.access.array.name, (0, size))
        boxes[each.access.array.name] = (max(known[0], elements), size)
    return sum(elements * size for elements, size in boxes.values())


def element_size(reference: Reference) -> int:
    """Bytes of one element of the array."""
    element = reference.access.array.element
    if isinstance(element, Floating):
        return element.size
    if isinstance(element, Integer):
        return max(1, element.width // 8)
    return 8


def has_reuse(accesses: list[Reference], members: int) -> bool:
    """Whether some member leaves some access to an array in place, so that a tile reuses its data."""
    return any(
        all(row[member] == 0 for row in each.matrix)
        for each in accesses
        if each.matrix
        for member in range(members)
    )
