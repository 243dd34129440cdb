"""Tile sizes from the caches: the largest tile whose footprint stays resident."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from polybuild.analysis.operations import bytes_of_element
from polybuild.context import CompileContext
from polybuild.effort import STREAM_SIZES, TILE_SIZES
from polybuild.machine.model import DOUBLE, Machine, Memory
from polybuild.poly.relations import span
from polybuild.targets.cpu.strides import Reference, Stride
from polybuild.transform.bands import coincident_members


def is_worth_tiling(
    node: isl.ScheduleNode,
    accesses: list[Reference],
    context: CompileContext,
    reducing: int = 0,
    *,
    inner: int | None = None,
    scalar: bool = False,
) -> bool:
    """Whether a tile of a band would find data in the cache that the plain loops would not.

    ``reducing`` members carry nothing but reductions, whose accumulators are not in ``accesses``. Inside of
    the ``inner`` member there is no loop. The code of a ``scalar`` band keeps its order within tiles.
    """
    members = node.band_n_member()
    if members < 2 or not node.band_get_permutable():
        return False
    if not context.options.tile_sizes and is_resident(accesses, context.machine.l2.bytes // 4):
        return False
    free = len(coincident_members(node))
    # values flow from one iteration to another, and not just along the rows that the last loop walks along
    rows = scalar and free == members - 1 and _stays_in_rows(node, accesses)
    carries = free + reducing < members and not rows
    # bytes that stay in the first-level cache anyway, as does what the last loop leaves where it is
    few = 0 if context.options.tile_sizes else context.machine.l1.bytes // 4
    others = range(members - 1 if rows else members)
    return carries or any(
        (_is_met_again(each, others, members) or _is_crossed(each, inner, members))
        and not is_resident([each], few)
        for each in accesses
        if each.matrix
    )


def _is_met_again(access: Reference, others: Sequence[int], members: int) -> bool:
    """Whether iterations of one of the members ``others`` meet the same elements, a part of them in a tile.

    What loops inside of the band walk along, whatever its iteration, is all of it in each tile, too.
    """
    strides = [access.stride(member) for member in range(members)]
    return any(strides[member] is Stride.NONE for member in others) and any(
        each is not Stride.NONE for each in strides
    )


def _is_crossed(access: Reference, inner: int | None, members: int) -> bool:
    """Whether the ``inner`` member goes across rows that another one goes along, as in transpositions.

    Plain loops come back to a line after as many others as there are rows.
    """
    if inner is None or access.stride(inner) is not Stride.FAR:
        return False
    return any(access.stride(member) is Stride.UNIT for member in range(members))


def _stays_in_rows(node: isl.ScheduleNode, accesses: list[Reference]) -> bool:
    """Whether the last member of a band walks along rows of all arrays, and is the only one that carries."""
    last = node.band_n_member() - 1
    rows = all(each.stride(last) is not Stride.FAR for each in accesses)
    return rows and last not in coincident_members(node)


def tile_sizes(
    accesses: list[Reference], members: int, vector: int | None, context: CompileContext, pages: int = 1
) -> tuple[int, ...]:
    """One size per band member; a vector loop along rows gets so many ``pages`` of doubles.

    The vector member gets a size of its own; the others get the largest common
    size with which the tile's data fill at most half of the second-level cache.
    """
    if context.options.tile_sizes:
        given = context.options.tile_sizes[:members]
        return given + (given[-1],) * (members - len(given))
    memory = context.machine.memory
    width = None if vector is None else vector_size(accesses, vector, memory, pages)
    common = (*STREAM_SIZES, *TILE_SIZES) if width == memory.streams else TILE_SIZES
    for size in common:
        sizes = tuple(width if width and each == vector else size for each in range(members))
        if footprint(accesses, sizes) <= context.machine.l2.bytes // 2:
            return sizes
    return sizes


def shared_size(node: isl.ScheduleNode, position: int, size: int, machine: Machine, *, vector: bool) -> int:
    """The size of a tile along a band member that threads share, made smaller if they would get too few.

    Where the number of iterations is known, there are some tiles for each of many threads, all of one size:
    a line at least, of doubles or, along rows, of the smallest elements.
    """
    trips = trips_of(node, position)
    if trips is None:
        return size
    minimum = machine.memory.line if vector else machine.memory.line // DOUBLE
    tiles = max(-(-trips // size), min(machine.threads.tiles, trips // minimum))
    even = -(-trips // tiles)
    return min(size, max(minimum, even // minimum * minimum) if vector else even)


def trips_of(node: isl.ScheduleNode, position: int) -> int | None:
    """How many values a band member has, None where parameters tell."""
    values = node.band_get_partial_schedule().get_union_pw_aff(position)
    return span(values.intersect_domain(node.get_domain()))


def longest_strip(
    accesses: Sequence[Reference], sizes: tuple[int, ...], position: int, machine: Machine
) -> int:
    """How wide tiles of ``sizes`` may be along a band member: what they come back to stays in the L2 cache.

    At least as wide as they are, and no wider where columns are gathered.
    """
    reused = [each for each in accesses if each.matrix and is_reused(each)]
    width = sizes[position]
    if any(each.stride(position) is Stride.FAR for each in accesses):
        return width
    while footprint(reused, (*sizes[:position], 2 * width, *sizes[position + 1 :])) <= machine.l2.bytes // 2:
        width *= 2
        if width >= machine.l2.bytes:  # nothing of it is as long as a strip
            break
    return width


def front_sizes(
    accesses: list[Reference], members: int, vector: int | None, context: CompileContext, pages: int = 1
) -> tuple[int, ...]:
    """The sizes of tiles for a wavefront: the two members that are summed have tiles of the same size.

    Otherwise the bounds of the skewed loops have no simple form. Where a vector loop gathers columns that is
    the common size: a column as short as its own is passed before what it waits for has come from memory.
    """
    if context.options.tile_sizes:
        return tile_sizes(accesses, members, vector, context, pages)
    if vector is not None and _gathered(accesses, vector):
        vector = None
    sizes = tile_sizes(accesses, members, vector, context, pages)
    return (min(sizes[:2]),) * 2 + sizes[2:]


def vector_size(accesses: list[Reference], vector: int, memory: Memory, pages: int) -> int:
    """The size of a tile along the loop for the vector unit.

    It is long along rows, so that vectors and prefetchers work at full width. Where it gathers a column these
    are no more rows at once than prefetchers follow, and some more if the rows are reused. Accesses that data
    direct walk along no columns.
    """
    gathered = _gathered(accesses, vector)
    if not gathered:
        return pages * memory.page // DOUBLE
    return 4 * memory.streams if all(is_reused(each) for each in gathered) else memory.streams


def _gathered(accesses: Sequence[Reference], vector: int) -> list[Reference]:
    """The accesses that a vector loop gathers from columns: it is known how far apart their elements are."""
    linear = (each for each in accesses if None not in (row[vector] for row in each.matrix))
    return [each for each in linear if each.stride(vector) is Stride.FAR]


def is_reused(reference: Reference) -> bool:
    """Whether some member of the band leaves the access on the same elements."""
    columns = zip(*reference.matrix, strict=True)
    return not reference.matrix or any(all(step == 0 for step in column) for column in columns)


def footprint(accesses: list[Reference], sizes: Sequence[int]) -> int:
    """Bytes that one tile touches: per array, the largest box of one of its references."""
    boxes: dict[str, int] = {}
    for each in accesses:
        size = element_size(each)
        for extent in each.extent(tuple(sizes)):
            size *= extent
        name = each.access.array.name
        boxes[name] = max(size, boxes.get(name, 0))
    return sum(boxes.values())


def is_resident(accesses: list[Reference], cache: int) -> bool:
    """Whether the arrays of a nest, as they are declared, fit in ``cache`` bytes."""
    bytes_of: dict[str, int] = {}
    for each in accesses:
        size = element_size(each)
        for extent in each.access.array.extents:
            largest = None if extent is None else extent.max_val()
            if largest is None or not largest.is_int():
                return False
            size *= largest.to_python()
        bytes_of[each.access.array.name] = size
    return sum(bytes_of.values()) <= cache


def element_size(reference: Reference) -> int:
    """Bytes of one element of the array of a reference."""
    return bytes_of_element(reference.access.array)
