"""Mapping a schedule tree on cores, caches and vector units.

Each outermost permutable band is tiled; its first coincident member becomes the
parallel loop (a wavefront is made where there is none); below, the loop that
suits the vector unit is run innermost. Marks in the tree say which loop is
which; ``CpuMapping.directives`` says what to tell of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from polybuild.analysis.branch_free import branch_free
from polybuild.analysis.dependences import Dependences
from polybuild.context import CompileContext, Masks
from polybuild.effort import COMPILERS_UNROLL
from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.memory import Itself
from polybuild.poly.relations import sets_of, tuple_name
from polybuild.poly.trees import descendants, is_band, is_mark, mark_of
from polybuild.schedule.legality import active_dependences, is_legal_below, privatised
from polybuild.scop.model import AccessKind, Scop
from polybuild.storage.buffers import Buffer
from polybuild.targets.cpu.carried import is_chain, is_slow
from polybuild.targets.cpu.cost.compilers_lanes import CompilersLanes, nowhere, statements_of
from polybuild.targets.cpu.cost.if_conversion import converts
from polybuild.targets.cpu.cost.versions import CandidateCost
from polybuild.targets.cpu.estimate import LaunchModel
from polybuild.targets.cpu.invariant_reads import invariant_reads
from polybuild.targets.cpu.lane_loops import (
    find_lane_loop,
    has_roots,
    has_wide_integers,
    remark_on_lanes,
)
from polybuild.targets.cpu.loop_marks import LoopMarker, needs_arrays
from polybuild.targets.cpu.microkernel import find_micro_kernel, find_single_row_kernel
from polybuild.targets.cpu.reductions import carried_reductions, reduced_members, without_accumulators
from polybuild.targets.cpu.registers import RegisterTiler
from polybuild.targets.cpu.stencils import tile_stencil
from polybuild.targets.cpu.steps import count_steps
from polybuild.targets.cpu.strides import Reference, Stride, goes_along_windows, references
from polybuild.targets.cpu.tilesizes import (
    front_sizes,
    is_worth_tiling,
    longest_strip,
    shared_size,
    tile_sizes,
    trips_of,
)
from polybuild.targets.cpu.vectorise import VectorLoop, find_vector_loop, has_loops, member_cost
from polybuild.targets.cpu.wide_vectors import row_lanes
from polybuild.targets.model import Accumulator, LaneLoop, LoopDirective, RegisterTile, ThreadSharing
from polybuild.transform.bands import (
    clear_coincidence,
    coincident_members,
    put_first,
    split_last,
    tile,
    with_single,
)
from polybuild.transform.distribution import dependence_groups, distribute
from polybuild.transform.dynamic_loops import separate_dynamic_loops
from polybuild.transform.full_unrolling import maximum_trips, outside_unrolled
from polybuild.transform.tiling.alignment import align_members
from polybuild.transform.tiling.registers import insert_tiles
from polybuild.transform.tiling.wavefront import wavefront, wavefront_of_points
from polybuild.values import dataclass

_UNROLLED = "loops of a few iterations are unrolled"


@dataclass(frozen=True, slots=True)
class CpuMapping:
    """A tree whose marks name the loops that ``directives`` speak of.

    ``reassociable`` has the lines of statements of which only the order of floating-point operations keeps
    threads from sharing the loops. ``name`` says what it was chosen for, ``rejected`` what else there was.
    """

    schedule: isl.Schedule
    directives: dict[Mark, LoopDirective]
    parallel_loops: int
    tile_sizes: tuple[tuple[int, ...], ...]
    simd_loops: int
    registers: tuple[RegisterTile, ...] = ()
    remarks: tuple[str, ...] = ()
    buffers: tuple[Buffer, ...] = ()
    accumulators: tuple[Accumulator, ...] = ()
    reassociable: tuple[int, ...] = ()
    name: str = ""
    rejected: tuple[CandidateCost, ...] = ()

    @property
    def accumulates(self) -> bool:
        """Whether loops accumulate in variables, or threads in elements of their own."""
        return bool(self.accumulators) or any(each.histograms for each in self.directives.values())

    @property
    def has_strips_over_time(self) -> bool:
        """Whether tiles over time are cut into strips that run one after the other."""
        return any(is_mark(each, MarkKind.TILE_STRIPS) for each in descendants(self.schedule.get_root()))

    def vector_loops(self) -> list[isl.ScheduleNode]:
        """The bands of the loops for the vector unit."""
        return self._loops({mark for mark, each in self.directives.items() if each.simd})

    def lane_loops(self) -> list[isl.ScheduleNode]:
        """The bands of the loops that are written in lanes."""
        return self._loops({mark for mark, each in self.directives.items() if each.lanes})

    def vector_statements(self) -> set[str]:
        """The names of the statements in loops for the vector unit."""
        return _statements_in(self.vector_loops())

    def shared_statements(self) -> set[str]:
        """The names of the statements in loops that threads share."""
        return _statements_in(self._loops({mark for mark, each in self.directives.items() if each.parallel}))

    def lane_statements(self) -> set[str]:
        """The names of the statements in loops that are written in lanes."""
        return _statements_in(self.lane_loops())

    def _loops(self, marks: set[Mark]) -> list[isl.ScheduleNode]:
        return [each.child(0) for each in descendants(self.schedule.get_root()) if mark_of(each) in marks]


def _strips(size: int, longest: int) -> str:
    """What there may be in the place of tiles of ``size`` iterations."""
    return f"threads may have strips in place of tiles of {size}: as many each, of at most {longest}"


def _statements_in(loops: Sequence[isl.ScheduleNode]) -> set[str]:
    return {tuple_name(each) for node in loops for each in sets_of(node.get_domain())}


def map_to_cpu(
    scop: Scop,
    dependences: Dependences,
    schedule: isl.Schedule,
    context: CompileContext,
    *,
    distribute: bool = True,
    pages: int = 1,
) -> CpuMapping:
    """Tile, parallelise and vectorise ``schedule``, as far as the options of ``context`` allow.

    Without ``distribute``, statements that share a loop stay together even if that loop cannot
    be vectorised then. Tiles are so many ``pages`` long along rows.
    """
    separated = separate_dynamic_loops(scop, schedule)
    schedule = scop.schedule if separated is None else separated
    for each in dependences.reductions:
        schedule = clear_coincidence(schedule, each.pairs)
    mapper = _CpuMapper(scop, dependences, context, distribute=distribute, pages=pages)
    around = _Around(in_parallel=not context.options.parallel, tiled=not context.options.tile)
    root = mapper.map(schedule.get_root(), around)
    marker = mapper.marker
    return CpuMapping(
        root.get_schedule(),
        marker.directives,
        marker.parallel_loops,
        tuple(mapper.tile_sizes),
        marker.simd_loops,
        tuple(mapper.registers.tiles),
        tuple(mapper.remarks),
        accumulators=marker.accumulators.all,
    )


@dataclass(frozen=True, slots=True)
class _Around:
    """What the loops around a node are: whether threads share one of them, and whether they count tiles.

    Where they count ``strips``, what is in one of these is work enough for threads.
    """

    in_parallel: bool
    tiled: bool
    strips: bool = False


@dataclass(frozen=True, slots=True)
class _BandFacts:
    """A band and the accesses below it, whether it is ``innermost``, and then, whether it is the last.

    An innermost band has but unrolled loops below it, the ``last`` not even these.
    """

    node: isl.ScheduleNode
    accesses: list[Reference]
    innermost: bool
    last: bool

    @classmethod
    def of(cls, scop: Scop, node: isl.ScheduleNode) -> _BandFacts:
        """The facts of the band ``node``."""
        innermost = not any(map(is_band, outside_unrolled(node.child(0))))
        last = innermost and not any(map(is_band, descendants(node.child(0))))
        return cls(node, references(scop, node), innermost, last)


class _CpuMapper:
    """Walks the tree; every method returns the node at the place it was given."""

    def __init__(
        self, scop: Scop, dependences: Dependences, context: CompileContext, *, distribute: bool, pages: int
    ) -> None:
        self._distribute = distribute
        self._pages = pages
        self._scop = scop
        self._dependences = dependences
        self._context = context
        self._launches = LaunchModel(scop, context.machine)
        self.marker = LoopMarker(scop, dependences, context)
        self.registers = RegisterTiler(
            scop, dependences, context, mark_parallel=self._mark_tiles, map_rest=self._map_points
        )
        self.tile_sizes: list[tuple[int, ...]] = []
        self.remarks: list[str] = []

    def map(self, node: isl.ScheduleNode, around: _Around) -> isl.ScheduleNode:
        """Map everything below ``node``; a loop around phases of ranks stays as it is."""
        around_ranks = is_band(node) and any(is_mark(each, MarkKind.RANKS) for each in descendants(node))
        if is_band(node) and not around_ranks:
            return self._band(node, around)
        if is_mark(node, MarkKind.UNROLLED):
            return node
        if is_mark(node, MarkKind.EXPANDED_TILES):
            return self._marked_tiles(node, tiled=False, threads=not around.in_parallel)
        if is_mark(node, MarkKind.OVERLAPPED_TILES):
            return self._marked_tiles(node, tiled=True, threads=not around.in_parallel)
        for index in range(node.n_children()):
            node = self.map(node.child(index), around).parent()
        return node

    def _marked_tiles(self, node: isl.ScheduleNode, *, tiled: bool, threads: bool) -> isl.ScheduleNode:
        """Map what is in the tiles below a mark, and share the tiles among threads, or what is in each.

        They are small enough for the caches if ``tiled``.
        """
        depth = node.get_tree_depth()
        free = bool(coincident_members(node.child(0)))
        around = _Around(in_parallel=free or not threads, tiled=tiled, strips=not free)
        below = self.map(node.child(0).child(0), around)
        band = below.ancestor(below.get_tree_depth() - depth - 1)
        if free and threads and self._launches.is_worth_launching(band, vector=True):
            band = self.marker.parallel(band)
        return band.ancestor(band.get_tree_depth() - depth)

    def _band(self, node: isl.ScheduleNode, around: _Around) -> isl.ScheduleNode:
        """Map a band: as a stencil, in register tiles, or else in tiles, threads and vectors."""
        band = _BandFacts.of(self._scop, node)
        if not around.tiled and (tiled := self._stencil(band, around)) is not None:
            return tiled
        if band.innermost and not band.last and _UNROLLED not in self.remarks:
            self.remarks.append(_UNROLLED)
        if band.last and not around.tiled and (distributed := self._distributed_updates(band)) is not None:
            return self.map(distributed, around)
        vector = self._vector_loop(band)
        threads = not around.in_parallel and (
            around.strips or self._launches.is_worth_launching(node, vector=vector is not None)
        )
        around = replace(around, strips=False)
        if (
            band.innermost
            and not around.tiled
            and (built := self._in_registers(band, threads=threads)) is not None
        ):
            return built
        depth = node.get_tree_depth()
        node, vector, around = self._shared_and_tiled(band, vector, around, threads=threads)
        if band.innermost:
            node = self._points(node, vector, depth, tiled=around.tiled)
        else:
            before = self._vector_code
            node = self.map(node.child(0), around).parent()
            if self._vector_code == before:
                node = self._in_lanes(node)
        return node.ancestor(node.get_tree_depth() - depth)

    @property
    def _vector_code(self) -> tuple[int, int]:
        """How many loops for the vector unit, and register tiles, there are so far."""
        return self.marker.simd_loops, len(self.registers.tiles)

    def _in_lanes(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """A band with loops inside of which none is for the vector unit: one of its own, if one can be.

        It is the last one, or else the first one with the others inside.
        """
        loop, free = node, coincident_members(node)
        if node.band_n_member() > 1:
            last = self._last_in_lanes(node)
            if last is not node or free != [0]:
                return last
            loop = node.band_split(1)
        if not free:
            return node
        lanes = self._lanes_of(loop)
        return node if lanes is None else self._written_in_lanes(loop, lanes)

    def _written_in_lanes(self, loop: isl.ScheduleNode, lanes: LaneLoop) -> isl.ScheduleNode:
        """A band of one member in ``lanes``; threads that share it get strips."""
        return self.marker.lanes(self._in_strips(loop), lanes)

    def _in_strips(self, loop: isl.ScheduleNode) -> isl.ScheduleNode:
        """A band of one member in strips, if threads share it; returns the band in these."""
        if not is_mark(loop.parent(), MarkKind.PARALLEL):
            return loop
        # no two threads write to one line, however small the elements are
        return insert_tiles(loop, [(0, self._context.machine.memory.line)]).child(0)

    def _along_rows(self, node: isl.ScheduleNode, depth: int) -> isl.ScheduleNode:
        """An innermost band in lanes that each go along a row, where the loop that they share is around.

        That one is the first of the band, or was taken from it, at ``depth`` or below, for threads.
        """
        alone = node.band_n_member() == 1
        loop = node.parent() if alone and node.get_tree_depth() > depth and is_band(node.parent()) else node
        free = coincident_members(loop)
        if 0 not in free or (alone and loop is node):
            return node
        first = loop if alone else loop.band_split(1)
        lanes = self._lanes_of(first)
        if lanes is None:
            return node
        both = self._references_in_both(loop, node) if alone else references(self._scop, loop)
        if _sums_rows(node, both):
            return self._written_in_lanes(first, lanes)
        if not lanes.windows.loops:
            return node
        if free != [0] and not _moves_rows(references(self._scop, loop), lanes):
            return node
        return self._written_in_lanes(first, lanes)

    def _references_in_both(self, outer: isl.ScheduleNode, inner: isl.ScheduleNode) -> list[Reference]:
        """The accesses in a band that is alone in another one, as functions of the members of both."""
        pairs = zip(references(self._scop, outer), references(self._scop, inner), strict=True)
        return [
            replace(
                one,
                matrix=tuple((*a, *b) for a, b in zip(one.matrix, other.matrix, strict=True)),
                steps=(*one.steps, *other.steps),
            )
            for one, other in pairs
        ]

    def _last_in_lanes(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """The same of a band of several loops: that along which most elements are side by side, put last.

        The first one stays where threads share it. A compiler may take such a band to lanes by itself.
        """
        machine, compiler = self._context.machine, self._context.compiler
        known = self._scop, self._dependences, machine, nowhere, compiler
        if CompilersLanes(*known, generated=True).takes_around(node):
            return self.marker.simd(split_last(node, node.band_n_member() - 1))
        first = int(is_mark(node.parent(), MarkKind.PARALLEL))
        free = [each for each in coincident_members(node) if each >= first]
        accesses, last = references(self._scop, node), node.band_n_member() - 1
        costs = {each: member_cost(accesses, each, self._context.machine) for each in free}
        wanted = min(
            (each for each in free if costs[each] is not None),
            key=lambda each: (costs[each], -each),
            default=last,
        )
        if wanted not in free or not (wanted == last or node.band_get_permutable()):
            return node
        loop = split_last(node, wanted)
        lanes = self._lanes_of(loop)
        return node if lanes is None else self.marker.lanes(loop, lanes)

    def _stencil(self, band: _BandFacts, around: _Around) -> isl.ScheduleNode | None:
        """A stencil over time in tiles of its own shape; None if the band is not the loop of one."""
        tiles = tile_stencil(band.node, band.accesses, self._dependences, self._context)
        if tiles is None:
            return None
        self.tile_sizes.append(tiles.sizes)
        self.remarks.append(f"a stencil over time: {tiles.shape} tiles, which start together")
        worth = self._launches.is_worth_launching(band.node, vector=True)
        before = set(self.marker.directives)
        node = self._phases(tiles.node, threads=not around.in_parallel and worth)
        self.marker.widen(self.marker.directives.keys() - before, row_lanes(band.accesses, self._context))
        return node

    def _vector_loop(self, band: _BandFacts) -> VectorLoop | None:
        """The loop of an innermost band for the vector unit, None if there is none."""
        if not band.innermost:
            return None
        vector = find_vector_loop(band.node, band.accesses, self._dependences, self._context.machine)
        if vector is None or (vector.groups and not (self._distribute and band.last)):
            return None
        if not vector.groups and self._needs_arrays(split_last(band.node, vector.member)):
            return None
        far = any(each.stride(vector.member) is Stride.FAR for each in band.accesses)
        if not far or band.node.band_n_member() == 1 or 0 not in coincident_members(band.node):
            return vector
        lanes = self._lanes_of(band.node.band_split(1))
        in_rows = lanes is not None and (
            _moves_rows(band.accesses, lanes) or _sums_rows(band.node, band.accesses)
        )
        return None if in_rows else vector

    def _shared_and_tiled(
        self, band: _BandFacts, vector: VectorLoop | None, around: _Around, *, threads: bool
    ) -> tuple[isl.ScheduleNode, VectorLoop | None, _Around]:
        """The band in tiles where that pays, and shared by ``threads``.

        Returns the band of what is left to map, ``vector`` as a member of it, and the loops around it.
        """
        node, accesses = band.node, band.accesses
        reduced = reduced_members(node, accesses, self._dependences)
        moved = without_accumulators(node, reduced, accesses, self._dependences)
        scalar = vector is None and band.innermost
        in_sums = scalar and not self._context.options.tile_sizes and _sums_rows(node, accesses)
        last = node.band_n_member() - 1 if band.innermost else None
        inner = last if vector is None else vector.member
        if not (around.tiled or in_sums) and is_worth_tiling(
            node, moved, self._context, len(reduced), inner=inner, scalar=scalar
        ):
            node = self._tile(node, accesses, vector, threads=threads)
            return node, vector, _Around(around.in_parallel or threads, tiled=True)
        if threads and (shared := coincident_members(node) or reduced):
            node, vector = self._parallelise_plain(node, shared, vector, split=band.innermost)
            around = replace(around, in_parallel=True)
        return node, vector, around

    def _in_registers(self, band: _BandFacts, *, threads: bool) -> isl.ScheduleNode | None:
        """An innermost band in register tiles, None if there are none that pay."""
        node, accesses = band.node, band.accesses
        if not self._context.options.registers or not is_worth_tiling(node, accesses, self._context):
            return None
        steps = 1 if band.last else count_steps(node)
        kernel = find_micro_kernel(node, accesses, steps) if steps else None
        if kernel is None and band.last:
            node = with_single(node)
            kernel = find_single_row_kernel(node, references(self._scop, node))
        built = self.registers.tile(node, kernel, threads=threads) if kernel else None
        if built is None:
            return None
        self.tile_sizes.append(built[1])
        return built[0]

    def _phases(self, node: isl.ScheduleNode, *, threads: bool) -> isl.ScheduleNode:
        """Map the tiles of a stencil, and what is below them."""
        for index in range(node.n_children()):
            node = self._phases(node.child(index), threads=threads).parent()
        if threads and is_mark(node, MarkKind.PARALLEL_TILES):
            tiles = node.child(0)
            return self.marker.parallel(tiles, together=min(2, tiles.band_n_member())).parent()
        if is_mark(node, MarkKind.TILE_POINTS):
            return self.map(node.child(0), _Around(in_parallel=True, tiled=True)).parent()
        return node

    def _tile(
        self,
        node: isl.ScheduleNode,
        accesses: list[Reference],
        vector: VectorLoop | None,
        *,
        threads: bool,
    ) -> isl.ScheduleNode:
        """Tile a band and give its tiles to the threads; returns the band over the points of a tile."""
        members = node.band_n_member()
        depth = node.get_schedule_depth() + members
        coincident = coincident_members(node) or reduced_members(node, accesses, self._dependences)
        pipelined = threads and not coincident
        sizes_of = front_sizes if pipelined else tile_sizes
        sizes = sizes_of(accesses, members, vector.member if vector else None, self._context, self._pages)
        shared = _shared_member(node, coincident, sizes) if threads and coincident else None
        sharing = ThreadSharing()
        if shared is not None and not self._context.options.tile_sizes:
            row = vector is not None and shared == vector.member
            size = shared_size(node, shared, sizes[shared], self._context.machine, vector=row)
            sizes = (*sizes[:shared], size, *sizes[shared + 1 :])
            if row and shared in coincident_members(node) and trips_of(node, shared) is None:
                machine = self._context.machine
                longest = longest_strip(accesses, sizes, shared, machine)
                # no two threads write to one line, however small the elements are
                sharing = ThreadSharing(tile=size, longest=longest, line=machine.memory.line)
                self.remarks.append(_strips(size, longest))
        self.tile_sizes.append(sizes)
        if any(goes_along_windows(each.access) for each in accesses):  # vectors begin anywhere in lines
            node = align_members(node, {each: sizes[each] for each in coincident if sizes[each] > 1})
        node = tile(node, sizes)
        if pipelined and self._launches.is_worth_pipelining(node, sizes, vector=vector is not None):
            node = self.marker.parallel(self._as_carried(wavefront(node).child(0)))
        elif shared is not None:
            node = put_first(node, shared)
            # tiles of the first loop alone are few, and one more or less for a thread counts
            together = 2 if {0, 1} <= set(coincident_members(node)) else 1
            node = self.marker.parallel(node, ThreadSharing() if together > 1 else sharing, together=together)
        while node.get_schedule_depth() < depth or not is_band(node):
            node = node.child(0)
        return node

    def _as_carried(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """A band of a wavefront whose member is coincident, unless it carries reductions."""
        if not self._dependences.reductions:
            return node
        carried = carried_reductions(node, 0, references(self._scop, node), self._dependences)
        return node.band_member_set_coincident(0, 0) if carried else node

    def _parallelise_plain(
        self, node: isl.ScheduleNode, coincident: list[int], vector: VectorLoop | None, *, split: bool
    ) -> tuple[isl.ScheduleNode, VectorLoop | None]:
        """Give one of some members of an untiled band to the threads, preferably not the vector loop.

        They are ``coincident``, or carry reductions. Returns the band of the other members if ``split``
        and there are others, with ``vector`` as a member of it.
        """
        members = node.band_n_member()
        position = next((each for each in coincident if vector and each != vector.member), coincident[0])
        if position and not node.band_get_permutable():
            return node, vector
        if vector is not None and vector.member == position and not node.band_member_get_coincident(position):
            # a part for each thread, and within it one for each lane: compilers want two loops for that
            chunks = insert_tiles(node, [(position, self._context.machine.memory.page)])
            return self.marker.parallel(chunks).child(0).child(0), vector
        node = self.marker.parallel(put_first(node, position)).child(0)
        if not (split and members > 1):
            return node, vector
        if vector is not None and vector.member == position:
            vector = None
        if vector is not None:
            vector = replace(vector, member=vector.member - (vector.member > position))
        return node.band_split(1).child(0), vector

    def _mark_tiles(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """Mark the first member of a band, which counts large tiles, as the loop of the threads."""
        return self.marker.parallel(node, ThreadSharing(dynamic=True))

    def _distributed_updates(self, band: _BandFacts) -> isl.ScheduleNode | None:
        """Updates that share a band, each in a band of its own: a register tile takes one statement.

        None if there are not several that could be tiled, or none may go before another.
        """
        node, accesses = band.node, band.accesses
        names = dict.fromkeys(each.statement.name for each in accesses)
        several = [[each for each in accesses if each.statement.name == name] for name in names]
        if (
            not self._context.options.registers
            or sum(find_micro_kernel(node, each) is not None for each in several) < 2
        ):
            return None
        groups = dependence_groups(node.get_domain(), active_dependences(node, self._dependences.validity))
        if len(groups) < 2:
            return None
        distributed = distribute(node, groups)
        return distributed if is_legal_below(distributed, self._dependences) else None

    def _map_points(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """Order the loops of an innermost band that stands apart from register tiles."""
        vector = find_vector_loop(
            node, references(self._scop, node), self._dependences, self._context.machine
        )
        depth = node.get_tree_depth()
        node = self._points(node, vector, depth, tiled=True)
        return node.ancestor(node.get_tree_depth() - depth)

    def _points(
        self, node: isl.ScheduleNode, vector: VectorLoop | None, depth: int, *, tiled: bool
    ) -> isl.ScheduleNode:
        """Order the loops of an innermost band, the one for the vector unit last.

        Nothing above ``depth`` in the tree is touched.
        """
        if vector is None:
            if tiled and self._is_recurrence(node):
                return self._as_carried(wavefront_of_points(node))
            if any(has_loops(each.body) for each in statements_of(node, self._scop)):
                return self._in_lanes(node)
            return self._along_rows(node, depth)
        loop = split_last(node, vector.member)
        if vector.groups:
            return self.marker.simd_children(distribute(loop, list(vector.groups)))
        lanes = self._lanes_of(loop) if self._is_left_scalar(loop) else None
        return self.marker.simd(loop if lanes is None else self._in_strips(loop), lanes)

    def _needs_arrays(self, loop: isl.ScheduleNode) -> bool:
        """Whether the lanes of ``loop`` need arrays that only we could give them, and do not."""
        return needs_arrays(privatised(loop, self._dependences.private)) and self._lanes_of(loop) is None

    def _is_left_scalar(self, loop: isl.ScheduleNode) -> bool:
        """Whether a compiler computes what is in a loop that carries nothing without vectors."""
        names, compiler = self._scop.type_names, self._context.compiler
        accesses = references(self._scop, loop)
        hoisted = invariant_reads(loop, accesses, self._scop)
        free = branch_free(Itself(self._scop))
        return has_roots(loop, self._scop) or not converts(
            accesses, 0, names, compiler, hoisted=hoisted, branch_free=free
        )

    def _lanes_of(self, loop: isl.ScheduleNode) -> LaneLoop | None:
        """How a loop that carries nothing is written in lanes; None if it cannot be, or is not to be."""
        if not (self._context.options.simd and self._context.compiler.optimises):
            return None
        machine, scalar = self._context.machine, self._is_left_scalar(loop)
        found = find_lane_loop(loop, self._scop, self._dependences, machine, scalar=scalar)
        if scalar and isinstance(found, LaneLoop) and self._context.compiler.vectors.masks is Masks.NONE:
            found = None if has_wide_integers(found) else found
        inside = [each for each in statements_of(loop, self._scop) if has_loops(each.body)]
        if inside and (remark := remark_on_lanes(found, inside[0])) and remark not in self.remarks:
            self.remarks.append(remark)
        return found if isinstance(found, LaneLoop) else None

    def _is_recurrence(self, node: isl.ScheduleNode) -> bool:
        """Whether each point of a band waits for its neighbour, while those on diagonals could overlap."""
        members = node.band_n_member()
        diagonal = members > 1 and node.band_get_permutable() and not coincident_members(node)
        if not (self._context.options.tile and diagonal):
            return False
        slow = is_slow(statements_of(node, self._scop))
        return slow and is_chain(node, self._dependences.flow, self._context.machine)


def _shared_member(node: isl.ScheduleNode, coincident: Sequence[int], sizes: Sequence[int]) -> int:
    """The first ``coincident`` member of a band with several tiles of its size, or the first one of all."""
    for member in coincident:
        trips = maximum_trips(node, member)
        if not trips.is_int() or trips.to_python() > sizes[member]:
            return member
    return coincident[0]


def _moves_rows(accesses: Sequence[Reference], lanes: LaneLoop) -> bool:
    """Whether ``lanes`` of a band's first loop go along rows that they store, or load to store columns."""
    return bool(lanes.windows.loops) and (lanes.windows.are_stored or _transposes(accesses, lanes))


