"""Temporary arrays in scalar variables (Sadler, Alias and Thievenaz 2021, Algorithm 1).

Where the order at hand keeps few enough cells alive, each becomes a variable. Where their number
grows with a parameter, tiles across the loops that cause it come around the whole order, as large as
the registers allow. Loops are then unrolled until every subscript is a number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

import islpy as isl

from polybuild.analysis.dependences import Dependences, written_and_flow
from polybuild.context import CompileContext
from polybuild.effort import SMALL_VALUES
from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.trees import descendants, insert_mark, is_band, map_bottom_up
from polybuild.schedule.legality import IllegalSchedule, check_schedule
from polybuild.schedule.scheduler import Fusion, compute_schedule
from polybuild.scop.model import Array, Scop
from polybuild.storage.allocation_scope import buffer_at, single_members
from polybuild.storage.buffers import Buffer, mapping_at
from polybuild.storage.contraction import StorageMapping
from polybuild.storage.liveness import LiveValues
from polybuild.storage.tiling import crossing_members
from polybuild.targets.cpu.contraction import scopes_of, with_buffers
from polybuild.targets.cpu.mapping import CpuMapping, map_to_cpu
from polybuild.targets.cpu.strides import Stride, references
from polybuild.targets.cpu.unrolling import NotConstant, isolate_whole, unroll
from polybuild.transform.bands import coincident_members, permute
from polybuild.transform.full_unrolling import maximum_trips
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class _Problem:
    """What is to be promoted: the values of each temporary array."""

    scop: Scop
    dependences: Dependences
    context: CompileContext
    values: tuple[tuple[Array, LiveValues], ...]


def promote(
    scop: Scop,
    dependences: Dependences,
    schedules: Sequence[isl.Schedule],
    temporaries: Sequence[Array],
    context: CompileContext,
    *,
    tiles: bool = True,
) -> CpuMapping | None:
    """The first of ``schedules`` that keeps ``temporaries`` in variables, mapped on threads.

    ``tiles`` are only tried where no schedule does without. None if there is nothing.
    """
    values = tuple((array, LiveValues(*written_and_flow(scop, array))) for array in temporaries)
    problem = _Problem(scop, dependences, context, values)
    orders = [order for each in schedules for order in _orders(each)]
    for order in orders:
        found = _promoted(problem, order, ())
        if found is not None:
            return found
    for order in orders if tiles else ():
        tiled, around = _tiled(problem, order)
        found = _promoted(problem, tiled, around) if around else None
        if found is not None:
            return replace(found, tile_sizes=(tuple(each.size for each in around),))
    return None


def _orders(schedule: isl.Schedule) -> list[isl.Schedule]:
    """``schedule``, and it with loops that carry nothing outside of others: their values stay inside."""
    node = schedule.get_root().child(0)
    found = [schedule]
    if is_band(node) and node.band_get_permutable():
        first = coincident_members(node)
        order = [*first, *(each for each in range(node.band_n_member()) if each not in first)]
        if order != sorted(order):
            found.append(permute(node, order).get_schedule())
    return [single_members(each.get_root()).get_schedule() for each in found]


@dataclass(frozen=True, slots=True)
class _Tiles:
    """Tiles of ``size`` along a hyperplane."""

    hyperplane: isl.UnionPwAff
    size: int

    @property
    def number(self) -> isl.MultiUnionPwAff:
        """The number of the tile that an instance is in."""
        value = self.hyperplane.scale_down_val(isl.Val(self.size)).floor()
        return isl.MultiUnionPwAff.from_union_pw_aff(value)


def _promoted(problem: _Problem, schedule: isl.Schedule, tiles: Sequence[_Tiles]) -> CpuMapping | None:
    """``schedule``, which ``tiles`` are around, mapped, with the arrays in variables that fit.

    None unless that is all of them.
    """
    scop, context = problem.scop, problem.context
    plain = context.with_options(replace(context.options, tile=False, simd=False, registers=False))
    mapping = map_to_cpu(scop, problem.dependences, schedule, plain, distribute=False)
    root = single_members(mapping.schedule.get_root())
    if not _follows_rows(problem, root, tiles):
        return None
    free = context.options.scalars
    buffers: list[Buffer] = []
    for array, values in problem.values:
        for node in scopes_of(root):
            mark = Mark(MarkKind.BUFFER, len(buffers))
            buffer = buffer_at(node, array, values, scop.context, mark, scalars=True)
            if buffer is not None and buffer.cells <= free:
                free -= buffer.cells
                buffers.append(buffer)
                root = insert_mark(node, buffer.mark).root()
                break
    if len(buffers) < len(problem.values):
        return None
    try:
        root, factors = unroll(scop, root, {each.array.name: each.mapping for each in buffers})
        root = _isolated(root, tiles)
    except NotConstant:
        return None
    promoted = with_buffers(mapping, root, buffers)
    return replace(promoted, remarks=(*promoted.remarks, *_unrolled(factors)))


def _isolated(root: isl.ScheduleNode, tiles: Sequence[_Tiles]) -> isl.ScheduleNode:
    """The tree with whole tiles apart from the others."""

    def isolate(node: isl.ScheduleNode) -> isl.ScheduleNode:
        for each in tiles if is_band(node) else ():
            here, numbers = (
                isl.UnionMap.from_multi_union_pw_aff(found)
                for found in (node.band_get_partial_schedule(), each.number)
            )
            if here.is_equal(numbers):
                return isolate_whole(node, isl.UnionMap.from_union_pw_aff(each.hyperplane), each.size)
        return node

    return map_bottom_up(root, isolate) if tiles else root


def _tiled(problem: _Problem, schedule: isl.Schedule) -> tuple[isl.Schedule, tuple[_Tiles, ...]]:
    """``schedule`` in tiles with which all arrays that become constant fit in registers, and these tiles.

    They grow from a size of one as long as the arrays fit. There are none if that is too large already.
    """
    top = schedule.get_root().child(0)
    mappings: dict[str, StorageMapping] = {}
    for array, values in problem.values:
        mapping = mapping_at(top, array, values, problem.scop.context)
        if mapping is not None and mapping.footprint is None:
            mappings[array.name] = mapping
    hyperplanes = _hyperplanes(problem, mappings) if mappings else []
    best = schedule
    tiles: tuple[_Tiles, ...] = ()
    for size in range(1, problem.context.options.scalars + 1) if hyperplanes else ():
        tried = tuple(_Tiles(each, size) for each in hyperplanes)
        around = _around(top, tried, problem.dependences)
        cells = _cells(problem, around.child(0))
        if not 0 < cells <= problem.context.options.scalars:
            break
        best, tiles = around.get_schedule(), tried
    try:
        check_schedule(best, problem.dependences, problem.scop.domain)
    except IllegalSchedule:
        return schedule, ()
    return best, tiles


def _follows_rows(problem: _Problem, root: isl.ScheduleNode, tiles: Sequence[_Tiles]) -> bool:
    """Whether the innermost loops that ``tiles`` do not shorten walk along rows of most arrays.

    Loops over windows of a few elements do not count where others are around them, nor do elements
    that such a loop does not leave.
    """
    promoted = {array.name for array, _ in problem.values}
    walked: dict[str, list[bool]] = {}
    for node in descendants(root):
        if not is_band(node) or _counts_tiles_or_points(node, tiles):
            continue
        if node.get_schedule_depth() and _is_window(node):
            continue
        innermost: dict[str, list[bool]] = {}
        for each in references(problem.scop, node):
            moves = each.stride(0) is not Stride.NONE
            if moves and each.access.array.name not in promoted and each.access.array.extents:
                innermost.setdefault(each.statement.name, []).append(each.stride(0) is Stride.FAR)
        walked.update(innermost)
    found = [far for each in walked.values() for far in each]
    return sum(found) * 2 <= len(found)


def _is_window(band: isl.ScheduleNode) -> bool:
    """Whether a band of one member has a few iterations."""
    trips = maximum_trips(band, 0)
    return bool(trips.is_int() and trips.to_python() <= SMALL_VALUES)


def _counts_tiles_or_points(band: isl.ScheduleNode, tiles: Sequence[_Tiles]) -> bool:
    """Whether a band of one member counts tiles, or a few iterations in each of them."""
    here = isl.UnionMap.from_multi_union_pw_aff(band.band_get_partial_schedule())
    return any(
        here.is_subset(isl.UnionMap.from_union_pw_aff(each.hyperplane))
        or here.is_subset(isl.UnionMap.from_multi_union_pw_aff(each.number))
        for each in tiles
    )


def _hyperplanes(problem: _Problem, mappings: Mapping[str, StorageMapping]) -> list[isl.UnionPwAff]:
    """Permutable hyperplanes of all statements that cross what grows in ``mappings``."""
    try:
        node = compute_schedule(problem.scop, problem.dependences, Fusion.MAX).get_root().child(0)
    except isl.Error:
        return []
    if not is_band(node) or not node.band_get_permutable():
        return []
    band = node.band_get_partial_schedule()
    return [band.get_union_pw_aff(each) for each in crossing_members(problem.scop, band, mappings)]


def _around(top: isl.ScheduleNode, tiles: Sequence[_Tiles], dependences: Dependences) -> isl.ScheduleNode:
    """The order at ``top`` with ``tiles`` around it; returns the band over them."""
    together = reduce(isl.MultiUnionPwAff.flat_range_product, (each.number for each in tiles))
    node = top.insert_partial_schedule(together).band_set_permutable(1)
    carried = dependences.carried
    for position, each in enumerate(tiles):
        inside = carried.eq_at_multi_union_pw_aff(each.number)
        node = node.band_member_set_coincident(position, int(carried.is_subset(inside)))
    return node


def _cells(problem: _Problem, node: isl.ScheduleNode) -> int:
    """How many variables the arrays need that have a constant size at ``node``."""
    mappings = (mapping_at(node, array, values, problem.scop.context) for array, values in problem.values)
    return sum(each.footprint or 0 for each in mappings if each is not None)


def _unrolled(factors: Sequence[int]) -> list[str]:
    if all(each == 1 for each in factors):
        return []
    return [f"loops are unrolled by {', '.join(map(str, factors))}"]
