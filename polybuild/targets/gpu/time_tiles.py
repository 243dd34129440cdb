"""Tiles over time on a device: a kernel for each phase, a block for each of its tiles (thesis, section 5.2).

Tiles of one phase need nothing of each other, so a launch runs them all. In a tile time goes on step by step:
the points of a step are those of the threads, which meet at a barrier before each::

    for (T)                              tiles of time: the host, which launches
      for each phase
        S_0, ... on blocks               tiles of the phase
          for (S_1, ...)                 strips of the tile, one after the other
            for (t)                      its steps
              barrier
              s_0, ... on threads        the points of the step

Values pass from thread to thread in the device's memory. Every dependence leads ahead in time or stays at its
place, which ``thread_legality`` proves again for the tree that comes out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import islpy as isl

from polybuild.options import OVERLAPPED, Options
from polybuild.poly.marks import MarkKind
from polybuild.poly.trees import insert_mark
from polybuild.scop.model import Scop
from polybuild.targets.base import DeviceLimits
from polybuild.targets.device import Kernel
from polybuild.targets.gpu.coalescing import consecutive_member
from polybuild.targets.gpu.grid import axes, fitting_block, grid_sizes
from polybuild.transform.bands import permute, tile
from polybuild.transform.tiling.phases import Phase, divided, insert_band, part, times, wave_of
from polybuild.transform.tiling.shapes import phases_of
from polybuild.transform.tiling.stencil import Stencil, find_stencil
from polybuild.values import dataclass

_AUTOMATIC = "hybrid"
"""The shape unless one is asked for: its tiles are alike, and its strips bound what a block works on."""


@dataclass(frozen=True, slots=True)
class TimeTiles:
    """The tiles of a stencil for a device: ``sizes`` are iterations of its loops, time first.

    Blocks have the threads of ``block`` along space, or the device's usual ones.
    """

    stencil: Stencil
    shape: str
    sizes: tuple[int, ...]
    phases: tuple[Phase, ...]
    block: tuple[int, ...] = ()

    @property
    def description(self) -> str:
        """What is said of the tiles to people."""
        count, sizes = len(self.phases), "x".join(map(str, self.sizes))
        kernels = "one kernel" if count == 1 else f"{count} kernels"
        return f"{self.shape} tiles of {sizes} over time, {kernels} for {self.sizes[0]} steps"

    @property
    def closed(self) -> list[int]:
        """The dimensions of space along which the points of a step are independent."""
        return [dim for dim, cone in enumerate(self.stencil.cones) if cone.closed]


def find_time_tiles(
    node: isl.ScheduleNode, dependences: isl.UnionMap, options: Options, limits: DeviceLimits
) -> TimeTiles | None:
    """Tiles for the loop over time ``node``, None if it is none.

    ``dependences`` are those that the tree above leaves to it. Raises ValueError if it has none of the shape
    and the sizes asked for.
    """
    stencil = find_stencil(node, dependences)
    if stencil is None or len(stencil.space) > limits.axes or not stencil.cones[0].closed:
        return None
    if not asks_for_shape(options) and _is_skewed(stencil):
        # the conditions of such tiles are so intricate that isl may work on them for minutes
        raise ValueError("tiles over time would run askew in space")
    shape = options.tile_shape if asks_for_shape(options) else _AUTOMATIC
    if shape == "diamond-2d":
        raise ValueError("tiles over time that start together along two dimensions are for processors")
    depth = 1 + len(stencil.space)
    given = options.tile_sizes[:depth] or limits.shapes.over_time.tiles[depth - 2]
    sizes = given + (given[-1],) * (depth - len(given))
    return TimeTiles(stencil, shape, sizes, with_instances(phases_of(stencil, shape, sizes, dependences)))


def asks_for_shape(options: Options) -> bool:
    """Whether tiles whose instances run once have a shape; those that overlap are tried before."""
    return options.tile_shape not in {"auto", OVERLAPPED}


def with_instances(phases: Sequence[Phase]) -> tuple[Phase, ...]:
    """Those of ``phases`` that have instances: of a few steps all may be in one."""
    return tuple(each for each in phases if not each.instances.is_empty())


def _is_skewed(stencil: Stencil) -> bool:
    """Whether the steps of ``stencil`` run across space: Gauss-Seidel's do, as points need new values."""
    parts = stencil.time.get_pw_aff_list()
    return any(_mentioned(parts.get_at(index)) > 1 for index in range(parts.n_pw_aff()))


