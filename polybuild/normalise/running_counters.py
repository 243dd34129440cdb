"""Counters that go on from row to row: each row starts where the one before ends.

::

    k = 0;                                    k = 0;
    for (i = 0; i < n; i++)                   for (i = 0; i < n; i++) {
      for (; k < row[i + 1]; k++)       ->      never(row[i + 1] < (i > 0 ? row[i] : k));
        y[i] += v[k];                           for (int k_ = i > 0 ? row[i] : k; k_ < row[i + 1]; k_++)
                                                  y[i] += v[k_];
                                              }

So it is as long as no row ends before it starts, which is looked at before the region runs (``exits``): where
one does, the counter stays where it was, and the original loops run. The counter is one of the function's own
that nobody reads afterwards. The end of a row may have a name.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

from pycparser import c_ast

from polybuild.c.syntax_tree import (
    changed_operand,
    duplicate,
    has_side_effect,
    key,
    mapped,
    names_in,
    replaced,
    walk,
)
from polybuild.c.synthetic import declarator, never, number
from polybuild.c.types import IntegerType
from polybuild.diagnostics import Unsupported
from polybuild.normalise.names import Names, Variable, member_path, resolve, stepped_name, unused_name
from polybuild.normalise.structure import reads_memory
from polybuild.normalise.upward_exposed import read_after
from polybuild.normalise.values_before import is_own_integer
from polybuild.source.blocks import outward_jumps
from polybuild.source.model import Region
from polybuild.values import dataclass

_REASON = '"no row may end before it starts where a counter goes on from row to row"'
_UP = {"++", "p++"}


def with_row_starts(region: Region) -> Region:
    """``region`` with such counters started for each row; itself if there are none."""
    nodes = [each for statement in region.statements for each in walk(statement)]
    if not any(_walk_of(each) is not None for each in nodes):
        return region
    try:
        names = resolve(region)
    except Unsupported:
        return region  # the model says what is wrong
    starter = _RowStarter(region, names, nodes)
    statements = tuple(starter.in_order(region.statements, repeated=False))
    return dataclasses.replace(region, statements=statements) if starter.found else region


@dataclass(frozen=True, slots=True)
class _Walk:
    """A loop over the elements of a row: the ``counter`` goes on to the ``end``, the ``body`` is for each.

    That may be the name of a ``value``.
    """

    counter: c_ast.ID
    end: c_ast.Node
    body: c_ast.Node
    value: c_ast.Node | None = None


@dataclass(frozen=True, slots=True)
class _RowLoop:
    """A loop over rows, with its counter ``name`` and the first value of that."""

    loop: c_ast.For
    name: str
    first: c_ast.Node


class _RowStarter:
    """Rewrites the statements of one region; ``found`` tells whether any has changed."""

    def __init__(self, region: Region, names: Names, nodes: Sequence[c_ast.Node]) -> None:
        self._names = names
        live = read_after(region.function, region.index) if region.index >= 0 else frozenset()
        self._live = live | region.visible.lvalues.keys()
        self._taken = region.visible.may_mean_something() | {each.name for each in names.variables.values()}
        self._all = Counter(each.name for each in nodes if isinstance(each, c_ast.ID))
        self.found = False

    def in_order(self, nodes: Sequence[c_ast.Node], *, repeated: bool) -> Iterator[c_ast.Node]:
        """What becomes of statements that follow each other, ``repeated`` by a loop around them or not."""
        before: list[c_ast.Node] = []
        for node in itertools.chain.from_iterable(map(_separate, nodes)):
            rows = _rows(node)
            started = None if rows is None else self._started(node, rows, before, repeated=repeated)
            yield started or self._inside(node, repeated=repeated)
            before.append(node)

    def _inside(self, node: c_ast.Node, *, repeated: bool) -> c_ast.Node:
        if isinstance(node, c_ast.Compound):
            new = mapped(node, lambda each: each)
            new.block_items = list(self.in_order(node.block_items or (), repeated=repeated))
            return new
        if isinstance(node, c_ast.For):
            return mapped(node, lambda each: self._inside(each, repeated=True) if each is node.stmt else each)
        return node

    def _started(
        self, node: c_ast.Node, rows: _RowLoop, before: Sequence[c_ast.Node], *, repeated: bool
    ) -> c_ast.Node | None:
        """The loop ``node`` over rows with counters that are mentioned ``before`` alone besides, or None.

        Where that is ``repeated`` they are set there each time.
        """
        items, walks = _items(rows.loop.stmt), []
        for position, each in enumerate(items):
            found = _walk_of(each)
            value = None if found is None else self._end(found, items[:position], rows)
            if found is None or value is None or not self._is_own(found, node, before):
                continue
            if not repeated or any(_value_set(one, found.counter.name) is not None for one in before):
                walks.append((each, dataclasses.replace(found, value=value)))
        if not walks or any(True for _ in outward_jumps(rows.loop.stmt)):
            return None
        self.found = True
        new: dict[int, c_ast.Node] = {}
        tests = []
        for each, found in walks:
            start = _start(found, rows)
            less = c_ast.BinaryOp("<", duplicate(found.value), start, each.coord)
            tests.append(never(less, _REASON))
            new[id(each)] = self._row(found, start)
        loop = mapped(rows.loop, lambda each: each)
        loop.stmt = c_ast.Compound([*tests, *(new.get(id(each), each) for each in items)], node.coord)
        return loop

    def _row(self, found: _Walk, start: c_ast.Node) -> c_ast.Node:
        """The loop over a row that starts at ``start``."""
        coord, kind = found.counter.coord, self._names.variables[found.counter].type
        assert isinstance(kind, IntegerType)  # noqa: S101 - no other counts
        name = unused_name(f"{found.counter.name}_", self._taken)
        self._taken |= {name}
        begin = c_ast.Decl(name, [], [], [], [], declarator(name, kind), duplicate(start), None, coord)
        return c_ast.For(
            c_ast.DeclList([begin], coord),
            c_ast.BinaryOp("<", c_ast.ID(name, coord), duplicate(found.end), coord),
            c_ast.UnaryOp("p++", c_ast.ID(name, coord), coord),
            replaced(found.body, key(found.counter), c_ast.ID(name, coord)),
            coord,
        )

    def _is_own(self, found: _Walk, loop: c_ast.Node, before: Sequence[c_ast.Node]) -> bool:
        """Whether the counter is the function's own, and mentioned by the walk, and before, alone."""
        variable = self._names.variables.get(found.counter)
        if (
            variable is None
            or not _is_plain(variable)
            or (not variable.local and variable.name in self._live)
        ):
            return False
        inside = _mentions(variable.name, loop)
        declared = any(isinstance(each, c_ast.Decl) and each.name == variable.name for each in walk(loop))
        alone = inside == _mentions(variable.name, found.body, found.end) + 2
        return (
            not declared and alone and self._all[variable.name] == inside + _mentions(variable.name, *before)
        )

    def _end(self, found: _Walk, before: Sequence[c_ast.Node], rows: _RowLoop) -> c_ast.Node | None:
        """The end of a row by the counter of ``rows``, without a name; None if it is anything else."""
        end = found.end
        if isinstance(end, c_ast.ID):
            values = [value for each in before if (value := _value_set(each, end.name)) is not None]
            changes = [each for each in map(changed_operand, walk(rows.loop)) if each is not None]
            changes += [each for each in walk(rows.loop) if isinstance(each, c_ast.Decl)]
            if len(values) != 1 or sum(getattr(each, "name", None) == end.name for each in changes) != 1:
                return None
            end = values[0]
        used = {*names_in(end)}
        if rows.name not in used or not reads_memory(end) or has_side_effect(end):
            return None
        places = [each for each in map(changed_operand, walk(rows.loop.stmt)) if each is not None]
        changed = {root.name for root, _ in map(member_path, places) if root is not None}
        changed |= {each.name for each in walk(rows.loop.stmt) if isinstance(each, c_ast.Decl)}
        return None if used & changed else end


