"""C types, as far as the polyhedral rooms need them (LP64 and LLP64 differ only in ``long``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polybuild.values import dataclass

if TYPE_CHECKING:  # devices are looked up before anything is parsed
    from pycparser import c_ast


@dataclass(frozen=True, slots=True)
class VoidType:
    """``void``."""


@dataclass(frozen=True, slots=True)
class IntegerType:
    """An integer type: ``name`` as C spells it, ``width`` in bits (``_Bool`` has width 1)."""

    name: str
    width: int
    signed: bool


@dataclass(frozen=True, slots=True)
class FloatingType:
    """A real or complex floating type; ``size`` in bytes."""

    name: str
    size: int
    complex: bool = False


@dataclass(frozen=True, slots=True)
class PointerType:
    """A pointer; ``restrict`` and ``volatile`` (of the pointee) matter to aliasing and legality."""

    target: Type
    restrict: bool = False
    volatile: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ArrayType:
    """An array; ``extent`` is the C expression of its size, None for ``[]``."""

    element: Type
    extent: c_ast.Node | None


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """A member of a structure or union.

    ``name`` is empty for an anonymous structure or union, whose members count as
    the parent's; ``bits`` is the width of a bit-field, None for other members.
    """

    name: str
    type: Type
    volatile: bool = False
    bits: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class RecordType:
    """A structure or union; ``fields`` is None while it is incomplete.

    One object per declaration: two records are the same type if they are the same object.
    """

    kind: str  # "struct" or "union"
    tag: str
    fields: tuple[Field, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class FunctionType:
    """A function type; ``parameters`` is None for an old-style declaration."""

    result: Type
    parameters: tuple[Type, ...] | None


@dataclass(frozen=True, slots=True)
class UnknownType:
    """A type we do not model (``__int128``, vectors); using it in a region refuses the region."""

    name: str


Type = (
    VoidType | IntegerType | FloatingType | PointerType | ArrayType | RecordType | FunctionType | UnknownType
)
