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
be long, ``n`` by ``m``, is one all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import islpy as isl

from polybuild.diagnostics import Location
from polybuild.effort import BORDER_WIDTH
from polybuild.poly.spaces import extent
from polybuild.scop.model import Access, AccessKind, Assumption, Scop, Statement

_set = isl.dim_type.set


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
        steady = all(_is_steady(each) and _writes_again(each) for each in nests)
        if steady and any(map(_writes_to_arrays, borders)):
            scop = _assuming_that(scop, list(map(_grid_points, nests)), nests[0].location)
    return scop


def _without_sides(scop: Scop, deepest: Sequence[Statement]) -> Sequence[Statement]:
    """The nests ``deepest`` in a loop over time but sides, which do little where the others do not run."""
    long = [_long_loops(each.domain) for each in deepest]
    nests = [each for each, loops in zip(deepest, long, strict=True) if loops == max(long)]
    running = reduce(isl.Set.intersect, (_grid_points(each).params() for each in nests), scop.context)
    without = scop.context.subtract(running)
    sides = (
        each.domain.intersect_params(without) for each in deepest if all(each is not one for one in nests)
    )
    return deepest if any(map(_long_loops, sides)) else nests


def _grid_points(nest: Statement) -> isl.Set:
    """The iterations of ``nest`` in any of the outermost loop."""
    return nest.domain.drop_constraints_involving_dims(_set, 0, 1)


def _long_loops(domain: isl.Set) -> int:
    """How many loops inside the outermost one have more iterations than borders do, or any number."""
    lengths = (extent(domain, position) for position in range(1, domain.dim(_set)))
    return sum(each is None or each > 2 * BORDER_WIDTH for each in lengths)


def _writes_to_arrays(statement: Statement) -> bool:
    return any(each.array.extents for each in _writes(statement))


def _writes(statement: Statement) -> list[Access]:
    return [each for each in statement.accesses if each.kind is not AccessKind.READ]


def _is_steady(statement: Statement) -> bool:
    """Whether the loops in the outermost one around ``statement`` are the same in all its iterations."""
    places = statement.domain.eliminate(_set, 0, 1)
    steps = statement.domain.eliminate(_set, 1, len(statement.iterators) - 1)
    return bool(places.intersect(steps).is_equal(statement.domain))


def _writes_again(statement: Statement) -> bool:
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
    if scop.context.is_subset(running) or running.is_empty():
        return scop
    condition = running.gist(scop.context).coalesce()
    pieces = condition.get_basic_sets()
    if len(pieces) != 1 or any(each.is_equality() for each in pieces[0].get_constraints()):
        return scop
    reason = "the loops over the grid must run"
    return replace(
        scop,
        context=scop.context.intersect(condition),
        assumptions=(*scop.assumptions, Assumption(condition, reason, location)),
    )
