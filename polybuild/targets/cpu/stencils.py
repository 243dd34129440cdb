"""Tile shapes with concurrent start, and their sizes, for stencils on the CPU (thesis, chapters 4 to 6)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.context import CompileContext
from polybuild.effort import FOLDED_LINE_HEIGHT, LINE_HEIGHTS, SEPARATED_PIECES, STENCIL_STEPS, TILE_HEIGHTS
from polybuild.machine.model import DOUBLE, Machine
from polybuild.options import OVERLAPPED
from polybuild.poly.memory import remembered
from polybuild.poly.relations import depends_on, sets_of, span, tuple_name
from polybuild.poly.spaces import constant_value
from polybuild.poly.trees import children, is_band
from polybuild.schedule.legality import IllegalSchedule, active_dependences, check_schedule
from polybuild.schedule.original import with_bands_beside
from polybuild.scop.model import Access, AccessKind, Scop
from polybuild.targets.cpu.strides import Reference, references
from polybuild.targets.cpu.tilesizes import element_size, is_resident
from polybuild.transform.interleave import interleave
from polybuild.transform.step_blocks import in_step_blocks, sweeps_in, with_peeled_steps
from polybuild.transform.tiling.diamond import Hyperplane
from polybuild.transform.tiling.halves import is_loop
from polybuild.transform.tiling.phases import each_once, insert_phases
from polybuild.transform.tiling.shapes import diamond_size, phases_of, planes_of
from polybuild.transform.tiling.stencil import Stencil, carries_nothing, find_stencil
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class StencilTiles:
    """``node`` is the tree below and with the tiles; ``sizes`` are iterations of the loops, time first."""

    node: isl.ScheduleNode
    sizes: tuple[int, ...]
    shape: str


def order_of_stencil(scop: Scop, dependences: Dependences, context: CompileContext) -> isl.Schedule | None:
    """The original order, with its steps in blocks where need be, if a loop nest gets the tiles of a stencil.

    Or with the first or the last step apart. None if no nest does.
    """
    if not context.options.tile or context.options.tile_shape == "rectangular":
        return None
    begun = [scop.schedule]
    peeled = with_peeled_steps(scop.schedule)
    begun += [] if peeled is None else [peeled]
    for schedule in begun:
        if _has_stencil(scop, schedule.get_root(), dependences, context):
            return schedule
    for schedule in begun:
        blocks = in_step_blocks(schedule)
        while blocks is not None:
            if _has_stencil(scop, blocks.get_root(), dependences, context, within=True):
                return blocks
            blocks = in_step_blocks(blocks)
    return None


def _has_stencil(
    scop: Scop,
    node: isl.ScheduleNode,
    dependences: Dependences,
    context: CompileContext,
    *,
    within: bool = False,
) -> bool:
    """Whether an outermost loop from ``node`` down is a stencil's, or one in a loop over blocks of steps.

    That is a loop that carries dependences, as over steps until a norm is computed; others have threads, and
    those in them are looked at only if it is known that blocks are ``within``.
    """
    if is_band(node):
        if tile_stencil(node, references(scop, node), dependences, context) is not None:
            return True
        active = active_dependences(node, dependences.validity)
        if not within and carries_nothing(node, active):
            return False
    return any(_has_stencil(scop, each, dependences, context, within=within) for each in children(node))


def with_shared_nests(
    scop: Scop, dependences: Dependences, schedule: isl.Schedule, context: CompileContext
) -> isl.Schedule:
    """``schedule``, the order of a stencil, with what threads may share in the nests beside it.

    Such nests set the grids, or look at them. Where threads share one that sets a grid, each touches
    first what its tiles will work on, and the pages of that lie in the memory next to it.
    """

    def is_stencil(node: isl.ScheduleNode) -> bool:
        return tile_stencil(node, references(scop, node), dependences, context) is not None

    shared = with_bands_beside(schedule, dependences, is_stencil)
    if shared.plain_is_equal(schedule):
        return schedule  # there are none
    try:
        check_schedule(shared, dependences, scop.domain)
    except IllegalSchedule:
        return schedule
    return shared


def tile_stencil(
    node: isl.ScheduleNode, accesses: Sequence[Reference], dependences: Dependences, context: CompileContext
) -> StencilTiles | None:
    """Tile the loop over time ``node`` if it is a stencil's, with the shape asked for.

    None if it is no stencil, if its data stay in the cache anyway, if sizes were asked for that the shape
    cannot have, where reductions lack the order that shapes rely on, and, unless a shape was asked for,
    if each step goes to memory of its own or there are but a few.
    """
    if context.options.tile_shape == "rectangular" or _reduces(node, dependences):
        return None
    if not context.options.tile_sizes:
        if is_resident(list(accesses), context.machine.l2.bytes // 4):
            return None
        if context.options.tile_shape == "auto" and not _meets_data_again(node, accesses):
            return None
    active = active_dependences(node, dependences.validity)
    together = _kept_together(node, dependences)
    stencil = find_stencil(node, active, together=together, folding=True)
    if stencil is None or not stencil.cones[0].closed or not stencil.cones[0].spread:
        return None
    shape = context.options.tile_shape
    shape = _shape(stencil) if shape in {"auto", OVERLAPPED} else shape  # the latter are those of devices
    try:
        planes = planes_of(stencil, shape, active)
    except ValueError:
        return None
    sizes = _sizes(stencil, planes, accesses, context)
    node = interleave(node, stencil, active, together)
    # one loop for both halves of a tile, and for rows of all statements, if these are many
    pieces = sum(each.n_basic_set() for each in sets_of(node.get_domain()))
    if stencil.folded or pieces > SEPARATED_PIECES:
        node = each_once(node)
        if is_band(node.child(0)):
            node = each_once(node.child(0)).parent()
    try:
        phases = phases_of(stencil, shape, sizes, active)
    except ValueError:
        return None
    return StencilTiles(insert_phases(node, phases), sizes, shape)


def _reduces(node: isl.ScheduleNode, dependences: Dependences) -> bool:
    """Whether reductions are in ``node`` whose order is left open."""
    here = {tuple_name(each) for each in sets_of(node.get_domain())}
    return any(one.statement.name in here for each in dependences.reductions for one in each.reductions)


def _kept_together(node: isl.ScheduleNode, dependences: Dependences) -> isl.UnionMap:
    """Statements of one point that hand values to each other in variables: of these there is one a thread."""
    found = isl.UnionMap.empty(node.get_domain().get_space())
    for each in dependences.private:
        if not each.array.extents:
            found = found.union(active_dependences(node, each.flow))
    return found


def _shape(stencil: Stencil) -> str:
    """Diamonds; where halves of a line are folded, hexagons: in time their rows do not depend on its length.

    Whether that is odd or even, isl would have to know for each side of a large diamond. So it would for
    statements at the end of a line, for the number of steps, where some run in every second one, and for
    the places where sides begin, where not all of them do: values go two elements or more in a step.
    """
    if len(stencil.space) != 1:
        return "diamond"
    (cone,) = stencil.cones
    far = max(cone.fall or 0, cone.rise or 0) > stencil.scale
    odd = stencil.folded or far or _has_borders(stencil) or _last_step_is_partial(stencil)
    return "hybrid" if odd else "diamond"


def _has_borders(stencil: Stencil) -> bool:
    """Whether some statement has one place in the first dimension of space."""
    places = stencil.counters[1].get_pw_aff_list()
    return not all(is_loop(places.get_at(each)) for each in range(places.n_pw_aff()))


def _last_step_is_partial(stencil: Stencil) -> bool:
    """Whether the number of steps is a quotient of parameters: pairs, the last perhaps without its second."""
    counters = stencil.counters[0].get_pw_aff_list()
    steps = [isl.Map.from_pw_aff(counters.get_at(each)).range() for each in range(counters.n_pw_aff())]
    limits = [
        [each.dim_max(0) for each in steps if each.dim_has_upper_bound(isl.dim_type.set, 0)],
        [each.dim_min(0) for each in steps if each.dim_has_lower_bound(isl.dim_type.set, 0)],
    ]
    return any(
        aff.dim(isl.dim_type.div) for found in limits for each in found for _, aff in each.get_pieces()
    )


def _meets_data_again(node: isl.ScheduleNode, accesses: Sequence[Reference]) -> bool:
    """Whether tiles over time would find data in the cache that the plain loops load again for each step.

    Steps that write elements of their own, as ``a[t + 1][i]``, read but the step before.
    """
    if not node.band_n_member():
        return False
    time = node.band_get_partial_schedule().get_union_pw_aff(0).intersect_domain(node.get_domain())
    steps = span(time)
    if steps is not None and steps * sweeps_in(node) < STENCIL_STEPS:
        return False
    writes = (each for each in accesses if each.access.kind is not AccessKind.READ and each.matrix)
    return not all(any(row[0] for row in each.matrix) for each in writes)


def _sizes(
    stencil: Stencil, planes: Sequence[Hyperplane], accesses: Sequence[Reference], context: CompileContext
) -> tuple[int, ...]:
    """Iterations of the loop over time, then of those over space, that a tile covers, between ``planes``.

    Those that are given; or the highest tile whose data fit in the cache that suits the shape of the
    grid. Lines are for the first level. Tiles of planes fill the second. In space even low ones
    overflow it, and reuse over time saves more than that costs.
    """
    machine, depth = context.machine, 1 + len(stencil.space)
    if context.options.tile_sizes:
        given = context.options.tile_sizes[:depth]
        return given + (given[-1],) * (depth - len(given))
    cache = {2: machine.l1.bytes, 3: machine.l2.bytes}.get(depth, machine.tiles.spill * machine.l2.bytes)
    grids = _grids(accesses)
    if len(planes) > 2:
        return _diamond_sizes(stencil, planes, sum(grids.values()), cache, machine)
    # rows are as long as prefetchers follow, which takes more small elements; in space they are left whole
    narrowest = min(grids.values())
    row = machine.memory.page // (narrowest if 2 * narrowest < DOUBLE else DOUBLE)
    whole_row, minimum = machine.memory.page, 2 * machine.memory.line // DOUBLE
    # where halves are folded, a tile has a piece of either: each row is half as long, and there are two
    copies = 2 ** len(stencil.folded)
    if depth == 3 and len(stencil.space) - 1 in stencil.folded:
        row //= 2
    sizes: tuple[int, ...] = ()
    lines = [each for each in LINE_HEIGHTS if not stencil.folded or each <= FOLDED_LINE_HEIGHT]
    fitting = max(1, int(cache // (copies * sum(grids.values()))))
    for steps in lines if depth == 2 else TILE_HEIGHTS:
        # how wide a diamond is in its middle
        spread = math.ceil(stencil.cones[0].spread * steps * stencil.steps / stencil.scale)
        if depth == 2 and stencil.folded:  # low tiles may be as wide as the cache allows
            spread = max(spread, 1 << fitting.bit_length() - 1)
        strips = [max(minimum, spread // 2)] * (depth - 3)
        touched = [spread, *(each + spread // 2 for each in strips), *[row + spread // 2] * (depth > 2)]
        rows = {2: [], 3: [row]}.get(depth, [whole_row])
        sizes = (steps, spread, *strips, *rows)
        if copies * sum(grids.values()) * math.prod(touched) <= cache:
            break
    return sizes


def _diamond_sizes(
    stencil: Stencil, planes: Sequence[Hyperplane], elements: int, cache: float, machine: Machine
) -> tuple[int, ...]:
    """The same for diamonds along two dimensions, a point of which has so many bytes of ``elements``.

    Further dimensions are in strips, of which those of rows are left whole.
    """
    further, line = len(stencil.space) - 2, 2 * machine.memory.line // DOUBLE
    sizes: tuple[int, ...] = ()
    for steps in TILE_HEIGHTS:
        side = math.ceil(diamond_size(planes, steps * stencil.steps) / stencil.scale)
        strips = [max(line, side)] * (further - 1)
        touched = [side, side, *(each + side for each in strips)]
        if further:
            touched.append(machine.memory.page // DOUBLE + side)
        sizes = (steps, side, side, *strips, *[machine.memory.page] * bool(further))
        if elements * math.prod(touched) <= cache:
            break
    return sizes


def _grids(accesses: Sequence[Reference]) -> dict[tuple[str, tuple[int | None, ...]], int]:
    """The size of an element of each grid: an array, or each part of one that has a number for a subscript.

    ``u[0][i][j]`` and ``u[1][i][j]`` are in two grids, ``e[0][j]`` and ``e[i][j]`` in one. What is one
    element for all points of a step, as ``w[t]``, is in none.
    """
    found = {}
    nests = [each for each in accesses if each.access.relation.dim(isl.dim_type.in_) > 1]
    for each in [each for each in nests if _varies_in_space(each.access)] or accesses:
        numbers: tuple[int | None, ...] = (None,) * len(each.access.array.extents)
        if each.access.relation.is_single_valued():
            numbers = _numbers(each.access.relation)
        found[each.access.array.name, numbers] = element_size(each)
    return {grid: size for grid, size in found.items() if not any(_is_part(grid, each) for each in found)}


def _varies_in_space(access: Access) -> bool:
    """Whether ``access`` is of a variable, or its element depends on more than the outermost loop."""
    loops = range(1, access.relation.dim(isl.dim_type.in_))
    return access.array.is_scalar or any(depends_on(access.relation, each) for each in loops)


@remembered  # a nest is looked at more than once
def _numbers(relation: isl.Map) -> tuple[int | None, ...]:
    """Which number each subscript is of the one element that instances of ``relation`` access."""
    element = isl.PwMultiAff.from_map(relation)
    return tuple(constant_value(element.get_pw_aff(dim)) for dim in range(element.dim(isl.dim_type.out)))


def _is_part(grid: tuple[str, tuple[int | None, ...]], other: tuple[str, tuple[int | None, ...]]) -> bool:
    """Whether ``grid`` lies in another one of the same array."""
    if grid[0] != other[0] or grid == other:
        return False
    return all(whole in {None, number} for number, whole in zip(grid[1], other[1], strict=True))
