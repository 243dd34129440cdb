"""What loops are predicted to take on a machine: the value by which versions of a region are compared.

Each part of a ``Cost`` is in nanoseconds. A core computes, loads and stores, waits for results and moves data
between all levels of memory at the same time, so that the longest of these counts (the roofline, Williams,
Waterman, Patterson, CACM 2009, with a roof for each unit and level); what starts and joins threads and checks
conditions comes on top.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import replace
from operator import add, attrgetter
from typing import Protocol

from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class Cost:
    """Predicted nanoseconds, in parts; ``traffic`` is what goes between memory and the caches, in bytes.

    ``arithmetic`` are operations, ``waiting`` is the time in which a chain of operations waits for itself,
    ``accesses`` are loads and stores that find their data in the first cache; ``caches``, ``memory`` and
    ``pages`` is what it takes to bring data there, ``conflicts`` to bring them back where rows a power of two
    apart have driven each other out. ``threads`` is starting and joining them, waiting for each
    other included, ``checks`` are conditions at run time. ``hidden`` is what overlaps with something else.
    """

    arithmetic: float = 0.0
    waiting: float = 0.0
    accesses: float = 0.0
    caches: float = 0.0
    memory: float = 0.0
    pages: float = 0.0
    conflicts: float = 0.0
    threads: float = 0.0
    checks: float = 0.0
    hidden: float = 0.0
    traffic: float = 0.0

    @property
    def total(self) -> float:
        """All of it: what overlaps counts once."""
        return sum(self.overlapping) + self.conflicts + self.threads + self.checks - self.hidden

    @property
    def parts(self) -> dict[str, float]:
        """All parts by name."""
        return dict(zip(_NAMES, _values(self), strict=True))

    @property
    def overlapping(self) -> tuple[float, ...]:
        """The parts of which some may be done while others are."""
        return self.arithmetic, self.accesses, self.waiting, self.caches, self.memory, self.pages

    @property
    def on_core(self) -> float:
        """What a core takes without what is moved: it computes, loads, stores and waits at the same time."""
        return max(self.arithmetic, self.accesses, self.waiting)

    @property
    def off_core(self) -> float:
        """What it takes to move data, from all levels at the same time."""
        return max(self.caches, self.memory, self.pages)

    def divided(self, times: float) -> Cost:
        """The cost where so many cores share all of it."""
        return Cost(*(value / times for value in _values(self)))

    def __add__(self, other: Cost) -> Cost:
        return Cost(*map(add, _values(self), _values(other)))


def overlapping(work: Iterable[Cost], moved: Cost) -> Cost:
    """The cost of loops that a core does the ``work`` of one after the other, while data are ``moved``."""
    parts = list(work)
    total = sum(parts, moved)
    taken = max(sum(each.on_core for each in parts), moved.off_core)
    return replace(total, hidden=sum(total.overlapping) - taken)


_NAMES = tuple(each.name for each in dataclasses.fields(Cost))
_values = attrgetter(*_NAMES)  # costs are added up by the thousand


class CostFunction(Protocol):
    """The cost of a version of a region as a function of the parameters."""

    def at(self, values: Mapping[str, int]) -> Cost:
        """The cost where parameters have ``values``, by their names; others have a usual one."""
