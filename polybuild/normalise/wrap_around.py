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

import functools
import operator
from collections.abc import Callable

from pycparser import c_ast

from polybuild.c.basic_types import LONG_LONG
from polybuild.c.literals import integer_value
from polybuild.c.syntax_tree import contains, duplicate, key, replaced
from polybuild.c.synthetic import EntryValue, ExactCast, number
from polybuild.c.types import IntegerType
from polybuild.normalise.induction import BasicInductionVariable
from polybuild.normalise.state import PointerValue, SymbolicState, SymbolicValue
from polybuild.normalise.sums import Sum, sum_of, tree_of

_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


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
    first = _constant(before)
    once, twice = None, None
    if first is not None:
        once = _constant(replaced(after, key(mark), number(first)))
    if once is not None:
        twice = _constant(replaced(after, key(mark), number(once)))
    return number(once) if once is not None and once == twice else None


def _is_taken_down(after: c_ast.Node, flag: EntryValue) -> bool:
    """Whether ``after`` is ``flag ? 0 : flag``."""
    if not isinstance(after, c_ast.TernaryOp) or _constant(after.iftrue) != 0:
        return False
    return key(after.cond) == key(flag) == key(after.iffalse)


def wrapped_at_iteration(
    before: c_ast.Node, settled: c_ast.Node, induction: BasicInductionVariable, state: SymbolicState
) -> c_ast.Node | None:
    """What a variable holds at the start of an iteration, where the one before left ``settled`` in it."""
    counter, step = induction.counter, induction.step
    if _constant(before) in {0, 1} and _constant(settled) == 1 - (_constant(before) or 0):
        op = "!=" if _constant(settled) else "=="
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


def _constant(node: c_ast.Node) -> int | None:
    """The value of an integer expression of numbers alone; None if it is not known, or has other parts."""
    match node:
        case c_ast.Constant() if "int" in node.type:
            return integer_value(node.value)
        case c_ast.UnaryOp(op="!"):
            inner = _constant(node.expr)
            return None if inner is None else int(not inner)
        case c_ast.UnaryOp(op="-" | "+"):
            inner = _constant(node.expr)
            return None if inner is None else inner * (1 if node.op == "+" else -1)
        case ExactCast():
            return _constant(node.expr)
        case c_ast.TernaryOp():
            chosen = _constant(node.cond)
            return None if chosen is None else _constant(node.iftrue if chosen else node.iffalse)
        case c_ast.BinaryOp() if node.op in {*_COMPARISONS, "&&", "||"}:
            sides = [_constant(each) for each in (node.left, node.right)]
            if None in sides:
                return None
            left, right = sides
            if node.op in {"&&", "||"}:
                return int(
                    functools.reduce(operator.and_ if node.op == "&&" else operator.or_, map(bool, sides))
                )
            assert left is not None and right is not None  # noqa: S101, PT018 - told above
            return int(_COMPARISONS[node.op](left, right))
    return None
