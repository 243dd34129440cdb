"""Boxes of constant size around what a tile touches (PPCG 7.3).

The set of elements that one iteration of the loops above a place touches is
covered by a box whose lowest corner may depend on these loops. Of the lower
bounds of a subscript the one that makes the box smallest is taken.
"""

from __future__ import annotations

import islpy as isl

from polybuild.targets.device import Box

_set = isl.dim_type.set


def box_of(touched: isl.Map) -> Box | None:
    """The box for ``{ [d0, ..., dn] -> array[x0, ...] }``, None if its size is not constant."""
    offsets: list[isl.Aff] = []
    sizes: list[int] = []
    for dim in range(touched.dim(isl.dim_type.out)):
        found = _interval(touched, dim)
        if found is None:
            return None
        offsets.append(found[0])
        sizes.append(found[1])
    return Box(tuple(offsets), tuple(sizes))


def _interval(touched: isl.Map, dim: int) -> tuple[isl.Aff, int] | None:
    """The best lower bound of one subscript, and the number of values from there on."""
    count = touched.dim(isl.dim_type.out)
    lone = touched.project_out(isl.dim_type.out, dim + 1, count - dim - 1).project_out(
        isl.dim_type.out, 0, dim
    )
    depth = lone.dim(isl.dim_type.in_)
    values = lone.reset_tuple_id(isl.dim_type.out) if lone.has_tuple_id(isl.dim_type.out) else lone
    flat = values.wrap().flatten()
    best: tuple[isl.Aff, int] | None = None
    for bound in _lower_bounds(flat, depth):
        size = _largest(flat, bound, depth)
        if size is not None and (best is None or size + 1 < best[1]):
            best = bound.drop_dims(isl.dim_type.in_, depth, 1), size + 1
    return best


def _lower_bounds(values: isl.Set, position: int) -> list[isl.Aff]:
    """The lower bounds of the last dimension of ``values`` that hold everywhere."""
    bounds = []
    for constraint in values.simple_hull().remove_unknown_divs().get_constraints():
        bounded = constraint.is_equality() or constraint.is_lower_bound(_set, position)
        if bounded and constraint.involves_dims(_set, position, 1):
            bound = constraint.get_bound(_set, position)
            if not bound.involves_dims(isl.dim_type.in_, position, 1):
                bounds.append(bound.ceil())
    return sorted(bounds, key=str)


def _largest(values: isl.Set, bound: isl.Aff, position: int) -> int | None:
    """How far the last dimension of ``values`` goes above ``bound``; None if there is no limit."""
    space = isl.LocalSpace.from_space(values.get_space())
    distance = isl.Aff.var_on_domain(space, _set, position).sub(bound)
    farthest = values.max_val(distance)
    return farthest.to_python() if farthest.is_int() else None
