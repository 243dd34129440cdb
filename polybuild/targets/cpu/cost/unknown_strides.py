"""Accesses whose stride in the program's text is a number of bytes that a compiler does not know."""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast

from polybuild.c.syntax_tree import factors_of, walk
from polybuild.c.synthetic import Quotient
from polybuild.scop.model import Parameter


def has_unknown_stride(node: c_ast.Node, parameters: tuple[Parameter, ...]) -> bool:
    """Whether all counters in the last subscript of ``node`` are multiplied by numbers of bytes.

    That these are an element's, a region may look at before it runs, and no compiler does.
    """
    if not isinstance(node, c_ast.ArrayRef):
        return False
    known = {each.expression.name for each in parameters if isinstance(each.expression, c_ast.ID)}
    alone = list(_outside_strides(node.subscript))
    return len(alone) < sum(1 for _ in walk(node.subscript)) and not any(
        isinstance(each, c_ast.ID) and each.name not in known for each in alone
    )


def _outside_strides(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """What of ``node`` no stride in bytes multiplies."""
    if isinstance(node, Quotient) or any(isinstance(each, Quotient) for each in factors_of(node)):
        return
    yield node
    for child in node:
        yield from _outside_strides(child)
