"""Bounds of loops that data tell and that have names: the data themselves, in the header of the loop.

::

    int first = row[i], end = row[i + 1];         int first = row[i], end = row[i + 1];
    for (int k = first; k < end; k++)       ->    for (int k = row[i]; k < row[i + 1]; k++)
      s += v[k] * x[col[k]];                        s += v[k] * x[col[k]];

So what such a loop reads may be looked at before the region runs (forward substitution). The variables are
set once, and nothing that their values are made of changes while they have these. A definition that nobody
reads any more is left out.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from pycparser import c_ast

from polybuild.c.syntax_tree import duplicate, exposed_operand, mapped, walk
from polybuild.c.synthetic import NEVER, type_name
from polybuild.c.types import IntegerType
from polybuild.c.typing import type_of
from polybuild.diagnostics import Unsupported
from polybuild.normalise.names import Names, Variable, member_path, resolve
from polybuild.source.model import Region

_PARTS = (
    c_ast.ID,
    c_ast.Constant,
    c_ast.ArrayRef,
    c_ast.StructRef,
    c_ast.BinaryOp,
    c_ast.TernaryOp,
    c_ast.Cast,
)
_PLACE = tuple[Variable | None, tuple[str, ...]]
_Values = Mapping[Variable, c_ast.Node]


def with_bounds_in_headers(region: Region) -> Region:
    """``region`` with the values of variables in the bounds of loops; itself if there are none."""
    try:
        names = resolve(region)
    except Unsupported:
        return region  # the model says what is wrong
    nodes = [each for statement in region.statements for each in walk(statement)]
    jumps = any(isinstance(each, c_ast.Label | c_ast.Goto | c_ast.Switch) for each in nodes)
    if jumps or not any(isinstance(each, c_ast.ArrayRef) for each in _definitions(nodes)):
        return region
    bounds = _NamedBounds(region, names)
    statements = tuple(bounds.within(region.statements, {}))
    if not bounds.replaced:
        return region
    unread = {each.name for each in bounds.replaced if each.local}.difference(_reads(statements))
    return dataclasses.replace(region, statements=tuple(_without(statements, unread)))


def _definitions(nodes: Iterable[c_ast.Node]) -> Iterator[c_ast.Node]:
    """The parts of all that variables are set to."""
    for each in nodes:
        if isinstance(each, c_ast.Decl) and each.init is not None:
            yield from walk(each.init)
        elif isinstance(each, c_ast.Assignment) and each.op == "=" and isinstance(each.lvalue, c_ast.ID):
            yield from walk(each.rvalue)


class _NamedBounds:
    """Replaces variables of one region; ``replaced`` are the names of those whose values stand in headers."""

    def __init__(self, region: Region, names: Names) -> None:
        self._region = region
        self._names = names
        self._changes: Counter[Variable] = Counter()
        for statement in region.statements:
            for each in walk(statement):
                place = exposed_operand(each)
                if isinstance(place, c_ast.ID) and place in names.variables:
                    self._changes[names.variables[place]] += 1
                elif isinstance(each, c_ast.Decl) and each.init is not None and each in names.variables:
                    self._changes[names.variables[each]] += 1
        self.replaced: set[Variable] = set()

    def within(self, block: Collection[c_ast.Node], known: _Values) -> list[c_ast.Node]:
        """The statements of ``block``, where the values of the variables ``known`` are."""
        values = dict(known)
        changed = {self._place(each) for each in _changed(block)}
        calls = any(self._may_change_anything(each) for statement in block for each in walk(statement))
        found = []
        for each in block:
            found.append(self._statement(each, values))
            definition = self._definition(each)
            if definition is not None and not calls:
                variable, value = definition
                value = self._with_values(value, values)
                if self._is_kept(value, changed):
                    values[variable] = self._converted(value, variable)
        return found

    def _statement(self, node: c_ast.Node, values: _Values) -> c_ast.Node:
        if isinstance(node, c_ast.Compound):
            new = mapped(node, lambda each: each)
            new.block_items = self.within(node.block_items or (), values)
            return new
        if isinstance(node, c_ast.For):
            new = mapped(node, lambda each: each)
            if node in self._names.iterators:
                new.init = self._header(node.init, values)
                new.cond = self._header(node.cond, values)
            new.stmt = self._statement(node.stmt, values)
            if new.init is node.init and new.cond is node.cond and new.stmt is node.stmt:
                return node
            return new
        if isinstance(node, c_ast.If | c_ast.While | c_ast.DoWhile):
            return mapped(node, lambda each: self._statement(each, values))
        return node

    def _header(self, node: c_ast.Node | None, values: _Values) -> c_ast.Node | None:
        if node is None:
            return None
        used = [each for each in self._names.variables_in(node) if each in values]
        self.replaced.update(used)
        return self._with_values(node, values) if used else node

    def _with_values(self, node: c_ast.Node, values: _Values) -> c_ast.Node:
        variable = self._names.variables.get(node)
        if isinstance(node, c_ast.ID) and variable is not None and variable in values:
            return duplicate(values[variable], node.coord)
        return mapped(node, lambda each: self._with_values(each, values))

    def _definition(self, node: c_ast.Node) -> tuple[Variable, c_ast.Node] | None:
        """An integer that ``node`` sets, as nothing else does, and to what."""
        if isinstance(node, c_ast.Decl):
            variable, value = self._names.variables.get(node), node.init
        elif isinstance(node, c_ast.Assignment) and node.op == "=" and isinstance(node.lvalue, c_ast.ID):
            variable, value = self._names.variables.get(node.lvalue), node.rvalue
        else:
            return None
        if variable is None or value is None or variable.volatile or variable.is_reachable:
            return None
        once = self._changes[variable] == 1 and isinstance(variable.type, IntegerType)
        return (variable, value) if once else None

    def _is_kept(self, value: c_ast.Node, changed: Collection[_PLACE]) -> bool:
        """Whether ``value`` reads an element, and stays the same where the places ``changed`` change."""
        if not all(isinstance(each, _PARTS) for each in _expressions(value)):
            return False
        parts = [each for each in _expressions(value) if isinstance(each, c_ast.ID | c_ast.StructRef)]
        read = [self._place(each) for each in parts]
        reads_element = any(isinstance(each, c_ast.ArrayRef) for each in walk(value))
        return reads_element and not any(_meet(one, other) for one in read for other in changed)

    def _place(self, node: c_ast.Node) -> _PLACE:
        """The variable, and its member, that ``node`` is or lies in."""
        root, members = member_path(node)
        return (None if root is None else self._names.variables.get(root)), members

    def _may_change_anything(self, node: c_ast.Node) -> bool:
        if isinstance(node, c_ast.FuncCall):
            return not isinstance(node.name, c_ast.ID) or node.name.name in self._region.callees
        return False

    def _converted(self, value: c_ast.Node, variable: Variable) -> c_ast.Node:
        symbols = {each.name: each.type for each in self._names.variables_in(value)}
        same = type_of(value, symbols, self._region.visible) == variable.type
        assert isinstance(variable.type, IntegerType)  # noqa: S101 - no other is asked for
        return value if same else c_ast.Cast(type_name(variable.type), value, value.coord)


def _expressions(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """The parts of an expression, without names of members and of types."""
    yield node
    if isinstance(node, c_ast.StructRef):
        yield from _expressions(node.name)
    elif isinstance(node, c_ast.Cast):
        yield from _expressions(node.expr)
    else:
        for each in node:
            yield from _expressions(each)


def _changed(block: Iterable[c_ast.Node]) -> Iterator[c_ast.Node]:
    """What the statements of ``block`` change, or may: arguments of functions, too."""
    for statement in block:
        for each in walk(statement):
            place = exposed_operand(each)
            if place is not None:
                yield place
            elif isinstance(each, c_ast.FuncCall) and each.args is not None and not _is_test(each):
                yield from each.args


def _is_test(call: c_ast.FuncCall) -> bool:
    """Whether ``call`` only looks whether the region is left."""
    return isinstance(call.name, c_ast.ID) and bool(call.name.name == NEVER)


def _meet(one: _PLACE, other: _PLACE) -> bool:
    """Whether a place that is read may be, or lie in, another one that changes."""
    if other[0] is None:
        return True
    common = min(len(one[1]), len(other[1]))
    return one[0] is other[0] and one[1][:common] == other[1][:common]


def _reads(statements: Iterable[c_ast.Node]) -> set[str]:
    """The names that ``statements`` read."""
    found: set[str] = set()
    for statement in statements:
        for each in walk(statement):
            parts = [each.rvalue] if isinstance(each, c_ast.Assignment) and each.op == "=" else list(each)
            if isinstance(each, c_ast.Assignment) and not isinstance(each.lvalue, c_ast.ID):
                parts.append(each.lvalue)
            found |= {part.name for part in parts if isinstance(part, c_ast.ID)}
    return found


def _without(statements: Iterable[c_ast.Node], unread: Collection[str]) -> list[c_ast.Node]:
    """``statements`` without what sets the variables ``unread``."""

    def kept(node: c_ast.Node) -> c_ast.Node:
        if isinstance(node, c_ast.Compound):
            new = mapped(node, lambda each: each)
            new.block_items = _without(node.block_items or (), unread)
            return new
        if isinstance(node, c_ast.For | c_ast.If | c_ast.While | c_ast.DoWhile):
            return mapped(node, kept)
        return node

    return [kept(each) for each in statements if not _sets(each, unread)]


def _sets(node: c_ast.Node, names: Collection[str]) -> bool:
    if isinstance(node, c_ast.Decl):
        return node.name in names
    return (
        isinstance(node, c_ast.Assignment) and isinstance(node.lvalue, c_ast.ID) and node.lvalue.name in names
    )
