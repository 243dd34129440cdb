"""What must hold for the model to be exact, as conditions on the parameters.

While a region is walked, passes report *violations*: sets of instances at which
the model would differ from C (an unsigned value would wrap, an inner subscript
would leave its extent, a loop would not end). A violation that cannot happen is
forgotten; any other becomes an assumption that is checked at run time.
"""

from __future__ import annotations

from typing import Any

import islpy as isl

from polybuild.diagnostics import Location, Unsupported
from polybuild.poly import spaces
from polybuild.scop.model import Assumption, ProductLimit, WholeMultiple
from polybuild.scop.parameters import Parameters
from polybuild.values import dataclass

# Conditions that keep a parameter below this are hardly what the program means.
_LARGE = 100


@dataclass(frozen=True, slots=True)
class Violation:
    """Instances that must not exist: those of ``outside`` that are ``reached``.

    ``wide`` marks bounds of 32 bits and more, which stay out of the context.
    ``code`` and ``hint`` are used if the region cannot run without violation.
    """

    outside: isl.Set
    reached: isl.Set
    code: str
    reason: str
    location: Location
    hint: str
    wide: bool = False

    @property
    def instances(self) -> isl.Set:
        """The instances that violate."""
        return self.outside.intersect(self.reached)


class Assumptions:
    """The assumptions made so far; ``limits`` are those that no set of the parameters says."""

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters
        self._conditions = spaces.all_parameters()
        self._exact = spaces.all_parameters()
        self._wide = spaces.all_parameters()
        self._made: list[Assumption] = []
        self.limits: list[ProductLimit | WholeMultiple] = []

    def all(self) -> tuple[Assumption, ...]:
        """The assumptions, in the order in which they were made.

        They include that unsigned 64-bit parameters fit the signed integers
        that generated loops compute with, on which every wide proof relies.
        """
        return tuple(_needed([*self._parameters.unsigned_limits(), *self._made]))

    @property
    def context(self) -> isl.Set:
        """Parameter values that types and assumptions allow, wide bounds left out."""
        return self._conditions.intersect(self._parameters.facts)

    def is_possible(self, violation: Violation) -> bool:
        """Whether an instance of ``violation`` may exist."""
        return not violation.instances.intersect_params(self._context_for(violation)).is_empty()

    def snapshot(self) -> tuple[object, ...]:
        """What ``restore`` needs to forget the assumptions made from now on."""
        return self._conditions, self._exact, self._wide, list(self._made), list(self.limits)

    def restore(self, snapshot: tuple[Any, ...]) -> None:
        """Forget the assumptions made since ``snapshot`` was taken."""
        self._conditions, self._exact, self._wide, self._made, self.limits = snapshot

    def _context_for(self, violation: Violation) -> isl.Set:
        context = self._exact.intersect(self._parameters.facts)
        if violation.wide:
            context = context.intersect(self._wide).intersect(self._parameters.ranges)
        return context

    def require(self, violation: Violation) -> None:
        """Assume that no instance of ``violation`` exists.

        Raises Unsupported if then nothing of the point could run at all.
        """
        context = self._context_for(violation)
        bad = violation.instances.intersect_params(context)
        if bad.is_empty():
            return
        reached = violation.reached.intersect_params(context)
        condition = _excluding(bad, reached, context)
        if not _is_simple(condition):
            hull = isl.Set.from_basic_set(reached.remove_divs().simple_hull())
            shorter = _excluding(
                violation.outside.intersect(hull).intersect_params(context), reached, context
            )
            if _is_simple(shorter) and not shorter.intersect(reached.params()).is_empty():
                condition = shorter
        if condition.intersect(reached.params()).is_empty():
            raise Unsupported(
                violation.code,
                f"{violation.reason}, which never holds where this is reached",
                violation.location,
                violation.hint,
            )
        self._made.append(Assumption(condition, violation.reason, violation.location))
        if violation.wide:
            self._wide = self._wide.intersect(condition)
        else:
            self._exact = self._exact.intersect(condition)
            self._conditions = self._conditions.intersect(_convex(condition))


def _excluding(bad: isl.Set, reached: isl.Set, context: isl.Set) -> isl.Set:
    """Parameter values for which ``bad`` is empty, in ``context``.

    Where the point is not reached at all the condition may say anything,
    which leaves the short ``m <= p`` of ``n <= 0 or m <= p``.
    """
    condition = bad.params().gist(reached.params()).complement()
    if condition.n_basic_set() > 1:
        condition = condition.intersect(context).coalesce().gist(context)
    return condition


def keeps_parameters_small(bad: isl.Set, reached: isl.Set) -> int | None:
    """How many parameters are small wherever ``bad`` is not; None if ``bad`` is all that is ``reached``."""
    good = reached.subtract(bad)
    if good.is_empty():
        return None
    count = 0
    for position in range(reached.dim(isl.dim_type.param)):
        name = reached.get_dim_name(isl.dim_type.param, position)
        large = spaces.parameter(0, str(name)).ge_set(spaces.constant(0, _LARGE)).params()
        if good.is_disjoint(large) and not reached.is_disjoint(large):
            count += 1
    return count


def _is_simple(condition: isl.Set) -> bool:
    return condition.n_basic_set() <= 2 and not condition.involves_locals()


def _needed(made: list[Assumption]) -> list[Assumption]:
    """``made`` without those that the others together imply."""
    needed = list(made)
    for each in made:
        others = [other for other in needed if other is not each]
        implied = spaces.all_parameters()
        for other in others:
            implied = implied.intersect(other.condition)
        if implied.is_subset(each.condition):
            needed = others
    return needed


def _convex(condition: isl.Set) -> isl.Set:
    """``condition`` if it is one basic set, else a single basic set that contains it."""
    if condition.n_basic_set() <= 1:
        return condition
    return isl.Set.from_basic_set(condition.simple_hull())
