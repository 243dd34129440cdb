"""Counted loops whose bounds depend on data (Zhao, Kruse, Cohen, CC 2018, "program analysis").

Such a loop gets a dimension of its own with a static range, and each statement
inside an exit predicate. The counter keeps its values: subtracting the lower
bound, as the paper does, would make subscripts like ``val[j]`` depend on data.

::

    for (j = row[i]; j < row[i + 1]; j++)          0 <= i < n, j_from <= j <= j_to:
      S(i, j);                                       if (j >= row[i] && j < row[i + 1]) S(i, j);

The static range is what is known of the counter, and else the limits of its
type. Where a target writes the loop with its own bounds again, no range matters.
"""

from __future__ import annotations

import islpy as isl
from pycparser import c_ast

from polybuild.c.conversions import holds
from polybuild.c.syntax_tree import has_side_effect, location, walk
from polybuild.c.synthetic import number, type_name
from polybuild.c.types import IntegerType, Type
from polybuild.c.typing import type_of
from polybuild.diagnostics import Unsupported
from polybuild.poly import spaces
from polybuild.scop.assumptions import Assumptions, Violation
from polybuild.scop.bounds import counter_hull
from polybuild.scop.expressions import Expressions
from polybuild.scop.facts import Facts
from polybuild.scop.loops import amount_of, constant_step, counter_type, start_of
from polybuild.scop.model import DynamicLoop
from polybuild.scop.program_point import ProgramPoint

_dim = isl.dim_type
_INT = 32  # the width of int, to which narrower types are promoted
_WIDEST = IntegerType("long long", 64, signed=True)
_ENDS = {"<": 1, "<=": 1, ">": -1, ">=": -1}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def read_dynamic_loop(
    node: c_ast.For, point: ProgramPoint, facts: Facts, assumptions: Assumptions, violations: list[Violation]
) -> DynamicLoop | None:
    """The loop ``node`` inside another one, None if its header is not such a loop's.

    A loop with affine bounds and a stride that is no constant is one anywhere, if its
    stride is positive: ``violations`` has where it is not. Raises Unsupported for
    counters that no loop of a region may have.
    """
    counter = facts.names.iterators.get(node)
    if counter is None or not isinstance(node.cond, c_ast.BinaryOp):
        return None
    kind = counter_type(counter, node, point, facts)
    stride = None
    try:
        start = start_of(node)
        step, stride = _step(node, point, facts, kind, violations)
    except Unsupported:
        return None
    limit = _limit(node.cond, counter.name, step, kind, facts)
    first_type = _type(start, facts)
    if limit is None or first_type is None or (stride is None and not point.depth):
        return None
    if any(_is_unstable(each, counter.name) for each in (start, limit, stride) if each is not None):
        return None
    if stride is not None and not kind.signed and kind.width < _WIDEST.width:
        violation = _wrapping((limit, stride), node, point, facts, kind)
        if violation is None:
            return None
        violations.append(violation)
    if not holds(kind, first_type):
        start = c_ast.Cast(type_name(kind), start, start.coord)
    domain = counter_hull(
        node, counter, point, facts, assumptions, direction=1 if step > 0 else -1
    ).iterations
    bounded = [
        domain.dim_has_lower_bound(_dim.set, point.depth),
        domain.dim_has_upper_bound(_dim.set, point.depth),
    ]
    if not all(bounded):
        low, high = facts.parameters.range(counter, kind, point.depth + 1)
        value = spaces.dimension(point.depth + 1, point.depth)
        domain = domain if bounded[0] else domain.intersect(value.ge_set(low))
        domain = domain if bounded[1] else domain.intersect(value.le_set(high))
    predicate = _predicate(node.cond, counter.name, start, step, stride)
    return DynamicLoop(node, point.depth, step, start, limit, predicate, domain.coalesce(), stride)


