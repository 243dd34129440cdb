"""Loops in lanes: whether all lanes may go through what is inside, and the loops that they become."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polybuild.codegen.c.expressions import is_number
from polybuild.codegen.c.nodes import FOR, IF, kind_of, nodes_below, users_below
from polybuild.poly.marks import Mark, MarkKind

if TYPE_CHECKING:
    from polybuild.codegen.c.ast import PrintedAst

_Op = isl.ast_expr_op_type
# marks that say nothing of what lanes do below them
_IDLE = frozenset({MarkKind.SIMD, MarkKind.SERIAL, MarkKind.UNROLLED})


def runs_in_lanes(loop: isl.AstNode, ast: PrintedAst) -> bool:
    """Whether the lanes of ``loop``, which counts its iterations one by one, take the same way through it.

    No bound or condition inside may ask for the counter, nor a statement for its value.
    """
    identifier = loop.for_get_iterator().id_get_id().get_name()
    if not is_number(loop.for_get_inc(), 1) or loop.for_is_degenerate():
        return False
    if _Op(loop.for_get_cond().op_get_type()) not in {_Op.le, _Op.lt}:
        return False
    for node in nodes_below(loop.for_get_body()):
        kind = kind_of(node)
        if kind == isl.ast_node_type.mark and Mark.of_id(node.mark_get_id()).kind not in _IDLE:
            return False
        if any(mentions(each, identifier) for each in _decisions(node)):
            return False
    names = [each.get_annotation().get_name() for each in users_below(loop)]
    return all(name in ast.instances and not ast.instances[name].never for name in names)


def _decisions(node: isl.AstNode) -> list[isl.AstExpr]:
    """The expressions that say whether, and how often, what is below ``node`` runs."""
    if kind_of(node) == IF:
        return [node.if_get_cond()]
    if kind_of(node) == FOR:
        first = [node.for_get_init()]
        return first if node.for_is_degenerate() else [*first, node.for_get_cond(), node.for_get_inc()]
    return []


def mentions(expression: isl.AstExpr, name: str) -> bool:
    """Whether what isl calls ``name`` is part of ``expression``."""
    kind = isl.ast_expr_type(expression.get_type())
    if kind == isl.ast_expr_type.id:
        return bool(expression.id_get_id().get_name() == name)
    if kind == isl.ast_expr_type.int:
        return False
    return any(mentions(expression.op_get_arg(each), name) for each in range(expression.op_get_n_arg()))
