"""Where in a tree a buffer may be declared, and what fits there."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import islpy as isl

from polybuild.budget import budget_within, was_spent
from polybuild.scop.model import Array
from polybuild.storage.buffers import Buffer, contract_at
from polybuild.storage.liveness import LiveValues
from polybuild.transform.bands import is_band

# isl's operations that the search for a buffer may take at one place
_OPERATIONS = 400_000


def buffer_at(
    node: isl.ScheduleNode,
    array: Array,
    values: LiveValues,
    context: isl.Set,
    name: str,
    *,
    scalars: bool = False,
) -> Buffer | None:
    """What ``contract_at`` finds; None if that takes isl too long."""
    try:
        with budget_within(_OPERATIONS):
            return contract_at(node, array, values, context, name, scalars=scalars)
    except isl.Error as error:
        if not was_spent(error):
            raise
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
    """Places for a declaration, deepest first: loops' bodies, the region; those that are ``allowed``."""
    return sorted(_scopes(top, allowed), key=lambda each: -each.get_tree_depth())


def _scopes(
    node: isl.ScheduleNode, allowed: Callable[[isl.ScheduleNode], bool]
) -> Iterator[isl.ScheduleNode]:
    for index in range(node.n_children()):
        below = node.child(index)
        yield from _scopes(below, allowed)
        if (is_band(node) or not node.has_parent()) and allowed(below):
            yield below
