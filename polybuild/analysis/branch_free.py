"""Conditions without branches: ``a == 3 || (a == 2 && p[i])`` as ``(a == 3) | ((a == 2) & (p[i] != 0))``.

Compilers find vectors for the second form, while the first one is control flow to them. It is the same where
evaluating the right side does no harm: it computes nothing that could overflow or fail, and the elements that
it reads exist, as each lies between two of its row that are read whatever the data are.
"""

from __future__ import annotations

from pycparser import c_ast

from polybuild.analysis.readable_elements import may_be_read
from polybuild.c.syntax_tree import walk
from polybuild.poly.memory import Itself, remembered
from polybuild.scop.model import AccessKind, Scop, Statement

SHORTENED = frozenset({"&&", "||"})
_TRUTHS = frozenset({"<", "<=", ">", ">=", "==", "!="}) | SHORTENED
_BITS = frozenset({"&", "|", "^"})


def is_truth(node: c_ast.Node) -> bool:
    """Whether the value of ``node`` is 0 or 1."""
    if isinstance(node, c_ast.BinaryOp):
        return node.op in _TRUTHS or is_bit(node)
    return isinstance(node, c_ast.UnaryOp) and node.op == "!"


def is_bit(node: c_ast.Node) -> bool:
    """Whether ``node`` is the last bit of a number."""
    mask = node.right if isinstance(node, c_ast.BinaryOp) and node.op == "&" else None
    return isinstance(mask, c_ast.Constant) and bool(mask.value == "1")


@remembered  # candidates are priced by it, and the one that is chosen is printed
def branch_free(scop: Itself[Scop]) -> frozenset[int]:
    """The ``&&`` and ``||`` of ``scop``, by the identities of their nodes, that need not be branches."""
    return frozenset(
        id(node)
        for statement in scop.value.statements
        for node in walk(statement.body)
        if isinstance(node, c_ast.BinaryOp) and node.op in SHORTENED
        if _is_harmless(node.right, scop.value, statement)
    )


def _is_harmless(node: c_ast.Node, scop: Scop, statement: Statement) -> bool:
    """Whether ``node`` may be evaluated in any instance of ``statement``."""
    access = next((each for each in statement.accesses if each.node is node), None)
    if access is not None:
        return access.kind is AccessKind.READ and access.exact and may_be_read(access, scop, statement)
    if isinstance(node, c_ast.Constant | c_ast.ID):
        return True
    if isinstance(node, c_ast.UnaryOp):
        return node.op in {"!", "~"} and _is_harmless(node.expr, scop, statement)
    known = isinstance(node, c_ast.BinaryOp) and node.op in _TRUTHS | _BITS  # no bit of integers overflows
    return known and all(_is_harmless(each, scop, statement) for each in (node.left, node.right))
