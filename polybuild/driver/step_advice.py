"""What keeps steps over a grid from having tiles over time, where all else could be tiled.

A sum over all points in each step has to be complete, in its order, before it is used; a variable that is set
from the grid has to be known before all points that use it are; and where data tell which points something
reads or sets, it may be any of the grid. The rest is looked at without such statements: that it would be
tiled is tried, not guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.context import CompileContext
from polybuild.driver.passes import Transformation
from polybuild.effort import STEPS_OVER_PLANES
from polybuild.poly.trees import descendants, is_band
from polybuild.report.record.model import Advice
from polybuild.scop.model import AccessKind, Scop, Statement
from polybuild.targets.cpu.schedule_choice import orders
from polybuild.targets.cpu.stencils import order_of_stencil
from polybuild.transform.grid_sizes import writes_again


def advise_on_steps(work: Transformation) -> Iterator[Advice]:
    """What stands in the way of tiles over time, if it is such statements alone."""
    scop = work.model.scop
    if work.mapped.mapping.tile_sizes or not any(map(_is_step, scop.statements)):
        return
    found = [each for each in scop.statements if _reason(each) is not None]
    values = _values_of_grids(scop, found)
    if not (found or values):
        return
    rest = _without(scop, found, values)
    if rest is None or not any(map(_is_step, rest.statements)):
        return
    if not _would_be_tiled(rest, work.model.dependences.within(rest.domain), work.requested):
        return
    first = next(each for each in scop.statements if each in found or each in values)
    told = f"'{_source_name(first)}' is set from the grid in each step, for all of its points"
    reason = _reason(first) or told
    message = f"{reason}, so steps have no tiles over time; without that they would"
    yield Advice("time-tiles", first.location.line, message)


def _would_be_tiled(scop: Scop, dependences: Dependences, context: CompileContext) -> bool:
    """Whether steps of ``scop`` have tiles over time: of a stencil, or of loops that may be permuted."""
    if order_of_stencil(scop, dependences, context) is not None:
        return True
    return any(
        is_band(node) and node.band_n_member() >= STEPS_OVER_PLANES and not node.get_schedule_depth()
        for order in orders(scop, dependences, context)
        for node in descendants(order.schedule.get_root())
    )


def _values_of_grids(scop: Scop, left: Sequence[Statement]) -> list[Statement]:
    """What sets variables from the grid that steps set, or from others such, and for these to read.

    Sums, which are ``left`` out in any case, and what is computed from them count as read from the grid.
    """
    steps = [each for each in scop.statements if _is_step(each)]
    used = [access for each in steps for access in each.accesses]
    grids = {each.array.name for each in used if each.kind is not AccessKind.READ}
    read = {each.array.name for each in used}
    grids |= {access.array.name for each in left for access in each.accesses if access.array.is_scalar}
    shallow = [each for each in scop.statements if 0 < len(each.iterators) < STEPS_OVER_PLANES]
    wanted = {
        name
        for each in shallow
        if (name := _variable(each)) in read
        and any(one.array.name in grids for one in each.accesses if one.kind is AccessKind.READ)
    }
    return [each for each in shallow if _variable(each) in wanted]


def _variable(statement: Statement) -> str | None:
    """The name of the variable that ``statement`` sets, if that is all that it does."""
    written = [each.array for each in statement.accesses if each.kind is not AccessKind.READ]
    return written[0].name if len(written) == 1 and written[0].is_scalar else None


def _is_step(statement: Statement) -> bool:
    """Whether ``statement`` sets points of a plane again and again."""
    return len(statement.iterators) >= STEPS_OVER_PLANES and writes_again(statement)


def _source_name(statement: Statement) -> str:
    return next(each.array.source_name for each in statement.accesses if each.kind is not AccessKind.READ)


def _reason(statement: Statement) -> str | None:
    """Why ``statement`` has to wait for all of a grid, or all of that for it; None if it need not."""
    if len(statement.iterators) >= STEPS_OVER_PLANES:
        read = {each.array.name for each in statement.accesses if each.kind is AccessKind.READ}
        for access in statement.accesses:
            if access.array.is_scalar and access.kind is not AccessKind.READ and access.array.name in read:
                return f"'{access.array.source_name}' is summed up over all points of each step in order"
    elif statement.iterators:
        for access in statement.accesses:
            if access.array.extents and not access.exact:
                return f"which elements of '{access.array.source_name}' are accessed here depends on data"
    return None


def _without(scop: Scop, left: Sequence[Statement], values: Sequence[Statement]) -> Scop | None:
    """``scop`` without the statements ``left``, and others that use variables they set; None if all do.

    Nor has it those that set ``values``, which may be used as if they were known.
    """
    written = {
        access.array.name
        for each in left
        for access in each.accesses
        if access.array.is_scalar and access.kind is not AccessKind.READ
    }
    kept = [
        each
        for each in scop.statements
        if each not in left
        and each not in values
        and written.isdisjoint(access.array.name for access in each.accesses)
    ]
    if not kept:
        return None
    domain = reduce(isl.UnionSet.union, (isl.UnionSet.from_set(each.domain) for each in kept))
    return replace(scop, statements=tuple(kept), schedule=scop.schedule.intersect_domain(domain))
