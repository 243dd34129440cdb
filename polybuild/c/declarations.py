"""From declarators to types: typedefs, tags and enumerators of one scope and those around it."""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pycparser import c_ast

from polybuild.c.constants import evaluate
from polybuild.c.dialects import UNKNOWN_TAG
from polybuild.c.types import (
    ArrayType,
    Field,
    FloatingType,
    FunctionType,
    IntegerType,
    PointerType,
    RecordType,
    Type,
    UnknownType,
    VoidType,
)


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
        arm = platform.machine().lower() in {"aarch64", "arm64", "armv7l", "ppc64le", "riscv64", "s390x"}
        target = cls(char_signed=sys.platform == "darwin" or not arm)
        if sys.platform == "win32":
            target = replace(target, long_width=32)
        for flag in flags:
            if flag in {"-funsigned-char", "-fno-signed-char"}:
                target = replace(target, char_signed=False)
            elif flag in {"-fsigned-char", "-fno-unsigned-char"}:
                target = replace(target, char_signed=True)
            elif flag in {"-m32", "-mx32"}:
                target = replace(target, long_width=32, pointer_size=4, long_double_size=12)
        return target


BOOL = IntegerType("_Bool", 1, signed=False)
INT = IntegerType("int", 32, signed=True)
UNSIGNED_INT = IntegerType("unsigned int", 32, signed=False)

_INTEGERS = {
    "_Bool": BOOL,
    "signed char": IntegerType("signed char", 8, signed=True),
    "unsigned char": IntegerType("unsigned char", 8, signed=False),
    "short": IntegerType("short", 16, signed=True),
    "unsigned short": IntegerType("unsigned short", 16, signed=False),
    "int": INT,
    "unsigned int": UNSIGNED_INT,
    "long long": IntegerType("long long", 64, signed=True),
    "unsigned long long": IntegerType("unsigned long long", 64, signed=False),
}


def integer(name: str, target: DataModel) -> IntegerType:
    """The integer type that C spells ``name`` (canonically: ``unsigned long``, ``short``)."""
    if name == "char":
        return IntegerType("char", 8, signed=target.char_signed)
    if name in {"long", "unsigned long"}:
        return IntegerType(name, target.long_width, signed=name == "long")
    return _INTEGERS[name]


def floating(name: str, target: DataModel, *, complex_: bool = False) -> FloatingType:
    """The type ``float``, ``double`` or ``long double``, or its complex counterpart."""
    size = {"float": 4, "double": 8, "long double": target.long_double_size}[name]
    return FloatingType(f"{name} _Complex", 2 * size, complex=True) if complex_ else FloatingType(name, size)


def basic_type(words: Sequence[str], target: DataModel) -> Type | None:
    """The type of specifiers such as ``long unsigned int`` in any order; None if they name none."""
    rest = sorted(words)
    if rest == ["void"]:
        return VoidType()
    complex_ = "_Complex" in rest
    if complex_:
        rest.remove("_Complex")
    if rest in (["float"], ["double"], ["double", "long"]) or (complex_ and not rest):
        return floating("long double" if len(rest) == 2 else [*rest, "double"][0], target, complex_=complex_)
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
    return integer(name, target) if known else None


@dataclass(frozen=True, slots=True)
class Qualified:
    """A type and whether an object of it is volatile."""

    type: Type
    volatile: bool = False


def decayed(kind: Type) -> Type:
    """What a value of type ``kind`` is used as: arrays and functions become pointers."""
    if isinstance(kind, ArrayType):
        return PointerType(kind.element)
    if isinstance(kind, FunctionType):
        return PointerType(kind)
    return kind


