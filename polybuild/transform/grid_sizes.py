"""Grids that are large enough: what steps over time do beside a grid happens only where there is one.

::

    for (t < steps) {
      u[0] = u[2];                                      # for n < 3 too
      for (0 < i < n - 1) v[i] = u[i - 1] + u[i + 1];   # for n >= 3
      for (0 < i < n - 1) u[i] = v[i];
    }

Without a grid the borders are all that is left, and tiles of their own would be written for them. So the
region is taken to be one with a grid, ``n >= 3``; for others the original loops run. So it is with borders of
periodic grids that are statements of their own, if there is little of them without a grid: in rows of two
places neighbours on either side are the same, which all that follows would have to know. A thin grid that may
be long, ``n`` by ``m``, is one all the same; but not one of three dimensions: bounds of tiles would depend on
which of its layers there are, each of which may be missing.

Elements that parameters choose (``u[sx][sy] += wave[t];``) are taken to be among those that the nests write:
sources and receivers are inside of the grid, and no tile has to know of places elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import islpy as isl

from polybuild.diagnostics import Location
from polybuild.effort import BORDER_WIDTH, STEPS_OVER_PLANES
from polybuild.poly.spaces import extent
from polybuild.scop.model import Access, AccessKind, Assumption, Scop, Statement

_param, _set = isl.dim_type.param, isl.dim_type.set
_INSIDE = "elements beside the loops over the grid must be in it"


def assume_grids(scop: Scop) -> Scop:
    """``scop`` assuming that the nests over grids run, in each loop over time that has borders beside them.

    Borders are statements that write to arrays and have fewer loops, or fewer long ones and little to do
    without the grid. A loop over time is around them and nests whose bounds are the same in all its
    iterations, and which write to the same places again and again.
    """
    around = {each.iterators[0]: each for each in scop.statements if each.iterators}
    for loop in around:
        inside = [each for each in scop.statements if each.iterators[:1] == (loop,)]
        depth = max(len(each.iterators) for each in inside)
        deepest = [each for each in inside if len(each.iterators) == depth]
        nests = _without_sides(scop, deepest)
        borders = [each for each in inside if all(each is not one for one in nests)]
        # variables that a nest sets are for its own iterations
        filling = [each for each in nests if writes_to_arrays(each)]
        steady = bool(filling) and all(_is_steady(each) and writes_again(each) for each in filling)
        if steady and any(map(writes_to_arrays, borders)):
            scop = _assuming_that(scop, list(map(_grid_points, nests)), nests[0].location)
            for each in borders:
                scop = _assuming_inside(scop, each, nests)
    return scop


def _assuming_inside(scop: Scop, border: Statement, nests: Sequence[Statement]) -> Scop:
    """``scop`` assuming that ``border`` accesses what ``nests`` write if parameters of its own choose it."""
    for access in border.accesses:
        written = [each.relation.range() for one in nests for each in _writes(one) if _is_of(each, access)]
        if not (written and access.exact and _has_own_parameter(scop, border, access)):
            continue
        grid = reduce(isl.Set.union, written).coalesce()
        outside = access.relation.intersect_domain(border.domain).range().subtract(grid).params()
        inside = outside.gist(border.domain.params()).complement()
        scop = _with_condition(scop, inside, _INSIDE, border.location)
    return scop


def _is_of(access: Access, other: Access) -> bool:
    return access.exact and access.array.name == other.array.name


def _has_own_parameter(scop: Scop, statement: Statement, access: Access) -> bool:
    """Whether a parameter chooses the element of ``access`` that tells no size of anything else."""
    sizes: list[isl.Set | isl.PwAff] = [each.domain for each in scop.statements if each is not statement]
    sizes += [each for array in scop.arrays for each in array.extents if each is not None]
    names = (str(access.relation.get_dim_name(_param, each)) for each in range(access.relation.dim(_param)))
    return any(
        _involves(access.relation, name) and not any(_involves(each, name) for each in sizes)
        for name in names
    )


def _involves(points: isl.Set | isl.Map | isl.PwAff, parameter: str) -> bool:
    position = points.find_dim_by_name(_param, parameter)
    return position >= 0 and bool(points.involves_dims(_param, position, 1))


def _without_sides(scop: Scop, deepest: Sequence[Statement]) -> Sequence[Statement]:
    """The nests ``deepest`` in a loop over time but sides, which do little where the others do not run."""
    long = [_long_loops(each.domain) for each in deepest]
    nests = [each for each, loops in zip(deepest, long, strict=True) if loops == max(long)]
    running = reduce(isl.Set.intersect, (_grid_points(each).params() for each in nests), scop.context)
    without = scop.context.subtract(running)
    sides = (
        each.domain.intersect_params(without) for each in deepest if all(each is not one for one in nests)
    )
    return deepest if max(long) < STEPS_OVER_PLANES and any(map(_long_loops, sides)) else nests


def _grid_points(nest: Statement) -> isl.Set:
    """The iterations of ``nest`` in any of the outermost loop."""
    return nest.domain.drop_constraints_involving_dims(_set, 0, 1)


def _long_loops(domain: isl.Set) -> int:
    """How many loops inside the outermost one have more iterations than borders do, or any number."""
    lengths = (extent(domain, position) for position in range(1, domain.dim(_set)))
    return sum(each is None or each > 2 * BORDER_WIDTH for each in lengths)


def writes_to_arrays(statement: Statement) -> bool:
    """Whether ``statement`` sets anything but variables."""
    return any(each.array.extents for each in _writes(statement))


def _writes(statement: Statement) -> list[Access]:
    return [each for each in statement.accesses if each.kind is not AccessKind.READ]


def _is_steady(statement: Statement) -> bool:
    """Whether the loops in the outermost one around ``statement`` are the same in all its iterations."""
    places = statement.domain.eliminate(_set, 0, 1)
    steps = statement.domain.eliminate(_set, 1, len(statement.iterators) - 1)
    return bool(places.intersect(steps).is_equal(statement.domain))


def writes_again(statement: Statement) -> bool:
    """Whether iterations of the outermost loop around ``statement`` write to the same places of an array."""
    inner = len(statement.iterators) - 1
    written = (each.relation for each in _writes(statement) if each.array.extents)
    iterations = (each.reverse().intersect_range(statement.domain) for each in written)
    return any(not each.project_out(isl.dim_type.out, 1, inner).is_single_valued() for each in iterations)


def assume_running(scop: Scop, nests: Sequence[Statement]) -> Scop:
    """``scop`` assuming that the ``nests`` run, if that is a matter of how large parameters are alone."""
    return _assuming_that(scop, [each.domain for each in nests], nests[0].location)


def _assuming_that(scop: Scop, places: Sequence[isl.Set], location: Location) -> Scop:
    running = reduce(isl.Set.intersect, (each.params() for each in places), scop.context)
    return _with_condition(scop, running, "the loops over the grid must run", location)


def _with_condition(scop: Scop, holds: isl.Set, reason: str, location: Location) -> Scop:
    """``scop`` assuming that parameters are in ``holds``, if that is a matter of how large they are alone."""
    holds = scop.context.intersect(holds)
    if scop.context.is_subset(holds) or holds.is_empty():
        return scop
    condition = holds.gist(scop.context).coalesce()
    pieces = condition.get_basic_sets()
    if len(pieces) != 1 or any(each.is_equality() for each in pieces[0].get_constraints()):
        return scop
    return replace(
        scop,
        context=scop.context.intersect(condition),
        assumptions=(*scop.assumptions, Assumption(condition, reason, location)),
    )
