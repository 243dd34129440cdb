"""What keeps steps over a grid from having tiles over time, where all else could be tiled.

A sum over all points in each step has to be complete, in its order, before it is used; a variable that is set
from the grid has to be known before all points that use it are; and where data tell which points something
reads or sets, it may be any of the grid. The rest is looked at without such statements: that it would be
tiled is tried, not guessed. So it is with sweeps in place that go back where they came from in each step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce

import islpy as isl

from polybuild.driver.passes import Transformation
from polybuild.effort import STEPS_OVER_LINES, STEPS_OVER_PLANES
from polybuild.poly.relations import depends_on, equal_outer, maps_of
from polybuild.poly.trees import descendants, is_band
from polybuild.report.record.model import Advice
from polybuild.scop.model import AccessKind, Array, Scop, Statement
from polybuild.targets.cpu.schedule_choice import orders
from polybuild.targets.cpu.stencils import order_of_stencil
from polybuild.transform.grid_sizes import writes_again

_in, _out = isl.dim_type.in_, isl.dim_type.out


def advise_on_steps(work: Transformation) -> Iterator[Advice]:
    """What stands in the way of tiles over time, if it is such statements alone."""
    if not _runs_step_by_step(work):
        return
    scop = work.model.scop
    loops = STEPS_OVER_PLANES
    if not any(_is_step(each, loops) for each in scop.statements):
        loops = STEPS_OVER_LINES
    found = [each for each in scop.statements if _reason(each, loops) is not None]
    values = _values_of_grids(scop, found, loops)
    if not (found or values):
        yield from _against_each_other(work, loops)
        return
    rest = _without(scop, found, values)
    if rest is None or not any(_is_step(each, loops) for each in rest.statements):
        return
    # loops over matrices may be permuted as well as those over lines in steps
    if not _would_be_tiled(rest, work, bands=loops == STEPS_OVER_PLANES):
        return
    first = next(each for each in scop.statements if each in found or each in values)
    told = f"'{_source_name(first)}' is set from the grid in each step, for all of its points"
    reason = _reason(first, loops) or told
    message = f"{reason}, so steps have no tiles over time; without that they would"
    yield Advice("time-tiles", first.location.line, message)


def _runs_step_by_step(work: Transformation) -> bool:
    """Whether there are steps, all of which run one after the other, in tiles of space or none."""
    mapped = work.mapped
    steps = {each.name for each in mapped.scop.statements if _is_step(each, STEPS_OVER_LINES)}
    orders = {each.get_tuple_name(_in): each for each in maps_of(mapped.mapping.schedule.get_map())}
    return bool(steps) and all(_counts_steps(orders[each]) for each in steps if each in orders)


def _counts_steps(order: isl.Map) -> bool:
    """Whether the outermost loop of ``order`` counts what the outermost loop of the program does."""
    times = isl.PwMultiAff.from_map(order)
    for position in range(times.dim(_out)):
        own = isl.Map.from_pw_aff(times.get_pw_aff(position)).intersect_domain(order.domain())
        used = [dim for dim in range(own.dim(_in)) if depends_on(own, dim)]
        if used:
            return used == [0] and bool(own.project_out(_in, 1, own.dim(_in) - 1).is_injective())
    return False


def _would_be_tiled(scop: Scop, work: Transformation, *, bands: bool = True) -> bool:
    """Whether steps of ``scop``, a part of it, have tiles over time: of a stencil, or of ``bands``.

    That is of loops that may be permuted.
    """
    dependences, context = work.model.dependences.within(scop.domain), work.requested
    if order_of_stencil(scop, dependences, context) is not None:
        return True
    loops = max(len(each.iterators) for each in scop.statements)
    return bands and any(
        is_band(node)
        and node.band_n_member() >= min(loops, STEPS_OVER_PLANES)
        and not node.get_schedule_depth()
        for order in orders(scop, dependences, context)
        for node in descendants(order.schedule.get_root())
    )


def _against_each_other(work: Transformation, loops: int) -> Iterator[Advice]:
    """Sweeps in place in both directions in each step, the second of which meets each point last of all."""
    scop = work.model.scop
    steps = [each for each in scop.statements if _is_step(each, loops)]
    ways = {each.name: _direction(each, work.model.dependences.validity) for each in steps}
    first = next((each for each in steps if ways[each.name]), None)
    if first is None:
        return
    back = [each for each in steps if ways[each.name] == -ways[first.name] and _share_grid(first, each)]
    rest = _without(scop, back, ()) if back else None
    if rest is None or not _would_be_tiled(rest, work):
        return
    grid, line = _source_name(back[0]), first.location.line
    message = (
        f"this sweep over '{grid}' runs against that of line {line}, and each waits for all of the other,"
        " so steps have no tiles over time; with sweeps in one direction they would"
    )
    yield Advice("time-tiles", back[0].location.line, message)


def _direction(statement: Statement, validity: isl.UnionMap) -> int:
    """1 where values go to larger counters in each step of ``statement``, -1 where to smaller ones, or 0."""
    domain = isl.UnionSet.from_set(statement.domain)
    own = validity.intersect_domain(domain).intersect_range(domain)
    if own.is_empty():
        return 0
    pairs = equal_outer(isl.Map.from_union_map(own), 1)
    if pairs.is_empty():
        return 0
    space = pairs.get_space().domain()
    for way, order in ((1, isl.Map.lex_lt(space)), (-1, isl.Map.lex_gt(space))):
        if pairs.is_subset(order):
            return way
    return 0


def _share_grid(one: Statement, other: Statement) -> bool:
    grids = [
        {access.array.name for access in each.accesses if access.kind is not AccessKind.READ}
        for each in (one, other)
    ]
    return not grids[0].isdisjoint(grids[1])


def _values_of_grids(scop: Scop, left: Sequence[Statement], loops: int) -> list[Statement]:
    """What sets variables from the grid that steps set, or from others such, and for these to read.

    Sums, which are ``left`` out in any case, and what is computed from them count as read from the grid.
    """
    steps = [each for each in scop.statements if _is_step(each, loops)]
    used = [access for each in steps for access in each.accesses]
    grids = {each.array.name for each in used if each.kind is not AccessKind.READ}
    read = {each.array.name for each in used}
    grids |= {access.array.name for each in left for access in each.accesses if access.array.is_scalar}
    shallow = [each for each in scop.statements if 0 < len(each.iterators) < loops]
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


def _is_step(statement: Statement, loops: int) -> bool:
    """Whether ``statement`` sets points of a plane again and again, in so many ``loops``; or of a line."""
    return len(statement.iterators) >= loops and writes_again(statement)


def _source_name(statement: Statement) -> str:
    return next(each.array.source_name for each in statement.accesses if each.kind is not AccessKind.READ)


def _reason(statement: Statement, loops: int) -> str | None:
    """Why ``statement`` has to wait for all of a grid, or all of that for it; None if it need not."""
    if len(statement.iterators) >= loops:
        for array in _sums(statement):
            return (
                f"'{array.expanded or array.source_name}' is summed up over all points of each step in order"
            )
    elif statement.iterators:
        for access in statement.accesses:
            if access.array.extents and not access.exact:
                return f"which elements of '{access.array.source_name}' are accessed here depends on data"
    return None


def _sums(statement: Statement) -> list[Array]:
    """What ``statement`` adds to: variables, and elements that are the same for all points of a step.

    At the end of a line there is but one point in each step.
    """
    if statement.domain.project_onto_map(isl.dim_type.set, 0, 1).is_injective():
        return []
    read = {each.array.name for each in statement.accesses if each.kind is AccessKind.READ}
    inner = range(1, len(statement.iterators))
    return [
        each.array
        for each in statement.accesses
        if each.kind is not AccessKind.READ
        and each.array.name in read
        and not any(depends_on(each.relation.intersect_domain(statement.domain), dim) for dim in inner)
    ]


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
    written |= {array.name for each in left if len(each.iterators) > 1 for array in _sums(each)}
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
