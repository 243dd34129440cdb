"""Arithmetic of loops: what a variable holds after some iterations, and how many there are.

With a counter from ``s`` in steps of ``d``, a variable that starts as ``v`` and
grows by ``c`` holds ``v + c * ((i - s) / d)`` at the start of iteration ``i``, and
``v + c * trips`` after the loop.
"""

from __future__ import annotations

from collections.abc import Callable

from pycparser import c_ast

from polybuild.c import types
from polybuild.c.basic_types import LONG_LONG
from polybuild.c.conversions import promoted_integer
from polybuild.c.syntax_tree import NEGATED, has_side_effect, key, names_in
from polybuild.c.synthetic import number
from polybuild.normalise.state import PointerValue, SymbolicState, SymbolicValue
from polybuild.normalise.sums import Sum, sum_of, tree_of, wide_tree
from polybuild.values import dataclass

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}


@dataclass(frozen=True, slots=True)
class BasicInductionVariable:
    """A counter that goes from ``start`` in steps of ``step``, which is not 0."""

    counter: c_ast.ID
    start: c_ast.Node
    step: int


def at_iteration(
    value: SymbolicValue,
    increment: Sum | None,
    induction: BasicInductionVariable | None,
    state: SymbolicState,
) -> SymbolicValue:
    """What a variable with ``value`` before the loop holds at the start of the counter's iteration."""
    if value is None or increment is None or induction is None:
        return None
    typing = state.typing
    way = sum_of(induction.counter, LONG_LONG, typing).plus(sum_of(induction.start, LONG_LONG, typing), -1)
    change, step = increment.number, induction.step
    if change is not None and change % step == 0:
        return _plus(value, lambda _: way.times(change // step), state)
    if abs(step) == 1:
        return _grown(value, increment, way.times(step), state)
    rounds = c_ast.BinaryOp("/", wide_tree(way, LONG_LONG, typing), number(step))
    return _grown(value, increment, sum_of(rounds, LONG_LONG, typing), state)


def after_loop(
    value: SymbolicValue, increment: Sum | None, trips: c_ast.Node | None, state: SymbolicState
) -> SymbolicValue:
    """What a variable with ``value`` before the loop holds after it."""
    if value is None or increment is None or trips is None:
        return None
    return _grown(value, increment, sum_of(trips, LONG_LONG, state.typing), state)


def _grown(value: SymbolicValue, increment: Sum, rounds: Sum, state: SymbolicState) -> SymbolicValue:
    """``value + increment * rounds``."""
    change = increment.number
    if change is not None:
        return _plus(value, lambda _: rounds.times(change), state)
    if rounds.number is not None:
        factor = rounds.number
        return _plus(value, lambda _: increment.times(factor), state)

    def product(wide: types.IntegerType) -> Sum:
        left, right = wide_tree(increment, wide, state.typing), wide_tree(rounds, wide, state.typing)
        return sum_of(c_ast.BinaryOp("*", left, right), wide, state.typing)

    return _plus(value, product, state)


def _plus(
    value: SymbolicValue, change: Callable[[types.IntegerType], Sum], state: SymbolicState
) -> SymbolicValue:
    """``value`` plus what ``change`` gives for arithmetic in a type."""
    if isinstance(value, PointerValue):
        return PointerValue(value.base, value.offset.plus(change(LONG_LONG)))
    kind = state.typing(value) if value is not None else None
    if value is None or not isinstance(kind, types.IntegerType):
        return None
    wide = LONG_LONG if kind.signed or kind.width < 32 else kind
    return tree_of(sum_of(value, kind, state.typing).plus(change(wide)), kind, state.typing)


def trip_count(
    cond: c_ast.Node | None, induction: BasicInductionVariable, state: SymbolicState
) -> c_ast.Node | None:
    """How often a loop runs while ``cond`` holds, as an expression of type ``long long``; None if unknown.

    It is ``end > start ? end - start : 0``, or a number, or the difference alone
    for ``!=``, whose loops have no end if they miss it.
    """
    read = end_of(cond, induction, state)
    if read is None:
        return None
    op, end = read
    start, step = sum_of(induction.start, LONG_LONG, state.typing), induction.step
    if op == "!=":
        if abs(step) != 1:
            return None
        return wide_tree(end.plus(start, -1).times(step), LONG_LONG, state.typing)
    if (op in {"<", "<="}) != (step > 0):
        return None
    way = end.plus(start, -1).times(1 if step > 0 else -1).plus(Sum(int(op in {"<=", ">="})))
    if way.number is not None:
        return wide_tree(Sum(max(0, -(-way.number // abs(step)))), LONG_LONG, state.typing)
    rounds = wide_tree(way, LONG_LONG, state.typing)
    if abs(step) > 1:
        upwards = wide_tree(way.plus(Sum(abs(step) - 1)), LONG_LONG, state.typing)
        rounds = c_ast.BinaryOp("/", upwards, number(abs(step)))
    some = c_ast.BinaryOp(">", wide_tree(way, LONG_LONG, state.typing), number(0))
    return c_ast.TernaryOp(some, rounds, wide_tree(Sum(), LONG_LONG, state.typing))


def end_of(
    cond: c_ast.Node | None, induction: BasicInductionVariable, state: SymbolicState, *, fixed: bool = True
) -> tuple[str, Sum] | None:
    """``cond`` as ``counter op end``, with an end that is ``fixed`` if that is wanted."""
    if isinstance(cond, c_ast.ID) and cond.name == induction.counter.name:
        cond = c_ast.BinaryOp("!=", cond, number(0))
    cond = _without_negation(cond)
    if not isinstance(cond, c_ast.BinaryOp) or cond.op not in _FLIPPED:
        return None
    if not _compares_values(cond, induction, state):
        return None
    left, right = (sum_of(each, LONG_LONG, state.typing) for each in (cond.left, cond.right))
    difference, op = left.plus(right, -1), cond.op
    if difference.coefficient(induction.counter) == -1:
        difference, op = difference.times(-1), _FLIPPED[op]
    if difference.coefficient(induction.counter) != 1:
        return None
    own = sum_of(induction.counter, LONG_LONG, state.typing)
    end = own.plus(difference, -1)
    for term in end.terms.values():
        if induction.counter.name in names_in(term.node) or has_side_effect(term.node):
            return None
        if fixed and not state.is_fixed(term.node):
            return None
    return op, end


def _without_negation(cond: c_ast.Node | None) -> c_ast.Node | None:
    """``cond`` as the opposite comparison where it is that a comparison does not hold."""
    inner = cond.expr if isinstance(cond, c_ast.UnaryOp) and cond.op == "!" else None
    if not isinstance(inner, c_ast.BinaryOp) or inner.op not in NEGATED:
        return cond
    return c_ast.BinaryOp(NEGATED[inner.op], inner.left, inner.right, inner.coord)


def _compares_values(cond: c_ast.BinaryOp, induction: BasicInductionVariable, state: SymbolicState) -> bool:
    """Whether no operand of the comparison is negative where C converts it to an unsigned type."""
    found = [state.typing(each) for each in (cond.left, cond.right)]
    kinds = [promoted_integer(each) for each in found if isinstance(each, types.IntegerType)]
    if len(kinds) < 2:
        return False
    if kinds[0].signed == kinds[1].signed:
        return True
    signed, other = (0, 1) if kinds[0].signed else (1, 0)
    if kinds[signed].width > kinds[other].width:
        return True
    side = (cond.left, cond.right)[signed]
    value = sum_of(side, LONG_LONG, state.typing)
    if value.number is not None:
        return value.number >= 0
    start = sum_of(induction.start, LONG_LONG, state.typing).number
    counts_up = start is not None and start >= 0 and induction.step > 0
    return counts_up and key(side) == key(induction.counter)
