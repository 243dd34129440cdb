"""Integer expressions as sums: a constant and terms with constant factors.

    3 * i + (j - 2) - i   is   2 * i + j - 2

C's arithmetic is kept: what may wrap (an unsigned operation of another width
than the sum's) stays one term. A sum is written in a type in which it cannot
overflow where the original did not: signed sums in ``long long``, unsigned ones
in their own type, where wrapping is harmless.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import field

from pycparser import c_ast

from polybuild.c.basic_types import LONG_LONG
from polybuild.c.conversions import holds
from polybuild.c.literals import integer_value
from polybuild.c.syntax_tree import duplicate, key
from polybuild.c.synthetic import EntryNumber, ExactCast, number, type_name
from polybuild.c.types import IntegerType, Type
from polybuild.values import dataclass

Typing = Callable[[c_ast.Node], Type]


@dataclass(frozen=True, slots=True)
class Term:
    """``factor * node``."""

    node: c_ast.Node
    factor: int


@dataclass(frozen=True, slots=True)
class Sum:
    """``constant`` plus the terms, which are keyed by what they say."""

    constant: int = 0
    terms: dict[object, Term] = field(default_factory=dict)

    def plus(self, other: Sum, factor: int = 1) -> Sum:
        """``self + factor * other``."""
        terms = dict(self.terms)
        for name, term in other.terms.items():
            total = factor * term.factor + (terms[name].factor if name in terms else 0)
            if total:
                terms[name] = Term(term.node, total)
            else:
                terms.pop(name, None)
        return Sum(self.constant + factor * other.constant, terms)

    def times(self, factor: int) -> Sum:
        """``factor * self``."""
        return Sum().plus(self, factor)

    def coefficient(self, node: c_ast.Node) -> int:
        """The factor of ``node``, 0 if it is no term."""
        term = self.terms.get(key(node))
        return term.factor if term is not None else 0

    @property
    def number(self) -> int | None:
        """The value of a sum without terms."""
        return None if self.terms else self.constant


def arithmetic(kind: IntegerType) -> IntegerType:
    """The type in which sums that give a value of type ``kind`` are written."""
    return LONG_LONG if kind.signed or kind.width < 32 else kind


def sum_of(node: c_ast.Node, kind: IntegerType, typing: Typing) -> Sum:
    """``node``, whose value is to be converted to ``kind``, as a sum."""
    wide = arithmetic(kind)

    def exact(each: c_ast.Node) -> bool:
        """Whether the operation ``each`` gives the mathematical value, as far as ``wide`` shows it."""
        found = typing(each)
        if not isinstance(found, IntegerType):
            return False
        return found.signed or (not wide.signed and found.width >= wide.width)

    def visit(each: c_ast.Node) -> Sum:
        if isinstance(each, c_ast.Constant) and "int" in each.type:
            value = integer_value(each.value)
            if value is not None:
                return Sum(value)
        if isinstance(each, ExactCast):
            return visit(each.expr) if isinstance(typing(each.expr), IntegerType) else term(each)
        if isinstance(each, EntryNumber):
            return term(each)
        if isinstance(each, c_ast.Cast) and typing(each) == kind and _keeps(kind, typing(each.expr)):
            return visit(each.expr)
        if isinstance(each, c_ast.Cast) and _widens(typing(each), typing(each.expr)):
            return visit(each.expr)
        if isinstance(each, c_ast.UnaryOp) and each.op in {"+", "-"} and exact(each):
            return visit(each.expr).times(1 if each.op == "+" else -1)
        if isinstance(each, c_ast.BinaryOp) and each.op in {"+", "-", "*"} and exact(each):
            left, right = visit(each.left), visit(each.right)
            if each.op != "*":
                return left.plus(right, 1 if each.op == "+" else -1)
            for one, other in ((left, right), (right, left)):
                if one.number is not None:
                    return other.times(one.number)
        return term(each)

    def term(each: c_ast.Node) -> Sum:
        return Sum(0, {key(each): Term(each, 1)})

    return visit(node)


def without_equal_factors(total: Sum, typing: Typing) -> Sum:
    """``total`` with differences of products that have a factor in common as one: ``(i + 1) * m - i * m``.

    Only differences that are a number of times that factor are.
    """
    products = [each for each in total.terms.values() if _is_product(each.node, typing)]
    for one, other in itertools.permutations(products, 2):
        if one.factor != -other.factor:
            continue
        sides = factors_of(one.node), factors_of(other.node)
        for (left, factor), (right, same) in itertools.product(*sides):
            common = sum_of(factor, LONG_LONG, typing)
            if common.plus(sum_of(same, LONG_LONG, typing), -1).number != 0:
                continue
            way = sum_of(left, LONG_LONG, typing).plus(sum_of(right, LONG_LONG, typing), -1).number
            if way is not None:
                rest = total.plus(Sum(0, {key(each.node): each for each in (one, other)}), -1)
                return without_equal_factors(rest.plus(common.times(way * one.factor)), typing)
    return total


def _is_product(node: c_ast.Node, typing: Typing) -> bool:
    """Whether ``node`` is a product that does not wrap."""
    kind = typing(node)
    signed = isinstance(kind, IntegerType) and kind.signed
    return signed and isinstance(node, c_ast.BinaryOp) and node.op == "*"


def factors_of(node: c_ast.Node) -> Iterator[tuple[c_ast.Node, c_ast.Node]]:
    """The factors of ``node`` if that is a product, either first."""
    if isinstance(node, c_ast.BinaryOp) and node.op == "*":
        yield node.left, node.right
        yield node.right, node.left


def _widens(kind: Type, source: Type) -> bool:
    """Whether a conversion from ``source`` to ``kind`` keeps all values."""
    return isinstance(kind, IntegerType) and isinstance(source, IntegerType) and holds(kind, source)


def _keeps(kind: IntegerType, source: Type) -> bool:
    """Whether a conversion from ``source`` to ``kind`` may wait until the sum is converted to ``kind``."""
    if not isinstance(source, IntegerType):
        return False
    return not kind.signed or kind.width < 32 or holds(kind, source)


def tree_of(total: Sum, kind: IntegerType, typing: Typing) -> c_ast.Node:
    """``total`` as an expression of type ``kind``."""
    plain = _plain(total, kind, typing)
    if plain is not None:
        return plain
    wide = arithmetic(kind)
    tree = wide_tree(total, wide, typing)
    if kind == wide:
        return tree
    convert = ExactCast if kind.signed and kind.width >= 32 else c_ast.Cast
    return convert(type_name(kind), tree)


def _plain(total: Sum, kind: IntegerType, typing: Typing) -> c_ast.Node | None:
    """A sum of one term at the most, written in ``kind`` itself; None if that may overflow."""
    terms = list(total.terms.values())
    if not terms:
        return number(total.constant) if kind.name == "int" and abs(total.constant) < 1 << 31 else None
    if len(terms) > 1 or terms[0].factor != 1 or typing(terms[0].node) != kind:
        return None
    node = duplicate(terms[0].node)
    if total.constant == 0:
        return node
    if kind.signed and kind.width >= 32 and abs(total.constant) < 1 << 31:
        return c_ast.BinaryOp("+" if total.constant > 0 else "-", node, number(abs(total.constant)))
    return None


def wide_tree(total: Sum, wide: IntegerType, typing: Typing) -> c_ast.Node:
    """``total`` as an expression of type ``wide``."""
    convert = ExactCast if wide.signed else c_ast.Cast
    tree: c_ast.Node | None = None
    for term in sorted(total.terms.values(), key=lambda each: each.factor < 0):
        node = duplicate(term.node)
        if typing(node) != wide:
            node = convert(type_name(wide), node)
        if abs(term.factor) != 1:
            node = c_ast.BinaryOp("*", number(abs(term.factor)), node)
        if tree is not None:
            tree = c_ast.BinaryOp("+" if term.factor > 0 else "-", tree, node)
        else:
            tree = node if term.factor > 0 else c_ast.UnaryOp("-", node)
    if tree is None:
        return convert(type_name(wide), number(total.constant))
    if total.constant:
        tree = c_ast.BinaryOp("+" if total.constant > 0 else "-", tree, number(abs(total.constant)))
    return tree
