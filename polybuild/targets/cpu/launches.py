"""Whether a loop inside sequential loops is worth handing to the threads each time it is reached."""

from __future__ import annotations

import math
from collections.abc import Sequence

import islpy as isl

from polybuild.analysis.trip_counts import trip_counts
from polybuild.poly.relations import largest, natural_key, sets_of
from polybuild.scop.model import Scop

# In scalar statement instances, about a nanosecond each; an instance in the vector unit counts an eighth.
# A launch within sequential loops: some ten microseconds, ten times what waking and waiting costs.
MIN_LAUNCH_WORK = 20_000.0
# A wavefront also starts and ends with few tiles, and its threads wait for the slowest.
MIN_WAVEFRONT_WORK = 100_000.0
# Wavefronts within a sequential loop synchronise so often that one other busy process ruins them.
NESTED_CAUTION = 10.0
VECTOR_GAIN = 8.0
# What a parameter is taken to be where nothing bounds it.
_NOMINAL = 1000


class LaunchModel:
    """Estimates the work below a node of the tree per time the node is reached."""

    def __init__(self, scop: Scop) -> None:
        point = nominal_parameters(scop.context)
        self._counts = {
            statement.name: counts
            for statement, counts in zip(scop.statements, trip_counts(scop), strict=True)
        }
        self._trips = {
            name: [_value(count, point) for count in counts] for name, counts in self._counts.items()
        }

    def is_worth_launching(self, node: isl.ScheduleNode, *, vector: bool) -> bool:
        """Whether the loops at ``node`` do enough work for threads each time they run.

        A nest that is reached once is left to run-time conditions.
        """
        depth = node.get_schedule_depth()
        return depth == 0 or self._work(node, depth) >= MIN_LAUNCH_WORK * (VECTOR_GAIN if vector else 1.0)

    def is_worth_pipelining(self, node: isl.ScheduleNode, sizes: Sequence[int], *, vector: bool) -> bool:
        """Whether each wavefront of tiles of ``sizes`` at ``node`` does enough work for threads."""
        total = self._work(node, node.get_schedule_depth())
        longest = max(
            (max(self._trips[each.get_tuple_name()], default=1.0) for each in sets_of(node.get_domain())),
            default=1.0,
        )
        wavefronts = max(1.0, 2 * longest / min(sizes[:2]))
        least = MIN_WAVEFRONT_WORK * (VECTOR_GAIN if vector else 1.0)
        if node.get_schedule_depth() > 0:
            least *= NESTED_CAUTION
        return total / wavefronts >= least

    def run_time_work(self, node: isl.ScheduleNode) -> tuple[tuple[isl.PwAff, ...], ...]:
        """Trip counts to check at run time: those of a single loop, which may be short in a long region."""
        names = {each.get_tuple_name() for each in sets_of(node.get_domain())}
        counts = [self._counts[name] for name in sorted(names, key=natural_key)]
        return tuple(counts) if all(len(each) <= 1 for each in counts) else ()

    def _work(self, node: isl.ScheduleNode, depth: int) -> float:
        """Instances below ``node`` for one value of the ``depth`` loops above it."""
        work = 0.0
        for each in sets_of(node.get_domain()):
            trips = self._trips[each.get_tuple_name()]
            inner = max(0, len(trips) - depth)
            if inner:
                work += math.prod(trips) ** (inner / len(trips))
        return work


def nominal_parameters(context: isl.Set) -> isl.Set:
    """One plausible point of ``context``: each parameter at its bound if it has one, else a thousand."""
    count = context.dim(isl.dim_type.param)
    for dim in range(count):
        values = context.move_dims(isl.dim_type.set, 0, isl.dim_type.param, dim, 1)
        values = values.project_out(isl.dim_type.param, 0, count - 1)
        largest = values.upper_bound_val(isl.dim_type.set, 0, isl.Val(_NOMINAL)).dim_max_val(0)
        if values.dim_has_upper_bound(isl.dim_type.set, 0) or not largest.is_int():
            largest = values.dim_max_val(0)
        if largest.is_int():
            context = context.fix_val(isl.dim_type.param, dim, largest)
    return context


def _value(count: isl.PwAff, point: isl.Set) -> float:
    value = largest(count.intersect_params(point))
    return float(max(0, value.to_python())) if value.is_int() else 0.0
