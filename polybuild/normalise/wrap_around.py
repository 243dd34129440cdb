"""Variables that hold what the iteration before has set them to: wrap-around variables, and flags.

::

    before = n - 1;                               for (i = 0; i < n; i++)
    for (i = 0; i < n; i++) {              ->       b[i] = a[i] - a[i == 0 ? n - 1 : i - 1];
      b[i] = a[i] - a[before];
      before = i;
    }
    first = 1;                                    for (i = 0; i < n; i++)
    for (i = 0; i < n; i++)                ->       if (i == 0) s = a[i];
      if (first) { s = a[i]; first = 0; }           else s += a[i];
      else s += a[i];

(M. Wolfe, *Beyond induction variables*, PLDI 1992, section 4.1.)
"""

from __future__ import annotations

from pycparser import c_ast

from polybuild.c.basic_types import LONG_LONG
from polybuild.c.syntax_tree import contains, duplicate, key, replaced
from polybuild.c.synthetic import EntryValue, number
from polybuild.c.types import IntegerType
from polybuild.normalise.constant_values import constant_value
from polybuild.normalise.induction import BasicInductionVariable
from polybuild.normalise.state import PointerValue, SymbolicState, SymbolicValue
from polybuild.normalise.sums import Sum, sum_of, tree_of


def settled_value(
    before: SymbolicValue, after: SymbolicValue, mark: EntryValue, state: SymbolicState
) -> c_ast.Node | None:
    """What an iteration leaves in a variable, whatever that held: as ``after`` says for a value ``mark``.

    ``before`` is the value before the loop, where it matters. None if it depends on more than the counters.
    """
    if before is None or after is None or isinstance(before, PointerValue) or isinstance(after, PointerValue):
        return None
    if state.typing(before) != state.typing(after) or not state.is_fixed(after):
        return None
    if not contains(after, type(mark)):
        return after
    if _is_taken_down(after, mark):
        return number(0)
    first = constant_value(before)
    once, twice = None, None
    if first is not None:
        once = constant_value(replaced(after, key(mark), number(first)))
    if once is not None:
        twice = constant_value(replaced(after, key(mark), number(once)))
    return number(once) if once is not None and once == twice else None


def _is_taken_down(after: c_ast.Node, flag: EntryValue) -> bool:
    """Whether ``after`` is ``flag ? 0 : flag``."""
    if not isinstance(after, c_ast.TernaryOp) or constant_value(after.iftrue) != 0:
        return False
    return key(after.cond) == key(flag) == key(after.iffalse)


def wrapped_at_iteration(
    before: c_ast.Node, settled: c_ast.Node, induction: BasicInductionVariable, state: SymbolicState
) -> c_ast.Node | None:
    """What a variable holds at the start of an iteration, where the one before left ``settled`` in it."""
    counter, step = induction.counter, induction.step
    if constant_value(before) in {0, 1} and constant_value(settled) == 1 - (constant_value(before) or 0):
        op = "!=" if constant_value(settled) else "=="
        return c_ast.BinaryOp(op, duplicate(counter), duplicate(induction.start), counter.coord)
    kind = state.typing(counter)
    if not isinstance(kind, IntegerType) or not kind.signed:
        return None
    previous = tree_of(sum_of(counter, kind, state.typing).plus(Sum(step), -1), kind, state.typing)
    first = c_ast.BinaryOp("==", duplicate(counter), duplicate(induction.start), counter.coord)
    return c_ast.TernaryOp(first, before, replaced(settled, key(counter), previous), counter.coord)


def wrapped_after(
    before: c_ast.Node,
    settled: c_ast.Node,
    induction: BasicInductionVariable | None,
    trips: c_ast.Node | None,
    state: SymbolicState,
) -> c_ast.Node | None:
    """What such a variable holds after the loop."""
    if trips is None or induction is None:
        return None
    counter, kind = induction.counter, state.typing(induction.counter)
    if not isinstance(kind, IntegerType) or not kind.signed:
        return None
    typing = state.typing
    rounds = trips.iftrue if isinstance(trips, c_ast.TernaryOp) else trips
    way = sum_of(rounds, LONG_LONG, typing).plus(Sum(1), -1).times(induction.step)
    last = tree_of(sum_of(induction.start, kind, typing).plus(way), kind, typing)
    some = trips.cond if isinstance(trips, c_ast.TernaryOp) else c_ast.BinaryOp(">", trips, number(0))
    return c_ast.TernaryOp(duplicate(some), replaced(settled, key(counter), last), before, counter.coord)
