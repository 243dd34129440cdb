"""The proof that the threads of a kernel may run side by side.

``check_schedule`` proves the order of the tree as it stands; this proves that the
order among threads does not matter: two dependent instances of one launch run in
one thread, which runs them in that order. Launches follow one another in the
order of the host's loops.
"""

from __future__ import annotations

import dataclasses

from polybuild.analysis.dependences import Dependences
from polybuild.schedule.legality import IllegalSchedule, check_schedule
from polybuild.scop.model import Array, Scop
from polybuild.targets.gpu.model import GpuMapping
from polybuild.targets.gpu.ownership import same_launch, same_thread


def check_mapping(
    scop: Scop, mapping: GpuMapping, dependences: Dependences, owned: tuple[Array, ...]
) -> None:
    """Raise IllegalSchedule unless all threads together do what the original order does.

    The arrays in ``owned`` have a copy in each thread; all others are in the
    device's memory, private or not.
    """
    strict = without_private(dependences, tuple(array.name for array in owned))
    check_schedule(mapping.schedule, strict, scop.domain)
    together = same_launch(mapping, strict.validity)
    apart = together.subtract(same_thread(mapping, together))
    if not apart.is_empty():
        raise IllegalSchedule(f"threads of one launch depend on each other: {apart}")
    for each in strict.private:
        if not same_thread(mapping, each.flow).is_equal(each.flow):
            raise IllegalSchedule(f"a value of '{each.array.name}' leaves its thread")


def without_private(dependences: Dependences, keep: tuple[str, ...] = ()) -> Dependences:
    """``dependences`` where only the private arrays named in ``keep`` may have copies."""
    false = dependences.false
    for each in dependences.private:
        if each.array.name not in keep:
            false = false.union(each.order)
    kept = tuple(each for each in dependences.private if each.array.name in keep)
    return dataclasses.replace(dependences, false=false.coalesce(), private=kept)
