"""How many sectors of memory a warp asks for when its threads access an array side by side.

Memory is read in sectors; the threads of a warp that touch neighbours share them. What each thread finds in
registers or in shared memory is not asked for.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

import islpy as isl

from polybuild.machine.model import Multiprocessor
from polybuild.poly.marks import MarkKind
from polybuild.poly.relations import maps_of
from polybuild.poly.trees import prefix_schedule
from polybuild.scop.model import Access, AccessKind, Scop, Statement
from polybuild.storage.buffers import element_size
from polybuild.targets.device import Kernel, MemoryRequest, Tile
from polybuild.targets.gpu.coalescing import steps_along, steps_through_remainders
from polybuild.targets.gpu.tree import find_mark, result_bands
from polybuild.values import dataclass

_in = isl.dim_type.in_


@dataclass(frozen=True, slots=True)
class WarpAccess:
    """What the instances of ``statement`` ask for by ``accesses``, whose subscripts differ by numbers alone.

    From a thread to the next one along each mapped loop the subscripts go on by ``steps``; None: each to
    another place.
    """

    statement: Statement
    accesses: tuple[Access, ...]
    steps: tuple[list[int] | None, ...]

    @property
    def first(self) -> Access:
        """One of them; the others go on by the same steps."""
        return self.accesses[0]


def memory_requests(
    accesses: Sequence[WarpAccess], kernel: Kernel, tiles: Sequence[Tile], processor: Multiprocessor
) -> tuple[MemoryRequest, ...]:
    """Of each array that the ``kernel`` finds in memory, not in ``tiles``, the worst request."""
    kept = {id(each.access.node) for tile in tiles for each in tile.references}
    found: dict[tuple[str, bool], MemoryRequest] = {}
    for each in accesses:
        if any(id(one.node) not in kept for one in each.accesses):
            one = request_of(each, kernel, processor)
            key = one.array.name, one.writes
            if key not in found or one.sectors > found[key].sectors:
                found[key] = one
    return tuple(found.values())


def warp_accesses(
    scop: Scop, mark: isl.ScheduleNode, kernel: Kernel, processor: Multiprocessor
) -> Iterator[WarpAccess]:
    """What the ``kernel`` below ``mark`` accesses, in its prologues and epilogues, too.

    Its loops are not bound to blocks and threads yet.
    """
    if kernel.is_serial:
        return
    lanes = _lanes(kernel, processor.warp)
    for band in (find_mark(mark, kernel.mark(MarkKind.POINTS)).child(0), *result_bands(mark, kernel)):
        stamps, first = _stamps(band, kernel), band.get_schedule_depth()
        for statement in scop.statements:
            asking = (each for each in statement.accesses if each.array.extents)
            for alike in _alike(asking) if statement.name in stamps else ():
                steps = (
                    _steps(alike[0], stamps[statement.name], first + axis) if count > 1 else []
                    for axis, count in enumerate(lanes)
                )
                yield WarpAccess(statement, tuple(alike), tuple(steps))


def _stamps(points: isl.ScheduleNode, kernel: Kernel) -> dict[str, isl.Map]:
    """When the instances of each statement below the band ``points`` run."""
    # below the points of a step are the loops of the source, all of which say the same again
    own, whole = points.band_get_partial_schedule_union_map(), points.get_subtree_schedule_union_map()
    below = own if kernel.in_steps else whole
    stamps = prefix_schedule(points).flat_range_product(below).intersect_domain(points.get_domain())
    return {each.get_tuple_name(_in): each for each in maps_of(stamps)}


def _alike(accesses: Iterable[Access]) -> list[list[Access]]:
    """The ``accesses`` whose subscripts differ by numbers alone together: they go on by the same steps."""
    found: dict[tuple[object, ...], list[Access]] = {}
    for each in accesses:
        single = each.relation.is_single_valued()
        element = isl.PwMultiAff.from_map(each.relation) if single else None
        dims = range(each.relation.dim(isl.dim_type.out))
        pieces = [element.get_pw_aff(dim).get_pieces() for dim in dims] if element is not None else [[]]
        if any(len(one) != 1 for one in pieces):
            found[id(each),] = [each]
            continue
        linear = (value.set_constant_val(isl.Val(0)) for ((_, value),) in pieces)
        found.setdefault((each.array.name, each.kind, *map(str, linear)), []).append(each)
    return list(found.values())


def _steps(access: Access, date: isl.Map, loop: int) -> list[int] | None:
    found = steps_along(access, date, loop)
    return steps_through_remainders(access, date, loop) if found is None else found


def _lanes(kernel: Kernel, warp: int) -> list[int]:
    """How the threads of a warp lie along the mapped loops."""
    sizes = [axis.size for axis in kernel.threads]
    if kernel.warp is not None:
        return [*[1] * (len(sizes) - len(kernel.warp)), *kernel.warp]
    lanes, left = [1] * len(sizes), warp
    for position in reversed(range(len(sizes))):
        lanes[position] = min(left, sizes[position])
        left //= lanes[position]
    return lanes


def request_of(asking: WarpAccess, kernel: Kernel, processor: Multiprocessor) -> MemoryRequest:
    """What a warp of ``kernel`` asks memory for by one of the accesses ``asking``."""
    access, lanes, sector = asking.first, _lanes(kernel, processor.warp), processor.sector
    size, writes = element_size(access.array), access.kind is not AccessKind.READ
    places: set[tuple[tuple[int, ...], tuple[int, ...]]] = set()
    for lane in itertools.product(*map(range, lanes)):
        place = [0] * len(access.array.extents)
        unknown = tuple(at for at, each in zip(lane, asking.steps, strict=True) if each is None)
        for at, each, axis in zip(lane, asking.steps, kernel.threads, strict=True):
            for dim, step in enumerate(each or ()):
                place[dim] += at * axis.run * step
        places.add((unknown, tuple(place)))
    sectors = {(unknown, place[:-1], place[-1] * size // sector) for unknown, place in places}
    return MemoryRequest(access.array, writes, len(sectors), -(-len(places) * size // sector))
