"""Loops over the colours of a grid: each colour has its own statements.

::

    for t:                                         for t:
      for c in 0, 1:                                 for i: for j where (i + j) % 2 == 1:
        for i: for j where (i + j + c) % 2 == 1:  ->   u[i][j] = f(u)
          u[i][j] = f(u)                             for i: for j where (i + j) % 2 == 0:
                                                       u[i][j] = f(u)

As of red-black orders of Gauss-Seidel sweeps. Which colour a point has is a matter of its place: a counter of
few values that other loops determine is no dimension of space. With its loop between them, no place in time
and space tells how far values travel in a step. With a statement for each colour they are those of a program
with a sweep for each (index-set splitting, as in ``residue_classes.py``). The instances are the same, in the
same order.
"""

from __future__ import annotations

from functools import partial

import islpy as isl

from polybuild.effort import (
    ALTERNATING_OPERATIONS,
    ALTERNATING_STATEMENTS,
    SPLITTING_OPERATIONS,
    STORAGE_PERIODS,
)
from polybuild.poly.budget import found_within
from polybuild.poly.relations import depends_on, sets_of, tuple_name
from polybuild.poly.trees import descendants, is_band
from polybuild.scop.model import Scop, Statement
from polybuild.transform.grid_sizes import writes_again, writes_to_arrays
from polybuild.transform.residue_classes import (
    AlternatingLoop,
    counted_by,
    counted_from,
    counters_of,
    split_into_phases,
)

_set = isl.dim_type.set


def split_colours(scop: Scop, *, variables: bool = False) -> Scop:
    """``scop`` with the statements in loops over colours split; itself if there are none.

    Those are loops that do nothing else; with ``variables`` they may set some between colours, as a factor.
    """
    operations = max(SPLITTING_OPERATIONS, ALTERNATING_OPERATIONS * len(scop.statements))
    return found_within(operations, partial(_split, scop, variables=variables)) or scop


def _split(scop: Scop, *, variables: bool) -> Scop:
    while (loop := _colours(scop, variables=variables)) is not None:
        scop, _ = split_into_phases(scop, loop)
    return scop


def _colours(scop: Scop, *, variables: bool) -> AlternatingLoop | None:
    """The first loop over colours inside another one, in all iterations of which places are written again."""
    named = {each.name: each for each in scop.statements}
    for band in filter(is_band, descendants(scop.schedule.get_root())):
        depth = band.get_schedule_depth()
        if band.band_n_member() != 1 or not depth:
            continue
        inside = [named[tuple_name(each)] for each in sets_of(band.get_domain())]
        if any(each.dynamic or not _is_of_colour(each, depth, variables=variables) for each in inside):
            continue
        # variables are no storage over time: a residual may be summed up in the last step alone
        setting = [each for each in inside if writes_to_arrays(each)]
        if not setting or not all(map(writes_again, setting)):
            continue
        counters = counters_of(band)
        few = _few_values(counted_by(inside, counters))
        if few is None:
            continue
        count, start = few
        if len(inside) * count <= ALTERNATING_STATEMENTS and all(
            _is_determined(each, counters[each.name]) for each in inside if len(each.iterators) > depth + 1
        ):
            moved = {name: counted_from(each, start) for name, each in counters.items()}
            return AlternatingLoop(depth, moved, count, start)
    return None


def _is_of_colour(statement: Statement, depth: int, *, variables: bool) -> bool:
    """Whether ``statement``, in a loop of ``depth``, is at points, or sets ``variables`` if these may be."""
    if len(statement.iterators) > depth + 1:
        return True
    return variables and len(statement.iterators) == depth + 1 and not writes_to_arrays(statement)


def _few_values(values: isl.Set) -> tuple[int, isl.PwAff] | None:
    """How many ``values`` there are, whatever the parameters, and the first of them; None if too many."""
    low, high = values.dim_min_val(0), values.dim_max_val(0)
    if not (low.is_int() and high.is_int()):
        return None
    count = high.sub(low).to_python() + 1
    if not 1 < count <= max(STORAGE_PERIODS):
        return None
    return count, isl.PwAff.val_on_domain(isl.Set.universe(values.get_space().params()), low)


def _is_determined(statement: Statement, counter: isl.PwAff) -> bool:
    """Whether ``counter`` is one of a loop around ``statement`` that its other loops tell."""
    used = [dim for dim in range(len(statement.iterators)) if depends_on(isl.Map.from_pw_aff(counter), dim)]
    if len(used) != 1:
        return False
    others = isl.Map.from_domain(statement.domain).move_dims(
        isl.dim_type.out, 0, isl.dim_type.in_, used[0], 1
    )
    return bool(others.is_single_valued())
