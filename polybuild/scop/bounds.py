"""What is known of conditions and bounds that depend on data, without assuming anything."""

from __future__ import annotations

import islpy as isl
from pycparser import c_ast

from polybuild.c.conversions import WIDE, limits
from polybuild.c.syntax_tree import conjuncts
from polybuild.c.synthetic import BoundedEnd
from polybuild.c.types import IntegerType
from polybuild.diagnostics import Unsupported
from polybuild.normalise.names import Variable
from polybuild.poly import spaces
from polybuild.scop.assumptions import Assumptions, Violation
from polybuild.scop.expressions import Expressions
from polybuild.scop.facts import Facts
from polybuild.scop.program_point import ProgramPoint
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class Hull:
    """Values of a counter: ``tested`` holds those its loop tests, ``iterations`` those that run."""

    tested: isl.Set
    iterations: isl.Set


def affine_condition(
    node: c_ast.Node, point: ProgramPoint, facts: Facts, assumptions: Assumptions
) -> isl.Set | None:
    """Where the C condition holds, if that is affine and asks for no assumption, else None."""
    violations: list[Violation] = []
    try:
        chosen = Expressions(facts, "condition", violations).condition(node, point)
    except Unsupported:
        return None
    return None if any(assumptions.is_possible(each) for each in violations) else chosen


def counter_hull(
    node: c_ast.For,
    counter: Variable,
    point: ProgramPoint,
    facts: Facts,
    assumptions: Assumptions,
    *,
    direction: int | None = None,
) -> Hull:
    """A box around the values that the counter of a loop with dynamic bounds takes.

    Known are the limits of narrow types, a start value that is affine (the
    counter only moves away from it), and the affine parts of the condition. The
    ``direction`` it moves in is 1 or -1; it is read from a plain step if it is not given.
    """
    depth = point.depth
    tested = spaces.deepen_set(point.domain)
    value = spaces.dimension(depth + 1, depth)
    kind = counter.type
    if isinstance(kind, IntegerType):
        low, high = limits(kind)
        if low > -WIDE:
            tested = tested.intersect(value.ge_set(spaces.constant(depth + 1, low)))
        if high < WIDE - 1:
            tested = tested.intersect(value.le_set(spaces.constant(depth + 1, high)))
        first = _start(node, point, kind, facts, assumptions)
        direction = _direction(node) if direction is None else direction
        if first is not None and direction and kind.signed and kind.width >= 32:
            first = spaces.deepen(first)
            tested = tested.intersect(value.ge_set(first) if direction > 0 else value.le_set(first))
    if isinstance(node.cond, BoundedEnd):
        capacity = _value(node.cond.capacity, point, facts, assumptions)
        if capacity is not None:
            tested = tested.intersect(value.lt_set(spaces.deepen(capacity)))
    iterations = tested
    for conjunct in conjuncts(node.cond) if node.cond is not None else ():
        holds = affine_condition(conjunct, point.inside(counter, iterations), facts, assumptions)
        if holds is not None:
            iterations = iterations.intersect(holds)
    return Hull(tested, iterations)


def _start(
    node: c_ast.For, point: ProgramPoint, kind: IntegerType, facts: Facts, assumptions: Assumptions
) -> isl.PwAff | None:
    """The counter's first value, None if it is not affine."""
    init = node.init
    expression = init.rvalue if isinstance(init, c_ast.Assignment) else init.decls[0].init
    violations: list[Violation] = []
    if expression is None:
        return None
    try:
        first = Expressions(facts, "bound", violations).value(expression, point, kind)
    except Unsupported:
        return None
    return None if any(assumptions.is_possible(each) for each in violations) else first


def _value(node: c_ast.Node, point: ProgramPoint, facts: Facts, assumptions: Assumptions) -> isl.PwAff | None:
    """The value of ``node``, None if it is not affine, or only where something is assumed."""
    violations: list[Violation] = []
    try:
        found = Expressions(facts, "bound", violations).affine(node, point)
    except Unsupported:
        return None
    return None if any(assumptions.is_possible(each) for each in violations) else found.value


def _direction(node: c_ast.For) -> int:
    """1 if the counter goes up, -1 if it goes down, 0 if that is not plain."""
    step = node.next
    if isinstance(step, c_ast.UnaryOp):
        return 1 if "+" in step.op else -1
    if isinstance(step, c_ast.Assignment) and isinstance(step.rvalue, c_ast.Constant):
        return {"+=": 1, "-=": -1}.get(step.op, 0)
    return 0
