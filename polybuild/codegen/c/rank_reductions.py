"""What ranks accumulate together, as C: what they begin with, and how parts are put together."""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl

from polybuild.c.types import IntegerType
from polybuild.codegen.c.layout import closing, condition, opening
from polybuild.codegen.c.parts import combined
from polybuild.targets.ranks.model import Accumulation
from polybuild.values import dataclass

_INDENT = "  "
_PART = "pb_part"


@dataclass(frozen=True, slots=True)
class IdentityElements:
    """Sets elements to the identity element of an accumulation; ``element`` is the C text of one."""

    accumulation: Accumulation
    element: Callable[[isl.AstExpr], str]

    def takes_rows(self, _: isl.AstExpr) -> bool:
        """Each element has an assignment of its own."""
        return False

    def lines(self, user: isl.AstExpr, _: str, indent: str) -> list[str]:
        """The assignment."""
        return [f"{indent}{self.element(user)} = {self.accumulation.identity};"]


@dataclass(frozen=True, slots=True)
class Combination:
    """Combines elements with the parts of other ranks, which ``exchange`` hands out one by one."""

    accumulation: Accumulation
    element: Callable[[isl.AstExpr], str]
    exchange: str

    def takes_rows(self, _: isl.AstExpr) -> bool:
        """Each element is combined for itself."""
        return False

    def lines(self, user: isl.AstExpr, _: str, indent: str) -> list[str]:
        """A block with the part of one rank."""
        element, inner = self.element(user), indent + _INDENT
        called = f"polybuild_part(&{self.exchange}, &{element}, &{_PART}, sizeof {_PART})"
        return [
            opening(f"{indent}{{"),
            f"{inner}{self.accumulation.element} {_PART} = 0;",
            condition(f"{inner}if ({called})"),
            f"{inner}{_INDENT}{self._combined(element)}",
            closing(inner),
            closing(indent),
        ]

    def _combined(self, element: str) -> str:
        """The statement that puts the part to ``element``; in a type without overflow where that can be."""
        operator, wide = self.accumulation.operator, self.accumulation.type
        if isinstance(wide, IntegerType) and operator not in {"min", "max"}:
            own, name = self.accumulation.element, wide.name
            return f"{element} = ({own})(({name}){element} {operator} ({name}){_PART});"
        return combined(operator, element, _PART)
