"""The allocation scope of a buffer: where in a tree it may be declared, and what fits there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import islpy as isl

from polybuild.analysis.dependences import written_and_flow
from polybuild.effort import BUFFER_OPERATIONS
from polybuild.poly.budget import found_within
from polybuild.poly.marks import Mark
from polybuild.poly.trees import is_band
from polybuild.scop.model import Array, Scop
from polybuild.storage.buffers import Buffer, contract_at
from polybuild.storage.liveness import LiveValues


def buffer_at(
    node: isl.ScheduleNode,
    array: Array,
    values: LiveValues,
    context: isl.Set,
    mark: Mark,
    *,
    scalars: bool = False,
) -> Buffer | None:
    """What ``contract_at`` finds; None if that takes isl too long."""
    return found_within(
        BUFFER_OPERATIONS, partial(contract_at, node, array, values, context, mark, scalars=scalars)
    )


def first_buffer(
    nodes: Iterable[isl.ScheduleNode], array: Array, scop: Scop, mark: Mark
) -> tuple[isl.ScheduleNode, Buffer] | None:
    """The first of ``nodes`` that can have a buffer for ``array``, and the buffer."""
    values = LiveValues(*written_and_flow(scop, array))
    for node in nodes:
        buffer = buffer_at(node, array, values, scop.context, mark)
        if buffer is not None:
            return node, buffer
    return None


def single_members(node: isl.ScheduleNode) -> isl.ScheduleNode:
    """The tree with one member in each band."""
    if is_band(node) and node.band_n_member() > 1:
        node = node.band_split(1)
    for index in range(node.n_children()):
        node = single_members(node.child(index)).parent()
    return node


def scopes_below(
    top: isl.ScheduleNode, allowed: Callable[[isl.ScheduleNode], bool] = lambda _: True
) -> list[isl.ScheduleNode]:
    """Allocation scopes, deepest first: loops' bodies, the region; those that are ``allowed``."""
    return sorted(_scopes(top, allowed), key=lambda each: -each.get_tree_depth())


def _scopes(
    node: isl.ScheduleNode, allowed: Callable[[isl.ScheduleNode], bool]
) -> Iterator[isl.ScheduleNode]:
    for index in range(node.n_children()):
        below = node.child(index)
        yield from _scopes(below, allowed)
        if (is_band(node) or not node.has_parent()) and allowed(below):
            yield below
