"""Reductions under conditions on data, each as a statement of its own.

::

    if (x[i] > 0) c++;                          ->   c += x[i] > 0 ? 1 : 0;
    c = x[i] > 0 ? c + 1 : c;                   ->   c += x[i] > 0 ? 1 : 0;
    if (x[i] > 0) up++; else down++;            ->   up += x[i] > 0 ? 1 : 0; down += x[i] > 0 ? 0 : 1;
    if (x[i] < 0) { x[i] = 0; e += 2; }         ->   e += x[i] < 0 ? 2 : 0; if (x[i] < 0) x[i] = 0;
    if (x[i] > 0) { if (i < l) l = i;           ->   if (x[i] > 0) if (i < l) l = i;
                    if (i > h) h = i; }              if (x[i] > 0) if (i > h) h = i;
    if (!m[i]) continue; s += x[i];             ->   if (!!m[i]) s += x[i];

Threads and lanes share these. The variables are those that only the function knows: nobody sees that
integers are stored more often. Floating-point numbers are not: a sum of -0 and 0 is another one. What stands
behind a jump stays there: it may be skipped.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from itertools import takewhile

from pycparser import c_ast

from polybuild.c.basic_types import INT
from polybuild.c.conversions import limits
from polybuild.c.literals import integer_value
from polybuild.c.symbols import StorageClass, Symbol
from polybuild.c.syntax_tree import changed_operand, duplicate, has_side_effect, key, mapped, names_in, walk
from polybuild.c.synthetic import number
from polybuild.c.types import FloatingType, IntegerType
from polybuild.normalise.structure import reads_memory, without_continue
from polybuild.source.blocks import outward_jumps
from polybuild.source.model import Region
from polybuild.values import dataclass

_STEPS = {"++": 1, "p++": 1, "--": -1, "p--": -1}
_ACCUMULATING = {"+=", "-=", "|=", "^=", "&=", "*="}
_COMPARISONS = {"<", "<=", ">", ">="}
_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)


def separate_reductions(region: Region) -> Region:
    """``region`` with its reductions under conditions on data separated; itself where there are none."""
    nodes = [each for statement in region.statements for each in walk(statement)]
    if not any(isinstance(each, c_ast.If | c_ast.TernaryOp) for each in nodes):
        return region
    separation = _Separation(region, nodes)
    return dataclasses.replace(region, statements=tuple(map(separation.rewritten, region.statements)))


@dataclass(frozen=True, slots=True)
class _Update:
    """A statement that does nothing but update the variable ``name``; a count of integers adds ``amount``."""

    name: str
    node: c_ast.Node
    amount: c_ast.Node | None = None

    @property
    def value(self) -> c_ast.Node:
        """What it needs to know."""
        return self.node if self.amount is None else self.amount

    def under(self, condition: c_ast.Node, *, holds: bool) -> c_ast.Node:
        """The update where ``condition`` ``holds``, or where it does not."""
        coord = self.node.coord
        if self.amount is None:
            wanted = condition if holds else c_ast.UnaryOp("!", condition, condition.coord)
            return c_ast.If(wanted, self.node, None, coord)
        amounts = (self.amount, number(0)) if holds else (number(0), self.amount)
        return c_ast.Assignment(
            "+=", c_ast.ID(self.name, coord), c_ast.TernaryOp(condition, *amounts, coord), coord
        )


class _Separation:
    """Rewrites the statements of one region."""

    def __init__(self, region: Region, nodes: Sequence[c_ast.Node]) -> None:
        declared = {each.name: each for each in nodes if isinstance(each, c_ast.Decl)}
        symbols = region.visible.symbols
        own = {name: each.type for name, each in symbols.items() if name not in declared and _is_own(each)}
        self._integers = {
            name for name, kind in own.items() if isinstance(kind, IntegerType) and kind.width > 1
        }
        self._numbers = self._integers | {
            name for name, kind in own.items() if isinstance(kind, FloatingType) and not kind.complex
        }
        self._floating = {
            name
            for name, each in symbols.items()
            if name not in declared and isinstance(each.type, FloatingType)
        } | {
            name
            for name, each in declared.items()
            if isinstance(region.visible.scope.resolve(each), FloatingType)
        }

    def rewritten(self, node: c_ast.Node) -> c_ast.Node:
        """What becomes of the statement ``node``; itself where nothing is to be done in it."""
        if not any(isinstance(each, c_ast.If | c_ast.TernaryOp) for each in walk(node)):
            return node
        node = self._chosen_count(node)
        if isinstance(node, _LOOPS):
            new = mapped(node, lambda each: each)
            new.stmt = self.rewritten(self._structured(node.stmt))
            return new
        if isinstance(node, c_ast.If):
            new = c_ast.If(
                node.cond,
                self.rewritten(node.iftrue) if node.iftrue else None,
                self.rewritten(node.iffalse) if node.iffalse else None,
                node.coord,
            )
            return self._separated(new) if self._is_data(node.cond) else new
        return mapped(node, self.rewritten) if isinstance(node, c_ast.Compound | c_ast.Label) else node

    def _structured(self, body: c_ast.Node) -> c_ast.Node:
        """``body`` of a loop without ``continue`` behind conditions on data."""
        conditions = (each.cond for each in walk(body) if isinstance(each, c_ast.If))
        return without_continue(body) if any(map(self._is_data, conditions)) else body

    def _is_data(self, condition: c_ast.Node) -> bool:
        """Whether memory or floating-point numbers decide a condition, and not counters alone."""
        return reads_memory(condition) or any(
            isinstance(each, c_ast.FuncCall) or (isinstance(each, c_ast.ID) and each.name in self._floating)
            for each in walk(condition)
        )

    def _chosen_count(self, node: c_ast.Node) -> c_ast.Node:
        """``c = p ? c + 1 : c`` as ``if (p) c = c + 1``, every other statement as it is."""
        if not isinstance(node, c_ast.Assignment) or node.op != "=":
            return node
        target, value = node.lvalue, node.rvalue
        if not isinstance(target, c_ast.ID) or not isinstance(value, c_ast.TernaryOp):
            return node
        holds = key(value.iffalse) == key(target)
        if not holds and key(value.iftrue) != key(target):
            return node
        count = c_ast.Assignment("=", target, value.iftrue if holds else value.iffalse, node.coord)
        if self._count(count) is None:
            return node
        nothing = c_ast.Compound([], node.coord)
        branches = (count, None) if holds else (nothing, count)
        return c_ast.If(value.cond, *branches, node.coord)

    def _separated(self, node: c_ast.If) -> c_ast.Node:
        """``node`` with the updates of both branches in front of it."""
        branches = [_items(node.iftrue), _items(node.iffalse)]
        found = [self._updates(each) for each in branches]
        rest = [
            [each for position, each in enumerate(items) if position not in updates]
            for items, updates in zip(branches, found, strict=True)
        ]
        updates = [each for branch in found for each in branch.values()]
        if not updates or not _are_independent(updates, node.cond, [*rest[0], *rest[1]]):
            return node
        if has_side_effect(node.cond) and (len(updates) > 1 or any(rest) or updates[0].amount is None):
            return node
        made = [
            each.under(duplicate(node.cond), holds=branch is found[0])
            for branch in found
            for each in branch.values()
        ]
        if any(rest):
            other = c_ast.Compound(rest[1], node.coord) if rest[1] else None
            made.append(c_ast.If(node.cond, c_ast.Compound(rest[0], node.coord), other, node.coord))
        return made[0] if len(made) == 1 else c_ast.Compound(made, node.coord)

    def _updates(self, items: Sequence[c_ast.Node]) -> Mapping[int, _Update]:
        """The updates among ``items`` that always run where the first of them does, by their positions."""
        updates = enumerate(map(self._update, takewhile(_falls_through, items)))
        return {position: each for position, each in updates if each is not None}

    def _update(self, node: c_ast.Node) -> _Update | None:
        """What ``node`` updates; None if it does more, or something else."""
        found = self._count(node)
        if found is not None:
            return found
        if isinstance(node, c_ast.If):
            return None if node.iffalse is not None else self._bound(node, node.cond, _only(node.iftrue))
        if isinstance(node, c_ast.Assignment) and node.op in _ACCUMULATING and self._is_variable(node.lvalue):
            alone = node.lvalue.name not in names_in(node.rvalue) and not has_side_effect(node.rvalue)
            return _Update(node.lvalue.name, node) if alone else None
        return None

    def _bound(self, node: c_ast.If, condition: c_ast.Node, update: c_ast.Node) -> _Update | None:
        """``if (e < m) m = e`` and its like: a minimum or maximum."""
        if (
            not isinstance(update, c_ast.Assignment)
            or update.op != "="
            or not self._is_variable(update.lvalue)
        ):
            return None
        if not isinstance(condition, c_ast.BinaryOp) or condition.op not in _COMPARISONS:
            return None
        compared = {key(condition.left), key(condition.right)}
        plain = not has_side_effect(update.rvalue) and update.lvalue.name not in names_in(update.rvalue)
        if plain and compared == {key(update.lvalue), key(update.rvalue)}:
            return _Update(update.lvalue.name, node)
        return None

    def _count(self, node: c_ast.Node) -> _Update | None:
        """The update if ``node`` adds a number to one of the function's own integers."""
        if isinstance(node, c_ast.UnaryOp) and node.op in _STEPS and self._is_integer(node.expr):
            return _Update(node.expr.name, node, number(_STEPS[node.op]))
        if not isinstance(node, c_ast.Assignment) or not self._is_integer(node.lvalue):
            return None
        op, amount = node.op.removesuffix("="), node.rvalue
        if not op and isinstance(amount, c_ast.BinaryOp):
            op, operands = amount.op, [amount.left, amount.right]
            if op == "+" and key(operands[1]) == key(node.lvalue):
                operands.reverse()
            if key(operands[0]) != key(node.lvalue):
                return None
            amount = operands[1]
        if op == "-" and (value := _int_literal(amount)) is not None:
            return _Update(node.lvalue.name, node, number(-value))
        return _Update(node.lvalue.name, node, amount) if op == "+" and _is_number(amount) else None

    def _is_integer(self, target: c_ast.Node) -> bool:
        return isinstance(target, c_ast.ID) and target.name in self._integers

    def _is_variable(self, target: c_ast.Node) -> bool:
        return isinstance(target, c_ast.ID) and target.name in self._numbers


