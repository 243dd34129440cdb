"""Choices by affine conditions that the domain of a statement settles, as in the interior of a nest.

``i > 0 ? a[i - 1] : 0`` reads ``a`` where the condition holds and nowhere else, so what is known of that
access tells whether it holds in all instances, or in none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from polybuild.c.syntax_tree import always_evaluates, walk, with_parts
from polybuild.scop.model import AccessKind, Statement


def with_settled_choices(statement: Statement, context: isl.Set) -> Statement:
    """``statement`` without sides of choices that none of its instances takes where ``context`` holds."""
    domain = statement.domain.intersect_params(context)
    body = statement.body
    while (settled := next(_settled(body, statement, domain), None)) is not None:
        choice, side = settled
        body = with_parts(body, {id(choice): side})
    if body is statement.body:
        return statement
    left = set(map(id, walk(body)))
    accesses = tuple(each for each in statement.accesses if id(each.node) in left)
    return replace(statement, body=body, accesses=accesses)


def _settled(
    body: c_ast.Node, statement: Statement, domain: isl.Set
) -> Iterator[tuple[c_ast.TernaryOp, c_ast.Node]]:
    """Choices in ``body`` with the one side of each that is taken, if any is."""
    for choice in walk(body):
        if isinstance(choice, c_ast.TernaryOp):
            for side, other in ((choice.iftrue, choice.iffalse), (choice.iffalse, choice.iftrue)):
                for taken in _where_taken(side, statement):
                    if domain.is_subset(taken):
                        yield choice, side
                    elif domain.is_disjoint(taken):
                        yield choice, other


def _where_taken(side: c_ast.Node, statement: Statement) -> Iterator[isl.Set]:
    """The instances that take a ``side`` of a choice, once for each element that it is certain to read."""
    for each in statement.accesses:
        if each.certain and each.kind is AccessKind.READ and always_evaluates(side, each.node):
            yield each.relation.domain()
