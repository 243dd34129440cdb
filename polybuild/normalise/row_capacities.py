"""Rows of a fixed capacity, of which data say how much is used: that they are no longer is looked at before.

::

    for (b = 0; b < boxes; b++)                 for (b = 0; b < boxes; b++) {
      for (k = 0; k < used[b]; k++)      ->       never(used[b] > 64);
        p[64 * b + k] += f[64 * b + k];           for (k = 0; k < used[b] (<= 64); k++)
                                                    p[64 * b + k] += f[64 * b + k];
                                                }

As long as no row is longer, no two rows have an element in common. Where one is, which is looked for before
the region runs (``exits``), the original loops run. Rows whose elements nothing writes need no such test.
The capacity is a number, or a variable or member that the region does not change (``p[capacity * b + k]``).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterator, Mapping, Sequence

from pycparser import c_ast

from polybuild.c import types
from polybuild.c.literals import integer_value
from polybuild.c.symbols import Symbol, VisibleNames
from polybuild.c.syntax_tree import (
    changed_operand,
    duplicate,
    has_side_effect,
    key,
    mapped,
    names_in,
    names_set_in,
    replaced,
    walk,
)
from polybuild.c.synthetic import BoundedEnd, never, number
from polybuild.c.typing import type_of, with_declared
from polybuild.normalise.names import stepped_name
from polybuild.normalise.structure import reads_memory
from polybuild.source.model import Region
from polybuild.values import dataclass

_REASON = '"no row may be longer than the space that it has"'
_UP = {"++", "p++"}


def with_row_capacities(region: Region) -> Region:
    """``region`` with such loops bounded by the capacities of their rows; itself if there are none."""
    nodes = [each for one in region.statements for each in walk(one)]
    changed = names_set_in(nodes)
    loaded = [pair for each in region.statements for pair in _loaded(each)]
    varying = frozenset(name for name, value in loaded if not changed.isdisjoint(names_in(value)))
    bounder = _RowBounder(
        region.visible, frozenset(name for name, _ in loaded), varying, changed, _symbols(region, nodes)
    )
    statements = tuple(bounder.bounded(each, repeated=False) for each in region.statements)
    same = all(new is old for new, old in zip(statements, region.statements, strict=True))
    return region if same else dataclasses.replace(region, statements=statements)


@dataclass(frozen=True, slots=True)
class _RowDistance:
    """Rows that start at multiples of so many elements, and the factors of these by which they start."""

    length: int
    starts: tuple[tuple[c_ast.Node, ...], ...]


@dataclass(frozen=True, slots=True)
class _RowBounder:
    """Bounds loops over parts of rows; ``loaded`` are names of data, those ``changed`` are no capacities.

    Values of those that are ``varying`` are others in other rows.
    """

    visible: VisibleNames
    loaded: frozenset[str]
    varying: frozenset[str]
    changed: frozenset[str]
    symbols: Mapping[str, types.Type | Symbol]

    def bounded(self, node: c_ast.Node, *, repeated: bool) -> c_ast.Node:
        """``node``, which a loop around it repeats or not, with its loops over parts of rows bounded."""
        if isinstance(node, c_ast.For):
            body = self.bounded(node.stmt, repeated=True)
            same = body is node.stmt
            loop = node if same else mapped(node, lambda each: body if each is node.stmt else each)
            if not repeated:
                return loop
            capacity = self._capacity(node)
            counted = self._from_zero(loop) if capacity is None else None
            if counted is not None:
                loop, capacity = counted, self._capacity(counted)
            return loop if capacity is None else _with_test(loop, capacity)
        if not isinstance(node, c_ast.Compound | c_ast.If):
            return node
        changed = {
            id(each): new for each in node if (new := self.bounded(each, repeated=repeated)) is not each
        }
        return mapped(node, lambda each: changed.get(id(each), each)) if changed else node

    def _from_zero(self, loop: c_ast.For) -> c_ast.For | None:
        """``loop`` counted from 0, of ``for (int o = 64 * b; o < 64 * b + used[b]; o++)``; None of others.

        Where its counter is read, the start is added. Only that of a loop's own may hold another value.
        """
        counter, condition = stepped_name(loop), loop.cond
        declared = loop.init.decls if isinstance(loop.init, c_ast.DeclList) else []
        if len(declared) != 1 or declared[0].name != counter or not _is_up_to(condition, counter):
            return None
        start, end = declared[0].init, condition.right
        kinds = [type_of(each, self.symbols, self.visible) for each in (start, end)]
        kinds = [self.visible.scope.resolve(declared[0]), *kinds]
        integers = [each for each in kinds if isinstance(each, types.IntegerType) and each.signed]
        # none wraps, so that what is added to the start is the same in all of them
        signed = len(integers) == len(kinds) and integers[0].width >= integers[1].width
        inner = names_set_in(list(walk(loop.stmt)))
        if not signed or reads_memory(start) or not inner.isdisjoint({counter, *names_in(start)}):
            return None
        rest = self._difference(end, start)
        if rest is None or isinstance(start, c_ast.Constant):
            return None
        place = c_ast.BinaryOp("+", start, c_ast.ID(counter), start.coord)
        new = mapped(loop, lambda each: each)
        new.init = mapped(
            loop.init, lambda each: mapped(each, lambda part: number(0) if part is start else part)
        )
        new.cond = c_ast.BinaryOp(condition.op, condition.left, rest, condition.coord)
        new.stmt = replaced(loop.stmt, key(c_ast.ID(counter)), place)
        return new

    def _difference(self, end: c_ast.Node, start: c_ast.Node) -> c_ast.Node | None:
        """What is added to ``start`` in ``end``, one value in memory or of data; None of other sums."""
        if any(isinstance(each, c_ast.Cast) for node in (end, start) for each in walk(node)):
            return None
        ends, starts = (
            [(factor, sorted(map(_said, rest)), rest) for factor, rest in self._terms(each)]
            for each in (end, start)
        )
        for factor, said, _ in starts:
            found = next((each for each in ends if each[:2] == (factor, said)), None)
            if found is None:
                return None
            ends.remove(found)
        if len(ends) != 1 or ends[0][0] != 1 or len(ends[0][2]) != 1:
            return None
        return ends[0][2][0]

    def _capacity(self, loop: c_ast.For) -> c_ast.Node | None:
        """The least capacity of rows that ``loop`` writes along, up to an end in memory; None if it is not.

        Those that are numbers come first, and the first of others.
        """
        condition, counter = loop.cond, stepped_name(loop)
        if counter is None or not _is_step_up(loop.next) or not isinstance(condition, c_ast.BinaryOp):
            return None
        counts = isinstance(condition.left, c_ast.ID) and condition.left.name == counter
        if condition.op not in {"<", "<="} or not counts or has_side_effect(condition.right):
            return None
        named = isinstance(condition.right, c_ast.ID) and condition.right.name in self.loaded
        if not named and not reads_memory(condition.right):
            return None
        targets = [target for each in walk(loop.stmt) if (target := changed_operand(each)) is not None]
        subscripts = [each.subscript for target in targets for each in _subscripted(target)]
        inner = {stepped_name(each) for each in walk(loop.stmt) if isinstance(each, c_ast.For)}
        rows = [row for each in subscripts if (row := self._row(each, counter, inner)) is not None]
        fixed = [each.length for each in rows if any(len(one) == 1 for one in each.starts)]
        lengths = [each for each in fixed if each > 1]
        first = _first(loop)
        if lengths:
            return number(min(lengths) + first)
        # rows that are all as long are those of an array, and may begin with any element of it
        if not named and self.changed.isdisjoint(names_in(condition.right)):
            return None
        if named and condition.right.name not in self.varying:
            return None
        sizes = (self._size(each, condition.right) for each in rows)
        size = next((each for each in sizes if each is not None), None)
        return size if size is None or not first else c_ast.BinaryOp("+", size, _long(first), size.coord)

    def _row(self, subscript: c_ast.Node, counter: str, inner: Collection[str | None]) -> _RowDistance | None:
        """The rows whose elements ``counter`` names by ``subscript``; None if it names others.

        What ``inner`` loops count are parts of an element.
        """
        terms = [each for each in self._terms(subscript) if each[1]]
        own = [factor for factor, rest in terms if len(rest) == 1 and _names(rest[0], counter)]
        others = [each for each in terms if not (len(each[1]) == 1 and _names(each[1][0], counter))]
        others = [each for each in others if not all(_is_counted(part, inner) for part in each[1])]
        if len(own) != 1 or own[0] < 1 or any(_names(part, counter) for _, rest in others for part in rest):
            return None
        distance = math.gcd(*(factor for factor, _ in others))
        length = distance // own[0] if distance % own[0] == 0 else 0
        return _RowDistance(length, tuple(rest for _, rest in others)) if length else None

    def _size(self, rows: _RowDistance, end: c_ast.Node) -> c_ast.Node | None:
        """How far ``rows`` are apart where a size that stays the same says it; None if none does.

        Where that is less than zero, ``end`` is no less than it as C compares them.
        """
        if any(len(each) < 2 for each in rows.starts):  # a size and what counts rows
            return None
        common = set.intersection(*({key(part) for part in each} for each in rows.starts))
        sizes = [part for part in rows.starts[0] if key(part) in common and self._is_size(part, end)]
        if not sizes:
            return None
        size = duplicate(sizes[-1])
        if rows.length == 1:
            return size
        return c_ast.BinaryOp("*", _long(rows.length), size, size.coord)

    def _is_size(self, node: c_ast.Node, end: c_ast.Node) -> bool:
        """Whether ``node`` is an integer that the region does not change; below zero it bounds no ``end``."""
        root = node
        while isinstance(root, c_ast.StructRef):
            root = root.name
        if not isinstance(root, c_ast.ID) or root.name not in self.visible.symbols:
            return False
        if not self.changed.isdisjoint(names_in(node)):
            return False
        kind, other = (type_of(each, self.symbols, self.visible) for each in (node, end))
        if not isinstance(kind, types.IntegerType) or not isinstance(other, types.IntegerType):
            return False
        return not kind.signed or other.signed or other.width < kind.width

    def _terms(self, node: c_ast.Node) -> Iterator[tuple[int, tuple[c_ast.Node, ...]]]:
        """The terms of a sum, each with its constant factor and its other factors."""
        while isinstance(node, c_ast.Cast):
            node = node.expr
        if isinstance(node, c_ast.Constant) and (value := integer_value(node.value)) is not None:
            yield value, ()
        elif isinstance(node, c_ast.ID) and node.name in self.visible.enumerators:
            yield self.visible.enumerators[node.name], ()
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


def _loaded(node: c_ast.Node) -> Iterator[tuple[str, c_ast.Node]]:
    """The variables that ``node`` sets to values in memory, with what they are set to."""
    for each in walk(node):
        if isinstance(each, c_ast.Decl) and each.init is not None and reads_memory(each.init):
            yield str(each.name), each.init
        plain = isinstance(each, c_ast.Assignment) and each.op == "=" and isinstance(each.lvalue, c_ast.ID)
        if plain and reads_memory(each.rvalue):
            yield str(each.lvalue.name), each.rvalue


def _symbols(region: Region, nodes: Sequence[c_ast.Node]) -> Mapping[str, types.Type | Symbol]:
    """The variables that ``region`` can name, its own included."""
    declared = [each for each in nodes if isinstance(each, c_ast.Decl) and each.name]
    return with_declared(region.visible.symbols, declared, region.visible)


def _with_test(loop: c_ast.For, capacity: c_ast.Node) -> c_ast.Node:
    """``loop``, which ends at data, behind the test that it ends within ``capacity``."""
    operator = ">" if loop.cond.op == "<" else ">="
    longer = c_ast.BinaryOp(operator, duplicate(loop.cond.right), capacity, loop.coord)
    end = BoundedEnd(loop.cond.op, loop.cond.left, loop.cond.right, loop.cond.coord)
    end.capacity = capacity  # the very node of the test, whose names are resolved
    bounded = mapped(loop, lambda each: end if each is loop.cond else each)
    return c_ast.Compound([never(longer, _REASON), bounded], loop.coord)


def _first(loop: c_ast.For) -> int:
    """The number that ``loop`` counts from, from where on rows are filled; 0 if it is not known."""
    init = loop.init
    if isinstance(init, c_ast.DeclList) and len(init.decls) == 1:
        value = init.decls[0].init
    else:
        value = init.rvalue if isinstance(init, c_ast.Assignment) and init.op == "=" else None
    if not isinstance(value, c_ast.Constant):
        return 0
    return integer_value(value.value) or 0


def _said(node: c_ast.Node) -> str:
    return repr(key(node))


def _is_up_to(condition: c_ast.Node | None, counter: str | None) -> bool:
    """Whether ``condition`` says how far ``counter`` goes up."""
    if not isinstance(condition, c_ast.BinaryOp) or condition.op not in {"<", "<="}:
        return False
    return isinstance(condition.left, c_ast.ID) and bool(condition.left.name == counter)


def _long(value: int) -> c_ast.Constant:
    return c_ast.Constant("long int", f"{value}L")


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


def _is_counted(node: c_ast.Node, counters: Collection[str | None]) -> bool:
    return isinstance(node, c_ast.ID) and node.name in counters


def _names(node: c_ast.Node, counter: str) -> bool:
    return any(isinstance(each, c_ast.ID) and each.name == counter for each in walk(node))
