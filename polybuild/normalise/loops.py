"""Loops: what variables change by in each iteration, and ``while`` loops that count.

    for (i = 0; i < n; i++) {            for (i = 0; i < n; i++)
      a[k] = 0;                            a[k' + 2 * i] = 0;
      k += 2;                            k = k' + 2 * n;
    }

    while (p < end)                      for (t = 0; t < end - p'; t++)
      *p++ = 0;                            p'[t] = 0;

(``k'`` is the value on entry.) The change is found by walking the body with a
mark in place of each variable's value at its start.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias

from pycparser import c_ast

from polybuild.c import types
from polybuild.c.basic_types import INT, LONG_LONG
from polybuild.c.syntax_tree import contains, duplicate, key, names_in, replaced
from polybuild.c.synthetic import CountedLoop, EntryValue, declarator, number
from polybuild.normalise.expressions import Evaluator
from polybuild.normalise.induction import (
    BasicInductionVariable,
    after_loop,
    at_iteration,
    end_of,
    trip_count,
)
from polybuild.normalise.last_values import last_value, with_last_value
from polybuild.normalise.names import Variable
from polybuild.normalise.periodic_values import Cycle, after_cycle, cycles, in_cycle
from polybuild.normalise.state import NotFollowable, PointerValue, SymbolicState, SymbolicValue
from polybuild.normalise.sums import Sum, sum_of, tree_of, wide_tree, without_equal_factors
from polybuild.normalise.symbolic_steps import SymbolicStep, symbolic_step
from polybuild.normalise.wrap_around import settled_value, wrapped_after, wrapped_at_iteration
from polybuild.values import dataclass

Loop: TypeAlias = c_ast.For | c_ast.While | c_ast.DoWhile

Change: TypeAlias = Sum | Cycle | c_ast.Node
"""What an iteration does to a variable: the sum that it adds, the number that comes next in a cycle, or the
value that it leaves in it."""


class IterationEntryValue(EntryValue):
    """The value of a variable at the start of an iteration."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Left:
    """What a variable holds ``before`` a loop, and ``after`` an iteration that begins with ``mark``."""

    mark: IterationEntryValue
    before: SymbolicValue
    after: SymbolicValue


