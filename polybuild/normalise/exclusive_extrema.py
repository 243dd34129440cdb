"""Minimum and maximum of one loop, of which the second is asked for only where the first stays.

::

    lo = hi = x[0];                              lo = hi = x[0];
    for (i = 1; i < n; i++)                      for (i = 1; i < n; i++) {
      if (x[i] < lo) lo = x[i];          ->        if (x[i] < lo) lo = x[i];
      else if (x[i] > hi) hi = x[i];               if (x[i] > hi) hi = x[i];
                                                 }

Each is a reduction of its own then. No value is less than the minimum and greater than the maximum as long as
the minimum is not the greater one of both: so it is where they start from the same value, and stays so. (A
maximum that starts from the least number there is misses values that set the minimum; such loops stay.)
Whatever else the branches set goes with them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

from pycparser import c_ast

from polybuild.c.conversions import holds
from polybuild.c.symbols import StorageClass, Symbol
from polybuild.c.syntax_tree import (
    changed_operand,
    exposed_operand,
    has_side_effect,
    key,
    mapped,
    names_in,
    walk,
)
from polybuild.c.types import FloatingType, IntegerType, Type
from polybuild.c.typing import type_of
from polybuild.normalise.values_before import statements_before
from polybuild.source.model import Region
from polybuild.values import dataclass

_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)
_LESS = {"<": True, "<=": True, ">": False, ">=": False}


def separate_exclusive_extrema(region: Region) -> Region:
    """``region`` with such minima and maxima asked for one after the other; itself if there are none."""
    loops = [each for part in region.statements for each in walk(part) if isinstance(each, _LOOPS)]
    if not any(_pair(each) is not None for loop in loops for each in walk(loop)):
        return region
    separation = _ExtremumRewriting(region)
    statements = tuple(separation.in_order(region.statements, statements_before(region)))
    return dataclasses.replace(region, statements=statements) if separation.found else region


@dataclass(frozen=True, slots=True)
class _Extremum:
    """The statement ``update``: ``variable = value`` where the value is less, or greater; and more."""

    variable: c_ast.ID
    value: c_ast.Node
    is_minimum: bool
    is_strict: bool
    update: c_ast.If


class _ExtremumRewriting:
    """Rewrites the statements of one region; ``found`` tells whether any has changed."""

    def __init__(self, region: Region) -> None:
        self._region = region
        self._symbols: dict[str, Type | Symbol] = dict(region.visible.symbols)
        nodes = [each for statement in region.statements for each in walk(statement)]
        declared = [each for each in nodes if isinstance(each, c_ast.Decl)]
        self._symbols |= {each.name: region.visible.scope.resolve(each) for each in declared}
        exposed = [exposed_operand(each) for each in nodes if changed_operand(each) is None]
        self._exposed = {name for each in exposed if each is not None for name in names_in(each)}
        self.found = False

    def in_order(self, nodes: Iterable[c_ast.Node], before: Sequence[c_ast.Node]) -> Iterator[c_ast.Node]:
        """What becomes of statements that follow each other, and the ones ``before``."""
        done = list(before)
        for each in nodes:
            yield self._rewritten(each, done)
            done.append(each)

    def _rewritten(self, node: c_ast.Node, before: Sequence[c_ast.Node]) -> c_ast.Node:
        """What becomes of a statement after those ``before``, which are of its block."""
        if isinstance(node, c_ast.Compound):
            new = mapped(node, lambda each: each)
            new.block_items = list(self.in_order(node.block_items or (), before))
            return new
        if isinstance(node, _LOOPS):
            pairs = [each for each in walk(node.stmt) if self._is_split(each, node, before)]
            if pairs:
                self.found = True
                node = _with_separate(node, {id(each) for each in pairs})
            return mapped(node, lambda each: self._rewritten(each, ()) if each is node.stmt else each)
        if isinstance(node, c_ast.If):
            return mapped(node, lambda each: each if each is node.cond else self._rewritten(each, ()))
        return node

    def _is_split(self, node: c_ast.Node, loop: c_ast.Node, before: Sequence[c_ast.Node]) -> bool:
        """Whether the statement ``node`` of ``loop`` may be two statements."""
        pair = _pair(node)
        if pair is None:
            return False
        names = [each.variable.name for each in pair]
        changed = [each.name for each in map(changed_operand, walk(loop)) if isinstance(each, c_ast.ID)]
        declared = {each.name for each in walk(loop) if isinstance(each, c_ast.Decl)}
        if any(changed.count(each) != 1 or each in declared or not self._is_own(each) for each in names):
            return False
        return self._are_ordered(pair) and self._start_equal(names, before)

    def _is_own(self, name: str) -> bool:
        """Whether ``name`` is a number that nobody but the function knows."""
        symbol = self._symbols.get(name)
        kind = symbol.type if isinstance(symbol, Symbol) else symbol
        if isinstance(symbol, Symbol):
            own = symbol.storage in {StorageClass.LOCAL, StorageClass.PARAMETER}
            if not own or symbol.address_taken or symbol.volatile:
                return False
        number = isinstance(kind, IntegerType) or (isinstance(kind, FloatingType) and not kind.complex)
        return number and name not in self._exposed

    def _are_ordered(self, pair: tuple[_Extremum, _Extremum]) -> bool:
        """Whether comparisons compare values, and what is assigned keeps their order.

        Where both also take what is equal, zeros with another sign, or what else a branch sets, would tell.
        """
        kinds = [self._type(each) for each in (pair[0].variable, pair[1].variable, pair[0].value)]
        if kinds[0] != kinds[1]:
            return False
        whole = isinstance(kinds[0], IntegerType)
        if not pair[0].is_strict and not pair[1].is_strict:
            alone = all(len(_items(each.update.iftrue)) == 1 for each in pair)
            if not whole or not alone:
                return False
        if isinstance(kinds[0], IntegerType):
            return isinstance(kinds[2], IntegerType) and holds(kinds[0], kinds[2])
        return isinstance(kinds[2], FloatingType) and not kinds[2].complex

    def _type(self, node: c_ast.Node) -> Type:
        return type_of(node, self._symbols, self._region.visible)

    def _start_equal(self, names: Sequence[str], before: Sequence[c_ast.Node]) -> bool:
        """Whether the last statements ``before`` to set both variables set them to the same value."""
        later: tuple[str, c_ast.Node] | None = None
        for name, value, node in _settings(before):
            if later is None:
                if name is not None and name in names:
                    later = name, value
                elif any(each in _changed(node) for each in names):
                    return False
            elif name in names and name != later[0]:
                same = key(later[1]) == key(value) or key(later[1]) == key(c_ast.ID(name))
                return same and self._is_steady(value)
            elif name is None or name in {*names, *names_in(later[1])}:
                return False  # the memory that the value is read from may be another then
        return False

    def _is_steady(self, value: c_ast.Node) -> bool:
        """Whether evaluating ``value`` twice gives one value."""
        symbols = [self._symbols.get(each) for each in names_in(value)]
        return not has_side_effect(value) and not any(
            isinstance(each, Symbol) and each.volatile for each in symbols
        )


def _settings(nodes: Sequence[c_ast.Node]) -> Iterator[tuple[str | None, c_ast.Node, c_ast.Node]]:
    """The last statement first: the variable that it sets, to what, and itself; None if it may do more."""
    for node in reversed(nodes):
        if isinstance(node, c_ast.Pragma | c_ast.EmptyStatement):
            continue
        target, value = node, node
        if isinstance(node, c_ast.Decl):
            target, value = c_ast.ID(node.name), node.init
        elif isinstance(node, c_ast.Assignment) and node.op == "=":
            target, value = node.lvalue, node.rvalue
        if value is None:
            continue  # a declaration
        chain = [target]
        while isinstance(value, c_ast.Assignment) and value.op == "=":
            chain.append(value.lvalue)
            value = value.rvalue
        plain = all(isinstance(each, c_ast.ID) for each in chain) and not has_side_effect(value)
        for each in chain:
            yield (each.name if plain else None), value, node


def _changed(node: c_ast.Node) -> set[str]:
    """The names of variables of which ``node`` changes the value or an element, or that it declares."""
    targets = [target for each in walk(node) if (target := changed_operand(each)) is not None]
    changed = {name for each in targets for name in names_in(each)}
    return changed | {each.name for each in walk(node) if isinstance(each, c_ast.Decl)}


def _pair(node: c_ast.Node) -> tuple[_Extremum, _Extremum] | None:
    """The two extrema of one value that ``node`` is; None if it is anything else."""
    if not isinstance(node, c_ast.If) or node.iffalse is None:
        return None
    first, second = _extremum(node), _extremum(_only(node.iffalse))
    if first is None or second is None or second.update.iffalse is not None:
        return None
    if key(first.value) != key(second.value) or first.is_minimum == second.is_minimum:
        return None
    if first.variable.name == second.variable.name:
        return None
    seen = {second.variable.name, *names_in(first.value)}
    branch = _items(first.update.iftrue)
    return None if any(each.lvalue.name in seen for each in branch) else (first, second)


def _extremum(node: c_ast.Node) -> _Extremum | None:
    """``if (e < m) m = e`` and its like, with other variables that are set beside."""
    if not isinstance(node, c_ast.If) or not isinstance(node.cond, c_ast.BinaryOp):
        return None
    condition, branch = node.cond, _items(node.iftrue)
    if condition.op not in _LESS or has_side_effect(condition):
        return None
    for each in branch:
        plain = isinstance(each, c_ast.Assignment) and each.op == "=" and isinstance(each.lvalue, c_ast.ID)
        if not plain or has_side_effect(each.rvalue):
            return None
    for variable, value in ((condition.right, condition.left), (condition.left, condition.right)):
        sets = [each for each in branch if key(each.lvalue) == key(variable)]
        if len(sets) == 1 and key(sets[0].rvalue) == key(value):
            is_minimum = _LESS[condition.op] == (value is condition.left)
            return _Extremum(variable, value, is_minimum, len(condition.op) == 1, node)
    return None


def _with_separate(node: c_ast.Node, pairs: set[int]) -> c_ast.Node:
    """``node`` with both parts of the statements ``pairs`` one after the other."""
    if id(node) not in pairs:
        return mapped(node, lambda each: _with_separate(each, pairs))
    first = c_ast.If(node.cond, node.iftrue, None, node.coord)
    return c_ast.Compound([first, _only(node.iffalse)], node.coord)


def _items(node: c_ast.Node | None) -> list[c_ast.Node]:
    if node is None:
        return []
    return list(node.block_items or ()) if isinstance(node, c_ast.Compound) else [node]


def _only(node: c_ast.Node) -> c_ast.Node:
    """The one statement of a block."""
    items = _items(node)
    return _only(items[0]) if isinstance(node, c_ast.Compound) and len(items) == 1 else node
