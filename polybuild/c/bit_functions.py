"""The built-in functions of gcc and clang on the bits of an integer: nothing but their argument matters."""

from __future__ import annotations

from polybuild.c.basic_types import INT, UNSIGNED_INT
from polybuild.c.types import IntegerType

_COUNTS = frozenset(
    f"__builtin_{name}{suffix}"
    for name in ("clrsb", "clz", "ctz", "ffs", "parity", "popcount")
    for suffix in ("", "l", "ll")
)
_SWAPPED = {
    "__builtin_bswap16": IntegerType("unsigned short", 16, signed=False),
    "__builtin_bswap32": UNSIGNED_INT,
    "__builtin_bswap64": IntegerType("unsigned long long", 64, signed=False),
}


def is_bit_function(name: str) -> bool:
    """Whether ``name`` is one of these functions."""
    return name in _COUNTS or name in _SWAPPED


def bit_function_result(name: str) -> IntegerType:
    """What the function ``name`` gives: a count, or its argument with its bytes the other way round."""
    return _SWAPPED.get(name, INT)