def _sums_rows(node: isl.ScheduleNode, accesses: Sequence[Reference]) -> bool:
    """Whether a band's first loop goes over sums, side by side in memory, of what lies along long rows.

    The last member of ``node`` goes along these; compilers unroll it where it has a few iterations. Lanes
    keep sums in registers along whole rows. With the first loop inside, each step loads and stores them all.
    """
    arrays = [each for each in accesses if each.access.array.extents]
    written = [each for each in arrays if each.access.kind is not AccessKind.READ]
    last = len(arrays[0].matrix[0]) - 1 if arrays else 0
    trips = trips_of(node, node.band_n_member() - 1)
    return (
        bool(written)
        and last > 0
        and (trips is None or trips > COMPILERS_UNROLL)
        and all(each.access.kind is AccessKind.WRITE and each.is_adjacent(0) for each in written)
        and not any(any(row[1:]) for each in written for row in each.matrix)
        and all(each.stride(0) is not Stride.FAR or each.stride(last) is Stride.UNIT for each in arrays)
    )


def _transposes(accesses: Sequence[Reference], lanes: LaneLoop) -> bool:
    """Whether all that ``lanes`` store is columns, a place of each, and no row is left to gather."""
    others = [
        each
        for each in accesses
        if each.access.array.extents and id(each.access.node) not in lanes.windows.nodes
    ]
    if any(each.stride(0) is Stride.FAR for each in others):
        return False
    written = [each for each in others if each.access.kind is not AccessKind.READ]
    return bool(written) and all(
        each.is_adjacent(0) and each.matrix[-1][-1] == 0 and any(row[-1] for row in each.matrix)
        for each in written
    )
