"""From what size on new loops gain on one thread: where the predicted costs of two versions cross."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import dropwhile

import islpy as isl

from polybuild.effort import CERTAIN_GAIN, EVEN_SIZE, FIXED_SIZE
from polybuild.scop.model import Statement
from polybuild.targets.cost import CostFunction
from polybuild.targets.cpu.cost.grids import Counts, walk_of
from polybuild.targets.cpu.cost.parameters import instances_at, parameters_at, smaller_sizes
from polybuild.targets.cpu.cost.versions import VersionCosts
from polybuild.targets.model import Enough
from polybuild.values import dataclass

Gains = Callable[[Mapping[str, int]], bool]


def enough_to_gain(
    statements: Sequence[Statement],
    work: Sequence[Sequence[isl.PwAff]],
    context: isl.Set,
    predicted: VersionCosts,
    minimum: int,
) -> tuple[Enough, ...]:
    """From what sizes on the new loops of a region gain on one thread, if they gain at usual or larger ones.

    ``work`` has the trip counts of the loops of each of the ``statements``; fewer instances than ``minimum``
    never gain. Loops that come to the same elements again gain nothing by new orders while caches hold these,
    however often they come: such loops have enough work if they walk over enough, and often enough.
    """
    walk = walk_of(statements)
    always = Enough(_distinct(work), minimum)
    if predicted.gaining is None or not walk.repeats:
        return (replace(always, minimum=gains_from(work, context, predicted, minimum)),)
    points, passes = _distinct(walk.points(work)), _distinct(walk.passes(work))
    sizes = predicted.gaining or predicted.usual
    wide = smaller_sizes(context, sizes, walk.along)
    often = smaller_sizes(context, sizes, walk.again, 2)
    needed = (
        Enough(points, _crossing(points, wide, context, predicted.gains_somewhere_at).gaining),
        Enough(passes, _crossing(passes, often, context, predicted.gains_somewhere_at).gaining),
    )
    return (always, *(each for each in needed if each.minimum))


def enough_for_threads(
    statements: Sequence[Statement],
    work: Sequence[Sequence[isl.PwAff]],
    context: isl.Set,
    predicted: VersionCosts,
    *,
    untold: bool = False,
) -> tuple[Enough, ...]:
    """How much such loops walk over where all threads gain, if they do at usual sizes: tiles for each.

    Where it is ``untold`` what a loop that they share has to do each time it runs, it is how much all loops
    have to do.
    """
    walk = walk_of(statements)
    if untold and not walk.repeats:
        sizes = list(smaller_sizes(context, predicted.usual))
        minimum = threads_from(work, context, predicted, sizes, instead_of=predicted.original)
        return (Enough(_distinct(work), minimum),) if minimum else ()
    if not walk.repeats or not predicted.gains_on_threads_at(predicted.usual):
        return ()
    points = _distinct(walk.points(work))
    wide = smaller_sizes(context, predicted.usual, walk.along)
    minimum = _crossing(points, wide, context, predicted.gains_on_threads_at).gaining
    return (Enough(points, minimum),) if minimum else ()


def threads_gain(statements: Sequence[Statement], context: isl.Set, predicted: VersionCosts) -> bool:
    """Whether loops on all threads may be faster than the original ones, whatever the parameters are.

    Those that come to the same few elements again may have no tiles for several.
    """
    if context.dim(isl.dim_type.param) or not walk_of(statements).returns:
        return True
    return predicted.gains_on_threads_at(predicted.usual)


def threads_from(
    work: Sequence[Sequence[isl.PwAff]],
    context: isl.Set,
    predicted: VersionCosts,
    sizes: Sequence[Mapping[str, int]],
    *,
    instead_of: CostFunction | None = None,
) -> int:
    """How many instances of ``work`` a loop in a sequential one has from where all threads gain; 0 if always.

    They run ``instead_of`` other loops, or of those that one thread runs. The ``sizes`` of the region become
    smaller; if threads gain at none of them, it is more than at the first.
    """
    alone, together = instead_of or predicted.runs_alone, predicted.chosen.all_threads

    def gains(values: Mapping[str, int]) -> bool:
        return alone.at(values).total > CERTAIN_GAIN * together.at(values).total

    distinct = _distinct(work)  # as generated code counts
    found = _crossing(distinct, sizes, context, gains)
    if found.gaining and not gains(sizes[0]):
        point = parameters_at(context, sizes[0])
        return readable(2 * sum(instances_at(trips, point) for trips in distinct))
    return readable(math.sqrt(found.losing * found.gaining)) if found.gaining else 0


def gains_from(
    work: Sequence[Sequence[isl.PwAff]], context: isl.Set, predicted: VersionCosts, minimum: int
) -> int:
    """How many statement instances a region has from where its new loops gain; no fewer than ``minimum``.

    They do for usual sizes, or where caches hold all data. Sizes are halved as long as there are more
    instances than that, by the trip counts of the loops of each statement in ``work``; the mean is taken of
    where the costs cross. What is left of vectors and tiles at odd sizes tells nothing of others.
    """
    gains = predicted.gains_somewhere_at
    sizes: Iterable[Mapping[str, int]] = smaller_sizes(context, predicted.usual)
    sizes = (each for each in map(_even, sizes) if not parameters_at(context, each).is_empty())
    if predicted.gaining is None:
        sizes = dropwhile(lambda values: not gains(values), sizes)
    found = _crossing(work, sizes, context, gains, minimum)
    return readable(math.sqrt(found.losing * found.gaining)) or minimum


def _even(values: Mapping[str, int]) -> Mapping[str, int]:
    """``values``, of which large ones become multiples of what tiles and vectors are."""
    return {
        name: value - value % EVEN_SIZE if value >= FIXED_SIZE else value for name, value in values.items()
    }


@dataclass(frozen=True, slots=True)
class _Crossing:
    """Work with which new loops gain, and less with which they do not; both are 0 if they always gain."""

    losing: int = 0
    gaining: int = 0


def _crossing(
    work: Sequence[Sequence[isl.PwAff]],
    sizes: Iterable[Mapping[str, int]],
    context: isl.Set,
    gains: Gains,
    minimum: int = 0,
) -> _Crossing:
    """Where new loops begin to gain, in instances of ``work``, of smaller and smaller ``sizes``.

    Unless the two smallest with more than ``minimum`` gain, a bisection finds the two between which the costs
    cross.
    """
    larger = []
    for values in sizes:
        point = parameters_at(context, values)
        instances = sum(instances_at(trips, point) for trips in work)
        if instances <= minimum:
            break
        larger.append((values, instances))
    # where blocks hardly fit, the smallest size may gain by chance
    smallest = range(max(0, len(larger) - 2), len(larger))
    losing = next((place for place in smallest if not gains(larger[place][0])), None)
    if losing is None:
        return _Crossing()
    gaining = 0
    while losing - gaining > 1:
        middle = (gaining + losing) // 2
        if gains(larger[middle][0]):
            gaining = middle
        else:
            losing = middle
    return _Crossing(*(math.ceil(larger[place][1]) for place in (losing, gaining)))


def _distinct(counts: Sequence[Sequence[isl.PwAff]]) -> Counts:
    """``counts``, each once: what is asked of a region when it runs shall be short."""
    found: list[tuple[isl.PwAff, ...]] = []
    known: list[tuple[isl.PwAff, ...]] = []
    for each in map(tuple, counts):
        plain = tuple(count.gist(count.domain()) for count in each)
        if not any(
            len(plain) == len(one) and all(map(isl.PwAff.plain_is_equal, plain, one)) for one in known
        ):
            found.append(each)
            known.append(plain)
    return tuple(found)


def readable(number: float) -> int:
    """``number``, of which two digits count."""
    unit: int = 10 ** max(0, math.floor(math.log10(max(1.0, number))) - 1)
    return round(number / unit) * unit
