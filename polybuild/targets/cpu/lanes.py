"""Which statements a vector unit computes lane by lane, and which parts of them are worth keeping.

A body qualifies if it is one assignment whose operands are numbers, combined by the four operations and
converted where C converts them: then each lane of a vector goes through the very roundings
that the scalar code goes through.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from pycparser import c_ast

from polybuild.c.explicit_conversions import Number, with_conversions
from polybuild.scop.model import Access, AccessKind, Statement
from polybuild.targets.cpu.strides import Reference, Stride
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class Update:
    """A statement ``accumulator op= expression``, whose accumulator has the ``type``.

    ``own`` holds the identities of the nodes that stand for the element updated;
    ``operands`` are the references that the right side makes to anything else. Conversions are
    written out in the body of ``statement``, ``types`` are those of its parts by identity.
    """

    statement: Statement
    accumulator: Reference
    type: Number
    types: Mapping[int, Number]
    own: frozenset[int]
    operands: tuple[Reference, ...]


def is_update(statement: Statement) -> bool:
    """Whether a statement may be an update: it writes one element of an array, and reads it."""
    writes = [each for each in statement.accesses if each.kind is not AccessKind.READ]
    return (
        isinstance(statement.body, c_ast.Assignment)
        and len(writes) == 1
        and _is_simple(writes[0])
        and any(
            each.kind is AccessKind.READ
            and each.array is writes[0].array
            and each.relation.is_equal(writes[0].relation)
            for each in statement.accesses
        )
    )


def find_update(references: list[Reference]) -> Update | None:
    """The update that the statement of ``references``, all of one statement, is; None if it is none."""
    statement = references[0].statement
    writes = [each for each in references if each.access.kind is not AccessKind.READ]
    body = statement.body
    if len(writes) != 1 or not isinstance(body, c_ast.Assignment):
        return None
    (write,) = writes
    element = write.access.array.element
    if write.access.kind is not AccessKind.WRITE or not isinstance(element, Number):
        return None
    if not _is_simple(write.access):
        return None
    own = frozenset(
        id(each.access.node)
        for each in references
        if each.access.array is write.access.array and each.access.relation.is_equal(write.access.relation)
    )
    reads = [each for each in references if each.access.kind is AccessKind.READ]
    operands = {id(each.access.node): each for each in reads if id(each.access.node) not in own}
    if not any(id(each.access.node) in own for each in reads):
        return None
    if id(body.lvalue) not in own or not all(each.access.exact for each in operands.values()):
        return None
    kinds = {node: each.access.array.element for node, each in operands.items()}
    converted = with_conversions(body, kinds | dict.fromkeys(own, element), element)
    if converted is None:
        return None
    statement = replace(statement, body=converted.body)
    return Update(statement, write, element, converted.types, own, tuple(operands.values()))


def _is_simple(access: Access) -> bool:
    return access.exact and bool(access.array.extents) and not any(access.array.suffixes)


@dataclass(frozen=True, slots=True)
class PackablePart:
    """A part of the right side with its references; ``vector`` says whether it differs between the lanes."""

    expression: c_ast.Node
    references: tuple[Reference, ...]
    vector: bool


def packable_parts(update: Update, m: int, k: int, n: int) -> Iterator[PackablePart]:
    """The largest parts of the right side that change with the loop ``k`` and one of ``m`` and ``n``."""
    by_node = {id(each.access.node): each for each in update.operands}
    assert isinstance(update.statement.body, c_ast.Assignment)  # noqa: S101 - an update is one
    waiting = [update.statement.body.rvalue]
    while waiting:
        node = waiting.pop()
        inside = tuple(_operands(node, by_node, update.own))
        moved = {member for member in (m, k, n) if any(_moves(each, member) for each in inside)}
        if None not in inside and moved in ({m, k}, {k, n}):
            yield PackablePart(node, tuple(each for each in inside if each is not None), n in moved)
        elif id(node) not in by_node:
            waiting += [child for _, child in node.children()]


def _operands(
    node: c_ast.Node, by_node: Mapping[int, Reference], own: frozenset[int]
) -> Iterator[Reference | None]:
    """The references below ``node``; None for one to the element updated."""
    if id(node) in own:
        yield None
    elif id(node) in by_node:
        yield by_node[id(node)]
    else:
        for _, child in node.children():
            yield from _operands(child, by_node, own)


def _moves(reference: Reference | None, member: int) -> bool:
    return reference is not None and reference.stride(member) is not Stride.NONE
