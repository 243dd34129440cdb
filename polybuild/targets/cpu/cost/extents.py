"""How often loops run, and which instances of a statement they run over, for values of the parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence

import islpy as isl

from polybuild.effort import COUNTED_PIECES, LOOP_PARTS, UNEVEN_TIMES
from polybuild.poly.integers import integer_of, value_of
from polybuild.poly.memory import remembered
from polybuild.targets.cpu.cost.points import Points
from polybuild.values import dataclass

_in, _out = isl.dim_type.in_, isl.dim_type.out


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


@remembered
def extents_at(stamps: isl.Map, point: isl.Set) -> Extents | None:
    """The extents of the instances of ``stamps`` at a ``point`` of the parameters; None if there are none."""
    loops, counters = stamps.dim(_out), stamps.dim(_in)
    here = stamps.intersect_params(point)
    if here.is_empty():
        return None
    instances, domain = Points.of(here.reverse().wrap().flatten()), here.domain()
    if here.n_basic_map() == 1:  # what counters take says the domain, which has few dimensions
        whole, first = Points.of(domain), 0
    else:
        whole, first = instances, loops
    trips, boxes = [], [tuple(_extent(whole, first + each) for each in range(counters))]
    even = domain.is_box()
    for loop in range(loops):
        if all(extent == 1.0 for extent in boxes[-1]):
            trips.append(1.0)
            boxes.append(boxes[-1])
            continue
        trip, middle = _in_the_middle(instances, loop)
        uneven = not even and trip >= LOOP_PARTS
        instances = _in_the_wider_part(instances, loop, middle, loops) if uneven else middle
        trips.append(trip)
        boxes.append(boxes[-1] if trip == 1.0 else _box(instances, loop, loops, boxes[-1]))
    count = about_count(domain)
    if trips:  # loops along diagonals are longest in the middle
        trips[_first_uneven(count, trips, boxes)] *= min(1.0, count / math.prod(trips))
    return Extents(count, tuple(trips), tuple(boxes))


def _first_uneven(count: float, trips: Sequence[float], boxes: Sequence[Sequence[float]]) -> int:
    """The first of the loops with ``trips`` in whose iterations ``boxes`` hold far more than ``count``.

    Those around it, as the loop over blocks of steps between two norms, share instances out evenly, and may
    have other statements inside.
    """
    outer = 1.0
    for loop, own in enumerate(trips):
        outer *= own
        if outer * math.prod(boxes[loop + 1]) > UNEVEN_TIMES * count:
            return loop
    return 0


@remembered
def about_count(domain: isl.Set) -> float:
    """About how many elements ``domain`` has, which are not none: exactly for a few boxes and triangles."""
    counters = domain.dim(isl.dim_type.set)
    if not 1 < domain.n_basic_set() <= COUNTED_PIECES:
        return _count_in_one(domain, counters)
    pieces = domain.make_disjoint().get_basic_sets()
    return sum(_count_in_one(each.to_set(), counters) for each in pieces)


def _count_in_one(domain: isl.Set, counters: int) -> float:
    """The same for what is in one piece."""
    count, points = 1.0, Points.of(domain)
    for dim in range(counters):
        trips, points = _in_the_middle(points, dim)
        count *= trips
    return count


def _in_the_middle(instances: Points, dim: int) -> tuple[float, Points]:
    """How many values dimension ``dim`` takes, and the ``instances`` where it has that in the middle."""
    low, high = instances.limits(dim)
    if not (low.is_int() and high.is_int()) or low == high:
        return 1.0, instances
    step = instances.stride(dim)  # of a loop over blocks
    steps = high.sub(low).div(step).floor()
    middle = instances.fixed(dim, low.add(step.mul(steps.div(isl.Val(2)).floor())))
    if middle is None:
        middle = instances.fixed(dim, low) or instances
    if instances.in_pieces() and step.is_one():
        return float(instances.covered(dim)), middle
    return float(integer_of(steps) + 1), middle


def _in_the_wider_part(instances: Points, loop: int, middle: Points, loops: int) -> Points:
    """``instances`` at a quarter of a loop if far more of them are there than as far from its other end.

    Elsewhere those in the ``middle`` of its iterations: triangles are wide at one end.
    """
    low, high = map(integer_of, instances.limits(loop))
    quarter = (high - low) // LOOP_PARTS
    ends = [instances.fixed(loop, value_of(value)) for value in (low + quarter, high - quarter)]
    counters = [each for each in range(loops, len(instances.places)) if instances.connects(loop, each)]
    first, last = (
        0.0 if each is None else math.prod(_extent(each, counter) for counter in counters) for each in ends
    )
    if max(first, last) <= UNEVEN_TIMES * min(first, last):
        return middle
    return (ends[0] if first > last else ends[1]) or middle


def _box(instances: Points, loop: int, loops: int, before: tuple[float, ...]) -> tuple[float, ...]:
    """How many values each counter takes now that ``loop`` is fixed; ``before`` it was.

    Those that took one value still do, and those that do not depend on the loop take as many as before.
    """
    return tuple(
        _extent(instances, loops + place)
        if extent != 1.0 and instances.connects(loop, loops + place)
        else extent
        for place, extent in enumerate(before)
    )


def _extent(instances: Points, dim: int) -> float:
    low, high = instances.limits(dim)
    if not (low.is_int() and high.is_int()):
        return 1.0
    if instances.in_pieces():
        return float(instances.covered(dim))
    return float(integer_of(high) - integer_of(low) + 1)
