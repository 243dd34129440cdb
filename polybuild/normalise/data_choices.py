"""Subscripts that data choose among known ones: a condition for each of the elements takes their place.

    if (flux[i] < 0)                  int chosen = flux[i] < 0;
      up = i + 1;
    else
      up = i - 1;
    x += a[up];                       x += chosen ? a[i + 1] : a[i - 1];
    b[up] = x;                        if (chosen) b[i + 1] = x; else b[i - 1] = x;

So what may be touched is known: a few elements that are affine in the counters, not all of the array.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pycparser import c_ast

from polybuild.c import types
from polybuild.c.basic_types import INT
from polybuild.c.syntax_tree import (
    TRUTHS,
    changed_operand,
    duplicate,
    has_side_effect,
    key,
    mapped,
    node_count,
)
from polybuild.c.synthetic import declarator, number
from polybuild.effort import VALUE_NODES
from polybuild.normalise.names import Names, Variable
from polybuild.normalise.state import SymbolicState

_ARITHMETIC = (c_ast.BinaryOp, c_ast.UnaryOp, c_ast.Cast, c_ast.TernaryOp)


def only_in_subscripts(names: Names, statements: Iterable[c_ast.Node]) -> frozenset[Variable]:
    """The integers of a region that are read in subscripts alone, or to set others of that kind."""
    uses = _Uses(names)
    for each in statements:
        uses.visit(each)
    for readers in (uses.elsewhere, uses.subscripts):
        while more := {source for source, target in uses.feeds if target in readers} - readers:
            readers.update(more)
    only = uses.subscripts - uses.elsewhere
    return frozenset(each for each in only if isinstance(each.type, types.IntegerType))


class _Uses:
    """Where variables are read; ``feeds`` has a pair for each that is read to set another."""

    def __init__(self, names: Names) -> None:
        self._variables = names.variables
        self.subscripts: set[Variable] = set()
        self.elsewhere: set[Variable] = set()
        self.feeds: list[tuple[Variable, Variable]] = []

    def visit(self, node: c_ast.Node, into: Variable | None = None, *, inside: bool = False) -> None:
        """Note what ``node`` reads: ``inside`` a subscript, or for a value of the variable ``into``."""
        target = changed_operand(node)
        if isinstance(node, c_ast.ID):
            self._read(node, into, inside=inside)
        elif isinstance(node, c_ast.ArrayRef):
            if not isinstance(node.name, c_ast.ID):
                self.visit(node.name, into, inside=inside)
            self.visit(node.subscript, inside=True)
        elif isinstance(node, c_ast.UnaryOp) and node.op == "*":
            self.visit(node.expr, inside=True)
        elif isinstance(target, c_ast.ID):
            if isinstance(node, c_ast.Assignment):
                self.visit(node.rvalue, self._variables.get(target), inside=inside)
        elif isinstance(node, c_ast.Decl) and node.init is not None:
            self.visit(node.init, self._variables.get(node), inside=inside)
        elif isinstance(node, c_ast.TernaryOp):
            self.visit(node.cond, inside=inside)
            self.visit(node.iftrue, into, inside=inside)
            self.visit(node.iffalse, into, inside=inside)
        else:
            for child in node:
                self.visit(child, into, inside=inside)

    def _read(self, node: c_ast.ID, into: Variable | None, *, inside: bool) -> None:
        variable = self._variables.get(node)
        if variable is None:
            return
        if inside:
            self.subscripts.add(variable)
        elif into is not None:
            self.feeds.append((variable, into))
        else:
            self.elsewhere.add(variable)


def as_if(variable: c_ast.ID, value: c_ast.Node, state: SymbolicState) -> c_ast.If | None:
    """``variable = c ? x : y`` as an ``if``, where that is the same; None for another ``value``."""
    if not isinstance(value, c_ast.TernaryOp) or state.typing(value.iftrue) != state.typing(value.iffalse):
        return None
    sides: list[c_ast.Node] = []
    for each in (value.iftrue, value.iffalse):
        inner = as_if(variable, each, state)
        sides.append(inner or c_ast.Assignment("=", variable, each, each.coord))
    yes, no = sides
    return c_ast.If(value.cond, yes, no, value.coord)


def chain(node: c_ast.If) -> list[c_ast.If]:
    """``if``, ``else if``, and so on."""
    following = node.iffalse
    return [node, *(chain(following) if isinstance(following, c_ast.If) else ())]


def with_named_conditions(node: c_ast.If, state: SymbolicState) -> tuple[list[c_ast.Node], c_ast.If]:
    """Names for the conditions of ``node`` and of its ``else if``, declared, and ``node`` with them.

    What follows an ``else`` is evaluated where nothing before it holds, as written.
    """
    declarations: list[c_ast.Node] = []
    before: list[c_ast.Node] = []
    conditions: list[c_ast.Node] = []
    for each in chain(node):
        name = state.choice_name(each)
        test = each.cond
        if not (isinstance(test, c_ast.BinaryOp) and test.op in TRUTHS):
            test = c_ast.BinaryOp("!=", test, number(0), test.coord)
        for earlier in reversed(before):
            test = c_ast.BinaryOp("&&", c_ast.UnaryOp("!", earlier, each.coord), test, each.coord)
        before.append(c_ast.ID(name, each.coord))
        conditions.append(c_ast.ID(name, each.coord))
        declarations.append(c_ast.Decl(name, [], [], [], [], declarator(name, INT), test, None, each.coord))
    return declarations, _renamed(node, conditions)


def _renamed(node: c_ast.If, conditions: list[c_ast.Node]) -> c_ast.If:
    following = node.iffalse
    if isinstance(following, c_ast.If):
        following = _renamed(following, conditions[1:])
    return c_ast.If(conditions[0], node.iftrue, following, node.coord)


def with_chosen_elements(node: c_ast.Node, state: SymbolicState) -> c_ast.Node:
    """The expression ``node`` where elements that it reads are chosen, rather than their subscripts."""
    if isinstance(node, c_ast.ID | c_ast.Constant):
        return node
    if isinstance(node, c_ast.UnaryOp) and node.op in {"&", "sizeof", "_Alignof"}:
        return node
    if isinstance(node, c_ast.Assignment):
        new = mapped(node, lambda each: each)
        new.rvalue = with_chosen_elements(node.rvalue, state)
        new.lvalue = _below(node.lvalue, state)
        return new
    if changed_operand(node) is not None:
        return mapped(node, lambda each: _below(each, state))
    if _is_element(node):
        return _chosen(_below(node, state), state)
    return mapped(node, lambda each: with_chosen_elements(each, state))


def chosen_writes(node: c_ast.Node, state: SymbolicState) -> c_ast.Node:
    """The expression statement ``node``, one for each of the elements that it may change."""
    target = changed_operand(node)
    if target is None or not _is_element(target):
        return node
    cond = _choice_in(target, state)
    if cond is None or node_count(node) > VALUE_NODES:
        return node
    sides = []
    for holds in (True, False):
        new = duplicate(node)
        place = _decided(target, key(cond), holds=holds)
        if isinstance(new, c_ast.Assignment):
            new.lvalue = place
        else:
            new.expr = place
        sides.append(c_ast.Compound([chosen_writes(new, state)], node.coord))
    return c_ast.If(duplicate(cond), *sides, node.coord)


def _below(node: c_ast.Node, state: SymbolicState) -> c_ast.Node:
    """The element ``node`` with what its subscripts read chosen."""
    if isinstance(node, c_ast.ArrayRef):
        subscript = with_chosen_elements(node.subscript, state)
        return c_ast.ArrayRef(_below(node.name, state), subscript, node.coord)
    if isinstance(node, c_ast.StructRef):
        return c_ast.StructRef(_below(node.name, state), node.type, node.field, node.coord)
    return node


def _chosen(node: c_ast.Node, state: SymbolicState) -> c_ast.Node:
    """The element ``node``, or a choice of two."""
    cond = _choice_in(node, state)
    if cond is None or node_count(node) > VALUE_NODES:
        return node
    if not isinstance(state.typing(node), types.IntegerType | types.FloatingType):
        return node
    sides = (_chosen(_decided(node, key(cond), holds=holds), state) for holds in (True, False))
    return c_ast.TernaryOp(duplicate(cond), *sides, node.coord)


def _is_element(node: c_ast.Node) -> bool:
    while isinstance(node, c_ast.StructRef):
        node = node.name
    return isinstance(node, c_ast.ArrayRef)


def _choice_in(node: c_ast.Node, state: SymbolicState) -> c_ast.Node | None:
    """A condition on data that chooses between subscripts of the element ``node``."""
    if isinstance(node, c_ast.StructRef):
        return _choice_in(node.name, state)
    if not isinstance(node, c_ast.ArrayRef):
        return None
    for each in _ternaries(node.subscript):
        if _is_data(each, state) and state.typing(each.iftrue) == state.typing(each.iffalse):
            return each.cond
    return _choice_in(node.name, state)


def _is_data(node: c_ast.TernaryOp, state: SymbolicState) -> bool:
    if isinstance(node.cond, c_ast.ID) and state.is_choice(node.cond.name):
        return True
    return not state.is_fixed(node.cond) and not has_side_effect(node.cond)


def _ternaries(node: c_ast.Node) -> Iterator[c_ast.TernaryOp]:
    """The choices that the value of the subscript ``node`` is computed from."""
    if isinstance(node, c_ast.TernaryOp):
        yield node
    if isinstance(node, _ARITHMETIC):
        for child in node:
            yield from _ternaries(child)


def _decided(node: c_ast.Node, condition: object, *, holds: bool) -> c_ast.Node:
    """A copy of ``node`` where the condition with that key is known."""
    if isinstance(node, c_ast.TernaryOp) and key(node.cond) == condition:
        return _decided(node.iftrue if holds else node.iffalse, condition, holds=holds)
    return mapped(node, lambda each: _decided(each, condition, holds=holds))
