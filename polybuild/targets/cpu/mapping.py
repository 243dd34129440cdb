"""Mapping a schedule tree on cores, caches and vector units.

Each outermost permutable band is tiled; its first coincident member becomes the
parallel loop (a wavefront is made where there is none); below, the loop that
suits the vector unit is run innermost. Marks in the tree say which loop is
which; ``CpuMapping.loop_lines`` says what to print before it.
"""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.options import Options
from polybuild.polyhedral import natural_key, node_kind
from polybuild.schedule.legality import IllegalSchedule, check_schedule, privatised
from polybuild.scop.model import Scop
from polybuild.targets.cpu.innermost import active_dependences, carries_nothing, vector_member
from polybuild.targets.cpu.strides import Reference, references
from polybuild.targets.cpu.tilesizes import has_reuse, tile_sizes
from polybuild.transform.bands import coincident_members, is_band, permute, tile
from polybuild.transform.wavefront import wavefront


@dataclass(frozen=True, slots=True)
class CpuMapping:
    """A tree whose marks name the loops that ``loop_lines`` annotates."""

    schedule: isl.Schedule
    loop_lines: dict[str, str]
    parallel_loops: int
    tile_sizes: tuple[tuple[int, ...], ...]
    simd_loops: int
    remarks: tuple[str, ...] = ()


def map_to_cpu(scop: Scop, dependences: Dependences, schedule: isl.Schedule, options: Options) -> CpuMapping:
    """Tile, parallelise and vectorise ``schedule``, as far as ``options`` allow."""
    mapper = _Mapper(scop, dependences, options)
    root = mapper.map(schedule.get_root(), in_parallel=not options.parallel, tiled=not options.tile)
    return CpuMapping(
        root.get_schedule(),
        mapper.loop_lines,
        mapper.parallel_loops,
        tuple(mapper.tile_sizes),
        mapper.simd_loops,
    )


