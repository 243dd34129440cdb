"""Elements that statements in a row access again and again, in a variable while they do (scalar replacement).

A compiler does this by itself where it knows that arrays share no memory. That is lost where
OpenMP puts a loop's body into a function of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import islpy as isl

from polybuild.c.syntax_tree import always_evaluates
from polybuild.c.types import FloatingType, IntegerType
from polybuild.codegen.c.ast import Instance
from polybuild.codegen.c.nodes import kind_of, parts
from polybuild.scop.model import Access, AccessKind, Array


@dataclass(frozen=True, slots=True)
class Held:
    """The element of ``array`` with ``subscripts``, as C text; ``loaded`` if its old value is read."""

    array: Array
    subscripts: tuple[str, ...]
    loaded: bool

    @property
    def type(self) -> str:
        """The C type of the variable."""
        assert isinstance(self.array.element, IntegerType | FloatingType)  # noqa: S101 - others are not held
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
    instances: Sequence[Instance],
    subscripts: Callable[[isl.AstExpr], Sequence[str]],
    elsewhere: Collection[int],
) -> list[Held]:
    """What is best held in variables while ``instances`` run one after the other.

    Those are elements that are written and accessed again, of arrays all of whose elements that are
    accessed are known to differ; ``subscripts`` writes those of an access as C. Nodes whose identity is in
    ``elsewhere`` do not stand for elements.
    """
    made: dict[str, dict[tuple[str, ...], list[tuple[Access, bool]]]] = {}
    excluded: set[str] = set()
    for instance in instances:
        body, dynamic = instance.statement.body, instance.statement.dynamic
        written = {id(access.node): (access, tuple(subscripts(each))) for access, each in instance.accesses}
        for access in instance.statement.accesses:
            here, element = written.get(id(access.node), (access, None))
            in_place = here.array.name == access.array.name  # and not in a buffer
            if element is None or not in_place or not _may_be_held(access, elsewhere):
                excluded.add(access.array.name)
                continue
            certain = not dynamic and always_evaluates(body, access.node)
            elements = made.setdefault(access.array.name, {})
            elements.setdefault(element, []).append((access, certain))
    return [
        Held(accesses[0][0].array, element, loaded=accesses[0][0].kind is AccessKind.READ)
        for name, elements in made.items()
        if name not in excluded and all(itertools.starmap(_differ, itertools.combinations(elements, 2)))
        for element, accesses in elements.items()
        if accesses[0][1]
        and len(accesses) > 1
        and any(access.kind is AccessKind.WRITE for access, _ in accesses)
    ]


def _differ(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two elements certainly are two: one of their subscripts is another number."""
    pairs = zip(one, other, strict=True)
    return any(first != second and first.isdigit() and second.isdigit() for first, second in pairs)


def _may_be_held(access: Access, elsewhere: Collection[int]) -> bool:
    array = access.array
    return (
        access.exact
        and access.kind is not AccessKind.MAY_WRITE
        and bool(array.extents)
        and not any(array.suffixes)
        and isinstance(array.element, IntegerType | FloatingType)
        and id(access.node) not in elsewhere
    )
