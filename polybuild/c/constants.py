"""Values of integer constant expressions, as far as declarations need them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING

from pycparser import c_ast

from polybuild.c.types import ArrayType, FloatingType, IntegerType, PointerType, Type

if TYPE_CHECKING:  # a scope evaluates constants, and constants are evaluated in a scope
    from polybuild.c.declarations import DataModel, Scope


def size_of(kind: Type, scope: Scope) -> int | None:
    """``sizeof`` in bytes of scalars and arrays of constant extent; None for everything else."""
    match kind:
        case IntegerType():
            return max(kind.width // 8, 1)
        case FloatingType():
            return kind.size
        case PointerType():
            return scope.target.pointer_size
        case ArrayType():
            element = size_of(kind.element, scope)
            extent = None if kind.extent is None else evaluate(kind.extent, scope)
            return None if element is None or extent is None else element * extent
    return None


def integer_value(text: str) -> int | None:
    """The value of an integer literal, None if it is none."""
    digits = text.replace("'", "").rstrip("uUlL").lower()
    try:
        if digits.startswith("0") and digits.isdigit():
            return int(digits, 8)
        return int(digits, 0)
    except ValueError:
        return None


_ESCAPES = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "e": 27, "0": 0}


def character_value(text: str, target: DataModel) -> int | None:
    """The value of a plain character constant, None for wide and multi-character ones."""
    body = text[1:-1]
    if not text.startswith("'") or not body:
        return None
    if body[0] != "\\":
        value = ord(body) if len(body) == 1 else -1
    elif body[1:2] == "x":
        value = int(f"0{body[1:]}", 16)
    elif body[1:].isdigit():
        value = int(body[1:], 8)
    else:
        value = _ESCAPES.get(body[1:], ord(body[1])) if len(body) == 2 else -1
    if not 0 <= value < 256:
        return None
    return value - 256 if target.char_signed and value > 127 else value


_BINARY: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "<<": lambda left, right: left << right if 0 <= right < 64 else 0,
    ">>": lambda left, right: left >> right if 0 <= right < 64 else 0,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "&&": lambda left, right: bool(left and right),
    "||": lambda left, right: bool(left or right),
}


def evaluate(node: c_ast.Node, scope: Scope) -> int | None:
    """The value of an integer constant expression, None if it is not one we compute."""
    match node:
        case c_ast.Constant():
            if node.type == "char":
                return character_value(node.value, scope.target)
            return integer_value(node.value) if "int" in node.type else None
        case c_ast.ID():
            return scope.enumerators.get(node.name)
        case c_ast.UnaryOp(op="sizeof"):
            operand = node.expr
            return size_of(scope.resolve(operand), scope) if isinstance(operand, c_ast.Typename) else None
        case c_ast.UnaryOp():
            value = evaluate(node.expr, scope)
            signs: dict[str, Callable[[int], int]] = {
                "-": operator.neg,
                "+": operator.pos,
                "~": operator.inv,
                "!": operator.not_,
            }
            return int(signs[node.op](value)) if value is not None and node.op in signs else None
        case c_ast.BinaryOp():
            return _evaluate_binary(node, scope)
        case c_ast.TernaryOp():
            condition = evaluate(node.cond, scope)
            return None if condition is None else evaluate(node.iftrue if condition else node.iffalse, scope)
        case c_ast.Cast():
            value, kind = evaluate(node.expr, scope), scope.resolve(node.to_type)
            if value is None or not isinstance(kind, IntegerType):
                return None
            return _converted(value, kind)
    return None


def _evaluate_binary(node: c_ast.BinaryOp, scope: Scope) -> int | None:
    left, right = evaluate(node.left, scope), evaluate(node.right, scope)
    if left is None or right is None:
        return None
    if node.op in {"/", "%"}:
        if right == 0:
            return None
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if node.op == "/" else left - quotient * right
    return int(_BINARY[node.op](left, right)) if node.op in _BINARY else None


def _converted(value: int, kind: IntegerType) -> int:
    """``value`` converted to an integer type."""
    if kind.width == 1:
        return int(value != 0)
    value &= (1 << kind.width) - 1
    return value - (1 << kind.width) if kind.signed and value >> (kind.width - 1) else value
