"""Literal numbers and characters: their values and types (C17 6.4.4)."""

from __future__ import annotations

from pycparser import c_ast

from polybuild.c.basic_types import INT, DataModel, floating, integer
from polybuild.c.types import IntegerType, Type, UnknownType
from polybuild.patterns import pattern


def integer_value(text: str) -> int | None:
    """The value of an integer literal, None if it is none."""
    digits = text.replace("'", "").rstrip("uUlL").lower()
    try:
        if digits.startswith("0") and digits.isdigit():
            return int(digits, 8)
        return int(digits, 0)
    except ValueError:
        return None


_SCIENTIFIC = pattern(r"(\d\.(\d+))[eE]([+-]?\d+)[lL]")
_ESCAPES = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "e": 27, "0": 0}


def character_value(text: str, model: DataModel) -> int | None:
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
    return value - 256 if model.char_signed and value > 127 else value


def literal_type(text: str, model: DataModel) -> Type:
    """The type of an integer literal, from its value, base and suffix."""
    value = integer_value(text)
    if value is None:
        return UnknownType(text)
    suffix = text.lower()[len(text.lower().rstrip("ul")) :]
    decimal = text[0] != "0"
    for name in ("int", "long", "long long")[suffix.count("l") :]:
        signed = integer(name, model)
        if "u" not in suffix and value < 1 << (signed.width - 1):
            return signed
        if ("u" in suffix or not decimal) and value < 1 << signed.width:
            return integer(f"unsigned {name}", model)
    return UnknownType(text)


def number_type(node: c_ast.Constant, model: DataModel) -> Type:
    """The type of a literal number."""
    if node.type in {"float", "double", "long double"}:
        return floating(node.type, model)
    return literal_type(node.value, model)


def literal(node: c_ast.Constant, model: DataModel) -> tuple[int, IntegerType] | None:
    """Value and type of an integer or character constant, None for other constants."""
    if node.type == "char":
        value, kind = character_value(node.value, model), INT
        return None if value is None else (value, kind)
    value = integer_value(node.value) if "int" in node.type else None
    found = literal_type(node.value, model)
    return (value, found) if value is not None and isinstance(found, IntegerType) else None


def rounded_to_double(node: c_ast.Node) -> float | None:
    """The ``double`` that a ``long double`` number is one of all digits of, as those of ``float.h`` are."""
    found = _SCIENTIFIC.fullmatch(node.value) if isinstance(node, c_ast.Constant) else None
    if found is None:
        return None
    value = float(f"{found[1]}e{found[3]}")
    digits, _, exponent = f"{value:.{len(found[2])}e}".partition("e")
    return value if digits == found[1] and int(exponent) == int(found[3]) else None
