"""Signs of floating-point terms, moved out of them: ``x + -a * b`` is ``x - a * b``.

A hoisted factor that was negated, ``t = -a[i][k]; … x += t * b[k][j]``, computes what
``x -= a[i][k] * b[k][j]`` does: rounded to nearest, as compilers take for granted, a product or quotient with
another sign is the same number with that sign. Statements that differ in this alone look the same then.
"""

from __future__ import annotations

from dataclasses import field, replace

from pycparser import c_ast

from polybuild.c.basic_types import DataModel, basic_type
from polybuild.c.literals import number_type
from polybuild.c.syntax_tree import mapped
from polybuild.c.types import FloatingType
from polybuild.scop.model import Statement
from polybuild.values import dataclass

_OTHER = {"+": "-", "-": "+", "+=": "-=", "-=": "+="}


def with_signs_outside(statement: Statement) -> Statement:
    """``statement`` with terms that are added or subtracted instead of negated; itself if none is."""
    floating = {id(each.node): isinstance(each.array.element, FloatingType) for each in statement.accesses}
    body = _SignMover(floating).rewritten(statement.body)
    return statement if body is statement.body else replace(statement, body=body)


@dataclass(frozen=True, slots=True)
class _SignMover:
    """``accessed`` says of elements, by identity, whether they are floating-point numbers."""

    accessed: dict[int, bool] = field(default_factory=dict)

    def rewritten(self, node: c_ast.Node) -> c_ast.Node:
        """``node`` without signs that an addition or subtraction can have; elements are the same nodes."""
        if id(node) in self.accessed:
            return node
        changed = {id(each): new for each in node if (new := self.rewritten(each)) is not each}
        if changed:
            node = mapped(node, lambda each: changed.get(id(each), each))
        if isinstance(node, c_ast.Assignment | c_ast.BinaryOp) and node.op in _OTHER:
            first, then = list(node)
            while (opposite := self._opposite(then)) is not None:
                node = type(node)(_OTHER[node.op], first, opposite, node.coord)
                then = opposite
        return node

    def _opposite(self, node: c_ast.Node) -> c_ast.Node | None:
        """What ``node``, a term with a sign, is the opposite of; None for one without."""
        if id(node) in self.accessed:
            return None
        if isinstance(node, c_ast.UnaryOp) and node.op == "-":
            return node.expr if self._is_floating(node.expr) else None
        if isinstance(node, c_ast.Cast) and self._is_floating(node):
            inside = self._opposite(node.expr)
            return None if inside is None else type(node)(node.to_type, inside, node.coord)
        if isinstance(node, c_ast.BinaryOp) and node.op in {"*", "/"}:
            left, right = self._opposite(node.left), self._opposite(node.right)
            if left is not None:
                return c_ast.BinaryOp(node.op, left, node.right, node.coord)
            if right is not None:
                return c_ast.BinaryOp(node.op, node.left, right, node.coord)
        return None

    def _is_floating(self, node: c_ast.Node) -> bool:
        """Whether ``node`` certainly is a floating-point number."""
        if id(node) in self.accessed:
            return self.accessed[id(node)]
        if isinstance(node, c_ast.Constant):
            return isinstance(number_type(node, DataModel()), FloatingType)
        if isinstance(node, c_ast.Cast):
            kind = node.to_type.type
            named = isinstance(kind, c_ast.TypeDecl) and isinstance(kind.type, c_ast.IdentifierType)
            return named and isinstance(basic_type(kind.type.names, DataModel()), FloatingType)
        if isinstance(node, c_ast.UnaryOp) and node.op in {"-", "+"}:
            return self._is_floating(node.expr)
        if isinstance(node, c_ast.BinaryOp) and node.op in {"+", "-", "*", "/"}:
            return self._is_floating(node.left) or self._is_floating(node.right)
        return False
