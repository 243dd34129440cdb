"""How much work is below a node of a tree: whether that pays for threads each time the node is reached."""

from __future__ import annotations

import math
from collections.abc import Sequence

import islpy as isl

from polybuild.analysis.operations import operations_of
from polybuild.analysis.trip_counts import trip_counts
from polybuild.machine.model import Machine
from polybuild.poly.relations import maps_of, sets_of
from polybuild.poly.trees import prefix_schedule
from polybuild.scop.model import Scop, Statement
from polybuild.targets.cpu.cost.parameters import nominal_parameters, running_parameters, trips_at


def instance_time(statement: Statement, machine: Machine) -> float:
    """Nanoseconds that an instance of ``statement`` takes, outside of the vector unit.

    It computes and accesses at the same time, what is in the first cache.
    """
    unit, counts = machine.arithmetic, operations_of(statement)
    time = (counts.simple + unit.loop) * unit.operation + counts.divisions * unit.divide
    time += counts.roots * unit.root + counts.calls * unit.call
    elements = sum(bool(each.array.extents) for each in statement.accesses)
    return max(time, elements * unit.access)


def _point_for(statement: Statement, point: isl.Set, context: isl.Set) -> isl.Set:
    """The nominal ``point`` of the parameters, or one where ``statement`` runs: in a branch by a mode."""
    runs = statement.domain.params()
    return point if not point.is_disjoint(runs) else nominal_parameters(context.intersect(runs))


class LaunchModel:
    """Estimates the work below a node of the tree per time the node is reached, in nanoseconds.

    An instance in the vector unit counts less by the gain of vectors. Wavefronts start and end with few
    tiles, and their threads wait for the slowest; within a sequential loop they synchronise so often that
    one other busy process ruins them.
    """

    def __init__(self, scop: Scop, machine: Machine) -> None:
        self._machine = machine
        self._instances = {each.name: instance_time(each, machine) for each in scop.statements}
        point = running_parameters(scop)
        self._trips = {
            statement.name: [trips_at(count, _point_for(statement, point, scop.context)) for count in counts]
            for statement, counts in zip(scop.statements, trip_counts(scop), strict=True)
        }

    def is_worth_launching(self, node: isl.ScheduleNode, *, vector: bool) -> bool:
        """Whether the loops at ``node`` do enough work for threads each time they run.

        A nest that is reached once is left to run-time conditions.
        """
        depth = node.get_schedule_depth()
        return depth == 0 or self._work(node, depth) >= self._minimum(vector=vector)

    def is_worth_pipelining(self, node: isl.ScheduleNode, sizes: Sequence[int], *, vector: bool) -> bool:
        """Whether each wavefront of tiles of ``sizes`` at ``node`` does enough work for threads."""
        total = self._work(node, node.get_schedule_depth())
        longest = max(
            (max(self._trips[each.get_tuple_name()], default=1.0) for each in sets_of(node.get_domain())),
            default=1.0,
        )
        wavefronts = max(1.0, 2 * longest / min(sizes[:2]))
        minimum = self._machine.threads.front_work * self._minimum(vector=vector)
        if node.get_schedule_depth() > 0:
            minimum *= self._machine.threads.nested_work
        return total / wavefronts >= minimum

    def _minimum(self, *, vector: bool) -> float:
        threads = self._machine.threads
        return threads.work * threads.start * (self._machine.vector.gain if vector else 1.0)

    def _work(self, node: isl.ScheduleNode, depth: int) -> float:
        """Nanoseconds of the instances below ``node`` for one value of the ``depth`` loops above it."""
        work = 0.0
        for each in sets_of(node.get_domain()):
            trips = self._trips[each.get_tuple_name()]
            if len(trips) <= depth:
                continue
            inside = _inside(trips, node, each) if depth and len(set(trips)) > 1 else None
            # loops along diagonals fix no counter: each loop is as long as the others in the mean
            count = math.prod(trips) ** (1 - depth / len(trips)) if inside is None else math.prod(inside)
            work += self._instances[each.get_tuple_name()] * count
        return work


def _inside(trips: Sequence[int], node: isl.ScheduleNode, instances: isl.Set) -> list[int] | None:
    """What is left of ``trips`` of ``instances`` for one value of the loops above; None if they fix none."""
    prefix = prefix_schedule(node).intersect_domain(isl.UnionSet.from_set(instances))
    limits = [limit for each in maps_of(prefix) for limit in values_at_one_place(each)]
    if 1 not in limits:
        return None
    more = trips[len(limits) :]
    return [*(min(each, limit or each) for each, limit in zip(trips, limits, strict=False)), *more]


def values_at_one_place(prefix: isl.Map) -> list[int | None]:
    """How many values each counter takes at most where the loops around, ``prefix``, stay at one place.

    None where no number limits that.
    """
    distances = prefix.apply_range(prefix.reverse()).deltas()
    farthest = [distances.dim_max_val(dim) for dim in range(distances.dim(isl.dim_type.set))]
    return [1 + each.to_python() if each.is_int() else None for each in farthest]
