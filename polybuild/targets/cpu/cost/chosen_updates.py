"""Updates under conditions that compilers do not know as reductions, although any order gives the same.

``if (x > m) m = x;`` is a maximum to them, and ``if (c) n += x;`` a sum of choices, but
``if (c && x > m) m = x;`` is neither. An element that is stored to under a condition is in no register.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from pycparser import c_ast

from polybuild.c.syntax_tree import key, walk
from polybuild.scop.model import AccessKind
from polybuild.targets.cpu.strides import Reference, Stride

_ORDERS = frozenset({"<", "<=", ">", ">="})


def has_chosen_updates(accesses: Sequence[Reference], member: int, *, generated: bool) -> bool:
    """Whether a statement updates one element in all iterations of a loop, in a way that is unknown.

    ``accesses`` are those below a band, whose ``member`` is the loop. Elements that the program has in memory
    are in variables where the loop is ``generated``.
    """
    return any(
        _is_unknown(each, _own(each, accesses), generated=generated)
        for each in accesses
        if each.access.kind is not AccessKind.READ and each.stride(member) is Stride.NONE
    )


def _own(write: Reference, accesses: Sequence[Reference]) -> frozenset[int]:
    """The nodes of the statement that read what it ``write``s, by identity."""
    place = key(write.access.node)
    return frozenset(
        id(each.access.node)
        for each in accesses
        if each.statement is write.statement and each.access.kind is AccessKind.READ
        if each.access.array is write.access.array and key(each.access.node) == place
    )


def _is_unknown(write: Reference, own: Collection[int], *, generated: bool) -> bool:
    """Whether a ``write`` to what its statement reads by its ``own`` nodes is an update that is unknown."""
    if not own or write.statement.dynamic:
        return False
    array = write.access.array
    in_memory = not array.is_scalar or (bool(array.copied) and not generated)
    if in_memory and write.access.kind is AccessKind.MAY_WRITE:
        return True
    return any(
        not (outermost and _compares(test, own)) for test, outermost in _tests(write.statement.body, own)
    )


def _tests(
    node: c_ast.Node, own: Collection[int], *, outermost: bool = True
) -> Iterator[tuple[c_ast.Node, bool]]:
    """The conditions that look at ``own`` nodes, each with whether it is under no other one."""
    choice = isinstance(node, c_ast.If | c_ast.TernaryOp)
    if choice and _looks_at(node.cond, own):
        yield node.cond, outermost
    for child in node:
        yield from _tests(child, own, outermost=outermost and not choice)


def _compares(test: c_ast.Node, own: Collection[int]) -> bool:
    """Whether ``test`` is that an ``own`` node, as it is, is less or greater than something else."""
    if not isinstance(test, c_ast.BinaryOp) or test.op not in _ORDERS:
        return False
    sides = (test.left, test.right)
    return any(id(each) in own for each in sides) and not all(_looks_at(each, own) for each in sides)


def _looks_at(node: c_ast.Node, own: Collection[int]) -> bool:
    return any(id(each) in own for each in walk(node))
