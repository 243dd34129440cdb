"""Running sums of a line, whose elements are combined from the one before, with that kept in a variable.

::

    for (i = 1; i < n; i++)            double value = 0;
      y[i] = y[i - 1] + x[i];   ->     if (1 < n)
                                         value = y[0];
                                       for (i = 1; i < n; i++) {
                                         value = value + x[i];
                                         y[i] = value;
                                       }

The iteration before has stored that very element, and nothing has been stored since. The variable is a
reduction that others look at, a scan (``analysis.scans``). Loops inside others stay as they are: those around
run in parallel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pycparser import c_ast

from polybuild.c.literals import integer_value
from polybuild.c.syntax_tree import duplicate, has_side_effect, key, mapped, names_in, replaced, walk
from polybuild.normalise.extremum_values import first_test
from polybuild.normalise.kept_values import KeptValues
from polybuild.source.model import Region
from polybuild.values import dataclass

_ASSOCIATIVE = frozenset("+-*&|^")


def keep_running_values(region: Region) -> Region:
    """``region`` with a variable for what each loop of running sums combines; itself where there are none."""
    rewriting = _RunningValues(region)
    statements = tuple(rewriting.rewritten(each) for each in region.statements)
    return replace(region, statements=statements) if rewriting.kept.found else region


@dataclass(frozen=True, slots=True)
class _Recurrence:
    """A loop that sets ``target`` to ``value``, which is combined from the element ``before``."""

    target: c_ast.ArrayRef
    before: c_ast.ArrayRef
    value: c_ast.BinaryOp
    counter: str
    start: c_ast.Node


class _RunningValues:
    """Rewrites the outermost loops of one region."""

    def __init__(self, region: Region) -> None:
        self.kept = KeptValues(region)

    def rewritten(self, node: c_ast.Node) -> c_ast.Node:
        """What becomes of the statement ``node``, which is in no loop."""
        if isinstance(node, c_ast.Compound | c_ast.If):
            return mapped(node, lambda each: self.rewritten(each) if _is_statement(each) else each)
        recurrence = _recurrence(node) if isinstance(node, c_ast.For) else None
        if recurrence is None:
            return node
        kind, runs = self.kept.number_type(recurrence.target), first_test(node)
        if runs is None or kind is None:
            return node
        coord, name = node.coord, self.kept.unused("running")
        counter = key(c_ast.ID(recurrence.counter))
        at_start = replaced(duplicate(recurrence.before), counter, recurrence.start)
        value = replaced(duplicate(recurrence.value), key(recurrence.before), c_ast.ID(name, coord))
        body = c_ast.Compound(
            [
                c_ast.Assignment("=", c_ast.ID(name, coord), value, coord),
                c_ast.Assignment("=", recurrence.target, c_ast.ID(name, coord), coord),
            ],
            coord,
        )
        return self.kept.around(node, body, (name, kind), (runs, at_start))


def _recurrence(loop: c_ast.For) -> _Recurrence | None:
    """The running sum that ``loop`` computes; None if it computes none, or does more."""
    step, counted = _step(loop.next), _start(loop.init)
    body = loop.stmt
    while isinstance(body, c_ast.Compound) and len(body.block_items or ()) == 1:
        body = body.block_items[0]
    if counted is None or not isinstance(body, c_ast.Assignment):
        return None
    counter, start = counted
    target, value = body.lvalue, body.rvalue
    if body.op != "=":
        value = c_ast.BinaryOp(body.op[:-1], target, value, body.coord)
    if not isinstance(target, c_ast.ArrayRef) or not isinstance(value, c_ast.BinaryOp):
        return None
    if step is None or step[0] != counter or any(map(has_side_effect, (target, value))):
        return None
    place = _place(target.subscript, counter)
    if place is None or counter in names_in(target.name):
        return None
    same = key(target.name)
    elements = [each for each in walk(value) if isinstance(each, c_ast.ArrayRef) and key(each.name) == same]
    before = [each for each in elements if _place(each.subscript, counter) == place - step[1]]
    others = [each for each in elements if _place(each.subscript, counter) not in {place, place - step[1]}]
    terms = [each for each in _terms(value, value.op) if key(each) == key(before[0])] if before else []
    if value.op not in _ASSOCIATIVE or len(before) != 1 or others or len(terms) != 1:
        return None
    return _Recurrence(target, before[0], value, counter, start)


def _terms(value: c_ast.Node, operator: str) -> Iterator[c_ast.Node]:
    """What ``operator`` combines in ``value``, but for what is subtracted."""
    additive = {"+", "-"}
    alike = additive if operator in additive else {operator}
    if isinstance(value, c_ast.BinaryOp) and value.op in alike:
        yield from _terms(value.left, operator)
        if value.op != "-":
            yield from _terms(value.right, operator)
    else:
        yield value


def _place(subscript: c_ast.Node, counter: str) -> int | None:
    """The number that ``subscript`` adds to ``counter``; None if it is something else."""
    if isinstance(subscript, c_ast.ID):
        return 0 if subscript.name == counter else None
    if not isinstance(subscript, c_ast.BinaryOp) or subscript.op not in {"+", "-"}:
        return None
    left, right = _place(subscript.left, counter), _number(subscript.right)
    if left is not None and right is not None:
        return left + right if subscript.op == "+" else left - right
    left, right = _number(subscript.left), _place(subscript.right, counter)
    return left + right if left is not None and right is not None and subscript.op == "+" else None


def _number(node: c_ast.Node) -> int | None:
    if isinstance(node, c_ast.UnaryOp) and node.op == "-":
        value = _number(node.expr)
        return None if value is None else -value
    return integer_value(node.value) if isinstance(node, c_ast.Constant) else None


def _step(node: c_ast.Node | None) -> tuple[str, int] | None:
    """The counter that ``node`` changes, and by how much."""
    if isinstance(node, c_ast.UnaryOp) and isinstance(node.expr, c_ast.ID):
        steps = {"++": 1, "p++": 1, "--": -1, "p--": -1}
        return (node.expr.name, steps[node.op]) if node.op in steps else None
    if isinstance(node, c_ast.Assignment) and isinstance(node.lvalue, c_ast.ID) and node.op in {"+=", "-="}:
        by = _number(node.rvalue)
        return None if by is None else (node.lvalue.name, by if node.op == "+=" else -by)
    return None


def _start(init: c_ast.Node | None) -> tuple[str, c_ast.Node] | None:
    """The counter that ``init`` sets, and its first value."""
    if isinstance(init, c_ast.DeclList) and len(init.decls) == 1 and init.decls[0].init is not None:
        return init.decls[0].name, init.decls[0].init
    if isinstance(init, c_ast.Assignment) and init.op == "=" and isinstance(init.lvalue, c_ast.ID):
        return init.lvalue.name, init.rvalue
    return None


def _is_statement(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Compound | c_ast.If | c_ast.For)