def _step(
    node: c_ast.For, point: ProgramPoint, facts: Facts, kind: IntegerType, violations: list[Violation]
) -> tuple[int, c_ast.Node | None]:
    """The constant step; or its sign, and the expression of its amount. Raises Unsupported."""
    try:
        return constant_step(node, facts, []), None
    except Unsupported as refusal:
        sign, amount = amount_of(node)
        bound = None if amount is None else _type(amount, facts)
        if refusal.diagnostic.code != "non-constant-stride" or bound is None:
            raise
        if kind.width < _INT or not holds(kind, bound):
            raise
        value = Expressions(facts, "stride", violations).value(amount, point)
        violations.append(
            Violation(
                value.neg().nonneg_set(),
                point.domain,
                "non-constant-stride",
                "the loop's stride must be positive",
                location(node),
                "count in the direction of the loop's condition",
            )
        )
        return sign, amount


def _wrapping(
    parts: tuple[c_ast.Node, c_ast.Node],
    node: c_ast.For,
    point: ProgramPoint,
    facts: Facts,
    kind: IntegerType,
) -> Violation | None:
    """That a step beyond the limit of the loop ``node``, ``parts`` together, does not fit ``kind``.

    None where the limit is not known. No two values that fit a signed type of 64 bits are too large for one
    without sign.
    """
    found: list[Violation] = []
    try:
        limit, stride = (Expressions(facts, "bound", found).value(each, point) for each in parts)
    except Unsupported:
        return None
    beyond = limit.add(stride).gt_set(spaces.constant(point.depth, 1 << kind.width))
    reason = f"the loop counter must stay within '{kind.name}'"
    return Violation(beyond, point.domain, "integer-wrap", reason, location(node), "", wide=True)


def _limit(
    condition: c_ast.BinaryOp, name: str, step: int, kind: IntegerType, facts: Facts
) -> c_ast.Node | None:
    """What ends the loop as C compares it with the counter, None if it is not one value compared so.

    Unsigned counters must not wrap, and signed ones must not be converted to unsigned.
    """
    op, limit = condition.op, condition.right
    if not _is_counter(condition.left, name):
        op, limit = _MIRRORED.get(op, ""), condition.left
        if not _is_counter(condition.right, name):
            return None
    if _ENDS.get(op, 0) * step <= 0:
        return None
    bound = _type(limit, facts)
    if bound is None:
        return None
    if not kind.signed:
        return limit if op == "<" and step == 1 else None
    promoted = max(32, kind.width)
    return limit if bound.signed or bound.width < promoted else None


def _is_counter(node: c_ast.Node, name: str) -> bool:
    return isinstance(node, c_ast.ID) and node.name == name


def _is_unstable(bound: c_ast.Node, counter: str) -> bool:
    """Whether the value of ``bound`` may differ from one evaluation to the next, other writes aside."""
    return has_side_effect(bound) or any(_is_counter(each, counter) for each in walk(bound))


def _type(node: c_ast.Node, facts: Facts) -> IntegerType | None:
    symbols: dict[str, Type] = {each.name: each.type for each in facts.names.variables_in(node)}
    kind = type_of(node, symbols, facts.region.visible)
    return kind if isinstance(kind, IntegerType) else None


def _predicate(
    condition: c_ast.Node, name: str, start: c_ast.Node, step: int, stride: c_ast.Node | None
) -> c_ast.Node:
    """Whether the loop runs with the counter's value."""
    counter = c_ast.ID(name, start.coord)
    begun = c_ast.BinaryOp(">=" if step > 0 else "<=", counter, start, start.coord)
    predicate = c_ast.BinaryOp("&&", begun, condition, condition.coord)
    if stride is None and abs(step) == 1:
        return predicate
    distance = c_ast.BinaryOp("-", c_ast.Cast(type_name(_WIDEST), counter), start, start.coord)
    rest = c_ast.BinaryOp("%", distance, stride or number(abs(step)), start.coord)
    return c_ast.BinaryOp("&&", predicate, c_ast.BinaryOp("==", rest, number(0)), condition.coord)
