"""How large integers are that data give: what conditions and assignments leave of their types.

::

    int b = (int)(16 * x[i]);     any int
    if (b < 0) b = 0;             not below 0
    if (b > 15) b = 15;           not above 15, either
    h[b]++;

Statements of one loop are followed in their order, from the first one of an iteration on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pycparser import c_ast

from polybuild.c.conversions import limits
from polybuild.c.intervals import Interval, combined, hull, negated, within
from polybuild.c.literals import literal
from polybuild.c.symbols import StorageClass, Symbol
from polybuild.c.syntax_tree import NEGATED, changed_operand, has_side_effect, key, names_in, walk
from polybuild.c.types import IntegerType
from polybuild.c.typing import type_of
from polybuild.scop.model import Scop, Statement
from polybuild.scop.statement_symbols import symbols_of
from polybuild.source.model import Region

_Known = Mapping[object, Interval]
"""Of the expressions, by their keys, of which more is known than their types tell."""

_MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def subscript_range(scop: Scop, region: Region, statement: Statement, own: frozenset[int]) -> Interval | None:
    """What the subscripts of the elements of ``statement`` may be that are the nodes ``own``, by identity."""
    ranges, instances = _DataRanges(region, statement), statement.domain.reset_tuple_id()
    known: _Known = {}
    for each in scop.statements:
        if each is statement:
            break
        same = each.iterators == statement.iterators and each.domain.reset_tuple_id().is_equal(instances)
        known = ranges.after(each.body, known) if same else ranges.forgotten(each.body, known)
    found = list(ranges.subscripts(statement.body, known, own))
    if not found or any(each is None for each in found):
        return None
    every = [each for each in found if each is not None]
    return min(low for low, _ in every), max(high for _, high in every)


class _DataRanges:
    """Follows the statements of the loop that ``statement`` is in."""

    def __init__(self, region: Region, statement: Statement) -> None:
        self._region = region
        self._symbols = symbols_of(statement, region)
        nodes = (node for each in region.statements for node in walk(each))
        addresses = [each for each in nodes if isinstance(each, c_ast.UnaryOp) and each.op == "&"]
        self._addressed = {name for each in addresses for name in names_in(each)}

    def of(self, node: c_ast.Node, known: _Known) -> Interval | None:
        """The least and the greatest value of ``node``; None if it is no integer."""
        kind = self._type(node)
        if kind is None:
            return None
        found = known.get(key(node)) or self._computed(node, known)
        low, high = limits(kind)
        return found if found is not None and within(found, (low, high)) else (low, high)

    def _computed(self, node: c_ast.Node, known: _Known) -> Interval | None:
        if isinstance(node, c_ast.Constant):
            value = literal(node, self._region.visible.scope.data_model)
            return None if value is None else (value[0], value[0])
        if isinstance(node, c_ast.Cast):
            return self.of(node.expr, known)
        if isinstance(node, c_ast.UnaryOp) and node.op == "-":
            inner = self.of(node.expr, known)
            return None if inner is None else negated(inner)
        if isinstance(node, c_ast.TernaryOp):
            return hull(
                self.of(node.iftrue, self.where(node.cond, known, holds=True)),
                self.of(node.iffalse, self.where(node.cond, known, holds=False)),
            )
        if isinstance(node, c_ast.BinaryOp):
            left, right = self.of(node.left, known), self.of(node.right, known)
            return None if left is None or right is None else _after_operation(node.op, left, right)
        return None

    def where(self, condition: c_ast.Node, known: _Known, *, holds: bool) -> _Known:
        """What is ``known`` where ``condition`` holds, or does not."""
        if any(changed_operand(each) is not None for each in walk(condition)):
            return {}
        if isinstance(condition, c_ast.UnaryOp) and condition.op == "!":
            return self.where(condition.expr, known, holds=not holds)
        if not isinstance(condition, c_ast.BinaryOp):
            return known
        if condition.op == ("&&" if holds else "||"):
            return self.where(condition.right, self.where(condition.left, known, holds=holds), holds=holds)
        if condition.op not in NEGATED:
            return known
        operator = condition.op if holds else NEGATED[condition.op]
        known = self._compared(condition.left, operator, condition.right, known)
        return self._compared(condition.right, _MIRRORED[operator], condition.left, known)

    def _compared(self, node: c_ast.Node, operator: str, other: c_ast.Node, known: _Known) -> _Known:
        """What is ``known`` where ``node`` compares like that with ``other``."""
        kinds = self._type(node), self._type(other)
        own, bound = self.of(node, known), self.of(other, known)
        if own is None or bound is None or None in kinds or not _is_pure(node):
            return known
        low, high = own
        if any(kind is not None and not kind.signed for kind in kinds) and (own[0] < 0 or bound[0] < 0):
            return known
        if operator in {"<", "<=", "=="}:
            high = min(high, bound[1] - (operator == "<"))
        if operator in {">", ">=", "=="}:
            low = max(low, bound[0] + (operator == ">"))
        known = {**known, key(node): (low, high)} if low <= high else known
        inner = node.expr if isinstance(node, c_ast.Cast) else None
        kind = self._type(inner) if inner is not None else None
        signed = kind is not None and kind.signed and kinds[0] is not None and kind.width <= kinds[0].width
        if inner is not None and signed and kind is not None and high <= limits(kind)[1]:
            return {**known, key(inner): (low, high)}  # negative values would be converted to larger ones
        return known

    def after(self, body: c_ast.Node, known: _Known) -> _Known:
        """What is known after ``body``, before which that is ``known``."""
        if isinstance(body, c_ast.Compound):
            for each in body.block_items or ():
                known = self.after(each, known)
            return known
        if isinstance(body, c_ast.If):
            taken = self.after(body.iftrue, self.where(body.cond, known, holds=True))
            left = self.where(body.cond, known, holds=False)
            left = left if body.iffalse is None else self.after(body.iffalse, left)
            both = {name: hull(taken[name], left[name]) for name in taken.keys() & left.keys()}
            return {name: each for name, each in both.items() if each is not None}
        value = None
        if isinstance(body, c_ast.Assignment) and body.op == "=" and self._is_own(body.lvalue):
            value = self.of(body.rvalue, known)
        known = self.forgotten(body, known)
        kind = self._type(body.lvalue) if value is not None else None
        if value is None or kind is None:
            return known
        return {**known, key(body.lvalue): value} if within(value, limits(kind)) else known

    def forgotten(self, body: c_ast.Node, known: _Known) -> _Known:
        """What is still ``known`` after ``body``, of which nothing else is."""
        targets = [target for each in walk(body) if (target := changed_operand(each)) is not None]
        changed = {each.name for each in targets if isinstance(each, c_ast.ID)}
        stores = len(changed) < len(targets) or any(isinstance(each, c_ast.FuncCall) for each in walk(body))
        own = {key(c_ast.ID(name)): name for name in self._symbols}
        return {
            text: each
            for text, each in known.items()
            if (own[text] not in changed if text in own else not stores and not changed)
        }

    def subscripts(self, body: c_ast.Node, known: _Known, own: frozenset[int]) -> Iterator[Interval | None]:
        """The ranges of the subscripts of the elements ``own`` in ``body``."""
        if isinstance(body, c_ast.If):
            yield from self.subscripts(body.cond, known, own)
            yield from self.subscripts(body.iftrue, self.where(body.cond, known, holds=True), own)
            if body.iffalse is not None:
                yield from self.subscripts(body.iffalse, self.where(body.cond, known, holds=False), own)
            return
        for each in walk(body):
            if id(each) in own:
                yield self.of(each.subscript, known)

    def _is_own(self, node: c_ast.Node) -> bool:
        """Whether ``node`` is a variable that nothing else than its name means."""
        symbol = self._symbols.get(node.name) if isinstance(node, c_ast.ID) else None
        if symbol is not None and node.name in self._addressed:
            return False
        if not isinstance(symbol, Symbol):
            return symbol is not None
        plain = symbol.storage in {StorageClass.LOCAL, StorageClass.PARAMETER}
        return plain and not symbol.address_taken and not symbol.volatile

    def _type(self, node: c_ast.Node) -> IntegerType | None:
        kind = type_of(node, self._symbols, self._region.visible)
        return kind if isinstance(kind, IntegerType) else None


def _after_operation(operator: str, left: Interval, right: Interval) -> Interval | None:
    """The range of an operation of C, without regard of overflow; None if it is not known."""
    if operator == "&":
        masks = [each[1] for each in (left, right) if each[0] >= 0]
        return (0, min(masks)) if masks else None
    if operator == "%" and right[0] > 0:
        maximum = right[1] - 1
        return (0 if left[0] >= 0 else -maximum, maximum)
    if operator in {"/", ">>"} and right[0] == right[1] and left[0] >= 0:
        by = right[0] if operator == "/" else 1 << min(max(right[0], 0), 64)
        return (left[0] // by, left[1] // by) if by > 0 else None
    return combined(operator, left, right)


def _is_pure(node: c_ast.Node) -> bool:
    return not has_side_effect(node) and any(True for _ in names_in(node))
