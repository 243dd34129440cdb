"""Conditions that cannot hold any more once a statement has assigned what they look at.

::

    if (!found && ...) found = 1;        if (where < 0 && ...) where = i;      for i from 0 on

A statement under one of them is done once: whatever comes later leaves its values as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import islpy as isl
from pycparser import c_ast

from polybuild.c.conversions import holds, limits, promoted
from polybuild.c.literals import integer_value
from polybuild.c.types import IntegerType
from polybuild.scop.model import Statement

_set = isl.dim_type.set
_Range = tuple[int | None, int | None]


def excludes_repetition(
    conditions: Sequence[c_ast.Node],
    assigned: Mapping[int, tuple[IntegerType, c_ast.Node]],
    statement: Statement,
    context: isl.Set,
) -> bool:
    """Whether one of ``conditions`` is false wherever ``statement`` has assigned its values.

    ``assigned`` has the type of the variable and the value of each node that stands for one, by identity;
    ``context`` is what is known of parameters. Only comparisons with constants are understood.
    """
    return any(_is_false(each, assigned, statement, context) for each in conditions)


def _is_false(
    condition: c_ast.Node,
    assigned: Mapping[int, tuple[IntegerType, c_ast.Node]],
    statement: Statement,
    context: isl.Set,
) -> bool:
    if isinstance(condition, c_ast.UnaryOp) and condition.op == "!":
        node, operator, constant = condition.expr, "==", 0
    elif isinstance(condition, c_ast.BinaryOp) and condition.op in _HOLDS:
        node, operator, other = condition.left, condition.op, _constant(condition.right)
        if other is None:
            node, operator, other = condition.right, _MIRRORED[operator], _constant(condition.left)
        if other is None:
            return False
        constant = other
    else:
        node, operator, constant = condition, "!=", 0
    if id(node) not in assigned:
        return False
    kind, value = assigned[id(node)]
    compared = promoted(kind)
    if not isinstance(compared, IntegerType) or not (
        compared.signed or (constant == 0 and operator in "!==")
    ):
        return False
    found = _range(value, kind, statement, context)
    return found is not None and not _HOLDS[operator](found, constant)


def _may_be_less(found: _Range, constant: int) -> bool:
    return found[0] is None or found[0] < constant


def _may_be_greater(found: _Range, constant: int) -> bool:
    return found[1] is None or found[1] > constant


def _may_be_no_greater(found: _Range, constant: int) -> bool:
    return found[0] is None or found[0] <= constant


def _may_be_no_less(found: _Range, constant: int) -> bool:
    return found[1] is None or found[1] >= constant


def _may_be_equal(found: _Range, constant: int) -> bool:
    return _may_be_no_greater(found, constant) and _may_be_no_less(found, constant)


def _may_differ(found: _Range, constant: int) -> bool:
    return found != (constant, constant)


_HOLDS: Mapping[str, Callable[[_Range, int], bool]] = {
    "<": _may_be_less,
    ">": _may_be_greater,
    "==": _may_be_equal,
    "<=": _may_be_no_greater,
    ">=": _may_be_no_less,
    "!=": _may_differ,
}
"""Whether a comparison of some value of a range with a constant may hold."""
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}


def _constant(node: c_ast.Node) -> int | None:
    if isinstance(node, c_ast.UnaryOp) and node.op == "-":
        value = _constant(node.expr)
        return None if value is None else -value
    return integer_value(node.value) if isinstance(node, c_ast.Constant) else None


def _range(value: c_ast.Node, kind: IntegerType, statement: Statement, context: isl.Set) -> _Range | None:
    """The least and the greatest number that ``value`` may be in a variable of ``kind``; None: unknown."""
    constant = _constant(value)
    minimum, maximum = limits(kind)
    if constant is not None:
        return (constant, constant) if minimum <= constant <= maximum else None
    for position, counter in enumerate(statement.iterators):
        if not isinstance(value, c_ast.ID) or value.name != counter.name:
            continue
        here = statement.domain.intersect_params(context)
        ends = [here.dim_min_val(position), here.dim_max_val(position)]
        low, high = (each.to_python() if each.is_int() else None for each in ends)
        fits = low is not None and high is not None and minimum <= low and high <= maximum
        fits_type = isinstance(counter.type, IntegerType) and holds(kind, counter.type)
        return (low, high) if fits or fits_type else None
    return None
