"""C's integer types as the model needs them: literals, common types and ranges (C17 6.3.1, 6.4.4.1)."""

from __future__ import annotations

from pycparser import c_ast

from polybuild.c.constants import character_value, integer_value
from polybuild.c.declarations import INT, Scope
from polybuild.c.types import IntegerType
from polybuild.c.typing import common_type, literal_type
from polybuild.c.typing import promoted as promoted_type

# Bounds at least this large stay out of the context: they only slow isl down.
WIDE = 1 << 31


def limits(integer: IntegerType) -> tuple[int, int]:
    """The least and the greatest value we accept for ``integer``.

    For unsigned 64-bit types the upper limit is that of the signed type,
    because generated loops count in signed 64-bit integers.
    """
    if integer.signed:
        return -(1 << (integer.width - 1)), (1 << (integer.width - 1)) - 1
    return 0, (1 << min(integer.width, 63)) - 1


def holds(to: IntegerType, source: IntegerType) -> bool:
    """Whether ``to`` can represent every value of ``source``."""
    if to.signed == source.signed:
        return to.width >= source.width
    return to.signed and to.width > source.width


def promoted(integer: IntegerType) -> IntegerType:
    """The type after integer promotion."""
    kind = promoted_type(integer)
    return kind if isinstance(kind, IntegerType) else integer


def common(left: IntegerType, right: IntegerType, scope: Scope) -> IntegerType:
    """The common type of the usual arithmetic conversions."""
    kind = common_type(left, right, scope)
    return kind if isinstance(kind, IntegerType) else left


def literal(node: c_ast.Constant, scope: Scope) -> tuple[int, IntegerType] | None:
    """Value and type of an integer or character constant, None for other constants."""
    if node.type == "char":
        value, kind = character_value(node.value, scope.target), INT
        return None if value is None else (value, kind)
    value = integer_value(node.value) if "int" in node.type else None
    found = literal_type(node.value, scope)
    return (value, found) if value is not None and isinstance(found, IntegerType) else None
