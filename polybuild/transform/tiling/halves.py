"""Halves of periodic grids folded onto each other, so that neighbours across the border are near.

On a ring the first place and the last one depend on each other, and no tiles over time can hold both::

    0   1   2   3   4   5   6   7        0   1   2   3
    +---------------------------+   ->   7   6   5   4

Cut in the middle, with the second half folded below the first, every dependence is as short as one
between neighbours: place ``i`` of ``first .. last`` is at ``min(i - first, last - i)``. This is the index-set
splitting of U. Bondhugula et al., "Tiling and optimizing time-iterated computations over periodic domains",
PACT 2014. There each half gets statements of its own. Here the coordinate is in two pieces, and what is
generated from it tells the halves apart: a tile has a loop for either.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import reduce

import islpy as isl

from polybuild.effort import STENCIL_REACH
from polybuild.transform.tiling.cone import Distances, Generator

_set = isl.dim_type.set


def is_long(dependences: Sequence[Distances], dim: int) -> bool:
    """Whether something goes as far along ``dim`` as the grid is large, within a bounded number of steps.

    Where the size of the grid has a limit, as that of its array, that is farther than stencils reach.
    """
    return any(map(_is_far, (one for each in dependences for one in each.space[dim])))


def _is_far(one: Generator) -> bool:
    if one.corner:
        return max(one.space, -one.space) > STENCIL_REACH * max(1, one.time)
    return one.time <= 0 and one.space != 0


def fold_halves(
    counters: Mapping[str, Sequence[isl.PwAff]], dims: Collection[int]
) -> Mapping[str, Sequence[isl.PwAff]] | None:
    """``counters`` of time and space with the dimensions ``dims`` of space folded in their middle.

    None if the first or the last place of all statements is no affine function of the parameters.
    """
    result = {name: list(own) for name, own in counters.items()}
    for axis in (1 + dim for dim in dims):
        # what has one place, as the copies of a border, is in the grid or beside it
        loops = (own[axis] for own in counters.values() if is_loop(own[axis]))
        ranges = [isl.Map.from_pw_aff(each).range() for each in loops]
        if not ranges:
            return None
        places = reduce(isl.Set.union, ranges).coalesce()
        if not (places.dim_has_lower_bound(_set, 0) and places.dim_has_upper_bound(_set, 0)):
            return None
        first, last = places.dim_min(0).coalesce(), places.dim_max(0).coalesce()
        if first.n_piece() != 1 or last.n_piece() != 1:
            return None
        for own in result.values():
            space = own[axis].get_domain_space()
            low, high = (_on(each, space) for each in (first, last))
            own[axis] = own[axis].sub(low).min(high.sub(own[axis]))
    return result


def is_loop(counter: isl.PwAff) -> bool:
    """Whether ``counter`` depends on the counters of its statement."""
    return any(
        aff.involves_dims(isl.dim_type.in_, 0, aff.dim(isl.dim_type.in_)) for _, aff in counter.get_pieces()
    )


def _on(bound: isl.PwAff, space: isl.Space) -> isl.PwAff:
    """The one piece of ``bound``, a function of the parameters, as a function on ``space``."""
    affine = bound.project_domain_on_params().get_pieces()[0][1]
    return isl.PwAff.from_aff(affine).insert_domain(space)
