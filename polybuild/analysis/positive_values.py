"""Floating-point values that are ``+0.0`` or above, or not a number: no two that are equal differ.

Sums, products, quotients and roots of such values are such values, however they are rounded and contracted
(IEEE 754-2019, section 6.3). This is followed through the variables of a region: one is positive if all that
is assigned to it is, and no other value from before the region can be read. What a maximum takes is above
what it held: one that starts at zero stays positive whatever is compared with it.
"""

from __future__ import annotations

from collections.abc import Collection

from pycparser import c_ast

from polybuild.c.symbols import VisibleNames
from polybuild.c.syntax_tree import has_side_effect, key, single_statement
from polybuild.c.types import FloatingType, IntegerType
from polybuild.c.typing import type_of
from polybuild.normalise.upward_exposed import read_before_written
from polybuild.normalise.values_before import set_right_before
from polybuild.scop.model import AccessKind, Array, Scop, Statement
from polybuild.scop.statement_symbols import Symbols, symbols_of
from polybuild.source.model import Region

_SUFFIXES = ("", "f", "l")
_ALWAYS = frozenset(f"{name}{suffix}" for name in ("fabs", "hypot", "exp", "exp2") for suffix in _SUFFIXES)
_KEEPING = frozenset(f"{name}{suffix}" for name in ("sqrt", "fmax", "fmin") for suffix in _SUFFIXES)
_MIRRORED = {">": "<", "<": ">"}


def positive_variables(scop: Scop, region: Region) -> frozenset[str]:
    """The floating-point variables of ``scop``, by the names of their arrays, whose values are positive."""
    followed = [each for each in scop.arrays if _is_followed(each)]
    if not followed:
        return frozenset()
    exposed = read_before_written(region.statements, {})
    found = {
        each.name
        for each in followed
        if each.local or each.source_name not in exposed or _is_positive_before(each, region)
    }
    while True:  # whatever a variable holds is positive as long as all others are
        wrong = {
            access.array.name
            for statement in scop.statements
            for access in statement.accesses
            if access.kind is not AccessKind.READ
            and access.array.name in found
            and not PositiveValues.of(found, statement, region).are_assigned(access.array)
        }
        if not wrong:
            return frozenset(found)
        found -= wrong


class PositiveValues:
    """Tells which expressions of ``statement`` are positive, as variables of the names ``positive`` are."""

    def __init__(
        self, positive: Collection[str], statement: Statement, symbols: Symbols, visible: VisibleNames
    ) -> None:
        self._statement = statement
        self._visible = visible
        self._symbols = symbols
        self._variables = {id(each.node) for each in statement.accesses if each.array.name in positive}

    @classmethod
    def of(cls, positive: Collection[str], statement: Statement, region: Region) -> PositiveValues:
        """The same for a statement of ``region`` whose symbols are not known yet."""
        return cls(positive, statement, symbols_of(statement, region), region.visible)

    def are_assigned(self, variable: Array) -> bool:
        """Whether the statement assigns nothing else to ``variable``, which is positive before."""
        writes = [each for each in self._statement.accesses_to(variable) if each.kind is not AccessKind.READ]
        condition, update = None, single_statement(self._statement.body)
        while isinstance(update, c_ast.If) and update.iffalse is None:
            condition, update = update.cond, single_statement(update.iftrue)
        if not isinstance(update, c_ast.Assignment) or [each.node for each in writes] != [update.lvalue]:
            return False
        if update.op == "=":
            return self._is_above(condition, update.rvalue) or self.has(update.rvalue)
        return update.op in {"+=", "*=", "/="} and self.has(update.rvalue)

    def has(self, node: c_ast.Node) -> bool:
        """Whether the expression ``node`` is positive."""
        if id(node) in self._variables:
            return True
        match node:
            case c_ast.Constant():
                return True
            case c_ast.Cast() if self._is_of_floats(node):
                return self.has(node.expr)
            case c_ast.TernaryOp():
                above = self._is_above(node.cond, node.iftrue)
                return (above or self.has(node.iftrue)) and self.has(node.iffalse)
            case c_ast.FuncCall(name=c_ast.ID()):
                name = node.name.name.removeprefix("__builtin_")
                return name in _ALWAYS or (name in _KEEPING and all(map(self.has, node.args or ())))
            case c_ast.BinaryOp(op="*") if _same(node.left, node.right):
                return True
            case c_ast.BinaryOp(op="+" | "*" | "/") if self._is_of_floats(node):
                return self.has(node.left) and self.has(node.right)
        kind = type_of(node, self._symbols, self._visible)
        return isinstance(kind, IntegerType) and not kind.signed

    def _is_of_floats(self, node: c_ast.Node) -> bool:
        """Whether ``node`` computes in floating point, where nothing wraps around."""
        kind = type_of(node, self._symbols, self._visible)
        return isinstance(kind, FloatingType) and not kind.complex

    def _is_above(self, condition: c_ast.Node | None, value: c_ast.Node) -> bool:
        """Whether ``condition`` says that ``value`` is above something positive."""
        if not isinstance(condition, c_ast.BinaryOp) or condition.op not in _MIRRORED:
            return False
        above, below = condition.left, condition.right
        if condition.op == "<":
            above, below = below, above
        return _same(above, value) and self.has(below)


def _is_followed(array: Array) -> bool:
    """Whether all that is assigned to ``array`` can be seen."""
    hidden = array.provenance.by_pointer or array.provenance.is_reachable
    real = isinstance(array.element, FloatingType) and not array.element.complex
    return array.is_scalar and isinstance(array.expression, c_ast.ID) and real and not hidden


def _is_positive_before(variable: Array, region: Region) -> bool:
    return isinstance(set_right_before(region, variable.source_name), c_ast.Constant)


def _same(one: c_ast.Node, other: c_ast.Node) -> bool:
    return not has_side_effect(one) and key(one) == key(other)
