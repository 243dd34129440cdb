"""Integer promotions, the usual arithmetic conversions, and ranges of integer types (C17 6.3.1)."""

from __future__ import annotations

from polybuild.c.basic_types import INT, DataModel, floating, integer
from polybuild.c.types import (
    ArrayType,
    FloatingType,
    FunctionType,
    IntegerType,
    PointerType,
    Type,
    UnknownType,
)

_RANKS = {"_Bool": 0, "char": 1, "short": 2, "int": 3, "long": 4, "long long": 5}
_FLOATING_RANKS = {"float": 0, "double": 1, "long double": 2}

# Bounds at least this large stay out of the context: they only slow isl down.
WIDE = 1 << 31

GREATEST = (1 << 63) - 1
"""The greatest number that generated loops can count to."""


def limits(integer: IntegerType) -> tuple[int, int]:
    """The minimum and the maximum that we accept for ``integer``.

    For unsigned 64-bit types the upper limit is that of the signed type,
    because generated loops count in signed 64-bit integers.
    """
    if integer.signed:
        return -(1 << (integer.width - 1)), (1 << (integer.width - 1)) - 1
    return 0, min((1 << integer.width) - 1, GREATEST)


def holds(to: IntegerType, source: IntegerType) -> bool:
    """Whether ``to`` can represent every value of ``source``."""
    if to.signed == source.signed:
        return to.width >= source.width
    return to.signed and to.width > source.width


def decayed(kind: Type) -> Type:
    """What a value of type ``kind`` is used as: arrays and functions become pointers."""
    if isinstance(kind, ArrayType):
        return PointerType(kind.element)
    if isinstance(kind, FunctionType):
        return PointerType(kind)
    return kind


def is_same_function(one: Type, other: Type) -> bool:
    """Whether two types of functions are the same (C17 6.7.6.3)."""
    if not isinstance(one, FunctionType) or not isinstance(other, FunctionType):
        return False
    if one.parameters is None or other.parameters is None or len(one.parameters) != len(other.parameters):
        return False
    pairs = zip((one.result, *one.parameters), (other.result, *other.parameters), strict=True)
    return all(decayed(mine) == decayed(theirs) for mine, theirs in pairs)


def promoted(kind: Type) -> Type:
    """The integer promotions: what is narrower than ``int`` becomes ``int``."""
    return promoted_integer(kind) if isinstance(kind, IntegerType) else kind


def common_type(left: Type, right: Type, model: DataModel) -> Type:
    """The usual arithmetic conversions; Unknown unless both are arithmetic."""
    for kind in (left, right):
        if not isinstance(kind, IntegerType | FloatingType):
            return kind if isinstance(kind, UnknownType) else UnknownType("not arithmetic")
    if isinstance(left, FloatingType) or isinstance(right, FloatingType):
        floats = [kind for kind in (left, right) if isinstance(kind, FloatingType)]
        name = max((kind.name.removesuffix(" _Complex") for kind in floats), key=_FLOATING_RANKS.__getitem__)
        return floating(name, model, complex_=any(kind.complex for kind in floats))
    left, right = promoted(left), promoted(right)
    if not isinstance(left, IntegerType) or not isinstance(right, IntegerType):
        return UnknownType("not arithmetic")
    if left.signed == right.signed:
        return left if _rank(left) >= _rank(right) else right
    unsigned, signed = (right, left) if left.signed else (left, right)
    if _rank(unsigned) >= _rank(signed):
        return unsigned
    if signed.width > unsigned.width:
        return signed
    return integer(f"unsigned {signed.name}", model)


def _rank(kind: IntegerType) -> int:
    return _RANKS[kind.name.removeprefix("unsigned ").removeprefix("signed ")]


def promoted_integer(kind: IntegerType) -> IntegerType:
    """``promoted`` of an integer type, which is one."""
    return INT if _rank(kind) < _RANKS["int"] else kind


def common_integer(left: IntegerType, right: IntegerType, model: DataModel) -> IntegerType:
    """``common_type`` of two integer types, which is one."""
    kind = common_type(left, right, model)
    return kind if isinstance(kind, IntegerType) else left
