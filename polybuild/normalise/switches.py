"""Switches as conditions: over numbers that nothing in them changes, or over data where they only set values.

::

    switch (n % 4) {                              if (n % 4 == 3)
    case 3: s += a[k]; k++;                         { s += a[k]; k++; }
    case 2: s += a[k]; k++;                ->     if (n % 4 == 3 || n % 4 == 2)
    }                                               { s += a[k]; k++; }

A statement runs for the labels before it from which nothing leaves the switch: by ``break``, or by ``return``
in a function that the region calls. Where all parts return, that of all other values comes last, without a
condition. Over data::

    switch (s[i]) {                               int switched = s[i];
    case 'A': c = 'T'; break;                     if (switched == 'A') c = 'T';
    case 'T': c = 'A'; break;              ->     else if (switched == 'T') c = 'A';
    default: c = 'N';                             else c = 'N';
    }

That runs in lanes. Other switches over data stay as they are: they are one statement of the model.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import operator
from collections.abc import Iterable, Iterator, Sequence

from pycparser import c_ast

from polybuild.c.basic_types import INT, LONG_LONG
from polybuild.c.conversions import promoted
from polybuild.c.syntax_tree import (
    changed_operand,
    contains,
    duplicate,
    has_side_effect,
    mapped,
    names_in,
    walk,
)
from polybuild.c.synthetic import declarator
from polybuild.c.types import IntegerType
from polybuild.c.typing import type_of, with_declared
from polybuild.effort import SWITCHED_LABELS
from polybuild.normalise.structure import reads_memory
from polybuild.patterns import pattern
from polybuild.source.model import Callee, Region
from polybuild.values import dataclass

_NUMBERED = pattern(r"'\\(?:x|[0-7]{3})")
_LABELS = (c_ast.Case, c_ast.Default)
_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)


def with_conditions_for_switches(region: Region) -> Region:
    """``region`` without such switches, in it and in what it calls; itself if there are none."""
    callees = {name: _in_callee(each) for name, each in region.callees.items()}
    if any(each is not region.callees[name] for name, each in callees.items()):
        region = dataclasses.replace(region, callees=callees)
    return _without_switches(region)


def _in_callee(callee: Callee) -> Callee:
    body = None if callee.body is None else _without_switches(callee.body)
    return callee if body is callee.body else dataclasses.replace(callee, body=body)


def _without_switches(region: Region) -> Region:
    nodes = [each for statement in region.statements for each in walk(statement)]
    if not any(isinstance(each, c_ast.Switch) for each in nodes):
        return region
    inside = _SwitchedRegion(region, frozenset(_changed(region.statements)))
    statements = tuple(_sequence(region.statements, inside))
    same = all(map(operator.is_, statements, region.statements))
    return region if same else dataclasses.replace(region, statements=statements)


@dataclass(frozen=True, slots=True)
class _SwitchedRegion:
    """The ``region``, the variables that are ``changed`` in it, and the ``names`` that were added to it."""

    region: Region
    changed: frozenset[str]
    names: list[str] = dataclasses.field(default_factory=list)

    def variable(self, value: c_ast.Node) -> c_ast.Decl:
        """The declaration of a new variable that holds ``value``, an integer."""
        nodes = [each for statement in self.region.statements for each in walk(statement)]
        declared = [each for each in nodes if isinstance(each, c_ast.Decl) and each.name]
        taken = self.region.visible.may_mean_something() | {each.name for each in declared} | {*self.names}
        name = next(each for each in _names_of_values() if each not in taken)
        self.names.append(name)
        symbols = with_declared(self.region.visible.symbols, declared, self.region.visible)
        kind = type_of(value, symbols, self.region.visible)
        narrow = isinstance(kind, IntegerType) and promoted(kind) == INT
        declared_as = declarator(name, INT if narrow else LONG_LONG)
        return c_ast.Decl(name, [], [], [], [], declared_as, value, None, value.coord)


def _names_of_values() -> Iterator[str]:
    yield "switched"
    yield from (f"switched_{number}" for number in itertools.count(2))


def _sequence(nodes: Iterable[c_ast.Node], inside: _SwitchedRegion) -> Iterator[c_ast.Node]:
    """``nodes`` with the conditions of their switches in place of these."""
    for node in nodes:
        new = _rewritten(node, inside)
        if isinstance(node, c_ast.Switch) and isinstance(new, c_ast.Compound):
            yield from new.block_items
        else:
            yield new


def _changed(nodes: Iterable[c_ast.Node]) -> Iterator[str]:
    """The variables that ``nodes`` change, other than in the headers of loops, or take the address of."""
    for node in nodes:
        target = changed_operand(node)
        if isinstance(node, c_ast.UnaryOp) and node.op == "&":
            target = node.expr
        while isinstance(target, c_ast.ArrayRef | c_ast.StructRef):
            target = target.name
        if target is not None:
            yield from names_in(target)
        if isinstance(node, c_ast.Decl) and node.init is not None:
            yield str(node.name)
        yield from _changed([node.stmt] if isinstance(node, c_ast.For) else list(node))


def _rewritten(node: c_ast.Node, inside: _SwitchedRegion) -> c_ast.Node:
    if not any(isinstance(each, c_ast.Switch) for each in walk(node)):
        return node
    if isinstance(node, c_ast.Compound):
        items = [*_sequence(node.block_items, inside)]
        return node if all(map(operator.is_, items, node.block_items)) else c_ast.Compound(items, node.coord)
    parts = {id(each): new for each in node if (new := _rewritten(each, inside)) is not each}
    new = mapped(node, lambda each: parts.get(id(each), each)) if parts else node
    if isinstance(new, c_ast.Switch):
        return _conditions(new, inside.changed) or _choices(new, inside) or new
    return new


def _conditions(switch: c_ast.Switch, changed: frozenset[str]) -> c_ast.Node | None:
    """``switch`` as conditions; None if it is over data, or its parts do more than follow each other."""
    value, groups = switch.cond, _groups(switch)
    if groups is None or has_side_effect(value) or reads_memory(value):
        return None
    own = (
        changed
        | {*_changed([switch.stmt])}
        | {each for loop in _loops(switch.stmt) for each in _changed(loop)}
    )
    if own & {*names_in(value)}:
        return None
    labels = [each for group in groups for each in group.labels if each is not None]
    found: list[c_ast.Node] = []
    reached: list[c_ast.Node | None] = []
    others: Sequence[c_ast.Node] = ()
    returns = all(_returns(group.statements) for group in groups if group.leaves)
    ends = bool(groups) and groups[-1].leaves
    exclusive = ends and all(group.leaves or not group.statements for group in groups)
    for group in groups:
        reached += group.labels
        if returns and group.statements and None in reached and (exclusive or group is groups[-1]):
            others = group.statements  # what no part before them returned for
        elif group.statements:
            condition = _any_of(value, reached, labels)
            found.append(
                c_ast.If(condition, c_ast.Compound(group.statements, group.coord), None, group.coord)
            )
        if group.leaves:
            reached = []
    return c_ast.Compound([*found, *others], switch.coord)


def _returns(statements: Sequence[c_ast.Node]) -> bool:
    """Whether ``statements`` end by leaving the function."""
    last = statements[-1] if statements else None
    if isinstance(last, c_ast.Compound):
        return _returns(last.block_items or ())
    return isinstance(last, c_ast.Return)


def _choices(switch: c_ast.Switch, inside: _SwitchedRegion) -> c_ast.Node | None:
    """``switch`` over data as conditions, one of which holds; None if it does more than set values.

    Labels are not negative: so it does not matter what type they are converted to.
    """
    value, groups = switch.cond, _groups(switch)
    if not groups or has_side_effect(value) or any(map(_calls, walk(value))):
        return None
    labels: list[c_ast.Node | None] = []
    parts: list[tuple[list[c_ast.Node | None], c_ast.Node]] = []
    for position, group in enumerate(groups):
        labels += group.labels
        if not group.statements and not group.leaves:
            continue
        if not all(map(_sets, group.statements)) or not (group.leaves or position == len(groups) - 1):
            return None
        parts.append((labels, c_ast.Compound(group.statements, group.coord)))
        labels = []
    every = [each for found, _ in parts for each in found]
    if labels or len(every) > SWITCHED_LABELS or not all(each is None or _is_number(each) for each in every):
        return None
    variable = inside.variable(value)
    chosen = c_ast.ID(variable.name, value.coord)
    chain = next((part for found, part in parts if None in found), None)
    for found, part in reversed(parts):
        if None not in found:
            chain = c_ast.If(_any_of(chosen, found, ()), part, chain, part.coord)
    return None if chain is None else c_ast.Compound([variable, chain], switch.coord)


def _calls(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.FuncCall)


def _sets(statement: c_ast.Node) -> bool:
    """Whether ``statement`` does nothing but give a variable or an element a value, in blocks or not."""
    if isinstance(statement, c_ast.Compound):
        return all(map(_sets, statement.block_items or ()))
    if not isinstance(statement, c_ast.Assignment) or any(map(_calls, walk(statement))):
        return False
    return not has_side_effect(statement.lvalue) and not has_side_effect(statement.rvalue)


def _is_number(label: c_ast.Node) -> bool:
    """Whether ``label`` is a constant that is certainly not negative, as a character with a number may be."""
    return isinstance(label, c_ast.Constant) and not _NUMBERED.match(label.value)


def _loops(node: c_ast.Node) -> Iterator[c_ast.Node]:
    return (each for each in walk(node) if isinstance(each, c_ast.For))


@dataclass(frozen=True, slots=True)
class _LabelledStatements:
    """Statements behind ``labels``, None for that of all other values; whether the switch ends after them."""

    labels: list[c_ast.Node | None]
    statements: list[c_ast.Node]
    leaves: bool
    coord: object


def _groups(switch: c_ast.Switch) -> list[_LabelledStatements] | None:
    items = list(switch.stmt.block_items or ()) if isinstance(switch.stmt, c_ast.Compound) else [switch.stmt]
    found: list[_LabelledStatements] = []
    for item in items:
        if not isinstance(item, _LABELS):
            return None
        statements, leaves = _without_break(list(item.stmts or ()))
        declares = any(isinstance(each, c_ast.Decl) for each in statements)
        if declares or any(map(_breaks, statements)):
            return None
        label = item.expr if isinstance(item, c_ast.Case) else None
        found.append(_LabelledStatements([label], statements, leaves, item.coord))
    return found


def _without_break(statements: list[c_ast.Node]) -> tuple[list[c_ast.Node], bool]:
    """``statements`` without a ``break`` at their end, and whether nothing follows them."""
    if not statements:
        return [], False
    *others, last = statements
    if isinstance(last, c_ast.Break):
        return others, True
    if isinstance(last, c_ast.Compound):
        inner, leaves = _without_break(list(last.block_items or ()))
        return [*others, c_ast.Compound(inner, last.coord)], leaves
    return statements, isinstance(last, c_ast.Return)


def _breaks(node: c_ast.Node) -> bool:
    """Whether ``node`` has a jump that leaves the switch, or leads into it."""
    if isinstance(node, c_ast.Break | c_ast.Goto | c_ast.Label | c_ast.Case | c_ast.Default):
        return True
    if isinstance(node, c_ast.Switch):
        return contains(node, c_ast.Goto) or contains(node, c_ast.Label)
    in_loop = isinstance(node, _LOOPS)
    return any(_breaks(each) for each in node if not (in_loop and isinstance(each, c_ast.Break)))


def _any_of(
    value: c_ast.Node, reached: Sequence[c_ast.Node | None], labels: Sequence[c_ast.Node]
) -> c_ast.Node:
    """Whether ``value`` is one of those ``reached``; None among them stands for all but ``labels``."""
    tests: list[c_ast.Node] = [_equal(value, each) for each in reached if each is not None]
    if None in reached:
        if not labels:
            return c_ast.Constant("int", "1", value.coord)
        others = functools.reduce(_either, (_equal(value, each) for each in labels))
        tests.append(c_ast.UnaryOp("!", others, value.coord))
    return functools.reduce(_either, tests)


def _equal(value: c_ast.Node, label: c_ast.Node) -> c_ast.Node:
    return c_ast.BinaryOp("==", duplicate(value), duplicate(label), label.coord)


def _either(one: c_ast.Node, other: c_ast.Node) -> c_ast.Node:
    return c_ast.BinaryOp("||", one, other, one.coord)