def _is_plain(variable: Variable) -> bool:
    """Whether nobody else can change a counter, which does not wrap."""
    kind = variable.type
    return is_own_integer(variable) and isinstance(kind, IntegerType) and kind.signed


def _mentions(name: str, *nodes: c_ast.Node) -> int:
    """How often ``nodes`` mention the variable ``name``."""
    return sum(isinstance(each, c_ast.ID) and each.name == name for node in nodes for each in walk(node))


def _start(found: _Walk, rows: _RowLoop) -> c_ast.Node:
    """Where a row starts: at the end of the one before, the first one where the counter is."""
    coord, counter = found.counter.coord, c_ast.ID(rows.name, found.counter.coord)
    previous = replaced(found.value, key(counter), c_ast.BinaryOp("-", counter, number(1), coord))
    later = c_ast.BinaryOp(">", counter, duplicate(rows.first), coord)
    return c_ast.TernaryOp(later, duplicate(previous), duplicate(found.counter), coord)


def _separate(node: c_ast.Node) -> list[c_ast.Node]:
    """``for (i = 0, k = 0; ...)`` with what it sets besides its counter in front of it."""
    if not isinstance(node, c_ast.For) or not isinstance(node.init, c_ast.ExprList):
        return [node]
    name, sets = stepped_name(node), node.init.exprs
    plain = all(isinstance(each, c_ast.Assignment) and isinstance(each.lvalue, c_ast.ID) for each in sets)
    own = [each for each in sets if plain and each.lvalue.name == name]
    others = [each for each in sets if each not in own]
    if name is None or len(own) != 1 or any(name in names_in(each) for each in others):
        return [node]
    return [*others, c_ast.For(own[0], node.cond, node.next, node.stmt, node.coord)]


