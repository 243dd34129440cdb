"""How large an integer expression can be that is not affine: intervals with affine bounds.

``16 * i + (a[j] & 15)`` lies in ``[16 * i, 16 * i + 15]`` whatever ``a[j]`` is, and a
value of type ``unsigned char`` in ``[0, 255]``. Only what holds for every value is
used, and nothing is assumed.
"""

from __future__ import annotations

import islpy as isl
from pycparser import c_ast

from polybuild.c.conversions import limits
from polybuild.c.syntax_tree import TRUTHS
from polybuild.c.types import IntegerType, Type
from polybuild.c.typing import type_of
from polybuild.diagnostics import Unsupported
from polybuild.poly import spaces
from polybuild.poly.integers import value_of
from polybuild.scop.assumptions import Assumptions, Violation
from polybuild.scop.expressions import Expressions
from polybuild.scop.facts import Facts
from polybuild.scop.program_point import ProgramPoint
from polybuild.values import dataclass

# The values of wider types say nothing that is useful of a subscript.
_NARROW = 16


@dataclass(frozen=True, slots=True)
class Range:
    """The minimum and the maximum, on the space of a point."""

    low: isl.PwAff
    high: isl.PwAff

    def plus(self, other: Range) -> Range:
        """The range of a sum."""
        return Range(self.low.add(other.low), self.high.add(other.high))

    def negated(self) -> Range:
        """The range of the negative value."""
        return Range(self.high.neg(), self.low.neg())

    def times(self, factor: int) -> Range:
        """The range of a multiple."""
        scaled = Range(self.low.scale_val(value_of(abs(factor))), self.high.scale_val(value_of(abs(factor))))
        return scaled if factor >= 0 else scaled.negated()

    def either(self, other: Range) -> Range:
        """The range of a value that is in one of two."""
        return Range(self.low.min(other.low), self.high.max(other.high))


class Ranges:
    """Finds the ranges of expressions at one point."""

    def __init__(self, facts: Facts, assumptions: Assumptions, point: ProgramPoint) -> None:
        self._facts = facts
        self._assumptions = assumptions
        self._point = point

    def of(self, node: c_ast.Node) -> Range | None:
        """The range of ``node``, None if nothing is known of it."""
        exact = self._affine(node)
        if exact is not None:
            return Range(exact, exact)
        kind = self._type(node)
        if kind is None:
            return None
        found = self._composed(node) if kind.signed else None
        if found is None and isinstance(node, c_ast.BinaryOp) and node.op in {"&", "%"}:
            found = self._masked(node)
        if found is None and kind.width <= _NARROW:
            found = self._constants(*limits(kind))
        return found

    def _affine(self, node: c_ast.Node) -> isl.PwAff | None:
        violations: list[Violation] = []
        try:
            value = Expressions(self._facts, "subscript", violations).subscript(node, self._point)
        except Unsupported:
            return None
        return None if any(self._assumptions.is_possible(each) for each in violations) else value

    def _composed(self, node: c_ast.Node) -> Range | None:
        """Sums, multiples, and what is one of two values; signed, so without overflow."""
        if isinstance(node, c_ast.TernaryOp):
            yes, no = self.of(node.iftrue), self.of(node.iffalse)
            return None if yes is None or no is None else yes.either(no)
        if isinstance(node, c_ast.UnaryOp) and node.op in {"-", "+"}:
            operand = self.of(node.expr)
            return operand if operand is None or node.op == "+" else operand.negated()
        if isinstance(node, c_ast.UnaryOp) and node.op == "!":
            return self._constants(0, 1)
        if isinstance(node, c_ast.BinaryOp):
            return self._constants(0, 1) if node.op in TRUTHS else self._arithmetic(node)
        return None

    def _arithmetic(self, node: c_ast.BinaryOp) -> Range | None:
        if node.op not in {"+", "-", "*"}:
            return None
        left, right = self.of(node.left), self.of(node.right)
        if left is None or right is None:
            return None
        if node.op == "*":
            for factor, other in ((left, right), (right, left)):
                number = spaces.constant_value(factor.low)
                if number is not None and number == spaces.constant_value(factor.high):
                    return other.times(number)
            return None
        return left.plus(right if node.op == "+" else right.negated())

    def _masked(self, node: c_ast.BinaryOp) -> Range | None:
        """``e & m`` with a mask that is not negative, and ``e % m``, which C gives the sign of ``e``."""
        if node.op == "&":
            masks = (self._constant(node.right), self._constant(node.left))
            mask = next((each for each in masks if each is not None), None)
            return None if mask is None or mask < 0 else self._constants(0, mask)
        divisor, kind = self._affine(node.right), self._type(node)
        one = self._constants(1, 1).low
        if divisor is None or kind is None or not self._is_empty(divisor.lt_set(one)):
            return None
        maximum, natural = divisor.sub(one), not kind.signed or self._is_natural(node.left)
        return Range(one.sub(one) if natural else maximum.neg(), maximum)

    def _is_natural(self, node: c_ast.Node) -> bool:
        """Whether ``node`` is never negative: by its bounds, or as a product or quotient of such numbers."""
        kind = self._type(node)
        if kind is None:
            return False
        if not kind.signed:
            return True
        known = self.of(node)
        if known is not None:
            return self._is_empty(known.low.neg().pos_set())
        products = isinstance(node, c_ast.BinaryOp) and node.op in {"+", "*", "/", "%", ">>"}
        return products and self._is_natural(node.left) and self._is_natural(node.right)

    def _is_empty(self, points: isl.Set) -> bool:
        """Whether none of ``points`` is among those where the expression is evaluated."""
        return bool(points.intersect(self._point.domain).is_empty())

    def _constant(self, node: c_ast.Node) -> int | None:
        value = self._affine(node)
        return None if value is None else spaces.constant_value(value)

    def _constants(self, low: int, high: int) -> Range:
        depth = self._point.depth
        return Range(spaces.constant(depth, low), spaces.constant(depth, high))

    def _type(self, node: c_ast.Node) -> IntegerType | None:
        symbols: dict[str, Type] = {each.name: each.type for each in self._facts.names.variables_in(node)}
        kind = type_of(node, symbols, self._facts.region.visible)
        return kind if isinstance(kind, IntegerType) else None
