"""Arithmetic with its conversions written out: ``s + a * b`` of other types as ``s + (double)(a * b)``.

Vectors of different types do not mix, as numbers do (C17 6.3.1.8): where each lane of a vector
computes what C computes, each conversion has its place in the tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from pycparser import c_ast

from polybuild.c.basic_types import INT, DataModel, basic_type
from polybuild.c.conversions import common_type, promoted
from polybuild.c.literals import number_type
from polybuild.c.synthetic import type_name
from polybuild.c.types import FloatingType, IntegerType, Type
from polybuild.values import dataclass

Number = IntegerType | FloatingType

_FLOATING = frozenset({"float", "double"})
_OPERATIONS = frozenset({"+", "-", "*"})
_COMPOUND = frozenset({"=", "+=", "-=", "*=", "/="})


@dataclass(frozen=True, slots=True)
class ConvertedAssignment:
    """An assignment whose operations have operands of one type each; ``types`` are those of its parts.

    ``types`` has parts by their identity. Parts that needed no conversions are the very nodes they were.
    """

    body: c_ast.Assignment
    types: Mapping[int, Number]


def with_conversions(
    body: c_ast.Assignment, operands: Mapping[int, Type], kind: Number
) -> ConvertedAssignment | None:
    """``body``, which stores a number of type ``kind``, with each conversion written as a cast.

    ``operands`` are the types of the nodes that are operands, by identity. None if there is anything but
    these, literals, casts to basic types and the four operations in it, a type without vectors, or one
    that is wider than ``kind``: lanes are counted in elements of this.
    """
    if body.op not in _COMPOUND or not _has_vectors(kind):
        return None
    converter = _Converter(operands, bytes_of(kind))
    value = converter.converted(body.rvalue)
    if value is None:
        return None
    if body.op == "/=" and not isinstance(kind, FloatingType):
        return None
    if body.op != "=" and _common(kind, converter.types[id(value)]) != kind:
        return None
    value = converter.cast(value, kind)
    if value is body.rvalue:
        return ConvertedAssignment(body, converter.types)
    return ConvertedAssignment(c_ast.Assignment(body.op, body.lvalue, value, body.coord), converter.types)


def bytes_of(kind: Number) -> int:
    """The size of a number."""
    return kind.size if isinstance(kind, FloatingType) else -(-kind.width // 8)


def _has_vectors(kind: Type) -> bool:
    """Whether compilers compute with vectors of ``kind`` as they compute with its numbers."""
    if isinstance(kind, IntegerType):
        return kind == promoted(kind)
    return isinstance(kind, FloatingType) and kind.name in _FLOATING


def _common(left: Number, right: Number) -> Type:
    return common_type(left, right, DataModel())


@dataclass(frozen=True, slots=True)
class _Converter:
    """Writes conversions out; ``types`` collects the types of what it returns."""

    operands: Mapping[int, Type]
    widest: int
    types: dict[int, Number] = field(default_factory=dict)

    def converted(self, node: c_ast.Node) -> c_ast.Node | None:
        """``node`` with its conversions, None if it is something else."""
        if id(node) in self.operands:
            return self._typed(node, self.operands[id(node)])
        if isinstance(node, c_ast.Constant):
            return self._typed(node, _literal(node))
        if isinstance(node, c_ast.Cast):
            return self._cast(node)
        if isinstance(node, c_ast.UnaryOp) and node.op == "-":
            return self._negation(node)
        if isinstance(node, c_ast.BinaryOp):
            return self._operation(node)
        return None

    def cast(self, node: c_ast.Node, kind: Number) -> c_ast.Node:
        """``node``, whose type is known, as a value of type ``kind``."""
        if self.types[id(node)] == kind:
            return node
        new = c_ast.Cast(type_name(kind), node, node.coord)
        self.types[id(new)] = kind
        return new

    def _typed(self, node: c_ast.Node, kind: Type | None) -> c_ast.Node | None:
        """``node`` as a value of type ``kind``, None if that is none that vectors have."""
        if not isinstance(kind, Number) or bytes_of(kind) > self.widest:
            return None
        if isinstance(kind, FloatingType) and kind.name not in _FLOATING:
            return None
        self.types[id(node)] = kind
        return node

    def _cast(self, node: c_ast.Cast) -> c_ast.Node | None:
        kind = node.to_type.type
        if not isinstance(kind, c_ast.TypeDecl) or not isinstance(kind.type, c_ast.IdentifierType):
            return None
        to = basic_type(kind.type.names, DataModel())
        inner = self.converted(node.expr)
        if inner is None or to is None or not _has_vectors(to):
            return None
        new = node if inner is node.expr else type(node)(node.to_type, inner, node.coord)
        return self._typed(new, to)

    def _negation(self, node: c_ast.UnaryOp) -> c_ast.Node | None:
        inner = self.converted(node.expr)
        if inner is None:
            return None
        kind = promoted(self.types[id(inner)])
        assert isinstance(kind, Number)  # noqa: S101 - a number is promoted to one
        inner = self.cast(inner, kind)
        new = node if inner is node.expr else c_ast.UnaryOp(node.op, inner, node.coord)
        return self._typed(new, kind)

    def _operation(self, node: c_ast.BinaryOp) -> c_ast.Node | None:
        left, right = self.converted(node.left), self.converted(node.right)
        if left is None or right is None:
            return None
        kind = _common(self.types[id(left)], self.types[id(right)])
        if not isinstance(kind, Number) or not _is_operation(node.op, kind):
            return None
        left, right = self.cast(left, kind), self.cast(right, kind)
        same = left is node.left and right is node.right
        return self._typed(node if same else c_ast.BinaryOp(node.op, left, right, node.coord), kind)


def _is_operation(operator: str, kind: Number) -> bool:
    return operator in _OPERATIONS or (operator == "/" and isinstance(kind, FloatingType))


def _literal(node: c_ast.Constant) -> Type | None:
    """The type of a plain literal number: those of other integers depend on the compiler's target."""
    kind = number_type(node, DataModel())
    return kind if isinstance(kind, FloatingType) or kind == INT else None
