"""The values of integer expressions of numbers alone, whatever brought these there."""

from __future__ import annotations

import operator
from collections.abc import Callable

from pycparser import c_ast

from polybuild.c.literals import integer_value
from polybuild.c.synthetic import ExactCast

_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "&&": lambda left, right: bool(left) and bool(right),
    "||": lambda left, right: bool(left) or bool(right),
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}


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
        return int(_OPERATIONS[op](left, right)) if op in {"==", "!=", "<", "<=", ">", ">="} else None
    if op in {"%", "/"}:
        if left < 0 or right <= 0:
            return None
        return left % right if op == "%" else left // right
    if op not in _OPERATIONS or (op in {"&", "|", "^"} and min(left, right) < 0):
        return None
    value = int(_OPERATIONS[op](left, right))
    return value if value >= 0 else None  # of an unsigned type it is a large number
