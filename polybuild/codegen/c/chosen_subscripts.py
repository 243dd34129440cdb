"""Subscripts that are chosen, and alike in all iterations of a loop: chosen once before it.

::

    for (j) u[i][j] = v[i == 0 ? n - 1 : i - 1][j];   ->   chosen = i == 0 ? n - 1 : i - 1;
                                                          for (j) u[i][j] = v[chosen][j];

Compilers would write the loop once for either side, and that again for each other choice in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polybuild.codegen.c.expressions import CHOICES
from polybuild.codegen.c.nodes import FOR, identifier_of, kind_of, mentions, nodes_below, users_below

if TYPE_CHECKING:
    from polybuild.codegen.c.ast import PrintedAst


def chosen_subscripts(loop: isl.AstNode, ast: PrintedAst, lanes: str | None = None) -> list[isl.AstExpr]:
    """The choices among subscripts that do not ask for the counter of ``loop``, which has no loops inside.

    Nor for the counter of a loop around in ``lanes``, of which each has another value.
    """
    if any(kind_of(each) == FOR for each in nodes_below(loop.for_get_body())):
        return []
    counters = [identifier_of(loop), *([lanes] if lanes is not None else [])]
    found: list[isl.AstExpr] = []
    for name in (each.get_annotation().get_name() for each in users_below(loop)):
        for _, at in ast.instances[name].accesses if name in ast.instances else ():
            for each in (at.op_get_arg(position) for position in range(1, at.op_get_n_arg())):
                if (
                    isl.ast_expr_type(each.get_type()) == isl.ast_expr_type.op
                    and isl.ast_expr_op_type(each.op_get_type()) in CHOICES
                    and not any(mentions(each, counter) for counter in counters)
                    and not any(each.is_equal(known) for known in found)
                ):
                    found.append(each)
    return found
