"""Where in the loops of a region the walk stands."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import field

import islpy as isl

from polybuild.normalise.names import Variable
from polybuild.poly import spaces
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class ProgramPoint:
    """A point of the program and the instances that may reach it.

    ``domain`` lives in the unnamed space of the loops around, one dimension per
    entry of ``counters``, outermost first. ``values`` holds, for counters whose
    loop is over, the value they were left with, on the same space (undefined
    where the loop was not reached).
    """

    counters: tuple[Variable, ...] = ()
    domain: isl.Set = field(default_factory=lambda: spaces.universe(0))
    values: Mapping[Variable, isl.PwAff] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        """The number of loops around."""
        return len(self.counters)

    def within(self, condition: isl.Set) -> ProgramPoint:
        """The same point, reached only where ``condition`` holds."""
        return dataclasses.replace(self, domain=self.domain.intersect(condition))

    def without(self, condition: isl.Set) -> ProgramPoint:
        """The same point, reached only where ``condition`` does not hold."""
        return dataclasses.replace(self, domain=self.domain.subtract(condition))

    def inside(self, counter: Variable, domain: isl.Set) -> ProgramPoint:
        """The point of the body of a loop over ``counter`` whose iterations are ``domain``."""
        values = {variable: spaces.deepen(value) for variable, value in self.values.items()}
        return ProgramPoint((*self.counters, counter), domain, values)

    def after(self, values: Mapping[Variable, isl.PwAff]) -> ProgramPoint:
        """The same point after loops that left their counters with ``values``; these override older ones."""
        return dataclasses.replace(self, values=later_values(self.values, values)) if values else self


def later_values(
    earlier: Mapping[Variable, isl.PwAff], later: Mapping[Variable, isl.PwAff]
) -> dict[Variable, isl.PwAff]:
    """What variables hold after two pieces of code; a value is undefined where its loop did not run."""
    merged = dict(earlier)
    for variable, value in later.items():
        old = merged.get(variable)
        merged[variable] = value if old is None else value.union_add(old.subtract_domain(value.domain()))
    return merged
