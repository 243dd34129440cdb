"""Vectors of the vector extension of gcc and clang, as generated code names them."""

from __future__ import annotations

from polybuild.c.types import FloatingType, IntegerType
from polybuild.values import dataclass

_SIZES = {"char": 1, "short": 2, "int": 4, "long": 8, "float": 4, "double": 8}
_INTEGERS = {8: "char", 16: "short", 32: "int", 64: "long long"}


@dataclass(frozen=True, slots=True)
class VectorType:
    """A vector of ``lanes`` elements of type ``element``: a number as C spells it, integers by their size."""

    element: str
    lanes: int

    @property
    def name(self) -> str:
        """What the type is called in C."""
        return f"polybuild_{self.suffix}"

    @property
    def suffix(self) -> str:
        """What the names of its type and of its functions end in."""
        words = dict.fromkeys(self.element.split())
        return f"{'_'.join(words)}{self.lanes}"

    @property
    def element_bytes(self) -> int:
        """How long an element is."""
        return _SIZES[self.element.split()[-1]]

    @property
    def bytes(self) -> int:
        """How long it is."""
        return self.lanes * self.element_bytes

    @property
    def mask(self) -> VectorType:
        """The vector of integers that comparisons of two such vectors give."""
        return VectorType("int" if self.element_bytes == _SIZES["int"] else "long long", self.lanes)

    @property
    def macro(self) -> str:
        """The macro for a vector in memory."""
        initials = "".join(word[0].upper() for word in dict.fromkeys(self.element.split()))
        return f"POLYBUILD_{initials}{self.lanes}"

    def at(self, place: str) -> str:
        """The vector that begins at the element ``place``, as C."""
        return f"{self.macro}({place})"


def vector_of(kind: IntegerType | FloatingType, lanes: int) -> VectorType:
    """The vector of ``lanes`` numbers of type ``kind``; integers of one size have one type of vectors."""
    if isinstance(kind, FloatingType):
        return VectorType(kind.name, lanes)
    name = _INTEGERS[kind.width]
    if not kind.signed:
        name = f"unsigned {name}"
    return VectorType("signed char" if name == "char" else name, lanes)
