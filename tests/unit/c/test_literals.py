"""Values and types of C literals, by hand from C17 6.4.4."""

from __future__ import annotations

import pytest
from pycparser import c_ast

from polybuild.c.basic_types import DataModel
from polybuild.c.literals import character_value, integer_value, literal, literal_type

LP64 = DataModel()
ILP32 = DataModel(long_width=32, pointer_size=4)


@pytest.mark.parametrize(
    ("text", "value"),
    [("0", 0), ("017", 15), ("0x1fUL", 31), ("1'000", 1000), ("42ull", 42), ("1.5", None), ("08", None)],
)
def test_integers_have_values(text: str, value: int | None) -> None:
    assert integer_value(text) == value


@pytest.mark.parametrize(
    ("text", "signed", "value"),
    [
        ("'a'", True, 97),
        (r"'\n'", True, 10),
        (r"'\377'", True, -1),
        (r"'\xff'", False, 255),
        ("'ab'", True, None),
        ("L'a'", True, None),
    ],
)
def test_characters_have_values(text: str, signed: bool, value: int | None) -> None:
    assert character_value(text, DataModel(char_signed=signed)) == value


@pytest.mark.parametrize(
    ("text", "model", "name"),
    [
        ("2147483647", LP64, "int"),
        ("2147483648", LP64, "long"),
        ("2147483648", ILP32, "long long"),
        ("0xffffffff", LP64, "unsigned int"),
        ("1u", LP64, "unsigned int"),
        ("4294967296u", LP64, "unsigned long"),
        ("1ll", LP64, "long long"),
    ],
)
def test_the_type_is_the_first_that_fits(text: str, model: DataModel, name: str) -> None:
    assert getattr(literal_type(text, model), "name", None) == name


def test_other_constants_are_no_integers() -> None:
    assert literal(c_ast.Constant("double", "1.0"), LP64) is None
    assert literal(c_ast.Constant("string", '"a"'), LP64) is None
