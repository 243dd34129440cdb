"""What keeps steps over a grid from having tiles over time, where all else could be tiled.

A sum over all points in each step has to be complete, in its order, before it is used; and where data tell
which points something reads or sets, it may be any of the grid. The rest is looked at without such
statements: that it would be tiled is tried, not guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce

import islpy as isl

from polybuild.driver.passes import Transformation
from polybuild.effort import STEPS_OVER_PLANES
from polybuild.report.record.model import Advice
from polybuild.scop.model import AccessKind, Scop, Statement
from polybuild.targets.cpu.stencils import order_of_stencil
from polybuild.transform.grid_sizes import writes_again


def advise_on_steps(work: Transformation) -> Iterator[Advice]:
    """What stands in the way of tiles over time, if it is such statements alone."""
    scop = work.model.scop
    if work.mapped.mapping.tile_sizes or not any(map(_is_step, scop.statements)):
        return
    reasons = {each.name: reason for each in scop.statements if (reason := _reason(each)) is not None}
    if not reasons:
        return
    rest = _without(scop, [each for each in scop.statements if each.name in reasons])
    if rest is None or not any(map(_is_step, rest.statements)):
        return
    dependences = work.model.dependences.within(rest.domain)
    if order_of_stencil(rest, dependences, work.context) is None:
        return
    first = next(each for each in scop.statements if each.name in reasons)
    message = f"{reasons[first.name]}, so steps have no tiles over time; without that they would"
    yield Advice("time-tiles", first.location.line, message)


def _is_step(statement: Statement) -> bool:
    """Whether ``statement`` sets points of a plane again and again."""
    return len(statement.iterators) >= STEPS_OVER_PLANES and writes_again(statement)


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


def _without(scop: Scop, left: Sequence[Statement]) -> Scop | None:
    """``scop`` without the statements ``left``, and others that use variables they set; None if all do."""
    written = {
        access.array.name
        for each in left
        for access in each.accesses
        if access.array.is_scalar and access.kind is not AccessKind.READ
    }
    kept = [
        each
        for each in scop.statements
        if each not in left and written.isdisjoint(access.array.name for access in each.accesses)
    ]
    if not kept:
        return None
    domain = reduce(isl.UnionSet.union, (isl.UnionSet.from_set(each.domain) for each in kept))
    return replace(scop, statements=tuple(kept), schedule=scop.schedule.intersect_domain(domain))
