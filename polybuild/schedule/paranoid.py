"""The order of a region checked once more, by running it: for those who do not take a proof on trust.

The oracle knows nothing of dependences: it runs the instances of the model for small
sizes in both orders and compares what every read sees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.effort import NEAR_SAMPLES, SAMPLE_INSTANCES, SAMPLE_SIZES, SMALL_SAMPLE
from polybuild.poly.budget import unlimited
from polybuild.poly.marks import Mark
from polybuild.poly.sampling import small_parameters
from polybuild.schedule.legality import IllegalSchedule
from polybuild.schedule.oracle import first_difference, fixed_near
from polybuild.scop.model import Scop


def check_by_running(
    scop: Scop, schedule: isl.Schedule, dependences: Dependences, parallel: Sequence[Mark]
) -> tuple[int, ...]:
    """Run both orders for a few sizes; raises IllegalSchedule if they differ.

    The loops under the marks in ``parallel`` are also run backwards. Returns how many
    instances were run for each size; none if even small sizes have too many.
    """
    ran = isl.Set.empty(scop.context.get_space())
    for statement in scop.statements:
        ran = ran.union(statement.domain.params())
    ran = ran.intersect(scop.context)
    if ran.is_empty():
        return ()
    with unlimited():
        return tuple(_run(scop, schedule, dependences, parallel, ran))


def _run(
    scop: Scop, schedule: isl.Schedule, dependences: Dependences, parallel: Sequence[Mark], ran: isl.Set
) -> Iterator[int]:
    for sizes in (SAMPLE_SIZES, (SMALL_SAMPLE,)):
        chosen = next(_possible(scop, ran, sizes), None)
        if chosen is None:
            continue
        parameters, near, count = chosen
        for marks in ((), tuple(parallel)) if parallel else ((),):
            found = first_difference(scop, schedule, dependences, parameters, marks, near=near)
            if found is not None:
                where = ", ".join(f"{name} = {value}" for name, value in parameters.items())
                raise IllegalSchedule(
                    f"run for {where or 'its sizes'}, the new order differs: {found.what} of {found.cell[0]}"
                    f"{list(found.cell[1])} comes from {found.found}, not from {found.expected}"
                )
        yield count


def _possible(scop: Scop, ran: isl.Set, sizes: Sequence[int]) -> Iterator[tuple[dict[str, int], int, int]]:
    """Parameter values, how near, and how many instances that are, the largest first."""
    for size in sizes:
        parameters = _values(small_parameters(ran, size))
        for near in (0, *NEAR_SAMPLES):
            count = _count(scop, parameters, near)
            if count <= SAMPLE_INSTANCES:
                yield parameters, near, count
                break


def _values(point: isl.Set) -> dict[str, int]:
    space = point.get_space()
    found = {}
    for dim in range(space.dim(isl.dim_type.param)):
        line = point.move_dims(isl.dim_type.set, 0, isl.dim_type.param, dim, 1).project_out_all_params()
        found[str(space.get_dim_name(isl.dim_type.param, dim))] = line.dim_max_val(0).to_python()
    return found


def _count(scop: Scop, parameters: dict[str, int], near: int) -> int:
    """The number of instances; more than can be run where it is not known."""
    total = 0
    for statement in scop.statements:
        domain = fixed_near(statement.domain, parameters, near)
        number = domain.count_val() if domain.is_bounded() else None
        if number is None or not number.is_int():
            return SAMPLE_INSTANCES + 1
        total += number.to_python()
        if total > SAMPLE_INSTANCES:
            break
    return total
