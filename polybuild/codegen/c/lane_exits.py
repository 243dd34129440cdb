"""Loops inside of statements in lanes: they run while one lane at least has not left them.

::

    while (x < limit)          alive = all lanes;
      x = x * x + c;           for (;;) {
                                 alive &= x < limit;
                                 if (!any(alive)) break;
                                 x = select(alive, x * x + c, x);
                               }

Several vectors go through a loop together: what one of them waits for leaves time for the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pycparser import c_ast

from polybuild.c.basic_types import INT, DataModel
from polybuild.c.literals import literal
from polybuild.c.syntax_tree import walk
from polybuild.codegen.c.lane_singles import lines_of_single
from polybuild.targets.cpu.lane_bodies import LOOPS, counts_before, parts_of, separate_tests, step_in

if TYPE_CHECKING:
    from polybuild.codegen.c.ast import Instance
    from polybuild.codegen.c.lane_bodies import LaneBodyPrinter
    from polybuild.codegen.c.lane_scope import LaneScope
    from polybuild.codegen.c.lane_state import LaneState

_INDENT = "  "


def has_exits(node: c_ast.Node) -> bool:
    """Whether there is a loop in a statement."""
    return any(isinstance(each, LOOPS) for each in walk(node))


class LaneExitPrinter:
    """Prints statements in ``scope`` for all vectors of ``bodies``, which prints what is in one."""

    def __init__(self, scope: LaneScope, bodies: LaneBodyPrinter) -> None:
        self._scope = scope
        self._bodies = bodies

    @property
    def identifier(self) -> str:
        """What isl calls the counter whose values tell the lanes from each other."""
        return self._scope.identifier

    def declarations(self) -> list[str]:
        """The declarations of the variables of all lanes."""
        return self._bodies.declarations()

    def statement(self, instance: Instance) -> list[str]:
        """The code of ``instance`` for all lanes."""
        if instance.statement.name in self._scope.lanes.singles:
            return list(lines_of_single(instance, self._scope, self._bodies.variables))
        self._bodies.begin(instance)
        return [*self._bodies.rows(), *self.lines(instance.statement.body)]

    def lines(self, node: c_ast.Node) -> Iterator[str]:
        """The code of ``node`` for all vectors."""
        bodies = self._bodies
        if not has_exits(node):
            for _ in bodies.vectors():
                yield from bodies.lines(node)
        elif isinstance(node, c_ast.Compound):
            owns = [each.own for each in bodies.vectors()]
            for each in parts_of(node):
                yield from self.lines(each)
            for state, own in zip(bodies.vectors(), owns, strict=True):
                state.own = own
        elif isinstance(node, c_ast.If):
            yield from self._choice(node)
        else:
            yield from self._loop(node)

    def _choice(self, node: c_ast.If) -> Iterator[str]:
        bodies = self._bodies
        around = [(each.mask, each.loop) for each in bodies.vectors()]
        masks: list[tuple[str, str]] = []
        for _ in bodies.vectors():
            found = yield from bodies.masks(node)
            masks.append(found)
        for side, branch in enumerate((node.iftrue, node.iffalse)):
            if branch is None:
                continue
            for state, (yes, no), before in zip(bodies.vectors(), masks, around, strict=True):
                state.mask, state.loop = before
                state.within(no if side else yes)
            yield from self.lines(branch)
        for state, before in zip(bodies.vectors(), around, strict=True):
            state.mask, state.loop = before

    def _loop(self, node: c_ast.Node) -> Iterator[str]:
        bodies = self._bodies
        around = [(each.mask, each.loop, each.own) for each in bodies.vectors()]
        counted, first = isinstance(node, c_ast.For), not isinstance(node, c_ast.DoWhile)
        if counted and node.init is not None:
            yield from self.lines(node.init)
        alive = [bodies.declare("alive") for _ in bodies.vectors()]
        for name, state in zip(alive, bodies.vectors(), strict=True):
            yield f"{bodies.mask_type} {name} = {state.mask or bodies.all_lanes};"
        for name, state in zip(alive, bodies.vectors(), strict=True):
            state.enter(name)
        some = bodies.any_of(" | ".join(alive))
        yield "for (;;) {" if first else "do {"
        if first:
            yield from self._tested(node.cond, alive)
            yield f"{_INDENT}if (!{some})"
            yield f"{_INDENT * 2}break;"
        yield from (f"{_INDENT}{line}" for line in self._body(node, alive))
        if counted and node.next is not None:
            yield from (f"{_INDENT}{line}" for line in self.lines(node.next))
        if not first:
            yield from self._tested(node.cond, alive)
        yield "}" if first else f"}} while ({some});"
        for state, before in zip(bodies.vectors(), around, strict=True):
            state.mask, state.loop, state.own = before

    def _tested(self, condition: c_ast.Node | None, alive: list[str]) -> Iterator[str]:
        """Take the lanes out of ``alive`` in which ``condition`` does not hold."""
        one = isinstance(condition, c_ast.Constant) and literal(condition, DataModel()) == (1, INT)
        for test in [] if condition is None or one else separate_tests(condition):
            for name, state in zip(alive, self._bodies.vectors(), strict=True):
                for line in self._test(test, name, state):
                    yield f"{_INDENT}{line}"

    def _test(self, test: c_ast.Node, alive: str, state: LaneState) -> Iterator[str]:
        """Take the lanes out of ``alive`` in which ``test`` does not hold, and count where it does that."""
        bodies, step, asked = self._bodies, step_in(test), alive
        if step is not None and counts_before(step):
            yield from bodies.lines(step)
        elif step is not None:
            asked = bodies.declare("mask")
            yield f"const {bodies.mask_type} {asked} = {alive};"
        yield f"{alive} &= {bodies.condition(test).text};"
        if step is not None and asked != alive:
            state.mask = asked
            yield from bodies.lines(step)
            state.mask = alive

    def _body(self, node: c_ast.Node, alive: list[str]) -> Iterator[str]:
        bodies, skipped = self._bodies, alive
        if _goes_on(node.stmt):
            skipped = [bodies.declare("mask") for _ in bodies.vectors()]
            for name, all_ in zip(skipped, alive, strict=True):
                yield f"{bodies.mask_type} {name} = {all_};"
        owns = [state.own for state in bodies.vectors()]
        for here, state in zip(skipped, bodies.vectors(), strict=True):
            state.with_lanes(here)
        yield from self.lines(node.stmt)
        for name, own, state in zip(alive, owns, bodies.vectors(), strict=True):
            state.with_lanes(name)
            state.own = own


def _goes_on(body: c_ast.Node) -> bool:
    """Whether a ``continue`` in ``body`` goes on with the loop that has it."""
    if isinstance(body, LOOPS):
        return False
    return isinstance(body, c_ast.Continue) or any(_goes_on(child) for _, child in body.children())
