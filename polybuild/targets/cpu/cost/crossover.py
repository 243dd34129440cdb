"""From what size on new loops gain on one thread: where the predicted costs of two versions cross."""

from __future__ import annotations

import math
from collections.abc import Sequence

import islpy as isl

from polybuild.targets.cpu.cost.parameters import instances_at, parameters_at, smaller_sizes
from polybuild.targets.cpu.cost.versions import VersionCosts


def gains_from(
    work: Sequence[Sequence[isl.PwAff]], context: isl.Set, predicted: VersionCosts, minimum: int
) -> int:
    """How many statement instances a region has from where its new loops gain; no fewer than ``minimum``.

    They do for usual sizes. Those are halved as long as there are more instances than that, by the trip
    counts of the loops of each statement in ``work``; unless the two smallest of them gain, a bisection finds
    the two between which the costs cross, and their mean is taken.
    """
    sizes = []
    for values in smaller_sizes(context, predicted.usual):
        point = parameters_at(context, values)
        instances = sum(instances_at(trips, point) for trips in work)
        if instances <= minimum:
            break
        sizes.append((values, instances))
    # where blocks hardly fit, the smallest size may gain by chance
    smallest = range(max(0, len(sizes) - 2), len(sizes))
    losing = next((place for place in smallest if not predicted.gains_at(sizes[place][0])), None)
    if losing is None:
        return minimum
    gaining = 0
    while losing - gaining > 1:
        middle = (gaining + losing) // 2
        if predicted.gains_at(sizes[middle][0]):
            gaining = middle
        else:
            losing = middle
    return readable(math.sqrt(sizes[gaining][1] * sizes[losing][1]))


def readable(number: float) -> int:
    """``number``, of which two digits count."""
    unit: int = 10 ** max(0, math.floor(math.log10(max(1.0, number))) - 1)
    return round(number / unit) * unit
