"""Variables that take a few numbers in turn: periodic variables, as those that say which grid is which.

::

    int now = 0, next = 1;                        for (t = 0; t < steps; t++)
    for (t = 0; t < steps; t++) {          ->       u[(1 + t) % 2][i] = f(u[t % 2][i]);
      u[next][i] = f(u[now][i]);
      int kept = now; now = next; next = kept;
    }

However they are changed, by ``now = 1 - now``, ``now ^= 1``, ``now = (now + 1) % 3`` or a swap: that the
numbers come back is found by computing them.
(M. Wolfe, *Beyond induction variables*, PLDI 1992, section 4.2.)
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping

from pycparser import c_ast

from polybuild.c.basic_types import LONG_LONG
from polybuild.c.syntax_tree import key, replaced, walk
from polybuild.c.synthetic import EntryValue, number
from polybuild.c.types import IntegerType
from polybuild.effort import PERIOD
from polybuild.normalise.constant_values import constant_value
from polybuild.normalise.induction import BasicInductionVariable
from polybuild.normalise.names import Variable
from polybuild.normalise.state import PointerValue, SymbolicState, SymbolicValue
from polybuild.normalise.sums import Sum, sum_of, tree_of, wide_tree
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class Cycle:
    """The numbers that a variable takes in turn: ``first + step * k``, modulo ``period``, in iteration ``k``.

    The first is that before the loop; all are at least 0 and less than ``period``.
    """

    first: int
    step: int
    period: int


def cycles(
    before: Mapping[Variable, SymbolicValue],
    after: Mapping[Variable, SymbolicValue],
    marks: Mapping[Variable, EntryValue],
) -> dict[Variable, Cycle]:
    """Those of the variables of ``marks`` that take a few numbers in turn, as all does that they come from.

    They hold what is ``before`` the loop, and ``after`` an iteration that begins with the ``marks``.
    """
    places: dict[Variable, list[int]] = {}
    for each in marks:
        start = before.get(each)
        first = None if start is None or isinstance(start, PointerValue) else constant_value(start)
        if first is not None and isinstance(each.type, IntegerType):
            places[each] = [first]
    for _ in range(math.lcm(*range(2, PERIOD + 1))):  # after so many all that take numbers in turn begin anew
        now = {key(marks[each]): number(numbers[-1]) for each, numbers in places.items()}
        for each, numbers in list(places.items()):
            following = _following(after.get(each), now)
            if following is None:
                del places[each]
            else:
                numbers.append(following)
    found = {each: cycle for each, numbers in places.items() if (cycle := _cycle(numbers)) is not None}
    while True:
        others = {key(mark) for each, mark in marks.items() if each not in found}
        lasting = {each: cycle for each, cycle in found.items() if others.isdisjoint(_parts(after[each]))}
        if len(lasting) == len(found):
            return found
        found = lasting


def _parts(value: SymbolicValue) -> set[object]:
    """The keys of all that ``value`` is computed from."""
    return set() if value is None or isinstance(value, PointerValue) else set(map(key, walk(value)))


def _following(after: SymbolicValue, now: Mapping[object, c_ast.Node]) -> int | None:
    """The number that ``after`` is where variables are what they are ``now``, by the keys of their marks."""
    if after is None or isinstance(after, PointerValue):
        return None
    value = functools.reduce(lambda node, mark: replaced(node, mark, now[mark]), now, after)
    return constant_value(value)


def _cycle(numbers: list[int]) -> Cycle | None:
    for period in range(2, PERIOD + 1):
        step = (numbers[1] - numbers[0]) % period
        if step and all((numbers[0] + step * k) % period == each for k, each in enumerate(numbers)):
            return Cycle(numbers[0], step, period)
    return None


def in_cycle(
    before: SymbolicValue, cycle: Cycle, induction: BasicInductionVariable | None, state: SymbolicState
) -> SymbolicValue:
    """What a variable that is ``before`` the loop holds at the start of the counter's iteration."""
    if induction is None or abs(induction.step) != 1:
        return None
    way = sum_of(induction.counter, LONG_LONG, state.typing)
    way = way.plus(sum_of(induction.start, LONG_LONG, state.typing), -1).times(induction.step)
    return _after_rounds(before, cycle, way, state)


def after_cycle(
    before: SymbolicValue, cycle: Cycle, trips: c_ast.Node | None, state: SymbolicState
) -> SymbolicValue:
    """What it holds after the loop."""
    return (
        None if trips is None else _after_rounds(before, cycle, sum_of(trips, LONG_LONG, state.typing), state)
    )


def _after_rounds(before: SymbolicValue, cycle: Cycle, rounds: Sum, state: SymbolicState) -> SymbolicValue:
    kind = None if before is None or isinstance(before, PointerValue) else state.typing(before)
    if not isinstance(kind, IntegerType):
        return None
    walked = wide_tree(rounds.times(cycle.step).plus(Sum(cycle.first)), LONG_LONG, state.typing)
    place = c_ast.BinaryOp("%", walked, number(cycle.period))
    return tree_of(sum_of(place, LONG_LONG, state.typing), kind, state.typing)
