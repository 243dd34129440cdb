"""Pointers to rows of which several vectors are loaded.

::

    const float *row_p = &p[y + i][x];
    sum_0 += w * *(const vector *)row_p;
    sum_1 += w * *(const vector *)(row_p + 16);

Without them gcc finds each vector by what is common to all rows, and has its distance in a register, or in
memory where there are too few of these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import islpy as isl

from polybuild.codegen.c.expressions import ExpressionPrinter, split_constant
from polybuild.codegen.c.names_in_scope import NamesInScope
from polybuild.scop.model import Array
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class RowElement:
    """The element number ``place`` of a row of the ``array``, which the text ``row`` tells from others."""

    array: str
    row: str
    place: int


@dataclass(frozen=True, slots=True)
class _Pointer:
    """A variable, which one declaration ``number`` declares, and the ``place`` in a row that it leads to."""

    name: str
    number: int
    place: int


class RowPointers:
    """The pointers to rows that are declared in ``names``; ``expressions`` prints subscripts."""

    def __init__(self, expressions: ExpressionPrinter, names: NamesInScope) -> None:
        self._expressions = expressions
        self._names = names
        self._pointers: dict[str, _Pointer] = {}

    def element(self, array: Array, at: isl.AstExpr, further: int = 0) -> RowElement:
        """The element of ``array`` so many places ``further`` in its row than the one ``at``."""
        *around, last = (at.op_get_arg(index) for index in range(1, at.op_get_n_arg()))
        base, distance = split_constant(last)
        subscripts = "".join(f"[{self._expressions.text(each)}]" for each in (*around, base))
        return RowElement(array.name, f"{array.name}{subscripts}", distance + further)

    def declarations(self, loads: Sequence[tuple[RowElement, str, str]]) -> list[str]:
        """Declarations of pointers to rows of which several of ``loads`` are: elements, types and texts."""
        lines = []
        counted = Counter(row for row, _ in {(each.row, each.place) for each, _, _ in loads})
        for element, kind, text in loads:
            if counted[element.row] > 1 and self.named(element.row) is None:
                name = self.declare(element.row, f"row_{element.array}", element.place)
                lines.append(f"const {kind} *{name} = &{text};")
        return lines

    def declare(self, row: str, wanted: str, place: int = 0) -> str:
        """The name of a pointer to the element number ``place`` of ``row``, ``wanted`` or another."""
        name = self._names.declare(wanted)
        self._pointers[row] = _Pointer(name, self._names.declaration_of(name), place)
        return name

    def named(self, row: str) -> str | None:
        """The name of the pointer to ``row``; None where none is declared."""
        found = self._pointers.get(row)
        declared = found is not None and self._names.declaration_of(found.name) == found.number
        return found.name if found is not None and declared else None

    def address(self, element: RowElement) -> str | None:
        """The address of ``element`` by the pointer to its row; None where none is declared."""
        name = self.named(element.row)
        if name is None:
            return None
        distance = element.place - self._pointers[element.row].place
        if not distance:
            return name
        return f"({name} {'+' if distance > 0 else '-'} {abs(distance)})"