def _are_independent(updates: Sequence[_Update], condition: c_ast.Node, rest: Sequence[c_ast.Node]) -> bool:
    """Whether ``updates`` may run before ``rest``, each by itself.

    Their variables are known to nothing else, and what they are updated with is not changed by the rest.
    """
    own = {each.name for each in updates}
    others = {name for each in (condition, *rest) for name in names_in(each)}
    values = {name for each in updates for name in names_in(each.value) if name != each.name}
    if own & (others | values):
        return False
    if not rest:
        return True
    parts = [part for each in rest for part in walk(each)]
    changed = {part.name for part in parts if isinstance(part, c_ast.Decl)}
    changed |= {name for part in parts for name in names_in(changed_operand(part) or c_ast.EmptyStatement())}
    return not changed & values and not any(reads_memory(each.value) for each in updates)


def _is_number(node: c_ast.Node) -> bool:
    """Whether ``node`` is a number of the type ``int``, or a choice among such that was made here."""
    if isinstance(node, c_ast.TernaryOp):
        return not has_side_effect(node.cond) and _is_number(node.iftrue) and _is_number(node.iffalse)
    if isinstance(node, c_ast.UnaryOp) and node.op == "-":
        node = node.expr
    return _int_literal(node) is not None


def _int_literal(node: c_ast.Node) -> int | None:
    """The value of ``node`` if it is a number of the type ``int`` as it is written."""
    if not isinstance(node, c_ast.Constant) or node.type != "int":
        return None
    value = integer_value(node.value)
    return value if value is not None and value <= limits(INT)[1] else None


