"""Subscripts with products of parameters and loop counters, as polynomials."""

from __future__ import annotations

import dataclasses

import islpy as isl
from pycparser import c_ast

from polybuild.c.conversions import common_integer, holds, promoted_integer
from polybuild.c.synthetic import ExactCast
from polybuild.c.types import IntegerType
from polybuild.diagnostics import Unsupported
from polybuild.scop.assumptions import Violation
from polybuild.scop.delinearise.polynomials import Atoms, NotPolynomial, Polynomial, from_affine
from polybuild.scop.expressions import Affine, Expressions, is_affinity_refusal
from polybuild.scop.facts import Facts
from polybuild.scop.program_point import ProgramPoint
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class FlatSubscript:
    """A subscript with a product in it; ``polynomial`` is right modulo ``2**wraps`` where that is not 0."""

    polynomial: Polynomial
    wraps: int = 0


@dataclass(frozen=True, slots=True)
class _TypedPolynomial:
    """A C value, pending in the sense of ``expressions``; ``affine`` if it is piecewise affine."""

    polynomial: Polynomial
    type: IntegerType
    pending: bool
    affine: Affine | None = None


def read_subscript(
    node: c_ast.Node, point: ProgramPoint, facts: Facts, atoms: Atoms, violations: list[Violation]
) -> isl.PwAff | FlatSubscript:
    """The value of a subscript; ``violations`` collects where C's value would differ.

    Raises Unsupported if it is neither affine nor such a polynomial.
    """
    found: list[Violation] = []
    try:
        value = Expressions(facts, "subscript", found).subscript(node, point)
    except Unsupported as error:
        if not is_affinity_refusal(error):
            raise
        try:
            return _PolynomialReader(facts, atoms, point, violations).subscript(node)
        except NotPolynomial:
            raise error from None
    violations.extend(found)
    return value


class _PolynomialReader:
    """The reading of one subscript at one point."""

    def __init__(self, facts: Facts, atoms: Atoms, point: ProgramPoint, violations: list[Violation]) -> None:
        self._facts = facts
        self._atoms = atoms
        self._point = point
        self._violations = violations

    def subscript(self, node: c_ast.Node) -> FlatSubscript:
        value = self.value(node)
        return FlatSubscript(
            value.polynomial, value.type.width if value.pending and value.type.width < 64 else 0
        )

    def value(self, node: c_ast.Node) -> _TypedPolynomial:
        found: list[Violation] = []
        try:
            affine = Expressions(self._facts, "subscript", found).affine(node, self._point)
        except Unsupported as error:
            if not is_affinity_refusal(error):
                raise
            value = self._composed(node)
            if value is None:
                raise
            return value
        self._violations.extend(found)
        return self._from_affine(affine)

    def _composed(self, node: c_ast.Node) -> _TypedPolynomial | None:
        """The value of a sum, product or conversion that is not affine; None if it is another expression."""
        if isinstance(node, c_ast.BinaryOp) and node.op in {"+", "-", "*"}:
            return self._binary(node)
        if isinstance(node, c_ast.UnaryOp) and node.op in {"+", "-"}:
            value = self.value(node.expr)
            value = self.convert(value, promoted_integer(value.type), node)
            if node.op == "+":
                return value
            return _TypedPolynomial(value.polynomial.scale(-1), value.type, pending=not value.type.signed)
        if isinstance(node, c_ast.TernaryOp):
            return self._choice(node)
        if isinstance(node, c_ast.Cast):
            to = self._facts.region.visible.scope.resolve(node.to_type)
            if isinstance(node, ExactCast) and isinstance(to, IntegerType):
                return dataclasses.replace(self.value(node.expr), type=to, pending=False)
            if isinstance(to, IntegerType):
                return self.convert(self.value(node.expr), to, node)
        return None

    def _choice(self, node: c_ast.TernaryOp) -> _TypedPolynomial:
        """One of two values, as a condition on counters and parameters says."""
        point = self._point
        chosen = Expressions(self._facts, "subscript", self._violations).condition(node.cond, point)
        sides = (node.iftrue, point.within(chosen)), (node.iffalse, point.without(chosen))
        readers = [_PolynomialReader(self._facts, self._atoms, where, self._violations) for _, where in sides]
        yes, no = (reader.value(side) for reader, (side, _) in zip(readers, sides, strict=True))
        kind = common_integer(yes.type, no.type, self._facts.region.visible.scope.data_model)
        yes, no = (
            reader.convert(value, kind, side)
            for reader, value, (side, _) in zip(readers, (yes, no), sides, strict=True)
        )
        polynomial = yes.polynomial.otherwise(no.polynomial, chosen)
        return _TypedPolynomial(polynomial, kind, yes.pending or no.pending)

    def _binary(self, node: c_ast.BinaryOp) -> _TypedPolynomial:
        left, right = self.value(node.left), self.value(node.right)
        kind = common_integer(left.type, right.type, self._facts.region.visible.scope.data_model)
        one = self.convert(left, kind, node.left).polynomial
        other = self.convert(right, kind, node.right).polynomial
        if node.op == "*":
            result = one.multiply(other)
        else:
            result = one.add(other) if node.op == "+" else one.subtract(other)
        return _TypedPolynomial(result, kind, pending=not kind.signed)

    def convert(self, value: _TypedPolynomial, to: IntegerType, node: c_ast.Node) -> _TypedPolynomial:
        """``value`` in the type ``to``; where its range matters, only affine values can be shown to fit."""
        if value.affine is not None:
            expressions = Expressions(self._facts, "subscript", self._violations)
            affine = expressions.convert(value.affine, to, node, self._point)
            if to.signed:
                affine = expressions.within_type_range(affine, node, self._point)
            return self._from_affine(affine)
        fits = holds(to, value.type) and not value.pending
        if to.width > value.type.width and value.pending:
            raise NotPolynomial(f"a product may not fit '{value.type.name}'")
        if to.signed and not fits and to.width < 64:
            raise NotPolynomial(f"a product may not fit '{to.name}'")
        return dataclasses.replace(value, type=to, pending=not fits and not to.signed)

    def _from_affine(self, affine: Affine) -> _TypedPolynomial:
        polynomial = from_affine(affine.value, self._point.depth, self._atoms)
        return _TypedPolynomial(polynomial, affine.type, affine.pending, affine)
