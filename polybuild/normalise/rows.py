"""Elements that a pointer reaches beyond the row it started in, as elements of the rows they are in.

::

    p = &b[0][j];                                 with double b[n][n]
    ... *(p + k * n) ...                          ... b[k][j] ...

Both name the same address, whatever the numbers: a row has as many elements as its extent says.
"""

from __future__ import annotations

from pycparser import c_ast

from polybuild.c import types
from polybuild.c.basic_types import LONG_LONG
from polybuild.c.syntax_tree import duplicate
from polybuild.c.synthetic import ExactCast, number
from polybuild.normalise.sums import Sum, Term, Typing, sum_of, wide_tree


def in_rows(base: c_ast.Node, offset: Sum, typing: Typing) -> tuple[c_ast.Node, Sum]:
    """``base[offset]`` with whole rows of the array ``base`` counted by the subscripts before."""
    if not isinstance(base, c_ast.ArrayRef):
        return base, offset
    kind = typing(base)
    if not isinstance(kind, types.ArrayType) or kind.extent is None:
        return base, offset
    rows, rest = _divided(offset, sum_of(kind.extent, LONG_LONG, typing), typing)
    if rows.number == 0:
        return base, offset
    outer, subscript = in_rows(base.name, rows.plus(sum_of(base.subscript, LONG_LONG, typing)), typing)
    return c_ast.ArrayRef(outer, subscript_of(subscript, typing), base.coord), rest


def subscript_of(offset: Sum, typing: Typing) -> c_ast.Node:
    """A sum as it stands in a subscript."""
    if offset.number is not None:
        return number(offset.number)
    terms = list(offset.terms.values())
    if len(terms) == 1 and terms[0].factor == 1 and not offset.constant:
        return duplicate(terms[0].node)
    return wide_tree(offset, LONG_LONG, typing)


def _divided(offset: Sum, extent: Sum, typing: Typing) -> tuple[Sum, Sum]:
    """The multiples of ``extent`` that a sum has, and what is left of it.

    A whole row that something is subtracted from, as in ``n - k``, is none: that is an element of this row.
    """
    rows, rest = Sum(), offset
    downwards = offset.constant < 0 or any(term.factor < 0 for term in offset.terms.values())
    for name, term in offset.terms.items():
        own = Sum(0, {name: term})
        if extent.number is None:
            quotient = _quotient(term.node, extent, typing).times(term.factor)
        elif extent.number and term.factor % extent.number == 0:
            quotient = Sum(0, {name: Term(term.node, term.factor // extent.number)})
        else:
            continue
        if quotient.terms or (quotient.constant and not downwards) or quotient.constant < 0:
            rows, rest = rows.plus(quotient), rest.plus(own, -1)
    size = extent.number or 0
    if size > 2 and abs(rest.constant) >= size - 1 and not (downwards and rest.constant > 0):
        whole = round(rest.constant / size)  # an element of a row nearby has a small subscript
        rows, rest = rows.plus(Sum(whole)), rest.plus(Sum(-whole * size))
    return rows, rest


def _quotient(node: c_ast.Node, extent: Sum, typing: Typing) -> Sum:
    """What ``node`` has to be multiplied with ``extent`` from; nothing if it is no such product."""
    while isinstance(node, ExactCast):
        node = node.expr
    if sum_of(node, LONG_LONG, typing).plus(extent, -1).number == 0:
        return Sum(1)
    if isinstance(node, c_ast.UnaryOp) and node.op == "-":
        return _quotient(node.expr, extent, typing).times(-1)
    if not isinstance(node, c_ast.BinaryOp) or node.op != "*":
        return Sum()
    for one, other in ((node.left, node.right), (node.right, node.left)):
        inner = _quotient(one, extent, typing)
        if inner.number is not None:
            if inner.number:
                return sum_of(other, LONG_LONG, typing).times(inner.number)
        else:
            product = c_ast.BinaryOp("*", subscript_of(inner, typing), other, node.coord)
            return sum_of(product, LONG_LONG, typing)
    return Sum()
