"""Which statements a vector unit computes lane by lane, and which parts of them are worth keeping.

A body qualifies if it is one assignment whose operands all have the type of the element it
updates, ``float`` or ``double``, combined by the four operations: then each lane of a vector
goes through the very roundings that the scalar code goes through.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pycparser import c_ast

from polybuild.c.types import FloatingType
from polybuild.scop.model import Access, AccessKind, Statement
from polybuild.targets.cpu.strides import Reference, Stride

_SUFFIXES = {"float": "fF", "double": ""}


@dataclass(frozen=True, slots=True)
class Update:
    """A statement ``accumulator op= expression`` of one floating type.

    ``own`` holds the identities of the nodes that stand for the element updated;
    ``operands`` are the references that the right side makes to anything else.
    """

    statement: Statement
    accumulator: Reference
    type: FloatingType
    own: frozenset[int]
    operands: tuple[Reference, ...]


def find_update(references: list[Reference]) -> Update | None:
    """The update that the statement of ``references``, all of one statement, is; None if it is none."""
    statement = references[0].statement
    writes = [each for each in references if each.access.kind is not AccessKind.READ]
    body = statement.body
    if len(writes) != 1 or not isinstance(body, c_ast.Assignment):
        return None
    (write,) = writes
    element = write.access.array.element
    if write.access.kind is not AccessKind.WRITE or not isinstance(element, FloatingType):
        return None
    if element.name not in _SUFFIXES or not _is_simple(write.access):
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
    nodes = {*own, *operands}
    if id(body.lvalue) not in own or not _is_arithmetic(body.rvalue, nodes, element):
        return None
    if any(each.access.array.element != element or not each.access.exact for each in operands.values()):
        return None
    return Update(statement, write, element, own, tuple(operands.values()))


def _is_simple(access: Access) -> bool:
    return access.exact and bool(access.array.extents) and not any(access.array.suffixes)


def _is_arithmetic(node: c_ast.Node, operands: set[int], element: FloatingType) -> bool:
    if id(node) in operands:
        return True
    if isinstance(node, c_ast.BinaryOp):
        return node.op in {"+", "-", "*", "/"} and all(
            _is_arithmetic(each, operands, element) for each in (node.left, node.right)
        )
    if isinstance(node, c_ast.UnaryOp):
        return node.op == "-" and _is_arithmetic(node.expr, operands, element)
    if isinstance(node, c_ast.Constant):
        text = str(node.value)
        suffix = text[-1] if text[-1] in "fFlL" else ""
        return node.type in _SUFFIXES and suffix in _SUFFIXES[element.name]
    return False


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
