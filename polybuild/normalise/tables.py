"""Tables of integers that nothing changes, such as directions: their elements as numbers.

A loop whose steps say which elements are meant by a table is unrolled first; each step then has subscripts
that are affine::

    static const int dx[4] = {1, 0, -1, 0};
    for (k = 0; k < 4; k++)             ->   next[k][x] = now[k][(x - 1 + n) % n];      (k = 0)
      next[k][x] =                           next[k][x] = now[k][(x - 0 + n) % n];      (k = 1)
        now[k][(x - dx[k] + n) % n];         ...
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from math import prod

from pycparser import c_ast

from polybuild.c.basic_types import INT
from polybuild.c.conversions import promoted_integer
from polybuild.c.declarations import Scope, evaluate
from polybuild.c.syntax_tree import changed_operand, mapped, walk
from polybuild.c.synthetic import number, type_name
from polybuild.c.types import ArrayType, IntegerType
from polybuild.effort import TABLE_STATEMENTS
from polybuild.normalise.constant_steps import ConstantSteps, constant_steps
from polybuild.normalise.constant_values import constant_value
from polybuild.source.model import Callee, Region
from polybuild.source.tables import is_initialised
from polybuild.values import dataclass

_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)


def with_table_elements(region: Region) -> Region:
    """``region``, and what it calls, with numbers for elements of tables where it is known which are meant.

    Itself if there are none.
    """
    callees = {name: _in_callee(each) for name, each in region.callees.items()}
    if any(each is not region.callees[name] for name, each in callees.items()):
        region = dataclasses.replace(region, callees=callees)
    tables = _tables(region)
    if not tables:
        return region
    numbers = _Numbers(tables, region.visible.scope)
    deciding = numbers.deciding(region.statements)
    statements = tuple(numbers.unrolled(each, deciding) for each in region.statements)
    block = numbers.folded(c_ast.Compound(list(statements)))
    return dataclasses.replace(region, statements=tuple(_without_idle(block, tables).block_items))


def _in_callee(callee: Callee) -> Callee:
    body = None if callee.body is None else with_table_elements(callee.body)
    return callee if body is callee.body else dataclasses.replace(callee, body=body)


def _without_idle(block: c_ast.Compound, tables: Collection[str]) -> c_ast.Compound:
    """``block`` without declarations of ``tables`` whose elements are all numbers."""
    used = {each.name for each in walk(block) if isinstance(each, c_ast.ID)}

    def kept(node: c_ast.Node) -> c_ast.Node:
        new = mapped(node, kept)
        if isinstance(new, c_ast.Compound):
            idle = [each for each in new.block_items or () if isinstance(each, c_ast.Decl)]
            gone = {id(each) for each in idle if each.name in tables and each.name not in used}
            new.block_items = [each for each in new.block_items or () if id(each) not in gone]
        return new

    return kept(block)


@dataclass(frozen=True, slots=True)
class _Table:
    """The ``elements`` of an array of these ``extents``, row by row, all of the type ``kind``."""

    kind: IntegerType
    extents: tuple[int, ...]
    elements: tuple[int, ...]

    def element(self, subscripts: Sequence[int]) -> int | None:
        """The element of ``subscripts``; None where there is none."""
        place = 0
        for subscript, extent in zip(subscripts, self.extents, strict=True):
            if not 0 <= subscript < extent:
                return None
            place = place * extent + subscript
        return self.elements[place]


def _tables(region: Region) -> dict[str, _Table]:
    """The tables that ``region`` reads, by name; those that it declares itself, too."""
    scope = region.visible.scope
    nodes = [each for statement in region.statements for each in walk(statement)]
    used = {_root(each) for each in nodes if isinstance(each, c_ast.ArrayRef)}
    declared = [each for each in nodes if isinstance(each, c_ast.Decl)]
    names = [each.name for each in declared]
    found = {
        name: symbol.declaration
        for name, symbol in region.visible.symbols.items()
        if symbol.table and not symbol.volatile and name in used and name not in names
    }
    changed = {_root(each) for each in map(changed_operand, nodes) if each is not None}
    for each in declared:
        if is_initialised(each) and names.count(each.name) == 1 and each.name not in changed:
            found[each.name] = each
    tables = {name: table for name, each in found.items() if (table := _table(each, scope)) is not None}
    return {name: table for name, table in tables.items() if _elements_alone(name, table, nodes)}


def _table(declaration: c_ast.Decl, scope: Scope) -> _Table | None:
    """What ``declaration`` says; None if it is not that of integers whose values are known."""
    kind = scope.resolve(declaration.type)
    extents: list[int] = []
    while isinstance(kind, ArrayType):
        extent = evaluate(kind.extent, scope) if kind.extent is not None else None
        if kind.extent is None and not extents:
            extent = len(declaration.init.exprs)
        if extent is None or extent < 1:
            return None
        extents.append(extent)
        kind = kind.element
    if not isinstance(kind, IntegerType) or "volatile" in declaration.quals:
        return None
    values = _values(declaration.init, extents, scope)
    low = -(1 << (kind.width - 1)) if kind.signed else 0
    if values is None or not all(low <= each < low + (1 << kind.width) for each in values):
        return None
    return _Table(kind, tuple(extents), tuple(values))


def _values(init: c_ast.Node, extents: Sequence[int], scope: Scope) -> list[int] | None:
    """All elements that ``init`` sets, and zeros for the others."""
    if not extents:
        value = None if isinstance(init, c_ast.InitList) else evaluate(init, scope)
        return None if value is None else [value]
    if not isinstance(init, c_ast.InitList) or len(init.exprs) > extents[0]:
        return None
    values: list[int] = []
    for each in init.exprs:
        inner = _values(each, extents[1:], scope)
        if inner is None:  # named, or without the braces of its row
            return None
        values += inner
    return values + [0] * (prod(extents) - len(values))


def _elements_alone(name: str, table: _Table, nodes: Sequence[c_ast.Node]) -> bool:
    """Whether nothing but whole elements of the table ``name`` is used in ``nodes``."""
    uses = [each for each in nodes if isinstance(each, c_ast.ID) and each.name == name]
    elements = [each for each in nodes if isinstance(each, c_ast.ArrayRef) and _root(each) == name]
    return len(uses) == sum(len(_subscripts(each)) == len(table.extents) for each in elements)


def _root(node: c_ast.Node | None) -> str | None:
    while isinstance(node, c_ast.ArrayRef):
        node = node.name
    return str(node.name) if isinstance(node, c_ast.ID) else None


def _subscripts(node: c_ast.Node) -> list[c_ast.Node]:
    subscripts: list[c_ast.Node] = []
    while isinstance(node, c_ast.ArrayRef):
        subscripts.insert(0, node.subscript)
        node = node.name
    return subscripts


@dataclass(frozen=True, slots=True)
class _Numbers:
    """Puts the numbers of ``tables`` in place of their elements."""

    tables: Mapping[str, _Table]
    scope: Scope

    def deciding(self, statements: Sequence[c_ast.Node]) -> frozenset[str]:
        """The variables that say which elements are accessed, or how often loops run."""
        nodes = [each for statement in statements for each in walk(statement)]
        names = {name for each in nodes for part in self._choosing(each) for name in _names(part)}
        assigned = [(_root(target), value) for target, value in map(_assigned, nodes) if target is not None]
        while True:
            more = {name for target, value in assigned if target in names for name in _names(value)} - names
            if not more:
                return frozenset(names)
            names |= more

    def _choosing(self, node: c_ast.Node) -> Iterator[c_ast.Node]:
        """The parts of ``node`` itself that say so."""
        if isinstance(node, c_ast.ArrayRef):
            yield node.subscript
        elif isinstance(node, _LOOPS) and node.cond is not None:
            yield node.cond

    def unrolled(self, node: c_ast.Node, deciding: frozenset[str]) -> c_ast.Node:
        """``node`` with the loops unrolled whose steps read elements that matter to subscripts."""
        if isinstance(node, c_ast.For):
            steps = constant_steps(node, self.scope)
            if steps is not None and self._matters(node, steps, deciding):
                after = [] if steps.after is None else [steps.after]
                inner = [self.unrolled(each, deciding) for each in steps.copies(node)]
                return c_ast.Compound([*inner, *after], node.coord)
        return mapped(node, lambda each: self.unrolled(each, deciding))

    def _matters(self, loop: c_ast.For, steps: ConstantSteps, deciding: frozenset[str]) -> bool:
        """Whether an element that a step of ``loop`` chooses is among the ``deciding`` values."""
        nodes = list(walk(loop.stmt))
        if len(steps.values) * sum(map(_is_statement, nodes)) > TABLE_STATEMENTS:
            return False
        targets = (value for target, value in map(_assigned, nodes) if _root(target) in deciding)
        places = [part for each in nodes for part in self._choosing(each)] + list(targets)
        return any(
            _root(each) in self.tables and any(steps.name in _names(part) for part in _subscripts(each))
            for place in places
            for each in walk(place)
            if isinstance(each, c_ast.ArrayRef)
        )

    def folded(self, node: c_ast.Node) -> c_ast.Node:
        """``node`` with numbers for the elements whose subscripts are numbers, and without idle branches."""
        node = mapped(node, self.folded)
        if isinstance(node, c_ast.ArrayRef) and _root(node) in self.tables:
            return self._number(node)
        if isinstance(node, c_ast.If):
            condition = constant_value(node.cond)
            if condition is not None:
                return (node.iftrue if condition else node.iffalse) or c_ast.EmptyStatement(node.coord)
        return node

    def _number(self, node: c_ast.ArrayRef) -> c_ast.Node:
        table = self.tables[str(_root(node))]
        subscripts = [constant_value(each) for each in _subscripts(node)]
        known = [each for each in subscripts if each is not None]
        value = table.element(known) if len(known) == len(table.extents) == len(subscripts) else None
        if value is None:
            return node
        if promoted_integer(table.kind) == INT:
            return number(value)
        return c_ast.Cast(type_name(table.kind), number(value), node.coord)


def _assigned(node: c_ast.Node) -> tuple[c_ast.Node | None, c_ast.Node | None]:
    """What ``node`` sets, and the value that it has a part in."""
    if isinstance(node, c_ast.Assignment):
        return node.lvalue, node.rvalue
    if isinstance(node, c_ast.Decl) and node.init is not None:
        return c_ast.ID(node.name), node.init
    return None, None


def _names(node: c_ast.Node | None) -> set[str]:
    return set() if node is None else {each.name for each in walk(node) if isinstance(each, c_ast.ID)}


def _is_statement(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Assignment | c_ast.FuncCall) or _assigned(node)[0] is not None