class Scope:
    """Typedef names, tags and enumerators visible at some point; ``inner()`` opens a nested scope."""

    def __init__(self, target: DataModel | None = None, outer: Scope | None = None) -> None:
        """An empty scope, or a copy of ``outer``."""
        self.target: DataModel = target or (outer.target if outer else DataModel())
        self.typedefs: dict[str, Qualified] = dict(outer.typedefs) if outer else {}
        self.tags: dict[tuple[str, str], Type] = dict(outer.tags) if outer else {}
        self.enumerators: dict[str, int] = dict(outer.enumerators) if outer else {}

    def inner(self) -> Scope:
        """A copy to declare more names in."""
        return Scope(outer=self)

    def hide(self, name: str) -> None:
        """A variable named ``name`` hides the typedef or enumerator of that name."""
        self.typedefs.pop(name, None)
        self.enumerators.pop(name, None)

    def add_typedef(self, node: c_ast.Typedef, *, unknown: bool = False) -> None:
        """Declare the name of a typedef."""
        if unknown:
            self.resolve(node.type)
            self.typedefs[node.name] = Qualified(UnknownType(node.name))
            return
        resolved = self.resolve(node.type)
        if isinstance(resolved, RecordType) and resolved.tag == UNKNOWN_TAG:
            resolved = UnknownType(node.name)
        self.typedefs[node.name] = Qualified(resolved, self.is_volatile(node.type))

    def resolve(self, node: c_ast.Node) -> Type:
        """The type of a declarator, a type name or a specifier; tags it declares are added."""
        match node:
            case c_ast.Typename() | c_ast.Decl():
                return self.resolve(node.type)
            case c_ast.TypeDecl():
                inner = self.resolve(node.type)
                return UnknownType("_Atomic") if "_Atomic" in node.quals else inner
            case c_ast.PtrDecl():
                if "_Atomic" in node.quals:
                    return UnknownType("_Atomic")
                target = self.resolve(node.type)
                return PointerType(target, "restrict" in node.quals, self.is_volatile(node.type))
            case c_ast.ArrayDecl():
                star = isinstance(node.dim, c_ast.ID) and node.dim.name == "*"
                return ArrayType(self.resolve(node.type), None if star else node.dim)
            case c_ast.FuncDecl():
                return FunctionType(self.resolve(node.type), self._parameters(node))
            case c_ast.IdentifierType():
                return self._named(node.names)
            case c_ast.Struct() | c_ast.Union():
                return self._record(node)
            case c_ast.Enum():
                return self._enumeration(node)
        return UnknownType(type(node).__name__)

    def is_volatile(self, node: c_ast.Node) -> bool:
        """Whether an object with this declarator is itself volatile (an array: its elements)."""
        match node:
            case c_ast.Typename() | c_ast.Decl() | c_ast.ArrayDecl():
                return self.is_volatile(node.type)
            case c_ast.TypeDecl():
                return "volatile" in node.quals or self.is_volatile(node.type)
            case c_ast.PtrDecl():
                return "volatile" in node.quals
            case c_ast.IdentifierType():
                named = self.typedefs.get(node.names[0]) if len(node.names) == 1 else None
                return named is not None and named.volatile
        return False

    def _parameters(self, node: c_ast.FuncDecl) -> tuple[Type, ...] | None:
        if node.args is None:
            return None
        types: list[Type] = []
        scope = self.inner()
        for parameter in node.args.params:
            if isinstance(parameter, c_ast.EllipsisParam):
                continue
            if isinstance(parameter, c_ast.ID):  # an old-style list of names
                return None
            types.append(decayed(scope.resolve(parameter.type)))
        return () if types == [VoidType()] else tuple(types)

    def _named(self, names: Sequence[str]) -> Type:
        if len(names) == 1 and (known := self.typedefs.get(names[0])) is not None:
            return known.type
        return basic_type(names, self.target) or UnknownType(" ".join(names))

    def _record(self, node: c_ast.Struct | c_ast.Union) -> Type:
        kind = "struct" if isinstance(node, c_ast.Struct) else "union"
        key = (kind, node.name or "")
        known = self.tags.get(key) if node.name else None
        record = known if isinstance(known, RecordType) else RecordType(kind, node.name or "", None)
        if node.name:
            self.tags[key] = record
        if node.decls is not None and record.fields is None:
            fields = tuple(self._field(member) for member in node.decls if isinstance(member, c_ast.Decl))
            # A structure may point to itself, so it exists before its members do.
            object.__setattr__(record, "fields", fields)
        return record

    def _field(self, node: c_ast.Decl) -> Field:
        bits = None
        if node.bitsize is not None:
            bits = evaluate(node.bitsize, self) or 0
        return Field(node.name or "", self.resolve(node.type), self.is_volatile(node.type), bits)

    def _enumeration(self, node: c_ast.Enum) -> Type:
        """The integer type gcc and clang give an enumeration: unsigned unless a value is negative."""
        key = ("enum", node.name or "")
        if node.values is None:
            return self.tags.get(key, UNSIGNED_INT)
        value: int | None = -1
        values: list[int] = []
        for enumerator in node.values.enumerators:
            if not isinstance(enumerator, c_ast.Enumerator):
                continue
            if enumerator.value is not None:
                value = evaluate(enumerator.value, self)
            elif value is not None:
                value += 1
            if value is not None:
                self.enumerators[enumerator.name] = value
                values.append(value)
            self.typedefs.pop(enumerator.name, None)
        signed = any(number < 0 for number in values)
        wide = any(not -(2**31) <= number < 2**32 for number in values)
        name = "int" if signed else "unsigned int"
        kind = integer("long" if signed else "unsigned long", self.target) if wide else _INTEGERS[name]
        if node.name:
            self.tags[key] = kind
        return kind
