"""Bands in whose loops isl would shift statements, to give a stride to all of them.

Where statements at ``2t`` and at ``2t + 1`` share a band, isl makes one loop with steps of 2, and each
iteration runs the latter behind the former. It tells offsets by how far each statement is from one of them,
the base, in the same iteration of the loops around. One that never runs together with the base is taken to
have the same offset, whatever its own is::

    A[t] -> 2t, B[t] -> 2t + 1, E[] -> n for even n, O[] -> n for odd n

By the base ``O``, ``E`` goes with ``B``. So it runs behind ``A`` at ``n``, even where a sequence below has it
first. (isl 0.27, ``generate_component`` of isl_ast_codegen.c.) Nor do the loops inside keep their numbers, by
which directives are found. In a band around a guard isl shifts nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import islpy as isl

from polybuild.poly.relations import maps_of
from polybuild.poly.trees import descendants, is_band, node_kind
from polybuild.values import dataclass

_in, _out, _set = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


def without_shifts(schedule: isl.Schedule, context: isl.Set) -> isl.Schedule:
    """The order of ``schedule`` where ``context`` holds, with guards wherever isl might shift statements."""
    top = schedule.get_root().child(0)
    return _guarded(top, top.get_prefix_schedule_relation(), context).get_schedule()


def _guarded(node: isl.ScheduleNode, around: isl.UnionMap, context: isl.Set) -> isl.ScheduleNode:
    """``node`` with such guards, which always hold; the bands ``around`` say when instances run there."""
    kind = node_kind(node)
    if kind == isl.schedule_node_type.filter:
        around = around.intersect_domain(node.filter_get_filter())
    elif kind == isl.schedule_node_type.extension:
        around = around.union(node.extension_get_extension().reverse())
    elif is_band(node):
        around = around.flat_range_product(node.band_get_partial_schedule_union_map())
    for index in range(node.n_children()):
        node = _guarded(node.child(index), around, context).parent()
    if not is_band(node) or not _may_shift(node, around.intersect_params(context)):
        return node
    inside = node.child(0)
    space = isl.Space.set_alloc(node.get_ctx(), 0, inside.get_schedule_depth())
    return inside.insert_guard(isl.Set.universe(space)).parent()


def _may_shift(band: isl.ScheduleNode, schedule: isl.UnionMap) -> bool:
    """Whether isl may shift statements in ``band``, which have ``schedule`` in its loops and those around."""
    statements = [each.range() for each in maps_of(schedule)]
    if len(statements) < 2:
        return False
    inside = any(map(is_band, descendants(band.child(0))))
    for more in reversed(range(band.band_n_member())):
        count = band.child(0).get_schedule_depth() - more
        values = [_StatementValues(each.project_out(_set, count, more), count) for each in statements]
        # where there are but two, none is taken for the other, nor is a loop inside that has another number
        if _may_have_stride(values, fewest=2 if inside or more else 3):
            return True
    return False


@dataclass(frozen=True, slots=True)
class _StatementValues:
    """What a statement has in a loop, the last of ``depth`` dimensions, and in those around."""

    values: isl.Set
    depth: int

    @property
    def have_stride(self) -> bool:
        """Whether those in one iteration of the loops around are certainly some multiple apart."""
        return bool(self.values.get_stride(self.depth - 1).gt(isl.Val(1)))

    @property
    def by_outer(self) -> isl.Map:
        """The values in each iteration of the loops around."""
        return isl.Map.from_range(self.values).move_dims(_in, 0, _out, 0, self.depth - 1)

    def has_stride_from(self, other: _StatementValues) -> bool:
        """Whether one value of each are apart by a multiple, though not by a number."""
        distances = self.by_outer.sum(other.by_outer.neg()).range()
        number = distances.plain_get_val_if_fixed(_set, 0).is_int()
        return not number and bool(distances.project_out_all_params().get_stride(0).gt(isl.Val(1)))


def _may_have_stride(statements: Sequence[_StatementValues], *, fewest: int) -> bool:
    """Whether ``fewest`` of ``statements`` in a loop may have a stride in common, at different offsets.

    Those with one value in an iteration of the loops around have any stride.
    """
    strided = [each.have_stride for each in statements]
    others = (each for each, has in zip(statements, strided, strict=True) if not has)
    single = [each for each in others if each.by_outer.is_single_valued()]
    if sum(strided) + len(single) < fewest:
        return False
    return any(strided) or any(one.has_stride_from(other) for one, other in itertools.combinations(single, 2))