class LoopNormaliser:
    """Normalises the loops of a region.

    ``statement`` and ``block`` normalise a statement, and the body of a structured one, in ``state``.
    """

    def __init__(
        self,
        state: SymbolicState,
        statement: Callable[[c_ast.Node], list[c_ast.Node]],
        block: Callable[[c_ast.Node | None], list[c_ast.Node]],
    ) -> None:
        self._state = state
        self._context = state.context
        self._statement = statement
        self._block = block
        self._asked = 0  # loops around that are walked through for what they change, not for their text

    def loop(self, node: Loop) -> list[c_ast.Node]:
        """What becomes of the loop ``node``."""
        counter = self._context.names.iterators.get(node)
        if counter is not None and counter not in self._context.followed:
            return self._for(node)
        body = _once(node)
        if body is not None:
            return self._statement(body)
        self._state.scopes.append({})
        statements = self._statement(node.init) if isinstance(node, c_ast.For) and node.init else []
        changed = self._context.changed_in(node.cond, node.stmt, getattr(node, "next", None))
        statements += self._counted(node, changed) if changed else [self._plain(node)]
        self._state.close_scope()
        declares = any(isinstance(each, c_ast.Decl) for each in statements)
        return [c_ast.Compound(statements, node.coord)] if declares else statements

    def _plain(self, node: Loop) -> c_ast.Node:
        """A loop without a counter that changes nothing that is followed; its start stands before it."""
        cond = self._evaluated(node.cond)
        following = self._evaluated(getattr(node, "next", None))
        body = c_ast.Compound(self._block(node.stmt), node.stmt.coord)
        if isinstance(node, c_ast.For):
            return c_ast.For(None, cond, following, body, node.coord)
        return type(node)(cond, body, node.coord)

    def _evaluated(self, node: c_ast.Node | None) -> c_ast.Node | None:
        return None if node is None else Evaluator(self._state).evaluate(node)

    # Loops that count already

    def _for(self, node: c_ast.For) -> list[c_ast.Node]:
        state = self._state
        state.scopes.append({})
        counter, start, init = self._start(node)
        step = self._step(node.next, counter)
        changed = self._context.changed_in(node.cond, node.stmt, node.next)
        before = dict(state.values)
        induction = None
        if step and start is not None and state.is_fixed(start) and not _jumps(node.stmt):
            induction = BasicInductionVariable(counter, start, step)
        state.counters.append(counter.name)

        changes: dict[Variable, Change] = {}
        if induction is not None:
            left = self._left(node, changed)
            changes = self._steady(left, counter)
            changes |= self._settled(left, changes)
        for each in changed:
            state.values[each] = self._at_iteration(before[each], changes.get(each), induction)
        cond = self._evaluated(node.cond)
        following = self._evaluated(node.next)
        trips = None if induction is None else trip_count(cond, induction, state)
        if isinstance(trips, c_ast.TernaryOp):  # while the body runs, the loop has iterations
            state.replace(key(trips), trips.iftrue)
        # what it changes is known: a nest would be walked through twice as often for each loop around
        body = c_ast.Compound([] if self._asked else self._block(node.stmt), node.stmt.coord)
        state.counters.pop()
        state.values = dict(before)
        loop = c_ast.For(init, cond, following, body, node.coord)
        statements = self._after([loop], before, changes, (induction, trips), changed)
        state.close_scope()
        return statements

    def _after(
        self,
        statements: list[c_ast.Node],
        before: Mapping[Variable, SymbolicValue],
        changes: Mapping[Variable, Change],
        count: tuple[BasicInductionVariable | None, c_ast.Node | None],
        changed: Iterable[Variable],
    ) -> list[c_ast.Node]:
        """Set the values after a loop; one assignment of each known value takes the place of those inside.

        ``count`` is its counter, and how often it runs.
        """
        induction, trips = count
        for each in sorted(changed, key=lambda one: one.name):
            change = changes.get(each)
            if isinstance(change, Cycle):
                value: SymbolicValue = after_cycle(before[each], change, trips, self._state)
            elif isinstance(change, c_ast.Node):
                value = wrapped_after(before[each], change, induction, trips, self._state)
            else:
                value = after_loop(before[each], change, trips, self._state)
            self._state.values[each] = value
            if value is not None and self._context.is_live(each):
                statements = with_last_value(statements, each, self._state)
        return statements

    def _start(self, node: c_ast.For) -> tuple[c_ast.ID, c_ast.Node | None, c_ast.Node]:
        """The counter, its start, and the rewritten first part of a header that has both."""
        if isinstance(node.init, c_ast.DeclList):
            (declaration,) = self._statement(node.init.decls[0])
            init: c_ast.Node = c_ast.DeclList([declaration], node.init.coord)
            return c_ast.ID(declaration.name, node.coord), declaration.init, init
        init = Evaluator(self._state).evaluate(node.init)
        self._state.forget(init.lvalue.name)
        return c_ast.ID(init.lvalue.name, node.coord), init.rvalue, init

    def _step(self, node: c_ast.Node, counter: c_ast.ID) -> int | None:
        """The constant that ``node``, the third part of a loop's header, adds to ``counter``."""
        if isinstance(node, c_ast.UnaryOp):
            return 1 if "+" in node.op else -1
        value = node.rvalue
        if node.op in {"+=", "-="}:
            value = c_ast.BinaryOp(node.op[0], counter, value)
        elif node.op != "=":
            return None
        typing = self._state.typing
        return sum_of(value, LONG_LONG, typing).plus(sum_of(counter, LONG_LONG, typing), -1).number

    # What an iteration changes

    def _at_iteration(
        self, before: SymbolicValue, change: Change | None, induction: BasicInductionVariable | None
    ) -> SymbolicValue:
        """What a variable holds at the start of an iteration."""
        if isinstance(change, Cycle):
            return in_cycle(before, change, induction, self._state)
        if isinstance(change, c_ast.Node) and induction is not None:
            return wrapped_at_iteration(before, change, induction, self._state)
        return at_iteration(before, change, induction, self._state)

    def _left(self, node: Loop, changed: frozenset[Variable]) -> dict[Variable, Left]:
        """What an iteration leaves in each of ``changed``."""
        state = self._state
        saved, marks = dict(state.values), {each: IterationEntryValue(each.name) for each in changed}
        for each, mark in marks.items():
            state.values[each] = PointerValue(mark) if isinstance(each.type, types.PointerType) else mark
        self._asked += 1
        if changed:
            self._iteration(node)
        self._asked -= 1
        left = {each: Left(mark, saved[each], state.values[each]) for each, mark in marks.items()}
        state.values = saved
        return left

    def _steady(self, left: Mapping[Variable, Left], counter: c_ast.ID | None) -> dict[Variable, Change]:
        """What an iteration adds to variables, or which numbers they take in turn, where all do the same."""
        found: dict[Variable, Change] = dict(
            cycles(
                {each: one.before for each, one in left.items()},
                {each: one.after for each, one in left.items()},
                {each: one.mark for each, one in left.items()},
            )
        )
        for each, one in left.items():
            increment = self._change(each, one.after, one.mark) if each not in found else None
            if increment is not None and not _varies(increment, counter):
                found[each] = increment
        return found

    def _settled(
        self, left: Mapping[Variable, Left], others: Container[Variable]
    ) -> dict[Variable, c_ast.Node]:
        """What iterations leave in variables, but in ``others``, whatever was there; the counter is known."""
        found = {}
        for each, one in left.items():
            if each in others or self._change(each, one.after, one.mark) is not None:
                continue
            value = settled_value(one.before, one.after, one.mark, self._state)
            if value is not None:
                found[each] = value
        return found

    def _of_counter(self, left: Left, marks: Mapping[Variable, IterationEntryValue]) -> Left:
        """``left`` with what the counter makes of variables in place of their ``marks``."""
        after = left.after
        for each, mark in marks.items():
            value = self._state.values[each]
            if isinstance(after, c_ast.Node) and isinstance(value, c_ast.Node):
                after = replaced(after, key(mark), value)
        return replace(left, after=after)

    def _iteration(self, node: Loop) -> tuple[c_ast.Node | None, list[c_ast.Node]]:
        """Walk through condition, body and increment of a loop once, in order of execution."""
        first = self._evaluated(node.cond) if not isinstance(node, c_ast.DoWhile) else None
        body = self._block(node.stmt)
        if isinstance(node, c_ast.For) and node.next is not None:
            body += self._statement(node.next)
        return (self._evaluated(node.cond) if isinstance(node, c_ast.DoWhile) else first), body

    def _change(self, variable: Variable, value: SymbolicValue, mark: IterationEntryValue) -> Sum | None:
        if isinstance(value, PointerValue):
            return value.offset if key(value.base) == key(mark) else None
        if value is None or not isinstance(variable.type, types.IntegerType):
            return None
        total = sum_of(value, variable.type, self._state.typing)
        if total.coefficient(mark) != 1:
            return None
        return total.plus(sum_of(mark, variable.type, self._state.typing), -1)

    # Loops that come to count

    def _counted(self, node: Loop, changed: frozenset[Variable]) -> list[c_ast.Node]:
        """A loop without a counter of its own: one of the variables it changes becomes it."""
        state = self._state
        left = {} if _jumps(node.stmt) else self._left(node, changed)
        changes = self._steady(left, None)
        increments = {each: change for each, change in changes.items() if isinstance(change, Sum)}
        variable = self._chosen(node, increments)
        if variable is None:
            raise NotFollowable(min(changed, key=lambda each: each.name))
        before = dict(state.values)
        symbolic = symbolic_step(increments[variable], state)
        step = increments[variable].number or 0
        induction, declaration, kind = self._counter(variable, step, node)
        name = induction.counter.name
        state.scopes.append({name: kind})
        state.counters.append(name)
        for each in changed:
            state.values[each] = self._at_iteration(before[each], changes.get(each), induction)
        marks = {each: one.mark for each, one in left.items()}
        left = {each: self._of_counter(one, marks) for each, one in left.items()}
        settled = self._settled(left, changes)
        for each, value in settled.items():
            state.values[each] = self._at_iteration(before[each], value, induction)
        changes |= settled
        if self._asked and not isinstance(node, c_ast.DoWhile):  # its body is as little asked for as in _for
            cond, body = self._evaluated(node.cond), list[c_ast.Node]()
        else:
            cond, body = self._iteration(node)
        cond, trips = self._head(node, variable, cond, induction, symbolic)
        body += self._last_values(node) if isinstance(node, c_ast.DoWhile) else self._tested(node)
        state.counters.pop()
        state.scopes.pop()
        following = c_ast.Assignment("+=", duplicate(induction.counter), number(induction.step), node.coord)
        loop = CountedLoop(declaration, cond, following, c_ast.Compound(body, node.stmt.coord), node.coord)
        loop.variable = variable.name

        state.values = dict(before)
        ahead = [] if isinstance(node, c_ast.DoWhile) else self._tested(node)
        ahead += [] if symbolic is None else [symbolic.is_not_positive(state, node)]
        state.values = dict(before)
        statements = self._after([*ahead, loop], before, changes, (induction, trips), changed)
        stepped = self._context.changed_in(node.cond)
        tested = changed.intersection(self._context.names.variables_in(node.cond))
        tests_last = stepped and not isinstance(node, c_ast.DoWhile)  # whose iterations end with tests
        if tests_last and all(state.values[each] is not None for each in tested):
            for each in self._tested(node):  # the test that ends the loop
                statements = with_last_value(statements, self._named(each, stepped), self._state)
        return statements

    def _head(
        self,
        node: Loop,
        variable: Variable,
        cond: c_ast.Node | None,
        induction: BasicInductionVariable,
        symbolic: SymbolicStep | None,
    ) -> tuple[c_ast.Node | None, c_ast.Node | None]:
        """The condition of ``node`` once ``variable`` has become its counter, and how often it runs."""
        if symbolic is not None:
            cond = symbolic.condition(cond, induction.counter, self._state)
            if cond is None:
                raise NotFollowable(variable)
        if isinstance(node, c_ast.DoWhile):
            again = trip_count(cond, induction, self._state)
            trips = None if again is None else c_ast.BinaryOp("+", again, number(1))
            return _or_first(cond, induction), trips
        if isinstance(variable.type, types.IntegerType) and induction.counter.name != variable.name:
            cond = self._from_zero(cond, induction)
        elif cond and {*names_in(induction.start), *names_in(cond)}.intersection(self._state.starts.values()):
            cond = self._from_data(cond, induction)
        return cond, trip_count(cond, induction, self._state)

    @staticmethod
    def _named(assignment: c_ast.Node, variables: Iterable[Variable]) -> Variable:
        return next(each for each in variables if each.name == assignment.lvalue.name)

    def _tested(self, node: Loop) -> list[c_ast.Node]:
        """What testing the condition once more stores in variables."""
        if not self._context.changed_in(node.cond):
            return []
        self._evaluated(node.cond)
        return self._last_values(node)

    def _last_values(self, node: Loop) -> list[c_ast.Node]:
        stepped = self._context.stepped_in(node.cond)
        return [new for each in stepped for new in last_value(each, node.coord, self._state)]

    def _counter(
        self, variable: Variable, step: int, node: Loop
    ) -> tuple[BasicInductionVariable, c_ast.DeclList, types.IntegerType]:
        """The counter that ``variable`` becomes.

        For a pointer it counts elements from the value before the loop, as for a number that starts at
        a product; where an unsigned variable wraps around, it goes on beyond the limits of the type.
        A ``step`` of 0 stands for a variable: iterations are counted then.
        """
        value = self._state.values[variable]
        if value is None or variable.name in self._state.counters:
            raise NotFollowable(variable)
        symbolic, step = not step, step or 1
        name, start, kind = self._context.unused(f"{variable.name}_index"), number(0), LONG_LONG
        if not isinstance(value, PointerValue):
            assert isinstance(variable.type, types.IntegerType)  # noqa: S101 - only these are followed
            from_zero = symbolic or _has_product(value, variable.type, self._state)
            if from_zero and self._is_stepped_in_test(variable, node):
                raise NotFollowable(variable)
            start = start if from_zero else value
            if not from_zero and not self._context.wraps(variable):
                name, kind = variable.name, variable.type
                if self._is_stepped_in_test(variable, node):
                    start = self._stepped(value, step, variable.type)
        counter = c_ast.ID(name, node.coord)
        declaration = c_ast.Decl(
            name, [], [], [], [], declarator(name, kind), duplicate(start), None, node.coord
        )
        return BasicInductionVariable(counter, start, step), c_ast.DeclList([declaration], node.coord), kind

    def _from_zero(self, cond: c_ast.Node | None, induction: BasicInductionVariable) -> c_ast.Node | None:
        """``cond`` as a comparison of the counter with a sum, where what both sides have goes."""
        read = end_of(cond, induction, self._state)
        if read is None or key(induction.start) != key(number(0)):
            return cond
        op, end = read
        limit = wide_tree(without_equal_factors(end, self._state.typing), LONG_LONG, self._state.typing)
        return c_ast.BinaryOp(op, duplicate(induction.counter), limit, induction.counter.coord)

    def _from_data(self, cond: c_ast.Node, induction: BasicInductionVariable) -> c_ast.Node:
        """``cond`` as a comparison of the counter alone, of a loop that starts where data say.

        One that walks past its end (``!=``) leaves its array, or its type, which no program does.
        """
        read = end_of(cond, induction, self._state, fixed=False)
        if read is None:
            return cond
        op, end = read
        if op == "!=" and abs(induction.step) == 1 and self._is_wide(induction.counter):
            op = "<" if induction.step > 0 else ">"
        elif key(induction.counter) in {key(each) for each in cond}:
            return cond
        limit = wide_tree(end, LONG_LONG, self._state.typing)
        return c_ast.BinaryOp(op, duplicate(induction.counter), limit, induction.counter.coord)

    def _is_wide(self, counter: c_ast.ID) -> bool:
        kind = self._state.typing(counter)
        return isinstance(kind, types.IntegerType) and kind.signed and kind.width >= INT.width

    def _is_stepped_in_test(self, variable: Variable, node: Loop) -> bool:
        """Whether the condition alone changes ``variable``, and compares it: ``i-- > 0``."""
        kind, others = variable.type, (node.stmt, getattr(node, "next", None))
        return (
            not isinstance(node, c_ast.DoWhile)
            and isinstance(kind, types.IntegerType)
            and kind.signed
            and isinstance(node.cond, c_ast.BinaryOp)
            and node.cond.op in {"<", "<=", ">", ">="}
            and variable in self._context.changed_in(node.cond)
            and variable not in self._context.changed_in(*others)
        )

    def _stepped(self, value: c_ast.Node, step: int, kind: types.IntegerType) -> c_ast.Node:
        """``value``, of a variable of type ``kind``, after the first test: what the body sees first."""
        typing = self._state.typing
        return tree_of(sum_of(value, kind, typing).plus(Sum(step)), kind, typing)

    def _chosen(self, node: Loop, increments: Mapping[Variable, Sum]) -> Variable | None:
        """The variable that counts the loop: the same change each time, and its value decides the end.

        One with a change that is a variable does so where no other has a constant one.
        """
        if node.cond is None:
            return None
        tested = set(names_in(node.cond))
        changing = {each: change for each, change in increments.items() if each.name in tested}
        steady = [each for each, change in changing.items() if change.number]
        if not steady:
            steady = [each for each in changing if symbolic_step(changing[each], self._state) is not None]
        steady.sort(key=lambda each: (isinstance(each.type, types.PointerType), each.name))
        return steady[0] if steady else None