class _Mapper:
    """Walks the tree; every method returns the node at the place it was given."""

    def __init__(self, scop: Scop, dependences: Dependences, options: Options) -> None:
        self._scop = scop
        self._dependences = dependences
        self._options = options
        self.loop_lines: dict[str, str] = {}
        self.parallel_loops = 0
        self.simd_loops = 0
        self.tile_sizes: list[tuple[int, ...]] = []

    def map(self, node: isl.ScheduleNode, *, in_parallel: bool, tiled: bool) -> isl.ScheduleNode:
        """Map everything below ``node``."""
        if is_band(node):
            return self._band(node, in_parallel=in_parallel, tiled=tiled)
        for index in range(node.n_children()):
            node = self.map(node.child(index), in_parallel=in_parallel, tiled=tiled).parent()
        return node

    def _band(self, node: isl.ScheduleNode, *, in_parallel: bool, tiled: bool) -> isl.ScheduleNode:
        depth = node.get_tree_depth()
        members = node.band_n_member()
        accesses = references(self._scop, node)
        innermost = _is_innermost(node)
        vector = vector_member(node, accesses, self._dependences) if innermost else None
        if self._tilable(node, accesses, tiled=tiled):
            sizes = tile_sizes(accesses, members, vector, self._options)
            self.tile_sizes.append(sizes)
            node = tile(node, sizes)
            node, in_parallel = self._parallelise(node, in_parallel=in_parallel, tile_loops=True)
            tiled = True
            while not (is_band(node) and node.get_schedule_depth() >= self._depth_of(depth, node) + members):
                node = node.child(0)
        else:
            before = node.get_tree_depth()
            if members > 1 and vector is not None and vector != members - 1 and node.band_get_permutable():
                node = permute(node, _last(members, vector))
                vector = members - 1
            node, in_parallel = self._parallelise(node, in_parallel=in_parallel, tile_loops=False)
            if node.get_tree_depth() == before and node_kind(node) == isl.schedule_node_type.mark:
                node = node.child(0)
        node = self._points(node, vector) if innermost else self._below(node, in_parallel, tiled)
        return node.ancestor(node.get_tree_depth() - depth)

    @staticmethod
    def _depth_of(depth: int, node: isl.ScheduleNode) -> int:
        while node.get_tree_depth() > depth:
            node = node.parent()
        return int(node.get_schedule_depth())

    def _below(self, node: isl.ScheduleNode, in_parallel: bool, tiled: bool) -> isl.ScheduleNode:
        return self.map(node.child(0), in_parallel=in_parallel, tiled=tiled).parent()

    def _tilable(self, node: isl.ScheduleNode, accesses: list[Reference], *, tiled: bool) -> bool:
        return (
            not tiled
            and bool(node.band_get_permutable())
            and node.band_n_member() > 1
            and has_reuse(accesses, node.band_n_member())
        )

    def _parallelise(
        self, node: isl.ScheduleNode, *, in_parallel: bool, tile_loops: bool
    ) -> tuple[isl.ScheduleNode, bool]:
        """Give the band's outermost coincident member to the threads."""
        if in_parallel:
            return node, True
        candidates = coincident_members(node)
        if not candidates:
            if not (tile_loops and node.band_n_member() > 1):
                return node, False
            node = wavefront(node).child(0)
        elif candidates[0] != 0:
            if not node.band_get_permutable():
                return node, False
            order = [candidates[0], *(k for k in range(node.band_n_member()) if k != candidates[0])]
            node = permute(node, order)
        private = privatised(node, self._dependences.private)
        name = f"parallel{self.parallel_loops}"
        self.parallel_loops += 1
        clause = _private_clause([each.array.name for each in private])
        self.loop_lines[name] = f"POLYBUILD_OMP(parallel for{clause})"
        return node.insert_mark(isl.Id(name)), True

    def _points(self, node: isl.ScheduleNode, vector: int | None) -> isl.ScheduleNode:
        """Order the loops of an innermost band and mark the one for the vector unit."""
        members = node.band_n_member()
        if vector is not None and members > 1:
            node = permute(node, _last(members, vector))
        if members > 1:
            node = node.band_split(members - 1).child(0)
        if vector is None:
            return self._distribute(node)
        return self._mark_simd(node)

    def _mark_simd(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        if not self._options.simd:
            return node
        private = privatised(node, self._dependences.private)
        clause = _private_clause([each.array.name for each in private])
        self.simd_loops += 1
        above = node.parent()
        if node_kind(above) == isl.schedule_node_type.mark:  # the loop of the threads is this very loop
            outer = above.mark_get_id().get_name()
            self.loop_lines[outer] = f"POLYBUILD_OMP(parallel for simd{clause})"
            return node
        name = f"simd{self.simd_loops}"
        self.loop_lines[name] = f"POLYBUILD_OMP(simd{clause})" if clause else "POLYBUILD_SIMD"
        return node.insert_mark(isl.Id(name))

    def _distribute(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """Give each statement of a fused innermost loop its own, where that frees it of dependences."""
        child = node.child(0)
        if node_kind(child) not in {isl.schedule_node_type.sequence, isl.schedule_node_type.leaf}:
            return node
        filters = _statements_in_order(node)
        if len(filters) < 2:
            return node
        partial = node.band_get_partial_schedule()
        active = active_dependences(node, self._dependences.validity)
        for chosen in filters:
            inside = active.intersect_domain(chosen).intersect_range(chosen)
            if not carries_nothing(partial, 0, inside):
                return node
        candidate = node
        for chosen in reversed(filters[:-1]):
            candidate = candidate.order_before(chosen)
        try:
            check_schedule(candidate.get_schedule(), self._dependences, self._scop.domain)
        except IllegalSchedule:
            return node
        return candidate


def _statements_in_order(node: isl.ScheduleNode) -> list[isl.UnionSet]:
    """The instances of each statement below ``node``, in the order the tree runs them."""
    child = node.child(0)
    if node_kind(child) == isl.schedule_node_type.sequence:
        return [child.child(index).filter_get_filter() for index in range(child.n_children())]
    sets: list[isl.Set] = []
    node.get_domain().foreach_set(sets.append)
    sets.sort(key=lambda each: natural_key(each.get_tuple_name()))
    return [isl.UnionSet.from_set(each) for each in sets]


def _is_innermost(node: isl.ScheduleNode) -> bool:
    """Whether there is no other band below ``node``."""
    return bool(node.child(0).every_descendant(lambda each: not is_band(each)))


def _last(members: int, position: int) -> list[int]:
    return [*(k for k in range(members) if k != position), position]


def _private_clause(names: list[str]) -> str:
    return f" private({', '.join(sorted(names, key=natural_key))})" if names else ""
