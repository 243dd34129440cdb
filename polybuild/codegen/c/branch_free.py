"""Conditions without branches: ``a == 3 || (a == 2 && p[i])`` as ``(a == 3) | ((a == 2) & (p[i] != 0))``.

Compilers find vectors for the second form, while the first one is control flow to them. It is the same where
evaluating the right side does no harm: it computes nothing that could overflow or fail, and the elements that
it reads exist, as each lies between two of its row that are read whatever the data are.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

import islpy as isl
from pycparser import c_ast

from polybuild.c.syntax_tree import always_evaluates, walk
from polybuild.scop.model import Access, AccessKind, Array, Scop, Statement

SHORTENED = frozenset({"&&", "||"})
_TRUTHS = frozenset({"<", "<=", ">", ">=", "==", "!="}) | SHORTENED

_in, _out, _set = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


def is_truth(node: c_ast.Node) -> bool:
    """Whether the value of ``node`` is 0 or 1."""
    if isinstance(node, c_ast.BinaryOp):
        return node.op in _TRUTHS
    return isinstance(node, c_ast.UnaryOp) and node.op == "!"


def branch_free(scop: Scop) -> frozenset[int]:
    """The ``&&`` and ``||`` of ``scop``, by the identities of their nodes, that need not be branches."""
    return frozenset(
        id(node)
        for statement in scop.statements
        for node in walk(statement.body)
        if isinstance(node, c_ast.BinaryOp) and node.op in SHORTENED
        if _is_harmless(node.right, scop, statement)
    )


def _is_harmless(node: c_ast.Node, scop: Scop, statement: Statement) -> bool:
    """Whether ``node`` may be evaluated in any instance of ``statement``."""
    access = next((each for each in statement.accesses if each.node is node), None)
    if access is not None:
        return access.kind is AccessKind.READ and access.exact and _exists(access, scop, statement)
    if isinstance(node, c_ast.Constant | c_ast.ID):
        return True
    if isinstance(node, c_ast.UnaryOp):
        return bool(node.op == "!") and _is_harmless(node.expr, scop, statement)
    known = isinstance(node, c_ast.BinaryOp) and node.op in _TRUTHS
    return known and all(_is_harmless(each, scop, statement) for each in (node.left, node.right))


def _exists(access: Access, scop: Scop, statement: Statement) -> bool:
    """Whether each instance may read what ``access`` does, even where the program would not."""
    if access.array.is_scalar:
        so_far = scop.statements[: scop.statements.index(statement) + 1]
        return any(_sets_or_reads(each, access.array, statement.domain) for each in so_far)
    certain = list(_certain(access.array, scop))
    if not certain:
        return False
    elements = access.relation.intersect_domain(statement.domain).range()
    return bool(elements.intersect_params(scop.context).is_subset(_rows(reduce(isl.Set.union, certain))))


def _sets_or_reads(statement: Statement, variable: Array, instances: isl.Set) -> bool:
    """Whether ``statement`` accesses ``variable``, whatever the data, in the iterations of ``instances``."""
    if statement.dynamic or len(statement.iterators) != instances.dim(_set):
        return False
    runs = statement.domain.set_tuple_name(instances.get_tuple_name())
    return bool(instances.is_subset(runs)) and any(
        each.array is variable and always_evaluates(statement.body, each.node) for each in statement.accesses
    )


def _certain(array: Array, scop: Scop) -> Iterator[isl.Set]:
    """Elements of ``array`` that are accessed whatever the data are."""
    for statement in scop.statements:
        for each in statement.accesses:
            known = each.array is array and each.exact and not statement.dynamic
            if known and always_evaluates(statement.body, each.node):
                yield each.relation.intersect_domain(statement.domain).range()


def _rows(elements: isl.Set) -> isl.Set:
    """``elements`` and all between two of them that differ in their last subscripts."""
    last = elements.dim(_set) - 1
    same = isl.Map.identity(elements.get_space().map_from_set())
    free = same.drop_constraints_involving_dims(_out, last, 1)
    before = free.order_le(_in, last, _out, last)
    after = free.order_ge(_in, last, _out, last)
    return elements.apply(before).intersect(elements.apply(after))
