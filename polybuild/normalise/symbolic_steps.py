"""Loops that count in steps of a variable, counted by their iterations.

::

    while (p < end) {                         never(step <= 0);
      *p *= 2;                   ->           for (t = 0; t < (end - p' + step - 1) / step; t++)
      p += step;                                p'[step * t] *= 2;
    }

(``p'`` is the value on entry.) Where ``end`` is a number of steps away that is written down, as in
``p' + n * step``, there are as many iterations. With other steps the loop has no end, or one by chance.
"""

from __future__ import annotations

from functools import reduce

from pycparser import c_ast

from polybuild.c.basic_types import LONG_LONG
from polybuild.c.syntax_tree import duplicate, key, names_in
from polybuild.c.synthetic import StepCount, never, number
from polybuild.c.types import IntegerType
from polybuild.normalise.state import SymbolicState
from polybuild.normalise.sums import Sum, Term, factors_of, sum_of, wide_tree
from polybuild.values import dataclass

_UPWARDS = {"<", "<=", "!="}
_FLIPPED = {">": "<", ">=": "<=", "!=": "!="}
_REASON = '"a loop must count in steps that are positive"'


@dataclass(frozen=True, slots=True)
class SymbolicStep:
    """A step of ``size``, more than 0, ``upwards`` or down."""

    size: Sum
    upwards: bool

    def is_not_positive(self, state: SymbolicState, node: c_ast.Node) -> c_ast.Node:
        """What must never hold."""
        size = wide_tree(self.size, LONG_LONG, state.typing)
        return never(c_ast.BinaryOp("<=", size, number(0), node.coord), _REASON)

    def condition(
        self, cond: c_ast.Node | None, counter: c_ast.ID, state: SymbolicState
    ) -> c_ast.Node | None:
        """``cond`` as a comparison of ``counter``, which counts iterations; None if it is none."""
        if not isinstance(cond, c_ast.BinaryOp) or not all(_is_signed(each, state) for each in cond):
            return None
        left, right = (sum_of(each, LONG_LONG, state.typing) for each in (cond.left, cond.right))
        difference = left.plus(right, -1)
        way = [each for each in difference.terms.values() if counter.name in names_in(each.node)]
        if len(way) != 1 or abs(way[0].factor) != 1 or not self._is_way(way[0], counter, state):
            return None
        rest = difference.plus(Sum(0, {key(way[0].node): way[0]}), -1)
        # the size may be negative in the product: its sign is that of the direction
        rises = (way[0].factor > 0) == self.upwards
        op = cond.op if rises else _FLIPPED.get(cond.op)
        if op not in _UPWARDS or not all(state.is_fixed(each.node) for each in rest.terms.values()):
            return None
        return self._limited(op, rest.times(-1 if rises else 1), counter, state)

    def _is_way(self, term: Term, counter: c_ast.ID, state: SymbolicState) -> bool:
        """Whether ``term`` is the product of the counter and the step."""
        step = self.size.times(1 if self.upwards else -1)
        return any(
            sum_of(one, LONG_LONG, state.typing).coefficient(counter) == 1
            and sum_of(other, LONG_LONG, state.typing).plus(step, -1).number == 0
            for one, other in factors_of(term.node)
        )

    def _limited(self, op: str, end: Sum, counter: c_ast.ID, state: SymbolicState) -> c_ast.Node | None:
        """``size * counter op end`` as ``counter op`` a number of steps."""
        steps = self._steps_to(end, state)
        if steps is not None:
            limit = wide_tree(steps, LONG_LONG, state.typing)
            return c_ast.BinaryOp("<" if op == "!=" else op, duplicate(counter), limit, counter.coord)
        if op == "!=":
            return None
        beyond = end.plus(self.size).plus(Sum(-1 if op == "<" else 0))
        way, size = (wide_tree(each, LONG_LONG, state.typing) for each in (beyond, self.size))
        if any(name in state.counters for each in (way, size) for name in names_in(each)):
            return None
        # where the step is none, nobody counts, but this is computed
        size = c_ast.TernaryOp(c_ast.BinaryOp(">", size, number(0)), duplicate(size), number(1))
        return c_ast.BinaryOp(
            "<", duplicate(counter), StepCount("/", way, size, counter.coord), counter.coord
        )

    def _steps_to(self, way: Sum, state: SymbolicState) -> Sum | None:
        """How many steps ``way`` is; None if that is not written down."""
        if way.constant or (way.number is None and self.size.number is not None):
            return None
        parts = [self._part(each, state) for each in way.terms.values()]
        known = [each for each in parts if each is not None]
        return reduce(Sum.plus, known, Sum()) if len(known) == len(parts) else None

    def _part(self, term: Term, state: SymbolicState) -> Sum | None:
        whole = Sum(0, {key(term.node): term})
        for count in (1, -1):
            if whole.plus(self.size, -count).number == 0:
                return Sum(count)
        for one, other in factors_of(term.node) if _is_signed(term.node, state) else ():
            if sum_of(other, LONG_LONG, state.typing).plus(self.size, -1).number == 0:
                return sum_of(one, LONG_LONG, state.typing).times(term.factor)
        return None


def _is_signed(node: c_ast.Node, state: SymbolicState) -> bool:
    """Whether ``node`` is an integer that does not wrap around."""
    kind = state.typing(node)
    return isinstance(kind, IntegerType) and kind.signed


def symbolic_step(increment: Sum, state: SymbolicState) -> SymbolicStep | None:
    """The step of a variable that changes by ``increment`` each time, which the region leaves alone."""
    terms = list(increment.terms.values())
    if len(terms) != 1 or increment.constant or not state.is_fixed(terms[0].node):
        return None
    upwards = terms[0].factor > 0
    return SymbolicStep(increment.times(1 if upwards else -1), upwards)
