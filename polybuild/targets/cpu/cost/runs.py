"""How far prefetchers follow the rows that loops go along.

Prefetchers ask for lines of some rows before these are needed, once they have seen the first ones of each.
Loops that leave rows after a part of them, as tiles do, or go down columns, a line of each row, wait for
first lines again and again, as if so many bytes more were moved: one line from the last cache. From memory
it is one line where a core comes to the next rows while it waits, and all that prefetchers would have asked
for, too, where it has much to compute before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from polybuild.machine.model import Machine
from polybuild.targets.cpu.cost.core import Body
from polybuild.targets.cpu.cost.extents import Extents
from polybuild.targets.cpu.cost.nest import Nest, leaves
from polybuild.targets.cpu.cost.traffic import Traffic
from polybuild.targets.cpu.strides import Reference
from polybuild.targets.cpu.tilesizes import element_size
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class _Run:
    """The bytes side by side that a reference comes to while prefetchers follow all of its rows, and in all.

    ``length`` is without bound where it goes on with the same rows, or with what comes after them.
    ``instances`` of the statement run meanwhile.
    """

    length: float
    touched: float
    instances: float


def with_first_lines(
    nest: Nest, bodies: Mapping[int, tuple[Body, float]], traffic: Traffic, machine: Machine
) -> tuple[float, float]:
    """What ``nest`` moves and waits for, over what it moves, from the last cache and from memory.

    ``bodies`` are those of its leaves, and the nanoseconds that an instance takes in the core. Each way to go
    through an array counts as often as it comes to another line; what is in buffers is near.
    """
    line = machine.memory.line
    seen_ahead = machine.arithmetic.window * machine.arithmetic.operation
    moved = near = far = 0.0
    seen: set[tuple[str, object]] = set()
    for leaf, _ in leaves(nest):
        extents = traffic.extents[id(leaf)]
        touched = {id(each.access): each for each in traffic.touched.references[id(leaf)]}
        inside = [
            sum(traffic.bytes_of(each, box, line) for each in touched.values()) for box in extents.boxes
        ]
        again = [size > machine.l2.bytes * machine.memory.kept for size in inside[1:]]
        body, time = bodies[id(leaf)]
        for each in body.references:
            key = each.access.array.name, each.matrix
            whole = touched.get(id(each.access))
            if whole is None or key in seen:
                continue
            seen.add(key)
            run = _run(each, extents, machine, again, traffic.row_of(whole, extents.boxes[0]))
            unseen = min(1.0, run.instances * time / seen_ahead)
            moved += run.touched
            near += run.touched * line / run.length
            far += run.touched * (line + machine.memory.ahead * unseen) / run.length
    return (1.0 + near / moved, 1.0 + far / moved) if moved else (1.0, 1.0)


def _run(reference: Reference, extents: Extents, machine: Machine, again: Sequence[bool], row: float) -> _Run:
    """How ``reference`` goes through memory; what follows most of a ``row``, as long as that is, is the next.

    Loops that do not move it come to the same elements ``again`` far away where their bodies touch too much.
    """
    size = element_size(reference)
    *outer, last = reference.matrix
    along, rows, instances, line = float(size), 1.0, 1.0, float(machine.memory.line)
    for loop, trips in reversed(tuple(enumerate(extents.trips))):
        step = last[loop]
        if step is not None and abs(step) * size < line and all(each[loop] == 0 for each in outer):
            along += abs(step) * (trips - 1.0) * size
        elif not _is_window(reference, loop):
            if rows * trips > machine.memory.tracked:
                starts = rows * math.prod(
                    count
                    for place, count in enumerate(extents.trips[: loop + 1])
                    if again[place] or any(each[place] != 0 for each in reference.matrix)
                )
                length = max(line, along)
                return _Run(math.inf if 2.0 * along >= row else length, starts * length, instances)
            rows *= trips
        instances *= trips
    return _Run(math.inf, rows * along, instances)


def _is_window(reference: Reference, loop: int) -> bool:
    """Whether ``loop`` goes along rows of which a loop around it brings one new one after the other."""
    moved = [row for row in reference.matrix[:-1] if row[loop]]
    return bool(moved) and all(row[loop] in row[:loop] for row in moved)
