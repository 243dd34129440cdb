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
from polybuild.schedule.legality import is_legal_below, privatised
from polybuild.scop.model import Scop
from polybuild.targets.cpu.innermost import (
    active_dependences,
    carries_nothing,
    fixed_around,
    vector_candidates,
)
from polybuild.targets.cpu.launches import LaunchModel
from polybuild.targets.cpu.strides import Reference, references
from polybuild.targets.cpu.tilesizes import is_reused, tile_sizes
from polybuild.targets.model import LoopLine
from polybuild.transform.bands import coincident_members, is_band, permute, tile
from polybuild.transform.distribute import dependence_groups, distribute
from polybuild.transform.wavefront import wavefront


@dataclass(frozen=True, slots=True)
class CpuMapping:
    """A tree whose marks name the loops that ``loop_lines`` annotates."""

    schedule: isl.Schedule
    loop_lines: dict[str, LoopLine]
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
        self._launches = LaunchModel(scop)
        self.loop_lines: dict[str, LoopLine] = {}
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
        accesses = references(self._scop, node)
        innermost = _is_innermost(node)
        threads = not in_parallel and self._launches.is_worth_launching(node)
        candidates = vector_candidates(accesses, node.band_n_member()) if innermost else []
        if not tiled and self._is_worth_tiling(node, accesses):
            node = self._tile(node, accesses, candidates, threads=threads)
            in_parallel, tiled = in_parallel or threads, True
        elif threads and (coincident := coincident_members(node)):
            node, candidates = self._parallelise_plain(node, coincident[0], candidates, split=innermost)
            in_parallel = True
        if innermost:
            node = self._points(node, candidates)
        else:
            node = self.map(node.child(0), in_parallel=in_parallel, tiled=tiled).parent()
        return node.ancestor(node.get_tree_depth() - depth)

    @staticmethod
    def _is_worth_tiling(node: isl.ScheduleNode, accesses: list[Reference]) -> bool:
        """Whether a tile would find data in the cache that the plain loops would not."""
        members = node.band_n_member()
        if members < 2 or not node.band_get_permutable():
            return False
        carries = len(coincident_members(node)) < members  # values flow from one iteration to another
        return carries or any(each.matrix and is_reused(each) for each in accesses)

    def _tile(
        self,
        node: isl.ScheduleNode,
        accesses: list[Reference],
        candidates: list[int],
        *,
        threads: bool,
    ) -> isl.ScheduleNode:
        """Tile a band and give its tiles to the threads; returns the band over the points of a tile."""
        members = node.band_n_member()
        sizes = tile_sizes(accesses, members, candidates[0] if candidates else None, self._options)
        self.tile_sizes.append(sizes)
        depth = node.get_schedule_depth() + members
        node = tile(node, sizes)
        if threads:
            coincident = coincident_members(node)
            node = permute(node, _first(members, coincident[0])) if coincident else wavefront(node).child(0)
            node = self._mark_parallel(node)
        while node.get_schedule_depth() < depth or not is_band(node):
            node = node.child(0)
        return node

    def _parallelise_plain(
        self, node: isl.ScheduleNode, position: int, candidates: list[int], *, split: bool
    ) -> tuple[isl.ScheduleNode, list[int]]:
        """Give one member of an untiled band to the threads.

        Returns the band of the other members if ``split`` and there are others,
        with ``candidates`` as positions in it.
        """
        members = node.band_n_member()
        if position and not node.band_get_permutable():
            return node, candidates
        order = _first(members, position)
        node = self._mark_parallel(permute(node, order)).child(0)
        candidates = [order.index(each) for each in candidates]
        if split and members > 1:
            return node.band_split(1).child(0), [each - 1 for each in candidates if each]
        return node, candidates

    def _mark_parallel(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """Mark the first member of a band as the loop of the threads; returns the mark."""
        private = privatised(node, self._dependences.private)
        name = f"parallel{self.parallel_loops}"
        self.parallel_loops += 1
        clause = _private_clause([each.array.name for each in private])
        self._announce(name, f"POLYBUILD_OMP(parallel for{clause})", node)
        return node.insert_mark(isl.Id(name))

    def _points(self, node: isl.ScheduleNode, candidates: list[int]) -> isl.ScheduleNode:
        """Order the loops of an innermost band, the one for the vector unit last."""
        active = active_dependences(node, self._dependences.validity)
        partial = node.band_get_partial_schedule()
        for member in candidates:
            innermost = fixed_around(partial, member, active)
            if carries_nothing(partial, member, innermost):
                return self._mark_simd(_innermost(node, member))
            groups = dependence_groups(node.get_domain(), innermost)
            if len(groups) > 1 and all(
                carries_nothing(partial, member, innermost.intersect_domain(each).intersect_range(each))
                for each in groups
            ):
                loops = distribute(_innermost(node, member), groups)
                if is_legal_below(loops, self._dependences):
                    return self._mark_children(loops)
        return _innermost(node, node.band_n_member() - 1)

    def _mark_children(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """Mark the loops of a sequence, each for the vector unit."""
        for index in range(node.n_children()):
            loop = self._mark_simd(node.child(index).child(0))
            node = loop.ancestor(loop.get_tree_depth() - node.get_tree_depth())
        return node

    def _mark_simd(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """Mark a loop that carries no dependence."""
        if not self._options.simd:
            return node
        private = privatised(node, self._dependences.private)
        clause = _private_clause([each.array.name for each in private])
        self.simd_loops += 1
        above = node.parent()
        if node_kind(above) == isl.schedule_node_type.mark:  # the loop of the threads is this very loop
            outer = above.mark_get_id().get_name()
            self._announce(outer, f"POLYBUILD_OMP(parallel for simd{clause})", node)
            return node
        name = f"simd{self.simd_loops}"
        self._announce(name, f"POLYBUILD_OMP(simd{clause})" if clause else "POLYBUILD_SIMD", node)
        return node.insert_mark(isl.Id(name))

    def _announce(self, mark: str, text: str, band: isl.ScheduleNode) -> None:
        self.loop_lines[mark] = LoopLine(text, band.get_schedule_depth())


def _innermost(node: isl.ScheduleNode, member: int) -> isl.ScheduleNode:
    """Move one member of a band to its end and into a band of its own, which is returned."""
    members = node.band_n_member()
    if members == 1:
        return node
    node = permute(node, [*(each for each in range(members) if each != member), member])
    return node.band_split(members - 1).child(0)


def _first(members: int, position: int) -> list[int]:
    """The order of a band's members that puts ``position`` in front."""
    return [position, *(each for each in range(members) if each != position)]


def _is_innermost(node: isl.ScheduleNode) -> bool:
    """Whether there is no other band below ``node``."""
    return bool(node.child(0).every_descendant(lambda each: not is_band(each)))


def _private_clause(names: list[str]) -> str:
    return f" private({', '.join(sorted(names, key=natural_key))})" if names else ""
