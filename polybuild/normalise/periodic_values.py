"""Variables that take a few numbers in turn: periodic variables, as those that say which grid is which.

::

    int now = 0, next = 1;                        for (t = 0; t < steps; t++)
    for (t = 0; t < steps; t++) {          ->       u[(1 + t) % 2][i] = f(u[t % 2][i]);
      u[next][i] = f(u[now][i]);
      int kept = now; now = next; next = kept;
    }

However they are changed, by ``now = 1 - now``, ``now ^= 1``, ``now = (now + 1) % 3`` or a swap: that the
numbers come back is found by computing them. They may start at what another one of them is (``isw = jsw``,
of red and black points in rows), as what that takes in turn is known.
(M. Wolfe, *Beyond induction variables*, PLDI 1992, section 4.2.)
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pycparser import c_ast

from polybuild.c.basic_types import LONG_LONG
from polybuild.c.syntax_tree import key, replaced, walk
from polybuild.c.synthetic import EntryValue, ExactCast, Residue, number
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
    """The numbers from ``minimum`` to less than ``minimum + period``, which a variable takes in turn.

    In iteration ``k`` it is ``minimum + (first - minimum + step * k) % period``, where ``first`` is what it
    is before the loop; None if that is one of the numbers, but no constant.
    """

    first: int | None
    step: int
    period: int
    minimum: int = 0


def cycles(
    before: Mapping[Variable, SymbolicValue],
    after: Mapping[Variable, SymbolicValue],
    marks: Mapping[Variable, EntryValue],
) -> dict[Variable, Cycle]:
    """Those of the variables of ``marks`` that take a few numbers in turn, as all does that they come from.

    They hold what is ``before`` the loop, and ``after`` an iteration that begins with the ``marks``.
    """
    starts = {each: _possible(before.get(each)) for each in marks if isinstance(each.type, IntegerType)}
    starts = {each: numbers for each, numbers in starts.items() if numbers}
    if math.prod(map(len, starts.values())) > PERIOD**2:
        starts = {each: numbers for each, numbers in starts.items() if len(numbers) == 1}
    alike: dict[Variable, set[Cycle | None]] = {each: set() for each in starts}
    for numbers in itertools.product(*starts.values()):
        found = _cycles_from(dict(zip(starts, numbers, strict=True)), after, marks)
        for each, cycles_of in alike.items():
            cycle = found.get(each)
            cycles_of.add(cycle if cycle is None or len(starts[each]) == 1 else replace(cycle, first=None))
    one = {each: next(iter(found)) for each, found in alike.items() if len(found) == 1}
    return _lasting({each: cycle for each, cycle in one.items() if cycle is not None}, after, marks)


def _possible(start: SymbolicValue) -> Sequence[int]:
    """The numbers that ``start`` may be, which are a constant or what another variable takes in turn."""
    if start is None or isinstance(start, PointerValue):
        return ()
    number_alone = constant_value(start)
    if number_alone is not None:
        return (number_alone,)
    match start:
        case ExactCast():
            return _possible(start.expr)
        case Residue():
            period = constant_value(start.right)
            return () if period is None else range(period)
        case c_ast.BinaryOp(op="+", right=c_ast.Constant()):
            minimum = constant_value(start.right)
            return () if minimum is None else [minimum + each for each in _possible(start.left)]
    return ()


def _cycles_from(
    first: Mapping[Variable, int],
    after: Mapping[Variable, SymbolicValue],
    marks: Mapping[Variable, EntryValue],
) -> dict[Variable, Cycle]:
    """The cycles of variables that are ``first``."""
    places = {each: [start] for each, start in first.items()}
    for _ in range(math.lcm(*range(2, PERIOD + 1))):  # after so many all that take numbers in turn begin anew
        now = {key(marks[each]): number(numbers[-1]) for each, numbers in places.items()}
        for each, numbers in list(places.items()):
            following = _following(after.get(each), now)
            if following is None:
                del places[each]
            else:
                numbers.append(following)
    return {each: cycle for each, numbers in places.items() if (cycle := _cycle(numbers)) is not None}


def _lasting(
    found: dict[Variable, Cycle],
    after: Mapping[Variable, SymbolicValue],
    marks: Mapping[Variable, EntryValue],
) -> dict[Variable, Cycle]:
    """Those ``found`` that come from no other variables of ``marks``."""
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
    minimum = min(numbers)
    first = numbers[0] - minimum
    for period in range(2, PERIOD + 1):
        step = (numbers[1] - numbers[0]) % period
        if step and all((first + step * k) % period == each - minimum for k, each in enumerate(numbers)):
            return Cycle(numbers[0], step, period, minimum)
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
    typing = state.typing
    first = sum_of(before, LONG_LONG, typing) if cycle.first is None else Sum(cycle.first)
    walked = wide_tree(rounds.times(cycle.step).plus(first).plus(Sum(-cycle.minimum)), LONG_LONG, typing)
    place = Residue("%", walked, number(cycle.period))
    return tree_of(sum_of(place, LONG_LONG, typing).plus(Sum(cycle.minimum)), kind, typing)
