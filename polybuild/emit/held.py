"""Elements that statements in a row access again and again, in a variable while they do (scalar replacement).

A compiler does this by itself where it knows that arrays share no memory. That is lost where
OpenMP puts a loop's body into a function of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import islpy as isl

from polybuild.emit.ast import Instance
from polybuild.emit.nodes import kind_of, parts
from polybuild.scop.model import Access, AccessKind, Array
from polybuild.scop.nodes import always_evaluates
from polybuild.source.types import Floating, Integer


@dataclass(frozen=True, slots=True)
class Held:
    """An element of ``array``, as C text; ``loaded`` if its old value is read."""

    array: Array
    element: str
    loaded: bool

    @property
    def type(self) -> str:
        """The C type of the variable."""
        assert isinstance(self.array.element, Integer | Floating)  # noqa: S101 - others are not held
        return self.array.element.name


def statements_in_a_row(node: isl.AstNode) -> list[isl.AstNode]:
    """The statements that ``node`` is, one after the other; none if there are loops or conditions in it."""
    if kind_of(node) == isl.ast_node_type.user:
        return [node]
    if kind_of(node) not in {isl.ast_node_type.block, isl.ast_node_type.mark}:
        return []
    found = [statements_in_a_row(each) for each in parts(node)]
    return [each for part in found for each in part] if all(found) else []


def held_elements(
    instances: Sequence[Instance], text: Callable[[Access, isl.AstExpr], str], elsewhere: Collection[int]
) -> list[Held]:
    """What is best held in variables while ``instances`` run one after the other.

    That is the one element of an array that they access, if one of them writes it; ``text`` writes an
    access as C. Nodes whose identity is in ``elsewhere`` do not stand for elements.
    """
    made: dict[str, list[tuple[Access, str, bool]]] = {}
    excluded: set[str] = set()
    for instance in instances:
        written = {id(access.node): text(access, subscript) for access, subscript in instance.accesses}
        for access in instance.statement.accesses:
            name = access.array.name
            if id(access.node) not in written or not _may_be_held(access, elsewhere):
                excluded.add(name)
                continue
            certain = not instance.statement.dynamic and always_evaluates(
                instance.statement.body, access.node
            )
            made.setdefault(name, []).append((access, written[id(access.node)], certain))
    found = []
    for name, accesses in made.items():
        first, element, certain = accesses[0]
        writes = sum(access.kind is AccessKind.WRITE for access, _, _ in accesses)
        one = len({text for _, text, _ in accesses}) == 1
        if name not in excluded and one and certain and writes and len(accesses) > 1:
            found.append(Held(first.array, element, loaded=first.kind is AccessKind.READ))
    return found


def _may_be_held(access: Access, elsewhere: Collection[int]) -> bool:
    array = access.array
    return (
        access.exact
        and access.kind is not AccessKind.MAY_WRITE
        and bool(array.extents)
        and not any(array.suffixes)
        and isinstance(array.element, Integer | Floating)
        and id(access.node) not in elsewhere
    )