def _has_product(value: c_ast.Node, kind: types.IntegerType, state: SymbolicState) -> bool:
    """Whether ``value`` is a sum with a product in it.

    No model has one of variables as a bound. Where it is one of a counter around and a number, as the start
    of a row of 64 elements, all rows are as long, though none has places that others have.
    """
    terms = sum_of(value, kind, state.typing).terms.values()
    return kind.signed and any(
        (isinstance(each.node, c_ast.BinaryOp) and each.node.op == "*")
        or (abs(each.factor) > 1 and isinstance(each.node, c_ast.ID) and each.node.name in state.counters)
        for each in terms
    )


def _or_first(cond: c_ast.Node | None, induction: BasicInductionVariable) -> c_ast.Node:
    """A ``do`` loop's condition for an iteration: it is the first one, or the last test held."""
    counter, step = induction.counter, induction.step
    previous = c_ast.BinaryOp("-" if step > 0 else "+", duplicate(counter), number(abs(step)), counter.coord)
    first = c_ast.BinaryOp("==", duplicate(counter), duplicate(induction.start), counter.coord)
    assert cond is not None  # noqa: S101 - a do loop has one
    return c_ast.BinaryOp("||", first, replaced(cond, key(counter), previous), counter.coord)


def _varies(increment: Sum, counter: c_ast.ID | None) -> bool:
    """Whether ``increment`` may differ from one iteration to the next."""
    return any(
        contains(term.node, IterationEntryValue)
        or (counter is not None and counter.name in names_in(term.node))
        for term in increment.terms.values()
    )


def _once(node: Loop) -> c_ast.Node | None:
    """The body of ``do ... while (0)``, which runs once."""
    if isinstance(node, c_ast.DoWhile) and isinstance(node.cond, c_ast.Constant) and node.cond.value == "0":
        return node.stmt if not _jumps(node.stmt) else None
    return None


def _jumps(node: c_ast.Node) -> bool:
    """Whether a jump may leave or shorten an iteration of a loop with the body ``node``, and go on after it.

    After a ``return`` nothing is left to follow.
    """
    if isinstance(node, c_ast.Goto | c_ast.Break | c_ast.Continue):
        return True
    nested = isinstance(node, c_ast.For | c_ast.While | c_ast.DoWhile)
    return any(_jumps(child) for child in node) if not nested else _escapes(node)


def _escapes(node: c_ast.Node) -> bool:
    """Whether a jump inside the loop ``node`` may leave more than that loop."""
    if isinstance(node, c_ast.Goto):
        return True
    return any(_escapes(child) for child in node)
