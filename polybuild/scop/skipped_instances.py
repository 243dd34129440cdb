"""Loops that leave one iteration out, as each particle leaves out itself: ``if (j != i) { ... s += ...; }``.

As a part of the domain that makes two loops, before and behind ``i``, whose bounds differ between iterations
of the loop over ``i``: no lanes of it go through them together. As a condition that a statement tests itself
it is a mask of lanes. Where such a statement changes nothing but variables, its dependences are the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
from pycparser import c_ast

from polybuild.c.syntax_tree import changed_operand, contains, walk
from polybuild.normalise.names import Names
from polybuild.scop.model import Statement

_set = isl.dim_type.set


def without_one_iteration(node: c_ast.If, loops: Sequence[c_ast.For], names: Names) -> c_ast.If | None:
    """``node`` as an ``if`` that runs where the innermost counter of ``loops`` differs from another one.

    None if it is no such condition. What it runs has no loops, and changes variables, some of which it has
    not declared itself.
    """
    plain = _on_difference(node)
    counters = [names.iterators.get(each) for each in loops]
    if plain is None or len(counters) < 2:
        return None
    found = {names.variables.get(each) for each in (plain.cond.left, plain.cond.right)}
    if len(found) == 1 or counters[-1] not in found or not found <= set(counters):
        return None
    return plain if _adds_up(plain.iftrue) else None


def iteration_left_out(statement: Statement) -> isl.Set | None:
    """The instances of ``statement`` that do nothing, as two counters are equal; None if it has no such."""
    body, names = statement.body, [each.name for each in statement.iterators]
    if not isinstance(body, c_ast.If) or body.iffalse is not None or not _is_difference(body.cond):
        return None
    sides = [each.name for each in (body.cond.left, body.cond.right) if isinstance(each, c_ast.ID)]
    if len(sides) < 2 or not set(sides) <= set(names):
        return None
    first, second = map(names.index, sides)
    return statement.domain.equate(_set, first, _set, second)


def _on_difference(node: c_ast.If) -> c_ast.If | None:
    """``node`` with a condition ``a != b`` and one side; None if it is not of that kind."""
    if _is_difference(node.cond):
        return node if node.iffalse is None else None
    negated = isinstance(node.cond, c_ast.UnaryOp) and node.cond.op == "!"
    equal = node.cond.expr if negated else node.cond
    runs, empty = (node.iftrue, node.iffalse) if negated else (node.iffalse, node.iftrue)
    if not isinstance(equal, c_ast.BinaryOp) or equal.op != "==" or runs is None or not _is_empty(empty):
        return None
    return c_ast.If(c_ast.BinaryOp("!=", equal.left, equal.right, equal.coord), runs, None, node.coord)


def _is_difference(condition: c_ast.Node) -> bool:
    return isinstance(condition, c_ast.BinaryOp) and condition.op == "!="


def _is_empty(node: c_ast.Node | None) -> bool:
    nothing = isinstance(node, c_ast.Compound) and not node.block_items
    return node is None or nothing or isinstance(node, c_ast.EmptyStatement)


def _adds_up(body: c_ast.Node) -> bool:
    """Whether ``body`` changes variables alone, some of them not its own."""
    if any(contains(body, each) for each in (c_ast.For, c_ast.While, c_ast.DoWhile)):
        return False
    own = {each.name for each in walk(body) if isinstance(each, c_ast.Decl)}
    changed = [each for each in map(changed_operand, walk(body)) if each is not None]
    return all(isinstance(each, c_ast.ID) for each in changed) and any(
        each.name not in own for each in changed
    )
