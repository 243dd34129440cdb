"""The values of integer expressions of numbers alone, whatever brought these there."""

from __future__ import annotations

from pycparser import c_ast

from polybuild.c.declarations import INTEGER_OPERATIONS
from polybuild.c.literals import integer_value
from polybuild.c.syntax_tree import COMPARISONS
from polybuild.c.synthetic import ExactCast

_SHIFTS = frozenset({"<<", ">>"})


def constant_value(node: c_ast.Node) -> int | None:
    """The value of an integer expression of numbers alone; None if it is not known, or has other parts."""
    match node:
        case c_ast.Constant() if "int" in node.type:
            return integer_value(node.value)
        case c_ast.UnaryOp(op="!"):
            inner = constant_value(node.expr)
            return None if inner is None else int(not inner)
        case c_ast.UnaryOp(op="-" | "+"):
            inner = constant_value(node.expr)
            return None if inner is None else inner * (1 if node.op == "+" else -1)
        case ExactCast():
            return constant_value(node.expr)
        case c_ast.TernaryOp():
            chosen = constant_value(node.cond)
            return None if chosen is None else constant_value(node.iftrue if chosen else node.iffalse)
        case c_ast.BinaryOp():
            left, right = constant_value(node.left), constant_value(node.right)
            return None if left is None or right is None else _computed(node.op, left, right)
    return None


def _computed(op: str, left: int, right: int) -> int | None:
    """``left op right``; None where types might matter, or signs."""
    if max(abs(left), abs(right)) >= 1 << 15:  # a product may be beyond its type
        return int(INTEGER_OPERATIONS[op](left, right)) if op in COMPARISONS else None
    if op in {"%", "/"}:
        if left < 0 or right <= 0:
            return None
        return left % right if op == "%" else left // right
    if op not in INTEGER_OPERATIONS or op in _SHIFTS or (op in {"&", "|", "^"} and min(left, right) < 0):
        return None
    value = int(INTEGER_OPERATIONS[op](left, right))
    return value if value >= 0 else None  # of an unsigned type it is a large number
