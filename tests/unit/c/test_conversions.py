"""Promotions, common types and ranges of integer types, by hand from C17 6.3.1."""

from __future__ import annotations

import pytest

from polybuild.c.basic_types import INT, DataModel, floating, integer
from polybuild.c.conversions import common_type, decayed, holds, limits, promoted
from polybuild.c.types import ArrayType, PointerType, Type, UnknownType, VoidType

LP64 = DataModel()


def arithmetic(name: str) -> Type:
    return floating(name, LP64) if name in {"float", "double"} else integer(name, LP64)


@pytest.mark.parametrize(
    ("left", "right", "common"),
    [
        ("char", "short", "int"),
        ("unsigned short", "int", "int"),
        ("int", "unsigned int", "unsigned int"),
        ("unsigned int", "long", "long"),
        ("long", "unsigned long", "unsigned long"),
        ("unsigned long", "long long", "unsigned long long"),
        ("unsigned long", "float", "float"),
        ("float", "double", "double"),
    ],
)
def test_the_usual_arithmetic_conversions(left: str, right: str, common: str) -> None:
    for one, other in ((left, right), (right, left)):
        assert common_type(arithmetic(one), arithmetic(other), LP64) == arithmetic(common)


def test_only_arithmetic_types_have_a_common_one() -> None:
    assert isinstance(common_type(INT, VoidType(), LP64), UnknownType)


def test_what_is_narrower_than_int_becomes_int() -> None:
    assert promoted(integer("unsigned short", LP64)) == INT
    assert promoted(integer("unsigned int", LP64)) == integer("unsigned int", LP64)
    assert promoted(VoidType()) == VoidType()


def test_arrays_decay() -> None:
    assert decayed(ArrayType(INT, None)) == PointerType(INT)


def test_ranges_of_types() -> None:
    assert limits(integer("signed char", LP64)) == (-128, 127)
    assert limits(integer("unsigned short", LP64)) == (0, 65535)
    assert limits(integer("unsigned long", LP64)) == (0, 2**63 - 1)  # generated loops count signed
    assert holds(integer("long", LP64), integer("unsigned int", LP64))
    assert not holds(integer("unsigned long", LP64), INT)
