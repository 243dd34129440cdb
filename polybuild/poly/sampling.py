"""Small numbers for examples and pictures: values for parameters, and points of sets."""

from __future__ import annotations

import contextlib

import islpy as isl

_set, _param = isl.dim_type.set, isl.dim_type.param

Point = tuple[int, ...]


def small_parameters(values: isl.Set, minimum: int) -> isl.Set:
    """One point of the parameter values ``values``: each at ``minimum``, or as near above it as can be.

    A parameter that must be smaller gets its largest value. ``values`` must not be empty.
    """
    count = values.dim(_param)
    for dim in range(count):
        line = values.move_dims(_set, 0, _param, dim, 1).project_out_all_params()
        above = line.lower_bound_val(_set, 0, isl.Val(minimum))
        value = line.dim_max_val(0) if above.is_empty() else above.dim_min_val(0)
        if not value.is_int():
            value = line.sample_point().get_coordinate_val(_set, 0)
        values = values.fix_val(_param, dim, value)
    return values


def first_point(domain: isl.Set) -> Point | None:
    """The lexicographically first point of a set without parameters that has one, else any point."""
    if domain.is_empty():
        return None
    with contextlib.suppress(isl.Error):  # some have no first point
        domain = domain.lexmin()
    point = domain.sample_point()
    return _coordinates(point, domain.dim(_set))


def small_point(domain: isl.Set) -> Point | None:
    """A point of a set without parameters: the first of those with no negative coordinate.

    Where there is none, as few coordinates as can be are negative, the outer ones rather than the inner.
    """
    for dim in reversed(range(domain.dim(_set))):
        above = domain.lower_bound_val(_set, dim, isl.Val(0))
        domain = domain if above.is_empty() else above
    return first_point(domain)


def points(domain: isl.Set, maximum: int | None = None) -> list[Point]:
    """The points of a bounded set without parameters, in lexicographic order; no more than ``maximum``."""
    found: list[isl.Point] = []

    def add(point: isl.Point) -> None:
        if maximum is None or len(found) < maximum:
            found.append(point)

    domain.foreach_point(add)
    return sorted(_coordinates(point, domain.dim(_set)) for point in found)


def without_parameters(domain: isl.Set, values: isl.Set) -> isl.Set:
    """``domain`` for the one point ``values`` of its parameters."""
    return domain.intersect_params(values).project_out_all_params()


def _coordinates(point: isl.Point, count: int) -> Point:
    return tuple(point.get_coordinate_val(_set, dim).to_python() for dim in range(count))
