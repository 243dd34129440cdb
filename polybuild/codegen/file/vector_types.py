"""Vectors of the vector extension of gcc and clang, as generated code names them."""

from __future__ import annotations

from dataclasses import dataclass

_SIZES = {"float": 4, "double": 8, "int": 4, "long long": 8}


@dataclass(frozen=True, slots=True)
class VectorType:
    """A vector of ``lanes`` elements of type ``element``: "float", "double", "int" or "long long"."""

    element: str
    lanes: int

    @property
    def name(self) -> str:
        """What the type is called in C."""
        return f"polybuild_{self.element.split()[0]}{self.lanes}"

    @property
    def bytes(self) -> int:
        """How long it is."""
        return self.lanes * _SIZES[self.element]

    @property
    def mask(self) -> VectorType:
        """The vector of integers that comparisons of two such vectors give."""
        return VectorType("int" if _SIZES[self.element] == _SIZES["int"] else "long long", self.lanes)

    @property
    def macro(self) -> str:
        """The macro for a vector in memory."""
        return f"POLYBUILD_{self.element[0].upper()}{self.lanes}"

    def at(self, place: str) -> str:
        """The vector that begins at the element ``place``, as C."""
        return f"{self.macro}({place})"
