"""From a tree with marked kernels to one that a thread of each kernel can run (PPCG 6.4).

The indices of blocks and threads are parameters. Under a kernel's mark a context
node bounds them and a filter keeps the tiles of a block; under its threads' mark a
filter keeps the points of a thread::

    { b0, t0 : 0 <= b0 < 256 and 0 <= t0 < 16 }
      { S[i, j] : floor(i / 64) mod 256 = b0 }
        ...
          { S[i, j] : i mod 16 = t0 }
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from polybuild.polyhedral import node_kind
from polybuild.scop import spaces
from polybuild.targets.gpu.model import THREADS, Axis, GpuMapping, Kernel
from polybuild.targets.gpu.tree import dates_of, find_mark, prefix_of
from polybuild.transform.bands import is_band, member


@dataclass(frozen=True, slots=True)
class LoweredTree:
    """A tree from which the code of the host and of the threads can be generated.

    ``grids`` gives, per kernel, the number of blocks along each axis, as a
    function ``{ [d0, ..., dn] -> [n] }`` of the host's loops around it.
    """

    schedule: isl.Schedule
    grids: Mapping[str, tuple[isl.PwAff, ...]]


def lower(mapping: GpuMapping) -> LoweredTree:
    """Bind the loops of all kernels of ``mapping`` to the indices of blocks and threads."""
    root = mapping.schedule.get_root()
    grids: dict[str, tuple[isl.PwAff, ...]] = {}
    for kernel in mapping.kernels:
        node = find_mark(root, kernel.name)
        grids[kernel.name] = tuple(_grid(node, position, axis) for position, axis in enumerate(kernel.blocks))
        root = _bind(node, kernel).root()
    return LoweredTree(_keep_whole(root).get_schedule(), grids)


def _grid(mark: isl.ScheduleNode, position: int, axis: Axis) -> isl.PwAff:
    """The blocks that have work: as many as there are tiles, if that is fewer than the axis has."""
    band = mark.child(0)
    tiles = (
        prefix_of(band).reverse().apply_range(isl.UnionMap.from_multi_union_pw_aff(member(band, position)))
    )
    bounds = isl.Map.from_union_map(tiles)
    dates = dates_of(mark)
    size = isl.PwAff.val_on_domain(dates, isl.Val(axis.size))
    if not bounds.lexmin_pw_multi_aff().get_pw_aff(0).nonneg_set().is_equal(bounds.domain()):
        return size
    last = bounds.lexmax_pw_multi_aff().get_pw_aff(0)
    return last.add_constant_val(isl.Val(1)).min(size).coalesce()


def _bind(mark: isl.ScheduleNode, kernel: Kernel) -> isl.ScheduleNode:
    """Insert the context and the filters of a kernel; returns its mark."""
    reached = dates_of(mark)
    depth = mark.get_tree_depth()
    if not kernel.is_serial:
        threads = find_mark(mark, THREADS + kernel.name.removeprefix("kernel"))
        points = threads.child(0)
        first = points.band_n_member() - len(kernel.threads)
        node = points.insert_filter(filter_of(points, first, kernel.threads))
        node = node.ancestor(node.get_tree_depth() - depth).child(0)
        node = node.insert_filter(filter_of(node, 0, kernel.blocks))
        node = node.insert_context(bounds_of(kernel.axes, mark.get_schedule_depth()))
        mark = node.parent()
    if mark.get_schedule_depth():
        guard = mark.insert_guard(reached)
        return guard.child(0)
    return mark


def filter_of(band: isl.ScheduleNode, first: int, axes: Sequence[Axis]) -> isl.UnionSet:
    """The instances that the indices ``axes`` run, by the members of ``band`` from the first one on."""
    chosen = band.get_domain()
    for position, axis in enumerate(axes):
        value = member(band, first + position).get_union_pw_aff(0)
        index = isl.UnionPwAff.param_on_domain_id(value.domain(), spaces.identifier(axis.parameter))
        difference = value.sub(index).mod_val(isl.Val(axis.size))
        chosen = chosen.intersect(difference.zero_union_set())
    return chosen


def bounds_of(axes: Sequence[Axis], depth: int) -> isl.Set:
    """``[b0, ...] -> { [d0, ..., dn] : 0 <= b0 < size ... }``, for a context node below ``depth`` loops."""
    bounds = spaces.universe(depth)
    for axis in axes:
        index = spaces.parameter(depth, axis.parameter)
        size = spaces.constant(depth, axis.size)
        bounds = bounds.intersect(index.nonneg_set()).intersect(index.lt_set(size))
    return bounds


def _keep_whole(root: isl.ScheduleNode) -> isl.ScheduleNode:
    """Ask for the host's loops not to be cut in pieces, each of which would have kernels of its own."""

    def visit(node: isl.ScheduleNode) -> isl.ScheduleNode:
        kind = node_kind(node)
        if kind == isl.schedule_node_type.mark and node.mark_get_id().get_name().startswith("kernel"):
            return node
        if is_band(node):
            for position in range(node.band_n_member()):
                node = node.band_member_set_ast_loop_type(position, isl.ast_loop_type.atomic)
        for index in range(node.n_children()):
            node = visit(node.child(index)).parent()
        return node

    return visit(root)
