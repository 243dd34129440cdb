"""Loops of a few steps whose counters are known numbers, or so much more than a start, as over neighbours."""

from __future__ import annotations

import operator
from collections.abc import Callable

from pycparser import c_ast

from polybuild.c.declarations import Scope, evaluate
from polybuild.c.syntax_tree import changed_operand, names_in, walk
from polybuild.c.synthetic import number
from polybuild.effort import TABLE_ITERATIONS
from polybuild.normalise.computing_functions import renamed
from polybuild.normalise.structure import without_continue
from polybuild.values import dataclass

_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)
_JUMPS = (c_ast.Goto, c_ast.Label, c_ast.Return, c_ast.Switch, c_ast.Pragma)
_PLAIN = (c_ast.ID, c_ast.Constant, c_ast.BinaryOp, c_ast.UnaryOp)
_TESTS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "!=": operator.ne}


@dataclass(frozen=True, slots=True)
class ConstantSteps:
    """The ``values`` that the counter ``name`` of a loop takes, and what sets it ``after`` the loop.

    With a ``start`` it is more than that by these.
    """

    name: str
    values: tuple[int, ...]
    after: c_ast.Node | None
    start: c_ast.Node | None = None

    def copies(self, loop: c_ast.For) -> list[c_ast.Node]:
        """The bodies of the steps of ``loop``, with numbers for the counter."""
        body = without_continue(loop.stmt)
        return [renamed(body, {self.name: self._value(each)}) for each in self.values]

    def _value(self, value: int) -> c_ast.Node:
        return number(value) if self.start is None else c_ast.BinaryOp("+", self.start, number(value))


def constant_steps(loop: c_ast.For, scope: Scope) -> ConstantSteps | None:
    """The steps of ``loop``; None if they are not a few that are known, or jumps lead out of them."""
    declares = isinstance(loop.init, c_ast.DeclList)
    name, start = _started(loop)
    if name is None or start is None:
        return None
    value, step = evaluate(start, scope), _step(loop.next, name, scope)
    test, body = loop.cond, without_continue(loop.stmt)
    counts = isinstance(test, c_ast.BinaryOp) and test.op in _TESTS and _is_name(test.left, name)
    end = evaluate(test.right, scope) if counts else None
    if value is None or end is None or not step or _leaves(body) or _changes(body, name):
        return None
    values: list[int] = []
    while _TESTS[test.op](value, end) and len(values) <= TABLE_ITERATIONS:
        values.append(value)
        value += step
    after = None if declares else c_ast.Assignment("=", c_ast.ID(name), number(value), loop.coord)
    return ConstantSteps(name, tuple(values), after) if 0 < len(values) <= TABLE_ITERATIONS else None


def relative_steps(
    loop: c_ast.For, scope: Scope, difference: Callable[[c_ast.Node, c_ast.Node], int | None]
) -> ConstantSteps | None:
    """The steps of ``loop`` from a start, as from ``y - 1`` to ``y + 1``; None if they are not known.

    ``difference`` says by what number one expression is more than another, if it is one.
    """
    name, start = _started(loop)
    test, body = loop.cond, without_continue(loop.stmt)
    counts = isinstance(test, c_ast.BinaryOp) and test.op in {"<", "<="} and _is_name(test.left, name or "")
    if name is None or start is None or not counts or _step(loop.next, name, scope) != 1:
        return None
    plain = all(isinstance(each, _PLAIN) for each in walk(start)) and name not in names_in(start)
    if not plain or _leaves(body) or any(_changes(body, each) for each in (name, *names_in(start))):
        return None
    last = difference(test.right, start)
    if last is None:
        return None
    values = tuple(range(last + (test.op == "<=")))
    end = c_ast.BinaryOp("+", start, number(len(values)))
    after = None if isinstance(loop.init, c_ast.DeclList) else c_ast.Assignment("=", c_ast.ID(name), end)
    return ConstantSteps(name, values, after, start) if 0 < len(values) <= TABLE_ITERATIONS else None


def _started(loop: c_ast.For) -> tuple[str | None, c_ast.Node | None]:
    """The counter of ``loop`` and what it starts at, as far as its head says so."""
    init = loop.init
    if isinstance(init, c_ast.DeclList) and len(init.decls) == 1:
        return init.decls[0].name, init.decls[0].init
    plain = isinstance(init, c_ast.Assignment) and init.op == "=" and isinstance(init.lvalue, c_ast.ID)
    return (init.lvalue.name, init.rvalue) if plain else (None, None)


def _step(node: c_ast.Node, name: str, scope: Scope) -> int | None:
    """What ``node`` adds to the variable ``name``; None if it does not, or it is not known."""
    if node is None or not _is_name(changed_operand(node), name):
        return None
    if isinstance(node, c_ast.UnaryOp):
        return 1 if "++" in node.op else -1
    sign = {"+=": 1, "-=": -1}.get(node.op)
    value = evaluate(node.rvalue, scope)
    return None if sign is None or value is None else sign * value


def _is_name(node: c_ast.Node | None, name: str) -> bool:
    return isinstance(node, c_ast.ID) and bool(node.name == name)


def _changes(body: c_ast.Node, name: str) -> bool:
    """Whether ``body`` changes the variable ``name``, takes its address or declares another one."""
    return any(
        _is_name(changed_operand(each), name)
        or (isinstance(each, c_ast.UnaryOp) and each.op == "&" and _is_name(each.expr, name))
        or (isinstance(each, c_ast.Decl) and each.name == name)
        for each in walk(body)
    )


def _leaves(body: c_ast.Node, *, inside: bool = False) -> bool:
    """Whether jumps lead out of a step, or into it."""
    if isinstance(body, _JUMPS) or (isinstance(body, c_ast.Break | c_ast.Continue) and not inside):
        return True
    inside = inside or isinstance(body, _LOOPS)
    return any(_leaves(each, inside=inside) for each in body)
