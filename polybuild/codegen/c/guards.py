"""Guard simplification: which conditions hold by what is known of the counters around the printed code."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

import islpy as isl

from polybuild.codegen.c.ast_sets import AstReader, CounterValues
from polybuild.codegen.c.nodes import identifier_of
from polybuild.schedule.legality import IllegalSchedule
from polybuild.scop.model import Scop
from polybuild.targets.device import Kernel

_param = isl.dim_type.param


class GuardSimplifier:
    """What the counters of a kernel's loops may be at one place, and which conditions hold by that.

    ``names`` are those, in isl's AST, that have a value there from outside.
    """

    def __init__(self, scop: Scop, names: Iterable[str], kernel: Kernel) -> None:
        self._reader = AstReader({})
        space = scop.context.get_space().add_unnamed_tuple_ui(0)
        for name in names:
            if space.find_dim_by_name(_param, name) < 0:
                space = space.add_dims(_param, 1).set_dim_name(_param, space.dim(_param), name)
        values = isl.Set.universe(space).intersect_params(scop.context)
        for axis in kernel.axes:
            position = space.find_dim_by_name(_param, axis.parameter)
            values = values.lower_bound_val(_param, position, isl.Val(0))
            values = values.upper_bound_val(_param, position, isl.Val(axis.size - 1))
        self._place = CounterValues((), values)

    def enter(self, loop: isl.AstNode) -> CounterValues:
        """Go into ``loop``; returns the place to come back to."""
        before = self._place
        try:
            self._place = self._reader.loop(loop, before)
        except IllegalSchedule:  # its bounds are not understood
            counter = identifier_of(loop)
            values = before.values.add_dims(isl.dim_type.set, 1)
            self._place = CounterValues((*before.counters, counter), values)
        return before

    def learn(self, condition: isl.AstExpr) -> CounterValues:
        """Go to where ``condition`` holds; returns the place to come back to."""
        before = self._place
        with contextlib.suppress(IllegalSchedule):  # then nothing more is known
            self._place = before.within(self._reader.condition(condition, before))
        return before

    def leave(self, before: CounterValues) -> None:
        """Come back to a place."""
        self._place = before

    def implies(self, condition: isl.AstExpr) -> bool:
        """Whether ``condition`` certainly holds here."""
        try:
            return bool(self._place.values.is_subset(self._reader.condition(condition, self._place)))
        except IllegalSchedule:  # it is not understood
            return False
