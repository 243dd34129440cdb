"""Values of parameters for which costs are computed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import islpy as isl

from polybuild.effort import FIXED_SIZE, NOMINAL_SIZE, SIZE_STEP, SMALL_SIZE
from polybuild.poly.relations import largest
from polybuild.scop.model import Scop

_params = isl.dim_type.param


def nominal_parameters(context: isl.Set) -> isl.Set:
    """One plausible point of ``context``: each parameter at its bound if it has one, else a thousand."""
    count = context.dim(_params)
    for dim in range(count):
        values = context.move_dims(isl.dim_type.set, 0, _params, dim, 1)
        values = values.project_out(_params, 0, count - 1)
        largest = values.upper_bound_val(isl.dim_type.set, 0, isl.Val(NOMINAL_SIZE)).dim_max_val(0)
        if values.dim_has_upper_bound(isl.dim_type.set, 0) or not largest.is_int():
            largest = values.dim_max_val(0)
        if largest.is_int():
            context = context.fix_val(_params, dim, largest)
    return context


def parameters_at(context: isl.Set, values: Mapping[str, int]) -> isl.Set:
    """The point of ``context`` at which parameters have ``values``, those without one a plausible one."""
    for name, value in values.items():
        dim = context.find_dim_by_name(_params, name)
        if dim >= 0:
            context = context.fix_val(_params, dim, isl.Val(value))
    return nominal_parameters(context)


def smaller_sizes(context: isl.Set, values: Mapping[str, int]) -> Iterator[Mapping[str, int]]:
    """``values``, then half of them and so on, as long as there are such parameters; small ones stay."""
    while not parameters_at(context, values).is_empty():
        yield values
        halves = {name: value // 2 if value >= FIXED_SIZE else value for name, value in values.items()}
        if halves == values:
            return
        values = halves


def instances_at(trips: Sequence[isl.PwAff], point: isl.Set) -> float:
    """The product of ``trips``, which are functions of the parameters, at the ``point``."""
    values = [largest(each.intersect_params(point)) for each in trips]
    return math.prod(max(0, each.to_python()) if each.is_int() else 0 for each in values)


def values_at(point: isl.Set) -> dict[str, int]:
    """The parameters of a single ``point`` by their names."""
    sample = point.sample_point()
    return {
        str(point.get_dim_name(_params, dim)): sample.get_coordinate_val(_params, dim).to_python()
        for dim in range(point.dim(_params))
    }


def usual_values(scop: Scop) -> dict[str, int]:
    """Values of all parameters at which some of ``scop`` runs: large ones, one of them small if need be."""
    names = [scop.context.get_dim_name(_params, dim) for dim in range(scop.context.dim(_params))]
    for small in ({}, *({str(name): SMALL_SIZE} for name in names)):
        point = parameters_at(scop.context, small)
        if not point.is_empty() and not scop.domain.intersect_params(point).is_empty():
            return values_at(point)
    return values_at(nominal_parameters(scop.context))


def usual_sizes(scop: Scop) -> tuple[Mapping[str, int], ...]:
    """The usual values of all parameters, and some times smaller ones, where some of it runs then."""
    usual, minimum = usual_values(scop), SIZE_STEP * FIXED_SIZE
    smaller = {name: value // SIZE_STEP if value >= minimum else value for name, value in usual.items()}
    return (usual, *_running(scop, usual, smaller))


def larger_sizes(scop: Scop) -> tuple[Mapping[str, int], ...]:
    """Values some times as large as the usual ones, where they may be."""
    usual = usual_values(scop)
    larger = {name: value * SIZE_STEP if value >= FIXED_SIZE else value for name, value in usual.items()}
    return _running(scop, usual, larger)


def _running(
    scop: Scop, usual: Mapping[str, int], changed: Mapping[str, int]
) -> tuple[Mapping[str, int], ...]:
    """The ``changed`` values if some of ``scop`` runs then, and they are others."""
    point = parameters_at(scop.context, changed)
    runs = not point.is_empty() and not scop.domain.intersect_params(point).is_empty()
    return (changed,) if runs and changed != usual else ()
