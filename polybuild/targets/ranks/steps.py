"""How many steps over time ranks take between two exchanges."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import islpy as isl

from polybuild import effort
from polybuild.machine.model import Machine
from polybuild.poly.relations import sets_of
from polybuild.targets.cpu.cost.extents import about_count
from polybuild.targets.cpu.cost.parameters import parameters_at
from polybuild.targets.ranks.blocks import blocks_at
from polybuild.targets.ranks.model import Share
from polybuild.targets.ranks.volumes import Communication


def choose_steps(
    share: Share, tiled: Callable[[int], Share | None], machine: Machine, values: Mapping[str, int]
) -> Share:
    """``share``, in which ranks meet in each step, or what is ``tiled`` by as many steps as save time.

    That is looked at where parameters have ``values``.
    """
    best, steps, lowest = share, 2, _overhead(share, machine, values)
    while steps <= effort.STEPS_TOGETHER:
        found = tiled(steps)
        overhead = lowest if found is None else _overhead(found, machine, values)
        if found is None or overhead >= lowest:
            break
        best, steps, lowest = found, 2 * steps, overhead
    return best


def _overhead(share: Share, machine: Machine, values: Mapping[str, int]) -> float:
    """Nanoseconds of a region that go into messages, and into what neighbours compute, too.

    What is computed twice is in the caches, and in vectors.
    """
    sharing, points = share.sharing, share.schedule.get_domain()
    blocks = blocks_at(sharing, values, effort.USUAL_RANKS)
    sent = Communication(machine, values, blocks, points).of(sharing)
    during = {each.name for each in sharing.exchanges[:-1]}
    point = parameters_at(sharing.context, values)
    meetings = (each for each in sets_of(points) if each.get_tuple_name() in during)
    # where all steps are in one tile, ranks do not meet in between
    runs = max((_count(each.intersect_params(point)) for each in meetings), default=1.0)
    accesses = [len(each.accesses) for each in share.scop.statements]
    each = sum(accesses) / len(accesses) * machine.arithmetic.access * machine.vector.adjacent
    return sent.nanoseconds + runs * sharing.extra * each


def _count(points: isl.Set) -> float:
    return 0.0 if points.is_empty() else about_count(points)
