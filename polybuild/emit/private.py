"""Whether a loop of threads or vectors keeps the values of private variables inside its iterations.

A band whose iterations keep them may become several loops: isl puts a statement that
only runs in the last iteration behind the loop, which is the same order, but there the
copy of that iteration is gone. So the loops that were made are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import islpy as isl

from polybuild.emit.ast import Instance
from polybuild.emit.vectors import Lanes, Move, Packing

_Kind = isl.ast_node_type
_FOR = getattr(_Kind, "for_")  # noqa: B009 - islpy's stubs lack the name
_IF = getattr(_Kind, "if_")  # noqa: B009 - likewise

_User = Instance | Lanes | Move | Packing


def keeps_private(
    node: isl.AstNode, dimension: int, private: tuple[str, ...], instances: Mapping[str, _User]
) -> bool:
    """Whether each loop of schedule dimension ``dimension`` in ``node`` may have copies of ``private``.

    It has all statements that touch such a variable, or none.
    """
    parts = [frozenset(each) for each in _parts(node, dimension, instances)]
    everything = frozenset().union(*parts)
    return all(
        part.isdisjoint(users) or users <= part for users in _users(everything, private) for part in parts
    )


_Found = tuple[str, frozenset[str]]  # a statement and the arrays it touches


def _users(everything: frozenset[_Found], private: tuple[str, ...]) -> Iterator[frozenset[_Found]]:
    for name in private:
        yield frozenset(each for each in everything if name in each[1])


def _parts(node: isl.AstNode, dimension: int, instances: Mapping[str, _User]) -> Iterator[list[_Found]]:
    """The statements of each loop of the dimension, and each statement that is in none."""
    kind = _Kind(node.get_type())
    if kind == _FOR:
        own = node.for_get_iterator().id_get_id().get_name() == f"c{dimension}"
        inside = _parts(node.for_get_body(), -1 if own else dimension, instances)
        if own:
            yield [found for part in inside for found in part]
        else:
            yield from inside
    elif kind == _IF:
        yield from _parts(node.if_get_then_node(), dimension, instances)
        if node.if_has_else_node():
            yield from _parts(node.if_get_else_node(), dimension, instances)
    elif kind == _Kind.mark:
        yield from _parts(node.mark_get_node(), dimension, instances)
    elif kind == _Kind.block:
        nodes = node.block_get_children()
        for index in range(nodes.n_ast_node()):
            yield from _parts(nodes.get_at(index), dimension, instances)
    else:
        statement = instances[node.get_annotation().get_name()].statement
        yield [(statement.name, frozenset(each.array.name for each in statement.accesses))]
