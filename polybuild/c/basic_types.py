"""The target's data model, and the basic types that C names by keywords (C17 6.2.5, 6.7.2)."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace

from polybuild.c.types import FloatingType, IntegerType, Type, UnknownType, VoidType
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class DataModel:
    """What the compiler's target decides about types: widths in bits, sizes in bytes."""

    long_width: int = 64
    pointer_size: int = 8
    char_signed: bool = True
    long_double_size: int = 16

    @classmethod
    def from_flags(cls, flags: Sequence[str]) -> DataModel:
        """The target of this machine's compiler under ``flags``."""
        machine = os.uname().machine.lower() if hasattr(os, "uname") else ""
        arm = machine in {"aarch64", "arm64", "armv7l", "ppc64le", "riscv64", "s390x"}
        model = cls(char_signed=sys.platform == "darwin" or not arm)
        if sys.platform == "win32":
            model = replace(model, long_width=32)
        for flag in flags:
            if flag in {"-funsigned-char", "-fno-signed-char"}:
                model = replace(model, char_signed=False)
            elif flag in {"-fsigned-char", "-fno-unsigned-char"}:
                model = replace(model, char_signed=True)
            elif flag in {"-m32", "-mx32"}:
                model = replace(model, long_width=32, pointer_size=4, long_double_size=12)
        return model


BOOL = IntegerType("_Bool", 1, signed=False)
SHORT = IntegerType("short", 16, signed=True)
INT = IntegerType("int", 32, signed=True)
UNSIGNED_INT = IntegerType("unsigned int", 32, signed=False)
DOUBLE = FloatingType("double", 8)
LONG_LONG = IntegerType("long long", 64, signed=True)

_INTEGERS = {
    "_Bool": BOOL,
    "signed char": IntegerType("signed char", 8, signed=True),
    "unsigned char": IntegerType("unsigned char", 8, signed=False),
    "short": SHORT,
    "unsigned short": IntegerType("unsigned short", 16, signed=False),
    "int": INT,
    "unsigned int": UNSIGNED_INT,
    "long long": LONG_LONG,
    "unsigned long long": IntegerType("unsigned long long", 64, signed=False),
}


def integer(name: str, model: DataModel) -> IntegerType:
    """The integer type that C spells ``name`` (canonically: ``unsigned long``, ``short``)."""
    if name == "char":
        return IntegerType("char", 8, signed=model.char_signed)
    if name in {"long", "unsigned long"}:
        return IntegerType(name, model.long_width, signed=name == "long")
    return _INTEGERS[name]


def floating(name: str, model: DataModel, *, complex_: bool = False) -> FloatingType:
    """The type ``float``, ``double`` or ``long double``, or its complex counterpart."""
    size = {"float": 4, "double": 8, "long double": model.long_double_size}[name]
    return FloatingType(f"{name} _Complex", 2 * size, complex=True) if complex_ else FloatingType(name, size)


def basic_type(words: Sequence[str], model: DataModel) -> Type | None:
    """The type of specifiers such as ``long unsigned int`` in any order; None if they name none."""
    rest = sorted(words)
    if rest == ["void"]:
        return VoidType()
    complex_ = "_Complex" in rest
    if complex_:
        rest.remove("_Complex")
    if rest in (["float"], ["double"], ["double", "long"]) or (complex_ and not rest):
        return floating("long double" if len(rest) == 2 else [*rest, "double"][0], model, complex_=complex_)
    if "__int128" in rest:
        return UnknownType("__int128")
    if complex_:
        return UnknownType(" ".join(words))
    unsigned, signed = "unsigned" in rest, "signed" in rest
    core = [word for word in rest if word not in {"unsigned", "signed"}]
    if len(core) > 1 and "int" in core:
        core.remove("int")
    name = " ".join(core) or "int"
    if name == "char":
        name = "unsigned char" if unsigned else "signed char" if signed else "char"
    elif unsigned:
        name = f"unsigned {name}"
    known = name in _INTEGERS or name in {"char", "long", "unsigned long"}
    return integer(name, model) if known else None
