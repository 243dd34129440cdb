"""Stages in tiles of the last one, each with buffers for what it needs of those before.

``for y: for x: rows[y][x] = ...; for y: for x: out[y][x] = rows[y][x] + rows[y + 1][x]`` becomes::

    for (tiles of y and x)                       // shared among threads
      rows[33][512]                              // what the tile needs
      for y: for x: rows[y][x] = ...
      for y: for x: out[y][x] = rows[y][x] + rows[y + 1][x]

Which stage is computed where is in the model (``storage.overlapped_stages``); here are sizes, orders and
buffers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import islpy as isl

from polybuild.analysis.dependences import compute_dependences, written_and_flow
from polybuild.context import CompileContext
from polybuild.effort import OVERLAPPED_ITERATIONS, OVERLAPPED_ROWS, SMALL_OVERLAP
from polybuild.machine.model import DOUBLE
from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.relations import largest
from polybuild.poly.trees import descendants, insert_mark, is_band, is_mark
from polybuild.scop.model import Array
from polybuild.storage.buffers import Buffer, element_size, uncontracted_at
from polybuild.storage.liveness import LiveValues
from polybuild.storage.overlapped_stages import (
    OverlappedPipeline,
    Pipeline,
    find_stages,
    overlap,
    window,
)
from polybuild.storage.temporaries import users_of
from polybuild.targets.cpu.contraction import with_buffers
from polybuild.targets.cpu.expanded_tiles import part_of
from polybuild.targets.cpu.expansion import Mapped
from polybuild.targets.cpu.mapping import CpuMapping, map_to_cpu
from polybuild.targets.cpu.search import choose_schedule
from polybuild.transform.full_unrolling import UnrollingLimits, unroll_small_trip_counts

_OVERLAPPED = "nests run in tiles of the last one, which compute what they need of the others themselves"


def map_overlapped(
    plain: Mapped, temporaries: Sequence[Array], live_out: frozenset[str], context: CompileContext
) -> Mapped | None:
    """The region of ``plain`` in overlapping tiles; None if it has no stages, or loses a loop for vectors.

    ``temporaries`` may be anywhere, ``live_out`` names what is read after the region.
    """
    if plain.mapping.registers or not any(_is_large(each, context) for each in temporaries):
        return None
    stages = find_stages(plain.scop, plain.dependences, temporaries, live_out)
    sizes = _sizes(stages, plain.scop.context, context.machine.memory.page) if stages is not None else None
    if stages is None or sizes is None:
        return None
    overlapped = overlap(stages, sizes)
    if overlapped is None:
        return None
    dependences = compute_dependences(overlapped.scop, live_out)
    schedule = _tiled(stages, overlapped, context)
    mapping = map_to_cpu(overlapped.scop, dependences, schedule, context)
    mapping = replace(
        mapping, tile_sizes=(*mapping.tile_sizes, tuple(sizes)), remarks=(*mapping.remarks, _OVERLAPPED)
    )
    buffered = _with_buffers(mapping, overlapped, context)
    if buffered is None or bool(plain.mapping.parallel_loops) > bool(buffered.parallel_loops):
        return None
    vectors = plain.mapping.vector_statements()
    if plain.mapping.buffers:
        vectors |= users_of(overlapped.scop, overlapped.between)
    return Mapped(overlapped.scop, dependences, buffered) if vectors <= buffered.vector_statements() else None


def not_in_vectors(plain: Mapped, temporaries: Sequence[Array], context: CompileContext) -> list[Array]:
    """Those of ``temporaries`` that ``plain`` keeps in memory, or in buffers of loops without vectors.

    Where the user asks for buffers, any will do.
    """
    kept = {each.array.name for each in plain.mapping.buffers if not each.scalars}
    vectors = plain.mapping.vector_statements()
    return [
        each
        for each in temporaries
        if each.name not in kept
        or (context.contraction != "on" and not users_of(plain.scop, [each]) <= vectors)
    ]


def _is_large(array: Array, context: CompileContext) -> bool:
    """Whether ``array`` may be too large for the second cache."""
    counts = [None if each is None else largest(each) for each in array.extents]
    size = element_size(array)
    for each in counts:
        if each is None or not each.is_int():
            return True
        size *= each.to_python()
    return size > context.machine.l2.bytes // 2


def _sizes(stages: Pipeline, context: isl.Set, page: int) -> list[int] | None:
    """The tiles of the last stages: the smallest that overlap little. None if what they need has no bound.

    Rows take half a ``page``, or less where stages before the last ones have longer ones.
    """
    row = page // 2 // max(element_size(each) for each in stages.between)
    shortest = page // 4 // DOUBLE
    rows = OVERLAPPED_ROWS if stages.depth > 1 else (row,)
    outer = [1] * (stages.depth - 2)

    def tile(count: int, length: int) -> list[int]:
        return [*outer, count, length] if stages.depth > 1 else [count]

    length = row
    small = _windows(stages, tile(rows[0], length), context)
    while small and length > shortest and max(each[-1] for each in small) > 2 * row:
        length //= 2
        small = _windows(stages, tile(rows[0], length), context)
    for count in rows:
        large = _windows(stages, tile(2 * count, length), context)
        if not small or not large:
            return None
        chosen = tile(count, length)
        growth = [math.prod(after) / math.prod(before) for before, after in zip(small, large, strict=True)]
        if min(growth) >= 2 * SMALL_OVERLAP:
            break
        small = large
    return chosen


def _windows(stages: Pipeline, sizes: Sequence[int], context: isl.Set) -> list[list[int]]:
    """How many points of each stage, but the last ones, are in a tile of ``sizes``; empty without a bound."""
    found = [
        window(needed, stage, context)
        for needed, stage in zip(stages.needed(sizes), stages.all, strict=True)
        if not stage.is_last
    ]
    known = [each for each in found if each is not None]
    return known if len(known) == len(found) else []


def _tiled(stages: Pipeline, overlapped: OverlappedPipeline, context: CompileContext) -> isl.Schedule:
    """Tiles around the stages, each in the order that it would have alone."""
    orders = []
    for stage in stages.all:
        part = part_of(stages.scop, stage.statements)
        order = choose_schedule(part, stages.dependences.within(part.domain), context)
        orders.append(unroll_small_trip_counts(part, order, UnrollingLimits(OVERLAPPED_ITERATIONS)))
    order = reduce(isl.Schedule.sequence, orders).pullback_union_pw_multi_aff(overlapped.to_old)
    band = order.intersect_domain(overlapped.scop.domain).get_root().child(0)
    band = band.insert_partial_schedule(overlapped.tiles).band_set_permutable(1)
    for position in range(stages.depth):
        band = band.band_member_set_coincident(position, 1)
    return insert_mark(band, Mark(MarkKind.OVERLAPPED_TILES)).get_schedule()


def _with_buffers(
    mapping: CpuMapping, overlapped: OverlappedPipeline, context: CompileContext
) -> CpuMapping | None:
    """``mapping`` with buffers of a tile; None if they have no constant size, or are too large."""
    root = mapping.schedule.get_root()
    node = next(each for each in descendants(root) if is_mark(each, MarkKind.OVERLAPPED_TILES))
    while not is_band(node):
        node = node.child(0)
    node = node.child(0)
    buffers: list[Buffer] = []
    for number, array in enumerate(overlapped.between):
        mark = Mark(MarkKind.BUFFER, number)
        values = LiveValues(*written_and_flow(overlapped.scop, array))
        buffer = uncontracted_at(node, array, values, overlapped.scop.context, mark)
        if buffer is None:
            return None
        buffers.append(buffer)
        node = insert_mark(node, mark)
    if sum(each.size for each in buffers) > context.machine.l2.bytes // 2:
        return None
    return with_buffers(mapping, node.root(), buffers)
