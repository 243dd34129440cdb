"""Whether a loop of threads or vectors keeps the values of private variables inside its iterations.

A band whose iterations keep them may become several loops: isl puts a statement that
only runs in the last iteration behind the loop, which is the same order, but there the
copy of that iteration is gone. So the loops that were made are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import islpy as isl

from polybuild.codegen.c.ast import Instance
from polybuild.codegen.c.nodes import FOR, kind_of, parts
from polybuild.codegen.c.vectors import Lanes, Move, Packing

_User = Instance | Lanes | Move | Packing


def keeps_private(
    node: isl.AstNode, dimension: int, private: tuple[str, ...], instances: Mapping[str, _User]
) -> bool:
    """Whether each loop of schedule dimension ``dimension`` in ``node`` may have copies of ``private``.

    It has all statements that touch such a variable, or none.
    """
    found = [frozenset(each) for each in _parts(node, dimension, instances)]
    everything = frozenset().union(*found)
    return all(
        part.isdisjoint(users) or users <= part for users in _users(everything, private) for part in found
    )


_Found = tuple[str, frozenset[str]]  # a statement and the arrays it touches


def _users(everything: frozenset[_Found], private: tuple[str, ...]) -> Iterator[frozenset[_Found]]:
    for name in private:
        yield frozenset(each for each in everything if name in each[1])


def _parts(node: isl.AstNode, dimension: int, instances: Mapping[str, _User]) -> Iterator[list[_Found]]:
    """The statements of each loop of the dimension, and each statement that is in none."""
    kind = kind_of(node)
    if kind == FOR:
        own = node.for_get_iterator().id_get_id().get_name() == f"c{dimension}"
        inside = _parts(node.for_get_body(), -1 if own else dimension, instances)
        if own:
            yield [each for part in inside for each in part]
        else:
            yield from inside
    elif kind == isl.ast_node_type.user:
        statement = instances[node.get_annotation().get_name()].statement
        yield [(statement.name, frozenset(each.array.name for each in statement.accesses))]
    else:
        for each in parts(node):
            yield from _parts(each, dimension, instances)
