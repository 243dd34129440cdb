"""Copy statements grafted into a schedule tree: what moves data between memory, buffers and registers.

They are instances of their own, introduced by extension nodes (PPCG's way, TACO 2013,
section 7.3); no dependence of the region speaks of them. Whoever grafts them has to know
that nothing writes what they read before it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import islpy as isl

from polybuild.poly.marks import Mark
from polybuild.poly.trees import insert_mark

_in, _out, _set = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


def copy_instances(name: str, time_stamps: isl.Set, kept: Sequence[int | tuple[int, int]]) -> isl.Map:
    """From each of ``time_stamps`` to the instance of copy statement ``name`` that serves it.

    The instance has one dimension for each entry of ``kept``: a dimension of the time stamps, or
    ``(dimension, size)`` for the number of the chunk of ``size`` that it lies in.
    """
    local = isl.LocalSpace.from_space(time_stamps.get_space())
    space = time_stamps.get_space().add_dims(_set, 0)
    target = isl.MultiAff.zero(isl.Space.map_from_domain_and_range(space, _tuple(space, name, len(kept))))
    for index, each in enumerate(kept):
        position, size = each if isinstance(each, tuple) else (each, 1)
        value = isl.Aff.var_on_domain(local, _set, position)
        if size > 1:
            value = value.scale_down_val(isl.Val(size)).floor()
        target = target.set_aff(index, value)
    return isl.Map.from_multi_aff(target).intersect_domain(time_stamps)


def graft(instances: isl.Map, depth: int, context: isl.Set, mark: Mark | None = None) -> isl.ScheduleNode:
    """A tree for ``copy_instances`` below ``depth`` outer dimensions, which are its first ones.

    The loops are the instance's other dimensions, in order, below ``mark`` if there is one. What the
    parameters are anyway, by ``context``, is not said again.
    """
    domain = instances.range().gist_params(context)
    count = domain.dim(_set)
    extension = isl.Map.identity(domain.get_space().map_from_set()).intersect_domain(domain)
    extension = extension.project_out(_in, depth, count - depth).reset_tuple_id(_in)
    node = isl.ScheduleNode.from_extension(isl.UnionMap.from_map(extension)).child(0)
    local = isl.LocalSpace.from_space(domain.get_space())
    loops = []
    for position in range(depth, count):
        value = isl.PwAff.from_aff(isl.Aff.var_on_domain(local, _set, position)).intersect_domain(domain)
        each = isl.MultiUnionPwAff.from_union_pw_aff(isl.UnionPwAff.from_pw_aff(value))
        loops.append(each)
    node = node.insert_partial_schedule(reduce(isl.MultiUnionPwAff.flat_range_product, loops))
    return (node if mark is None else insert_mark(node, mark)).parent()


def _tuple(space: isl.Space, name: str, count: int) -> isl.Space:
    return space.params().add_unnamed_tuple_ui(count).set_tuple_name(_set, name)
