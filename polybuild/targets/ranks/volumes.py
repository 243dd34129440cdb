"""How much ranks send each other, for given numbers: the sets of exchanges, counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import islpy as isl

from polybuild.analysis.operations import bytes_of_element
from polybuild.machine.model import Machine
from polybuild.poly.integers import integer_of
from polybuild.poly.relations import sets_of
from polybuild.targets.cpu.cost.extents import about_count
from polybuild.targets.ranks.loggp import collective_time, exchange_time
from polybuild.targets.ranks.model import (
    AROUND,
    FROM_END,
    FROM_FIRST,
    TO_END,
    TO_FIRST,
    Exchange,
    RankReduction,
    Sharing,
)
from polybuild.targets.ranks.sampling import summed
from polybuild.values import dataclass

_param, _set = isl.dim_type.param, isl.dim_type.set


@dataclass(frozen=True, slots=True)
class Volume:
    """What the busiest rank sends, all runs of an exchange added up, and the nanoseconds they take."""

    messages: float = 0.0
    bytes: float = 0.0
    nanoseconds: float = 0.0

    def __add__(self, other: Volume) -> Volume:
        return Volume(
            self.messages + other.messages, self.bytes + other.bytes, self.nanoseconds + other.nanoseconds
        )


@dataclass(frozen=True, slots=True)
class Communication:
    """What ranks send each other where parameters have ``values`` and blocks begin at ``blocks``.

    ``points`` are the instances of all that ranks do together, ``{ exchange0[t0, ...] }``.
    """

    machine: Machine
    values: Mapping[str, int]
    blocks: Sequence[int]
    points: isl.UnionSet

    @property
    def _ranks(self) -> int:
        return len(self.blocks) - 1

    def of(self, sharing: Sharing) -> Volume:
        """What all exchanges of a region are, and the parts of what ranks accumulate."""
        if self._ranks == 1:
            return Volume()
        total = Volume(nanoseconds=collective_time(self.machine, self._ranks))  # all agree that they are here
        every: list[Exchange | RankReduction] = [*sharing.exchanges, *sharing.reductions]
        return sum(map(self._over_runs, every), total)

    def _over_runs(self, what: Exchange | RankReduction) -> Volume:
        """What is sent in all runs of the loops around."""
        if what.depth == 0:
            return self._once(what, ())
        runs = [each for each in sets_of(self.points) if each.get_tuple_name() == what.name]
        here = _fixed(runs[0], self.values) if runs else None
        if here is None or here.is_empty():
            return Volume()
        low, high = (integer_of(value) for value in (here.dim_min_val(0), here.dim_max_val(0)))

        def at(first: int) -> tuple[float, ...]:
            inner = here.fix_val(_set, 0, isl.Val(first))
            if inner.is_empty():
                return 0.0, 0.0, 0.0
            one = self._once(what, _middle(inner))
            times = about_count(inner)
            return one.messages * times, one.bytes * times, one.nanoseconds * times

        return Volume(*summed(at, low, high))

    def _once(self, what: Exchange | RankReduction, around: Sequence[int]) -> Volume:
        """What is sent in one run, where the loops ``around`` have these values."""
        values = dict(self.values) | {f"{AROUND}{place}": value for place, value in enumerate(around)}
        if isinstance(what, RankReduction):
            return self._parts(what, values)
        found = [(bytes_of_element(each.array), _fixed(each.elements, values)) for each in what.messages]
        sets = [(size, elements) for size, elements in found if not elements.is_empty()]
        senders = [rank for rank in range(self._ranks) if any(self._sends(rank, each) for _, each in sets)]
        some = {senders[0], senders[len(senders) // 2], senders[-1]} if senders else set()
        sent = [self._sent_by(rank, sets) for rank in sorted(some)]
        messages, volume = (max((each[place] for each in sent), default=0.0) for place in range(2))
        return Volume(messages, volume, exchange_time(self.machine, self._ranks, messages, volume))

    def _parts(self, reduction: RankReduction, values: Mapping[str, int]) -> Volume:
        """Each rank has the parts of all others."""
        others, size = self._ranks - 1, 0.0
        for each in reduction.accumulations:
            elements = _fixed(each.elements, values)
            size += 0.0 if elements.is_empty() else about_count(elements) * bytes_of_element(each.array)
        return Volume(others, others * size, collective_time(self.machine, self._ranks, others * size))

    def _sends(self, rank: int, elements: isl.Set) -> bool:
        return not self._from(rank, elements).is_empty()

    def _from(self, rank: int, elements: isl.Set) -> isl.Set:
        ends = {FROM_FIRST: self.blocks[rank], FROM_END: self.blocks[rank + 1]}
        return _fixed(elements, ends)

    def _sent_by(self, rank: int, sets: Sequence[tuple[int, isl.Set]]) -> tuple[float, ...]:
        """The messages that ``rank`` sends to all others, and their bytes."""
        own = [(size, self._from(rank, each)) for size, each in sets]
        to: Callable[[int], tuple[float, ...]] = partial(self._sent_to, own)
        below, above = summed(to, 0, rank - 1), summed(to, rank + 1, self._ranks - 1)
        return tuple(map(sum, zip(*filter(None, (below, above)), strict=True)))

    def _sent_to(self, sets: Sequence[tuple[int, isl.Set]], rank: int) -> tuple[float, ...]:
        ends = {TO_FIRST: self.blocks[rank], TO_END: self.blocks[rank + 1]}
        volume = 0.0
        for size, elements in sets:
            there = _fixed(elements, ends)
            volume += 0.0 if there.is_empty() else size * about_count(there)
        return float(volume > 0), volume


def _fixed(points: isl.Set, values: Mapping[str, int]) -> isl.Set:
    """``points`` where the parameters that they have are ``values``."""
    for name, value in values.items():
        place = points.find_dim_by_name(_param, name)
        if place >= 0:
            points = points.fix_val(_param, place, isl.Val(value))
    return points


def _middle(points: isl.Set) -> list[int]:
    """A point whose coordinates are in the middle of what they may be, one after the other."""
    found = []
    for place in range(points.dim(_set)):
        low, high = (integer_of(value) for value in (points.dim_min_val(place), points.dim_max_val(place)))
        for value in ((low + high) // 2, low):
            inner = points.fix_val(_set, place, isl.Val(value))
            if not inner.is_empty():
                break
        points = inner
        found.append(value)
    return found
