"""What the cores of a machine take from each other where one thread works between the loops that all share.

One thread does what is between the parallel loops of a sequential one, and the lines that it writes there are
in its cache, as those that the others wrote are in theirs. In each iteration lines go from where they were
written to where they are used next: of ::

    for (k) {
      for (i) q[i][k] /= r[k][k];                                   one thread
      for (j > k) for (i) q[i][j] -= q[i][k] * r[k][j];             all
    }

those of a column go to all cores, and come back as others of their elements were written there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from polybuild.machine.model import Machine
from polybuild.scop.model import AccessKind
from polybuild.targets.cpu.cost.nest import Nest, NestLeaf, NestLoop, leaves
from polybuild.targets.cpu.cost.traffic import Traffic, instances_inside

_Around = tuple[NestLoop, ...]


def time_of_exchange(nest: Nest, traffic: Traffic, machine: Machine) -> float:
    """Nanoseconds in which lines go from core to core while ``nest`` runs on all threads."""
    times: dict[tuple[int, str], float] = {}
    ways: dict[tuple[int, str], set[str]] = {}
    for alone, around, shared, others in _pairs(nest):
        loop = _common(around, others)
        if loop is None:
            continue
        runs = math.prod(traffic.extents[id(alone)].trips[: loop.dim + 1])
        here, there = _written(traffic, alone), _written(traffic, shared)
        for name, time in _times(traffic, alone, loop.dim + 1, machine).items():
            if name not in there:
                continue
            key = loop.dim, name
            times[key] = max(times.get(key, 0.0), runs * time)
            written = (("here", here[name]), ("there", there[name]))
            ways.setdefault(key, set()).update(way for way, is_written in written if is_written)
    return sum(time * len(ways[key]) for key, time in times.items())


def _pairs(nest: Nest) -> Iterator[tuple[NestLeaf, _Around, NestLeaf, _Around]]:
    """Each leaf that one thread runs, with each that all share, and the loops around both."""
    found = list(leaves(nest))
    shared = [(leaf, around) for leaf, around in found if any(each.threads for each in around)]
    for leaf, around in found:
        if not any(each.threads for each in around):
            for other, loops in shared:
                yield leaf, around, other, loops


def _common(around: _Around, others: _Around) -> NestLoop | None:
    """The innermost sequential loop around both."""
    both = [one for one, other in zip(around, others, strict=False) if one is other]
    return both[-1] if both else None


def _written(traffic: Traffic, leaf: NestLeaf) -> dict[str, bool]:
    """The arrays that ``leaf`` accesses, and whether it writes them."""
    found: dict[str, bool] = {}
    for each in traffic.touched.references[id(leaf)]:
        name = each.access.array.name
        found[name] = found.get(name, False) or each.access.kind is not AccessKind.READ
    return found


def _times(traffic: Traffic, leaf: NestLeaf, depth: int, machine: Machine) -> dict[str, float]:
    """Nanoseconds that what ``leaf`` touches of each array takes on its way, while ``depth`` loops are fixed.

    The first line of what lies side by side is waited for; the others follow it.
    """
    found: dict[str, float] = {}
    line, extents = machine.memory.line, traffic.extents[id(leaf)]
    covered = instances_inside(extents, depth)  # of a diagonal, beside the box around it
    for each in traffic.touched.references[id(leaf)]:
        rows, size = traffic.rows_of(each, extents.boxes[depth], line)
        waited, followed = min(rows, covered), min(size, covered * line)
        time = waited * machine.threads.transfer + followed / machine.l3.bandwidth
        name = each.access.array.name
        found[name] = max(found.get(name, 0.0), time)
    return found
