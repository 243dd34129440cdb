"""Assignments that keep what a followed variable holds, for the code after a region."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pycparser import c_ast

from polybuild.c.basic_types import LONG_LONG
from polybuild.c.syntax_tree import duplicate, mapped
from polybuild.c.synthetic import LastValue
from polybuild.normalise.names import Variable
from polybuild.normalise.state import NotFollowable, PointerValue, SymbolicState
from polybuild.normalise.sums import wide_tree


def last_value(variable: Variable, coord: object, state: SymbolicState) -> list[c_ast.Node]:
    """The assignment that keeps the value that ``variable`` has in ``state``, if it is live after the region.

    Raises NotFollowable if the value is not known.
    """
    if not state.context.is_live(variable):
        return []
    value = state.values[variable]
    if value is None:
        raise NotFollowable(variable)
    if isinstance(value, PointerValue):
        offset = wide_tree(value.offset, LONG_LONG, state.typing)
        tree: c_ast.Node = c_ast.BinaryOp("+", duplicate(value.base, coord), offset, coord)
    else:
        tree = duplicate(value, coord)
    return [LastValue("=", c_ast.ID(variable.name, coord), tree, coord)]


def with_last_value(
    statements: Sequence[c_ast.Node], variable: Variable, state: SymbolicState
) -> list[c_ast.Node]:
    """``statements`` with one assignment of the variable's value after them instead of those inside."""
    kept = without_last_values(statements, variable)
    return [*kept, *last_value(variable, statements[-1].coord if statements else None, state)]


def without_last_values(statements: Iterable[c_ast.Node], variable: Variable) -> list[c_ast.Node]:
    """``statements`` without the assignments that keep values of ``variable``."""
    return [each for each in (_without(node, variable) for node in statements) if each is not None]


def _without(node: c_ast.Node, variable: Variable) -> c_ast.Node | None:
    if isinstance(node, LastValue):
        return None if node.lvalue.name == variable.name else node
    if isinstance(node, c_ast.Compound):
        return c_ast.Compound(without_last_values(node.block_items or (), variable), node.coord)
    if isinstance(node, c_ast.For | c_ast.If | c_ast.While | c_ast.DoWhile):
        empty = c_ast.EmptyStatement(node.coord)
        return mapped(node, lambda each: _without(each, variable) or empty)
    return node
