"""Variables that a condition sets, set in any case: to what the condition selects.

::

    for u: if (a[x + u] < m) m = a[x + u];    ->    for u: m = a[x + u] < m ? a[x + u] : m;

Nobody sees that a private variable is stored to once more, and then it may be kept in an element as any other
one that is certainly set (if-conversion: Allen, Kennedy, Porterfield and Warren, POPL 1983).
"""

from __future__ import annotations

from dataclasses import replace

from pycparser import c_ast

from polybuild.c.basic_types import DOUBLE
from polybuild.c.syntax_tree import duplicate, has_side_effect, single_statement, walk
from polybuild.c.synthetic import type_name
from polybuild.c.types import FloatingType
from polybuild.scop.duplicates import copied
from polybuild.scop.model import Access, AccessKind, Array, Scop, Statement


def with_selected_values(scop: Scop, array: Array) -> Scop | None:
    """``scop`` with the variable ``array`` set in any case; None if it is so, or cannot be."""
    statements = []
    for each in scop.statements:
        own = [access for access in each.accesses_to(array) if access.kind is AccessKind.MAY_WRITE]
        changed = _selecting(each, array) if own else each
        if changed is None:
            return None
        statements.append(changed)
    if all(one is other for one, other in zip(statements, scop.statements, strict=True)):
        return None
    return replace(scop, statements=tuple(statements))


def _selecting(statement: Statement, array: Array) -> Statement | None:
    """``statement``, which sets ``array`` under a condition and nothing else, with that as a choice."""
    body = statement.body
    if not isinstance(body, c_ast.If) or body.iffalse is not None or statement.dynamic:
        return None
    update = single_statement(body.iftrue)
    plain = isinstance(update, c_ast.Assignment) and update.op == "=" and isinstance(update.lvalue, c_ast.ID)
    if not plain or has_side_effect(body.cond) or has_side_effect(update.rvalue):
        return None
    written = [each for each in statement.accesses if each.node is update.lvalue]
    others = [each for each in statement.accesses if each.kind is not AccessKind.READ]
    if len(written) != 1 or len(others) != 1 or written[0].array is not array or not written[0].exact:
        return None
    new = copied(statement, statement.name, statement.domain)
    old = duplicate(update.lvalue)
    parts = dict(zip(map(id, walk(statement.body)), walk(new.body), strict=True))
    target, value, condition = (parts[id(each)] for each in (update.lvalue, update.rvalue, body.cond))
    if isinstance(array.element, FloatingType) and array.element.size < DOUBLE.size:
        # else what is kept would become a double and a number of its own type again
        value = c_ast.Cast(type_name(array.element), value, body.coord)
    chosen = c_ast.Assignment("=", target, c_ast.TernaryOp(condition, value, old, body.coord), body.coord)
    reads = tuple(each for each in new.accesses if each.kind is AccessKind.READ)
    (write,) = (each for each in new.accesses if each.kind is not AccessKind.READ)
    kept = Access(array, write.relation, AccessKind.READ, old)
    named = (*new.locals, (old, array)) if array.local else new.locals
    return replace(
        new,
        body=chosen,
        accesses=(*reads, kept, replace(write, kind=AccessKind.WRITE, within=None)),
        locals=named,
    )