def _rows(node: c_ast.Node) -> _RowLoop | None:
    """The loop over rows that ``node`` is: it counts up in steps of one from what is no data."""
    if not isinstance(node, c_ast.For) or not isinstance(node.next, c_ast.UnaryOp) or node.next.op not in _UP:
        return None
    name, init = stepped_name(node), node.init
    if isinstance(init, c_ast.DeclList) and len(init.decls) == 1:
        begun, first = init.decls[0].name, init.decls[0].init
    elif isinstance(init, c_ast.Assignment) and init.op == "=" and isinstance(init.lvalue, c_ast.ID):
        begun, first = init.lvalue.name, init.rvalue
    else:
        return None
    if name is None or begun != name or not isinstance(first, c_ast.Constant | c_ast.ID):
        return None
    changed = [each for each in map(changed_operand, walk(node.stmt)) if isinstance(each, c_ast.ID)]
    return (
        None
        if any(each.name in {name, *names_in(first)} for each in changed)
        else _RowLoop(node, name, first)
    )


def _walk_of(node: c_ast.Node) -> _Walk | None:
    """The walk along a row that the loop ``node`` is; None if it is anything else."""
    if not isinstance(node, c_ast.While | c_ast.For) or not isinstance(node.cond, c_ast.BinaryOp):
        return None
    counter, end = node.cond.left, node.cond.right
    if node.cond.op == ">":
        counter, end = end, counter
    if node.cond.op not in {"<", ">"} or not isinstance(counter, c_ast.ID):
        return None
    items = _items(node.stmt)
    if isinstance(node, c_ast.For):
        step, body = node.next, node.stmt
        started = node.init is not None and key(node.init) != key(counter)
        if started:
            return None
    else:
        step, body = (items or [None])[-1], c_ast.Compound(items[:-1], node.coord)
    up = isinstance(step, c_ast.UnaryOp) and step.op in _UP and key(step.expr) == key(counter)
    if isinstance(step, c_ast.Assignment) and step.op == "+=" and key(step.lvalue) == key(counter):
        up = key(step.rvalue) == key(number(1))
    if not up or any(True for _ in outward_jumps(body)):
        return None
    changed = [each for each in map(changed_operand, walk(body)) if each is not None]
    return None if any(key(each) == key(counter) for each in changed) else _Walk(counter, end, body)


def _value_set(node: c_ast.Node, name: str) -> c_ast.Node | None:
    """What the statement ``node`` sets the variable ``name`` to."""
    if isinstance(node, c_ast.Decl) and node.name == name:
        return node.init
    if isinstance(node, c_ast.Assignment) and node.op == "=" and key(node.lvalue) == key(c_ast.ID(name)):
        return node.rvalue
    return None


def _items(node: c_ast.Node) -> list[c_ast.Node]:
    return list(node.block_items or ()) if isinstance(node, c_ast.Compound) else [node]
