"""Rows of a fixed capacity, of which data say how much is used: that they are no longer is looked at before.

::

    for (b = 0; b < boxes; b++)                 for (b = 0; b < boxes; b++) {
      for (k = 0; k < used[b]; k++)      ->       never(used[b] > 64);
        p[64 * b + k] += f[64 * b + k];           for (k = 0; k < used[b] (<= 64); k++)
                                                    p[64 * b + k] += f[64 * b + k];
                                                }

As long as no row is longer, no two rows have an element in common. Where one is, which is looked for before
the region runs (``exits``), the original loops run. Rows whose elements nothing writes need no such test.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping

from pycparser import c_ast

from polybuild.c.literals import integer_value
from polybuild.c.syntax_tree import changed_operand, duplicate, has_side_effect, mapped, walk
from polybuild.c.synthetic import BoundedEnd, never, number
from polybuild.normalise.names import stepped_name
from polybuild.normalise.structure import reads_memory
from polybuild.source.model import Region
from polybuild.values import dataclass

_REASON = '"no row may be longer than the space that it has"'
_UP = {"++", "p++"}


def with_row_capacities(region: Region) -> Region:
    """``region`` with such loops bounded by the capacities of their rows; itself if there are none."""
    loaded = frozenset(name for each in region.statements for name in _loaded(each))
    bounder = _RowBounder(region.visible.enumerators, loaded)
    statements = tuple(bounder.bounded(each, repeated=False) for each in region.statements)
    same = all(new is old for new, old in zip(statements, region.statements, strict=True))
    return region if same else dataclasses.replace(region, statements=statements)


@dataclass(frozen=True, slots=True)
class _RowBounder:
    """Bounds loops over parts of rows; ``enumerators`` are numbers with names, ``loaded`` those of data."""

    enumerators: Mapping[str, int]
    loaded: frozenset[str]

    def bounded(self, node: c_ast.Node, *, repeated: bool) -> c_ast.Node:
        """``node``, which a loop around it repeats or not, with its loops over parts of rows bounded."""
        if isinstance(node, c_ast.For):
            body = self.bounded(node.stmt, repeated=True)
            same = body is node.stmt
            loop = node if same else mapped(node, lambda each: body if each is node.stmt else each)
            capacity = self._capacity(node) if repeated else 0
            return _with_test(loop, capacity) if capacity else loop
        if not isinstance(node, c_ast.Compound | c_ast.If):
            return node
        changed = {
            id(each): new for each in node if (new := self.bounded(each, repeated=repeated)) is not each
        }
        return mapped(node, lambda each: changed.get(id(each), each)) if changed else node

    def _capacity(self, loop: c_ast.For) -> int:
        """The least capacity of rows that ``loop`` writes along, up to an end in memory; 0 if it does not."""
        condition, counter = loop.cond, stepped_name(loop)
        if counter is None or not _is_step_up(loop.next) or not isinstance(condition, c_ast.BinaryOp):
            return 0
        counts = isinstance(condition.left, c_ast.ID) and condition.left.name == counter
        if condition.op not in {"<", "<="} or not counts or has_side_effect(condition.right):
            return 0
        named = isinstance(condition.right, c_ast.ID) and condition.right.name in self.loaded
        if not named and not reads_memory(condition.right):
            return 0
        targets = [target for each in walk(loop.stmt) if (target := changed_operand(each)) is not None]
        lengths = [
            self._length(each.subscript, counter) for target in targets for each in _subscripted(target)
        ]
        return min((each for each in lengths if each > 1), default=0)

    def _length(self, subscript: c_ast.Node, counter: str) -> int:
        """How far rows are apart whose elements ``counter`` names by ``subscript``; 0 if unknown."""
        terms = list(self._terms(subscript))
        own = [factor for factor, rest in terms if len(rest) == 1 and _names(rest[0], counter)]
        others = [
            factor for factor, rest in terms if rest and not (len(rest) == 1 and _names(rest[0], counter))
        ]
        mixed = any(_names(part, counter) for _, rest in terms if len(rest) > 1 for part in rest)
        # where sizes are factors of all others, the distance of rows is no number
        fixed = sum(len(rest) == 1 for _, rest in terms) > 1
        return math.gcd(*others) if own == [1] and fixed and not mixed else 0

    def _terms(self, node: c_ast.Node) -> Iterator[tuple[int, tuple[c_ast.Node, ...]]]:
        """The terms of a sum, each with its constant factor and its other factors."""
        while isinstance(node, c_ast.Cast):
            node = node.expr
        if isinstance(node, c_ast.Constant) and (value := integer_value(node.value)) is not None:
            yield value, ()
        elif isinstance(node, c_ast.ID) and node.name in self.enumerators:
            yield self.enumerators[node.name], ()
        elif isinstance(node, c_ast.BinaryOp) and node.op in {"+", "-"}:
            yield from self._terms(node.left)
            sign = 1 if node.op == "+" else -1
            yield from ((sign * factor, rest) for factor, rest in self._terms(node.right))
        elif isinstance(node, c_ast.BinaryOp) and node.op == "*":
            for left, first in self._terms(node.left):
                for right, second in self._terms(node.right):
                    yield left * right, (*first, *second)
        elif isinstance(node, c_ast.UnaryOp) and node.op == "-":
            yield from ((-factor, rest) for factor, rest in self._terms(node.expr))
        else:
            yield 1, (node,)


def _loaded(node: c_ast.Node) -> Iterator[str]:
    """The variables that ``node`` sets to values in memory."""
    for each in walk(node):
        if isinstance(each, c_ast.Decl) and each.init is not None and reads_memory(each.init):
            yield str(each.name)
        plain = isinstance(each, c_ast.Assignment) and each.op == "=" and isinstance(each.lvalue, c_ast.ID)
        if plain and reads_memory(each.rvalue):
            yield str(each.lvalue.name)


def _with_test(loop: c_ast.For, capacity: int) -> c_ast.Node:
    """``loop``, which ends at data, behind the test that it ends within ``capacity``."""
    operator = ">" if loop.cond.op == "<" else ">="
    longer = c_ast.BinaryOp(operator, duplicate(loop.cond.right), number(capacity), loop.coord)
    end = BoundedEnd(loop.cond.op, loop.cond.left, loop.cond.right, loop.cond.coord)
    end.capacity = capacity
    bounded = mapped(loop, lambda each: end if each is loop.cond else each)
    return c_ast.Compound([never(longer, _REASON), bounded], loop.coord)


def _is_step_up(step: c_ast.Node) -> bool:
    if isinstance(step, c_ast.Assignment):
        return bool(step.op == "+=") and isinstance(step.rvalue, c_ast.Constant) and step.rvalue.value == "1"
    return isinstance(step, c_ast.UnaryOp) and step.op in _UP


def _subscripted(target: c_ast.Node) -> Iterator[c_ast.ArrayRef]:
    """The accesses with a subscript by which ``target`` is reached."""
    while isinstance(target, c_ast.ArrayRef | c_ast.StructRef):
        if isinstance(target, c_ast.ArrayRef):
            yield target
        target = target.name


def _names(node: c_ast.Node, counter: str) -> bool:
    return any(isinstance(each, c_ast.ID) and each.name == counter for each in walk(node))
