"""Switches that do nothing but jump, as conditions that jump.

::

    switch (kind[i]) {                          if (kind[i] == 1) goto first;
    case 1: goto first;             ->          else if (kind[i] == 2) goto second;
    case 2: goto second;                        else goto third;
    default: goto third;
    }

``GO TO (10, 20, 30), K`` of Fortran becomes such a switch in C.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycparser import c_ast

from polybuild.c.basic_types import INT
from polybuild.c.literals import integer_value
from polybuild.c.syntax_tree import duplicate, has_side_effect
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class _Row:
    """What a switch does for ``values``, None for all others: ``jump``, or nothing."""

    values: tuple[c_ast.Node, ...] | None
    jump: c_ast.Goto | None


def as_jumping_conditions(node: c_ast.Node) -> c_ast.Node:
    """``node`` as conditions under which it jumps, if it is a switch that does that; else itself."""
    if not isinstance(node, c_ast.Switch) or has_side_effect(node.cond):
        return node
    rows = _rows(node)
    if rows is None:
        return node
    otherwise: c_ast.Node | None = next((each.jump for each in rows if each.values is None), None)
    for row in reversed([each for each in rows if each.values is not None]):
        tests = [c_ast.BinaryOp("==", duplicate(node.cond), value, value.coord) for value in row.values or ()]
        condition = tests[0]
        for test in tests[1:]:
            condition = c_ast.BinaryOp("||", condition, test, test.coord)
        jump = row.jump or c_ast.EmptyStatement(node.coord)
        otherwise = c_ast.If(condition, jump, otherwise, node.coord)
    return otherwise or node


def _rows(node: c_ast.Switch) -> list[_Row] | None:
    """The rows of the table, None where it does more than jump."""
    items = node.stmt.block_items if isinstance(node.stmt, c_ast.Compound) else None
    rows: list[_Row] = []
    values: list[c_ast.Node] = []
    default = False
    for item in items or ():
        if not isinstance(item, c_ast.Case | c_ast.Default):
            return None
        if isinstance(item, c_ast.Default):
            default = True
        elif not _is_plain(item.expr):
            return None
        else:
            values.append(item.expr)
        if not item.stmts:
            continue
        last = _single(item.stmts)
        if last is None:
            return None
        rows.append(_Row(None if default else tuple(values), last if isinstance(last, c_ast.Goto) else None))
        values, default = [], False
    return None if values or default or not any(each.jump for each in rows) else rows


def _single(statements: Sequence[c_ast.Node]) -> c_ast.Goto | c_ast.Break | None:
    """The jump that is all that ``statements`` do, None if they do something else."""
    while len(statements) == 1 and isinstance(statements[0], c_ast.Compound):
        statements = statements[0].block_items or ()
    first = statements[0] if statements else None
    alone = all(isinstance(each, c_ast.Break) for each in statements[1:])
    return first if alone and isinstance(first, c_ast.Goto | c_ast.Break) else None


def _is_plain(value: c_ast.Node) -> bool:
    """Whether ``value`` is the same number in each type that a switch may be over."""
    if isinstance(value, c_ast.Constant):
        found = integer_value(value.value)
        return value.type == "char" or (found is not None and found < 1 << (INT.width - 1))
    return isinstance(value, c_ast.ID)  # an enumerator, which is an int