def _items(node: c_ast.Node | None) -> list[c_ast.Node]:
    """The statements of a branch, those of blocks that declare nothing among the others."""
    if node is None:
        return []
    if not isinstance(node, c_ast.Compound):
        return [node]
    items = list(node.block_items or ())
    if any(isinstance(each, c_ast.Decl | c_ast.Typedef) for each in items):
        return items
    return [one for each in items for one in (_plain_block(each) or [each])]


def _plain_block(node: c_ast.Node) -> list[c_ast.Node]:
    """The statements of a block that declares nothing; none of every other statement."""
    if not isinstance(node, c_ast.Compound) or any(
        isinstance(each, c_ast.Decl | c_ast.Typedef) for each in node.block_items or ()
    ):
        return []
    return _items(node)


def _only(node: c_ast.Node) -> c_ast.Node:
    """The one statement of a block."""
    items = _items(node)
    return items[0] if len(items) == 1 else node


def _falls_through(node: c_ast.Node) -> bool:
    """Whether what follows ``node`` always runs after it, and after nothing else."""
    jumps = any(isinstance(each, c_ast.Goto | c_ast.Label) for each in walk(node))
    return not jumps and next(outward_jumps(node), None) is None


def _is_own(symbol: Symbol) -> bool:
    """Whether nobody but the function knows a variable."""
    own = symbol.storage in {StorageClass.LOCAL, StorageClass.PARAMETER} and not symbol.address_taken
    return own and not symbol.volatile and not symbol.thread_local