def _mentioned(function: isl.PwAff) -> int:
    """How many of the loops around a statement ``function`` depends on."""
    values = function.gist(function.domain())
    return sum(values.involves_dims(isl.dim_type.in_, k, 1) for k in range(values.dim(isl.dim_type.in_)))


class PhaseMapper:
    """Makes kernels of the phases of ``tiles``; ``first`` is the index of the first of them."""

    def __init__(
        self, scop: Scop, tiles: TimeTiles, options: Options, limits: DeviceLimits, first: int
    ) -> None:
        self._scop = scop
        self._tiles = tiles
        self._options = options
        self._limits = limits
        self._first = first
        self.kernels: list[Kernel] = []

    def map(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """Put the tiles in the place of the loop over time ``node``; returns the node at its place."""
        phases = self._tiles.phases
        depth = node.get_tree_depth()
        if len(phases) == 1:
            node = self._kernel(node, phases[0])
        else:
            node = part(node, phases)
            for index, phase in enumerate(phases):
                node = self._kernel(node.child(index).child(0), phase).ancestor(2)
        node = insert_band(node, (wave_of(phases),), MarkKind.TILE_WAVE)
        return node.ancestor(node.get_tree_depth() - depth)

    def _kernel(self, node: isl.ScheduleNode, phase: Phase) -> isl.ScheduleNode:
        """The kernel of ``phase`` above the instances of its tiles; returns its mark."""
        closed = self._tiles.closed
        time, places = self._point_band(phase)
        node = _band(node, places)
        node = node.band_set_permutable(1)
        x = consecutive_member(self._scop, node, range(len(closed)))
        order = [*(each for each in range(len(closed)) if each != x), x]
        node = permute(node, order)
        kernel = Kernel(
            self._first + len(self.kernels),
            axes("b", grid_sizes(len(phase.tiles), self._options, self._limits)),
            axes("t", self._threads([closed[each] for each in order])),
            in_steps=True,
        )
        self.kernels.append(kernel)
        node = tile(node, [axis.size for axis in kernel.threads])
        node = insert_mark(node.child(0), kernel.mark(MarkKind.POINTS)).parent()
        node = insert_mark(_band(node, [time]), kernel.mark(MarkKind.STEPS))
        if phase.strips:
            node = _band(node, phase.strips)
        node = _band(node, _from_the_first(phase))
        for position in range(len(phase.tiles)):
            node = node.band_member_set_coincident(position, 1)
        return insert_mark(node, kernel.mark())

    def _point_band(self, phase: Phase) -> tuple[isl.UnionPwAff, list[isl.UnionPwAff]]:
        """Time and the places of the points in a tile of ``phase``, from its begin on where they are known.

        What is counted from there has the same values in all tiles, which makes for short conditions.
        """
        stencil, inside = self._tiles.stencil, phase.points
        places = [
            inside[1 + dim] if 1 + dim < len(inside) else stencil.space[dim] for dim in self._tiles.closed
        ]
        time = inside[0] if inside else stencil.time
        return time, [divided(each, stencil.scale) for each in places]

    def _threads(self, dims: Sequence[int]) -> tuple[int, ...]:
        return threads_of(self._tiles, dims, self._options, self._limits)


def threads_of(
    tiles: TimeTiles, dims: Sequence[int], options: Options, limits: DeviceLimits
) -> tuple[int, ...]:
    """Threads along the dimensions ``dims`` of space."""
    if tiles.block:
        return tuple(tiles.block[dim] for dim in dims)
    widths = tuple(tiles.sizes[1 + dim] for dim in dims)
    return fitting_block(limits.shapes.over_time.blocks[len(dims) - 1], widths, options, limits)


def _from_the_first(phase: Phase) -> list[isl.UnionPwAff]:
    """The tiles of ``phase``, counted so that a wave begins where the one before began, or close to it."""
    if not phase.lean:
        return list(phase.tiles)
    first = divided(times(phase.wave, phase.lean.numerator), phase.lean.denominator)
    return [each.sub(first) for each in phase.tiles]


def _band(node: isl.ScheduleNode, members: Sequence[isl.UnionPwAff]) -> isl.ScheduleNode:
    """``node`` below a band of ``members``."""
    functions = map(isl.MultiUnionPwAff.from_union_pw_aff, members)
    node = node.insert_partial_schedule(reduce(isl.MultiUnionPwAff.flat_range_product, functions))
    for position in range(len(members)):
        node = node.band_member_set_ast_loop_type(position, isl.ast_loop_type.atomic)
    return node
