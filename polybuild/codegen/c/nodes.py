"""The nodes of isl's AST, whatever their kind."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

# islpy's stubs lack the two names that are words of Python
FOR = isl.ast_node_type(getattr(isl.ast_node_type, "for_"))  # noqa: B009
IF = isl.ast_node_type(getattr(isl.ast_node_type, "if_"))  # noqa: B009


def kind_of(node: isl.AstNode) -> isl.ast_node_type:
    """What ``node`` is."""
    kind = node.get_type()
    return kind if isinstance(kind, isl.ast_node_type) else isl.ast_node_type(kind)


def is_loop(node: isl.AstNode) -> bool:
    """Whether ``node`` is written as a loop: it may run more than once."""
    return kind_of(node) == FOR and not node.for_is_degenerate()


def parts(node: isl.AstNode) -> list[isl.AstNode]:
    """The nodes right below ``node``, in the order they run: body, branches, what is marked, statements."""
    kind = kind_of(node)
    if kind == FOR:
        return [node.for_get_body()]
    if kind == IF:
        below = [node.if_get_then_node()]
        return [*below, node.if_get_else_node()] if node.if_has_else_node() else below
    if kind == isl.ast_node_type.mark:
        return [node.mark_get_node()]
    if kind == isl.ast_node_type.block:
        nodes = node.block_get_children()
        return [nodes.get_at(index) for index in range(nodes.n_ast_node())]
    return []


def nodes_below(node: isl.AstNode) -> Iterator[isl.AstNode]:
    """``node`` and all nodes below it, outer ones first, in the order they run."""
    pending = [node]
    while pending:
        each = pending.pop()
        yield each
        pending += reversed(parts(each))


def users_below(node: isl.AstNode) -> Iterator[isl.AstNode]:
    """The statement instances at and below ``node``."""
    return (each for each in nodes_below(node) if kind_of(each) == isl.ast_node_type.user)


def identifier_of(loop: isl.AstNode) -> str:
    """What isl calls the counter of ``loop``."""
    return str(loop.for_get_iterator().id_get_id().get_name())


def called_by(user: isl.AstNode) -> str:
    """The name of the statement that ``user`` is an instance of."""
    return str(user.user_get_expr().op_get_arg(0).id_get_id().get_name())


def annotated_name(node: isl.AstNode) -> str:
    """The name by which ``node`` was remembered when it was built; empty if it was not."""
    annotation = node.get_annotation()
    return str(annotation.get_name()) if annotation is not None else ""


def surely_runs(loop: isl.AstNode) -> bool:
    """Whether ``loop`` has an iteration, as its bounds are numbers."""
    if loop.for_is_degenerate():
        return True
    bounds = loop.for_get_init(), loop.for_get_cond().op_get_arg(1)
    if not all(isl.ast_expr_type(each.get_type()) == isl.ast_expr_type.int for each in bounds):
        return False
    first, last = (each.int_get_val() for each in bounds)
    return bool(first.lt(last))


def mentions(expression: isl.AstExpr, name: str) -> bool:
    """Whether what isl calls ``name`` is part of ``expression``."""
    kind = isl.ast_expr_type(expression.get_type())
    if kind == isl.ast_expr_type.id:
        return bool(expression.id_get_id().get_name() == name)
    if kind == isl.ast_expr_type.int:
        return False
    return any(mentions(expression.op_get_arg(each), name) for each in range(expression.op_get_n_arg()))


def statements_in_a_row(node: isl.AstNode) -> list[isl.AstNode]:
    """The statements that ``node`` is, one after the other; none if there are loops or conditions in it."""
    if kind_of(node) == isl.ast_node_type.user:
        return [node]
    if kind_of(node) not in {isl.ast_node_type.block, isl.ast_node_type.mark}:
        return []
    found = [statements_in_a_row(each) for each in parts(node)]
    return [each for part in found for each in part] if all(found) else []


def flat(node: isl.AstNode) -> Iterator[isl.AstNode]:
    """The nodes of a block, those of blocks in it among them."""
    for each in parts(node):
        if kind_of(each) == isl.ast_node_type.block:
            yield from flat(each)
        else:
            yield each
