"""Expanded private variables in a buffer for each thread: tiles around an order that is free within them.

``for i: for j: { s = 0; for k: s += a[i][k] * b[k][j]; c[i][j] = alpha * s + c[i][j]; }`` becomes::

    for (tiles of i and j)                      // shared among threads
      s[128][256]                               // the values of a tile
      for i: for j: s[i][j] = 0
      register tiles of s[i][j] += a[i][k] * b[k][j]
      for i: for j: c[i][j] = alpha * s[i][j] + c[i][j]

where memory is what the tiles need, whatever the sizes of the loops are. Nests that follow each other
stay in their order, and each has the order that it would have alone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import reduce

import islpy as isl

from polybuild.analysis.dependences import Dependences, written_and_flow
from polybuild.context import CompileContext
from polybuild.machine.model import Machine
from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.relations import largest
from polybuild.poly.trees import children, descendants, insert_mark, is_band, map_bottom_up, mark_of, member
from polybuild.scop.model import Scop
from polybuild.storage.buffers import Buffer, element_size, uncontracted_at
from polybuild.storage.liveness import LiveValues
from polybuild.storage.scalar_expansion import (
    ExpandedNest,
    Expansion,
    PrivateNest,
    elements_of_small,
    names_below,
)
from polybuild.storage.strips import private_rows, rows_within
from polybuild.storage.temporaries import users_of
from polybuild.targets.cpu.contraction import with_buffers
from polybuild.targets.cpu.lanes import find_update
from polybuild.targets.cpu.mapping import CpuMapping, map_to_cpu
from polybuild.targets.cpu.microkernel import block_rows, is_dot_product, multiple
from polybuild.targets.cpu.search import choose_schedule
from polybuild.targets.cpu.strides import references_at
from polybuild.targets.model import RegisterTile
from polybuild.transform.bands import with_members
from polybuild.transform.tiling.alignment import first_value
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class ExpandedMapping:
    """A mapping of a region with expanded nests; ``refused`` are those that are no better than they were.

    Of these ``unbounded`` would be better, but need buffers of no constant size, or too large ones.
    """

    mapping: CpuMapping
    refused: tuple[PrivateNest, ...]
    unbounded: tuple[PrivateNest, ...]


@dataclass(frozen=True, slots=True)
class NestOrder:
    """The ``order`` that was found for ``part`` of a region, which has ``dependences``."""

    part: Scop
    dependences: Dependences
    order: isl.Schedule

    def is_of(self, part: Scop, dependences: Dependences) -> bool:
        """Whether it is that of ``part``, too, but for what arrays are called."""
        return _same_but_for_names(self.part, part) and _same_pairs(self.dependences, dependences)


def map_expanded(
    expansion: Expansion,
    dependences: Dependences,
    context: CompileContext,
    known: dict[PrivateNest, NestOrder] | None = None,
) -> ExpandedMapping:
    """The mapping of a region with expanded variables in buffers, in register tiles or vector loops.

    Orders of nests that are ``known``, from when others were expanded as well, are not found again.
    """
    scop = expansion.scop
    orders = _Orders(expansion, dependences, context, {} if known is None else known)
    schedule = orders.below(scop.schedule.get_root().child(0))
    mapping = map_to_cpu(scop, dependences, schedule, context)
    root = mapping.schedule.get_root()
    buffers: list[Buffer] = []
    slow, unbounded = [], []
    for number, expanded in enumerate(expansion.nests):
        if not _gains(scop, expanded, mapping):
            slow.append(expanded.nest)
            continue
        found = _with_buffers(root, number, expanded, scop, len(buffers))
        if found is None or sum(each.size for each in found[1]) > context.machine.l2.bytes // 2:
            unbounded.append(expanded.nest)
        else:
            root = found[0]
            buffers += found[1]
    return ExpandedMapping(with_buffers(mapping, root, buffers), (*slow, *unbounded), tuple(unbounded))


def _with_buffers(
    root: isl.ScheduleNode, number: int, expanded: ExpandedNest, scop: Scop, first: int
) -> tuple[isl.ScheduleNode, list[Buffer]] | None:
    """The tree with marks for the buffers of a nest, from mark ``first`` on, and these.

    None if one of them has no constant size.
    """
    mark = Mark(MarkKind.EXPANDED_TILES, number)
    inside = _below_band(next(each for each in descendants(root) if mark_of(each) == mark))
    buffers: list[Buffer] = []
    for array in (each for each in expanded.arrays if users_of(scop, [each])):
        mark = Mark(MarkKind.BUFFER, first + len(buffers))
        values = LiveValues(*written_and_flow(scop, array))
        buffer = uncontracted_at(inside, array, values, scop.context, mark)
        if buffer is None:
            return None
        buffers.append(buffer)
        inside = insert_mark(inside, mark)
    return inside.root(), buffers


def _gains(scop: Scop, expanded: ExpandedNest, mapping: CpuMapping) -> bool:
    """Whether values are in register tiles, which take nothing else from buffers.

    Where rows are private, the innermost statements may be in loops for the vector unit as well, but some
    tile reads the rows: else lanes are better.
    Where there is but one loop to expand over, it is enough that this is a loop for the vector unit, if the
    compiler has none better.
    """
    if expanded.nest.in_order:
        return True  # what that is worth is compared with the original
    names = {each.name for each in expanded.arrays}
    tiles = [each for each in mapping.registers if each.update.name in expanded.nest.statements]
    vectors, lanes = mapping.vector_statements(), mapping.lane_statements()
    if not tiles and expanded.nest.depth == 1:
        own = users_of(scop, expanded.arrays)
        # lanes alone have variables of their own
        return (
            own <= vectors | lanes
            and not own <= lanes
            and not any(_is_dot_product(scop, each) for each in own)
        )
    if private_rows(expanded):
        users = [each for each in scop.statements if each.name in users_of(scop, expanded.arrays)]
        deepest = max(len(each.iterators) for each in users)
        updates = {each.name for each in users if len(each.iterators) == deepest}
        rows = {each.name for each in private_rows(expanded)}
        return _reads(tiles, rows) and updates <= vectors | {each.update.name for each in tiles}
    # what is done once with a finished value reads it wherever it is
    sums = [each for each in tiles if len(each.update.iterators) > expanded.nest.depth]
    return bool(sums) and not _reads(sums, names)


def _is_dot_product(scop: Scop, name: str) -> bool:
    """Whether the innermost loop of the statement ``name``, as written, is one of a dot product."""
    statement = next(each for each in scop.statements if each.name == name)
    counters = range(len(statement.iterators))
    own = references_at(scop, {name: statement.domain.identity()}, counters)
    update = find_update(own) if counters else None
    return update is not None and is_dot_product(update, counters[-1])


def _reads(tiles: Sequence[RegisterTile], names: Collection[str]) -> bool:
    """Whether one of the register ``tiles`` has an operand in the arrays ``names``."""
    return any(
        access.array.name in names and id(access.node) not in tile.own
        for tile in tiles
        for access in tile.update.accesses
    )


def _below_band(node: isl.ScheduleNode) -> isl.ScheduleNode:
    """What is below the band of tiles, which may stand below marks."""
    while not is_band(node):
        node = node.child(0)
    return node.child(0)


@dataclass(frozen=True, slots=True)
class _Orders:
    """Finds orders of parts of a region, its expanded nests in tiles of their own."""

    expansion: Expansion
    dependences: Dependences
    context: CompileContext
    known: dict[PrivateNest, NestOrder]

    def below(self, node: isl.ScheduleNode, around: isl.MultiUnionPwAff | None = None) -> isl.Schedule:
        """The order of what is below ``node``: nests between the others as they stand.

        The loops ``around`` keep their order.
        """
        names = names_below(node)
        number = self._nest(names)
        if number is not None or not self._has_nests(names):
            return self._order(names, number, around)
        if node.n_children() > 1:
            return self._sequence([each.child(0) for each in children(node)], around)
        loop = node.band_get_partial_schedule()
        inside = self.below(node.child(0), loop if around is None else around.flat_range_product(loop))
        return inside.insert_partial_schedule(loop)

    def _sequence(
        self, parts: Sequence[isl.ScheduleNode], around: isl.MultiUnionPwAff | None
    ) -> isl.Schedule:
        """The orders of ``parts``, one after the other; those without nests may share loops."""
        orders = []
        plain: frozenset[str] = frozenset()
        for each in parts:
            names = names_below(each)
            if not self._has_nests(names):
                plain |= names
                continue
            if plain:
                orders.append(self._order(plain, None, around))
                plain = frozenset()
            orders.append(self.below(each, around))
        if plain:
            orders.append(self._order(plain, None, around))
        return reduce(isl.Schedule.sequence, orders)

    def _nest(self, names: frozenset[str]) -> int | None:
        """The number of the nest that ``names`` are the statements of."""
        nests = self.expansion.nests
        return next((n for n, each in enumerate(nests) if names <= each.nest.statements), None)

    def _has_nests(self, names: frozenset[str]) -> bool:
        return any(not names.isdisjoint(each.nest.statements) for each in self.expansion.nests)

    def _order(
        self, names: frozenset[str], number: int | None, around: isl.MultiUnionPwAff | None
    ) -> isl.Schedule:
        """The order of ``names`` in one iteration of the loops ``around``, in tiles if they are a nest."""
        nest = None if number is None else self.expansion.nests[number].nest
        part = part_of(self.expansion.scop, names)
        free = part if nest is None else part_of(part, names - nest.in_order)
        own = self.dependences.within(free.domain, around)
        order = self._chosen(free, own, nest)
        if nest is not None and nest.in_order:
            order = order.sequence(part_of(part, names & nest.in_order).schedule)
        if around is not None:
            order = _without_fixed(
                order.get_root(), isl.UnionMap.from_multi_union_pw_aff(around)
            ).get_schedule()
        if number is None:
            return order
        return _tiled(part, self.expansion.nests[number], order, number, self.context)

    def _chosen(self, part: Scop, own: Dependences, nest: PrivateNest | None) -> isl.Schedule:
        """The order of ``part``, of a ``nest`` or beside all of them, that was known or is found now."""
        before = None if nest is None else self.known.get(nest)
        if before is not None and before.is_of(part, own):
            return before.order
        order = choose_schedule(part, own, self.context)
        if nest is not None:
            self.known[nest] = NestOrder(part, own, order)
        return order


def _same_but_for_names(one: Scop, other: Scop) -> bool:
    """Whether the same statements access the same elements in the same order, in arrays of any names."""
    if [each.name for each in one.statements] != [each.name for each in other.statements]:
        return False
    there: dict[str, str] = {}
    for mine, its in zip(one.statements, other.statements, strict=True):
        if len(mine.accesses) != len(its.accesses):
            return False
        for old, new in zip(mine.accesses, its.accesses, strict=True):
            if there.setdefault(old.array.name, new.array.name) != new.array.name or old.kind != new.kind:
                return False
            places = (each.relation.reset_tuple_id(isl.dim_type.out) for each in (old, new))
            if not isl.Map.plain_is_equal(*places):
                return False
    return len(set(there.values())) == len(there) and bool(one.schedule.plain_is_equal(other.schedule))


def _same_pairs(one: Dependences, other: Dependences) -> bool:
    """Whether the same instances depend on each other, those of private arrays and reductions, too."""
    unions = [
        (
            each.flow,
            each.false,
            *(pairs for private in each.private for pairs in (private.flow, private.order)),
            *(reduction.pairs for reduction in each.reductions),
        )
        for each in (one, other)
    ]
    mine, its = ([union for union in own if not union.is_empty()] for own in unions)
    return len(mine) == len(its) and all(map(isl.UnionMap.is_equal, mine, its))


def _without_fixed(node: isl.ScheduleNode, around: isl.UnionMap) -> isl.ScheduleNode:
    """The tree without members of bands that have one value for each of the loops ``around``."""

    def changed(band: isl.ScheduleNode) -> isl.ScheduleNode:
        if not is_band(band):
            return band
        here = around.intersect_domain(band.get_domain())
        kept = [
            position
            for position in range(band.band_n_member())
            if not here.reverse()
            .apply_range(isl.UnionMap.from_multi_union_pw_aff(member(band, position)))
            .is_single_valued()
        ]
        return band if len(kept) == band.band_n_member() else with_members(band, kept)

    return map_bottom_up(node, changed)


def part_of(scop: Scop, names: frozenset[str]) -> Scop:
    """``scop`` with but the statements ``names``."""
    statements = tuple(each for each in scop.statements if each.name in names)
    part = replace(scop, statements=statements)
    return replace(part, schedule=scop.schedule.intersect_domain(part.domain))


def _tiled(
    part: Scop, expanded: ExpandedNest, schedule: isl.Schedule, number: int, context: CompileContext
) -> isl.Schedule:
    """``schedule`` within tiles of the loops that values are private to."""
    nest = expanded.nest
    sizes = _tile_sizes(part, expanded, context)
    members = [
        isl.MultiUnionPwAff.from_union_pw_aff(_from_zero(part, each).scale_down_val(isl.Val(size)).floor())
        for each, size in zip(nest.coordinates, sizes, strict=True)
    ]
    top = schedule.get_root().child(0)
    band = top.insert_partial_schedule(reduce(isl.MultiUnionPwAff.flat_range_product, members))
    band = band.band_set_permutable(1)
    for position in range(nest.depth):
        band = band.band_member_set_coincident(position, int(not nest.in_order))
    return insert_mark(band, Mark(MarkKind.EXPANDED_TILES, number)).get_schedule()


def _from_zero(part: Scop, coordinate: isl.UnionPwAff) -> isl.UnionPwAff:
    """``coordinate`` less its lowest value, where that is a constant."""
    values = isl.UnionMap.from_union_pw_aff(coordinate).intersect_params(part.context)
    first = first_value(values.range())
    return (
        coordinate.sub(isl.UnionPwAff.val_on_domain(coordinate.domain(), isl.Val(first)))
        if first
        else coordinate
    )


def _tile_sizes(part: Scop, expanded: ExpandedNest, context: CompileContext) -> list[int]:
    """Tiles whose values take half of the second-level cache at most, no larger than their loops.

    Those of the innermost loop are rows of blocks of register tiles, those of the one around it columns.
    Where rows are private, tiles are strips of them.
    """
    machine = context.machine
    *outer, innermost = [_value_count(part, each, machine) for each in expanded.nest.coordinates]
    cache, block, sizes = machine.l2.bytes // 2, block_rows(machine), machine.tiles
    if private_rows(expanded):
        return [_in_blocks(innermost, min(sizes.width, rows_within(part, expanded, cache)), block)]
    columns = min(sizes.width, innermost)
    bytes_each = sum(element_size(web.array) * elements_of_small(web.array) for web in expanded.nest.webs)
    if not outer and expanded.nest.in_order and innermost >= sizes.width:  # threads meet after each strip
        return [max(columns, multiple(machine.l1.bytes // 2 // bytes_each, block))]
    if not outer:
        return [columns]
    fitting = cache // (columns * bytes_each)
    return [*[1] * (len(outer) - 1), _in_blocks(outer[-1], min(sizes.height, fitting), block), columns]


def _in_blocks(count: int, limit: int, block: int) -> int:
    """A tile for ``count`` iterations: all of them, or whole blocks."""
    return count if count <= limit else min(multiple(limit, block), max(1, limit))


def _value_count(scop: Scop, coordinate: isl.UnionPwAff, machine: Machine) -> int:
    """How many values ``coordinate`` has at most, those of a tile if they are not bounded."""
    values = isl.UnionMap.from_union_pw_aff(coordinate).intersect_params(scop.context).range()
    if values.is_empty():
        return 1
    place = isl.Set.from_union_set(values).coalesce()
    count = largest(place.dim_max(0).sub(place.dim_min(0)))
    return int(count.to_python()) + 1 if count.is_int() else machine.tiles.width
