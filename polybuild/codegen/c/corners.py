"""The corners of blocks of an array that register tiles hold, as constants of the generated code."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from polybuild.codegen.c.expressions import ADDITIVE, ATOM, ExpressionPrinter, Operand, is_atom
from polybuild.codegen.c.names_in_scope import NamesInScope
from polybuild.poly.marks import Mark

_NAMES = ("top", "left")
"""What the corner's last subscripts are called."""

_Op = isl.ast_expr_op_type


class BlockCorners:
    """Prints subscripts of elements of blocks as distances from the corners of these blocks.

    Corners are declared in ``names``, by the marks of the register tiles.
    """

    def __init__(self, expressions: ExpressionPrinter, names: NamesInScope) -> None:
        self._expressions = expressions
        self._names = names
        # by the subscript's position
        self._corners: dict[Mark, dict[int, tuple[isl.AstExpr, str]]] = {}

    def declare(self, mark: Mark, elements: Sequence[isl.AstExpr]) -> list[str]:
        """Declarators of what the subscripts of ``elements``, those of the block of ``mark``, have in common.

        There are none for what is a name or a number anyway.
        """
        corner: dict[int, tuple[isl.AstExpr, str]] = {}
        declarators = []
        columns = list(enumerate(zip(*map(_subscripts, elements), strict=True)))[-len(_NAMES) :]
        for (position, column), wanted in zip(columns, _NAMES[len(_NAMES) - len(columns) :], strict=True):
            first, *others = (_split(each)[0] for each in column)
            if not is_atom(first) and all(first.is_equal(each) for each in others):
                name = self._names.declare(wanted)
                corner[position] = (first, name)
                declarators.append(f"{name} = {self._expressions.text(first)}")
        self._corners[mark] = corner
        return declarators

    def subscripts(self, mark: Mark, element: isl.AstExpr) -> list[Operand]:
        """The subscripts of ``element`` of the block of ``mark``, as C."""
        corner = self._corners.get(mark, {})
        subscripts = []
        for position, subscript in enumerate(_subscripts(element)):
            base, distance = _split(subscript)
            common, name = corner.get(position, (None, ""))
            if common is not None and base.is_equal(common):
                subscripts.append(
                    Operand(f"{name} + {distance}", ADDITIVE) if distance else Operand(name, ATOM)
                )
            else:
                subscripts.append(self._expressions.operand(subscript))
        return subscripts


def _subscripts(element: isl.AstExpr) -> list[isl.AstExpr]:
    return [element.op_get_arg(index) for index in range(1, element.op_get_n_arg())]


def _split(subscript: isl.AstExpr) -> tuple[isl.AstExpr, int]:
    """What a positive number is added to in ``subscript``, and that number; 0 where there is none."""
    if isl.ast_expr_type(subscript.get_type()) == isl.ast_expr_type.op:
        added = subscript.op_get_arg(1) if _Op(subscript.op_get_type()) == _Op.add else None
        if added is not None and isl.ast_expr_type(added.get_type()) == isl.ast_expr_type.int:
            return subscript.op_get_arg(0), int(added.int_get_val().to_python())
    return subscript, 0
