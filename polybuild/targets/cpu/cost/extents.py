"""How often loops run, and which instances of a statement they run over, for values of the parameters."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import islpy as isl

from polybuild.effort import COUNTED_PIECES, LOOP_PARTS, UNEVEN_TIMES
from polybuild.values import dataclass

_set, _in, _out = isl.dim_type.set, isl.dim_type.in_, isl.dim_type.out


@dataclass(frozen=True, slots=True)
class Extents:
    """The loops around a statement where those further out are in the middle of their iterations.

    ``count`` is the number of all instances, ``trips`` has the iterations of each loop. ``boxes`` has how
    many values each counter of the statement takes, before any of the loops is fixed, after the first one is,
    and so on.
    """

    count: float
    trips: tuple[float, ...]
    boxes: tuple[tuple[float, ...], ...]


_Found = dict[tuple[isl.Map, isl.Set], Extents | None]
_FOUND: ContextVar[_Found | None] = ContextVar("extents that were found before", default=None)


@contextmanager
def remembered_extents() -> Iterator[None]:
    """What ``extents_at`` finds under this it finds once: versions of a region have most nests in common.

    It is for one region, so that its budgets know nothing of others.
    """
    before = _FOUND.set({})
    try:
        yield
    finally:
        _FOUND.reset(before)


def extents_at(stamps: isl.Map, point: isl.Set) -> Extents | None:
    """The extents of the instances of ``stamps`` at a ``point`` of the parameters; None if there are none."""
    found = _FOUND.get()
    if found is None:
        return _extents_at(stamps, point)
    if (stamps, point) not in found:
        found[stamps, point] = _extents_at(stamps, point)
    return found[stamps, point]


def _extents_at(stamps: isl.Map, point: isl.Set) -> Extents | None:
    loops, counters = stamps.dim(_out), stamps.dim(_in)
    here = stamps.intersect_params(point)
    instances = here.reverse().wrap().flatten()
    if instances.is_empty():
        return None
    trips, boxes = [], [tuple(_extent(instances, loops + each) for each in range(counters))]
    even = here.domain().is_box()
    for loop in range(loops):
        if all(extent == 1.0 for extent in boxes[-1]):
            trips.append(1.0)
            boxes.append(boxes[-1])
            continue
        trip, middle = _in_the_middle(instances, loop)
        uneven = not even and trip >= LOOP_PARTS
        instances = _in_the_wider_part(instances, loop, middle, loops) if uneven else middle
        trips.append(trip)
        boxes.append(boxes[-1] if trip == 1.0 else _box(instances, loops, boxes[-1]))
    count = _count(here.domain(), counters)
    if trips:  # loops along diagonals are longest in the middle
        trips[0] *= min(1.0, count / math.prod(trips))
    return Extents(count, tuple(trips), tuple(boxes))


def _count(domain: isl.Set, counters: int) -> float:
    """About how many elements ``domain`` has: exactly for a few boxes and triangles."""
    if not 1 < domain.n_basic_set() <= COUNTED_PIECES:
        return _count_in_one(domain, counters)
    pieces = domain.make_disjoint().get_basic_sets()
    return sum(_count_in_one(each.to_set(), counters) for each in pieces)


def _count_in_one(domain: isl.Set, counters: int) -> float:
    """The same for what is in one piece."""
    count = 1.0
    for dim in range(counters):
        trips, domain = _in_the_middle(domain, dim)
        count *= trips
    return count


def _in_the_middle(instances: isl.Set, dim: int) -> tuple[float, isl.Set]:
    """How many values dimension ``dim`` takes, and the ``instances`` where it has that in the middle."""
    low, high = instances.dim_min_val(dim), instances.dim_max_val(dim)
    if not (low.is_int() and high.is_int()) or low == high:
        return 1.0, instances
    step = instances.get_stride(dim)  # of a loop over blocks
    steps = high.sub(low).div(step).floor()
    middle = instances.fix_val(_set, dim, low.add(step.mul(steps.div(isl.Val(2)).floor())))
    if middle.is_empty():
        middle = instances.fix_val(_set, dim, low)
    if instances.n_basic_set() > 1 and step.is_one():
        return float(_covered(instances, dim)), middle
    return float(steps.to_python() + 1), middle


def _in_the_wider_part(instances: isl.Set, loop: int, middle: isl.Set, loops: int) -> isl.Set:
    """``instances`` at a quarter of a loop if far more of them are there than as far from its other end.

    Elsewhere those in the ``middle`` of its iterations: triangles are wide at one end.
    """
    low, high = (each.to_python() for each in (instances.dim_min_val(loop), instances.dim_max_val(loop)))
    quarter = (high - low) // LOOP_PARTS
    ends = [instances.fix_val(_set, loop, isl.Val(value)) for value in (low + quarter, high - quarter)]
    counters = range(loops, instances.dim(_set))
    first, last = (
        0.0 if each.is_empty() else math.prod(_extent(each, counter) for counter in counters) for each in ends
    )
    if max(first, last) <= UNEVEN_TIMES * min(first, last):
        return middle
    return ends[0] if first > last else ends[1]


def _box(instances: isl.Set, loops: int, before: tuple[float, ...]) -> tuple[float, ...]:
    """How many values each counter takes; those that took one value ``before`` still do."""
    return tuple(
        1.0 if extent == 1.0 else _extent(instances, loops + place) for place, extent in enumerate(before)
    )


def _extent(instances: isl.Set, dim: int) -> float:
    low, high = instances.dim_min_val(dim), instances.dim_max_val(dim)
    if not (low.is_int() and high.is_int()):
        return 1.0
    if instances.n_basic_set() > 1:
        return float(_covered(instances, dim))
    return float(high.to_python() - low.to_python() + 1)


def _covered(instances: isl.Set, dim: int) -> int:
    """How many whole numbers dimension ``dim`` of pieces covers: halves of a grid lie far apart."""
    pieces = (each.to_set() for each in instances.get_basic_sets() if not each.is_empty())
    spans = [(each.dim_min_val(dim).to_python(), each.dim_max_val(dim).to_python()) for each in pieces]
    covered, end = 0, min(low for low, _ in spans) - 1
    for low, high in sorted(spans):
        covered += max(0, high - max(low - 1, end))
        end = max(end, high)
    return covered
