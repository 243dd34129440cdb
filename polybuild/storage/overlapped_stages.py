"""Stages of a computation in tiles that overlap: what a tile of the last stage needs is computed in it anew.

Stages follow each other, each reads temporary arrays that those before it have written::

    for y: for x: rows[y][x] = in[y][x] + in[y][x + 1]
    for y: for x: out[y][x] = rows[y][x] + rows[y + 1][x]

A tile of ``out`` needs a few more elements of ``rows``. If it computes these itself, no tile waits for
another one, and ``rows`` is a buffer of one tile (overlapped tiling: Krishnamoorthy et al., PLDI 2007; of
stages: Mullapudi, Vasista and Bondhugula, PolyMage, ASPLOS 2015). In the model each statement gets
the counters of tiles as its outermost ones; instances that several tiles need exist several times.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import reduce

import islpy as isl

from polybuild.analysis.dependences import Dependences, may_be_private, written_and_flow
from polybuild.c.basic_types import LONG_LONG
from polybuild.poly.relations import largest, maps_of, union_of
from polybuild.poly.trees import children, is_band
from polybuild.scop.duplicates import array_of_tiles
from polybuild.scop.model import Access, AccessKind, Array, Iterator, Scop, Statement
from polybuild.storage.scalar_expansion import names_below
from polybuild.values import dataclass

_in, _out, _set = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


@dataclass(frozen=True, slots=True, eq=False)
class PipelineStage:
    """A nest, its ``statements`` by name.

    ``points`` maps its instances to the counters of the outermost loops, at each of which they have nothing
    to do with those at others. The ``last`` stages write what the program sees.
    """

    statements: frozenset[str]
    points: isl.UnionMap
    depth: int
    is_last: bool


@dataclass(frozen=True, slots=True, eq=False)
class Pipeline:
    """The nests of a region, of which some read in ``between``, temporary arrays, what others wrote."""

    scop: Scop
    dependences: Dependences
    all: tuple[PipelineStage, ...]
    between: tuple[Array, ...]

    @property
    def depth(self) -> int:
        """How many counters the points of the last stages have."""
        return next(each.depth for each in self.all if each.is_last)

    def needed(self, sizes: Sequence[int]) -> list[isl.UnionMap]:
        """For each stage, ``{ tile -> instance }``: what tiles of ``sizes`` of the last stages need."""
        found: list[isl.UnionMap] = []
        for stage in reversed(self.all):
            if stage.is_last:
                found.insert(0, stage.points.apply_range(_tile_of(stage, sizes)).reverse())
                continue
            flow = self.dependences.flow.intersect_domain(stage.points.domain())
            wanted = [each.apply_range(flow.reverse()) for each in found]
            points = reduce(isl.UnionMap.union, wanted).apply_range(stage.points)
            found.insert(0, _hull(points).apply_range(stage.points.reverse()))
        return found


@dataclass(frozen=True, slots=True, eq=False)
class OverlappedPipeline:
    """A region with the counters of ``tiles`` around each statement, and arrays for what is between stages.

    ``to_old`` says which instances those in tiles are.
    """

    scop: Scop
    to_old: isl.UnionPwMultiAff
    tiles: isl.MultiUnionPwAff
    between: tuple[Array, ...]


def find_stages(
    scop: Scop, dependences: Dependences, temporaries: Collection[Array], live_out: frozenset[str]
) -> Pipeline | None:
    """The stages of ``scop``, its nests in their order; None if it is no such computation."""
    if any(each.dynamic for each in scop.statements) or dependences.reductions:
        return None
    top = scop.schedule.get_root().child(0)
    nests = [each.child(0) for each in children(top)] if top.n_children() > 1 else []
    if not nests or not all(map(is_band, nests)):
        return None
    nest_of = {name: number for number, each in enumerate(nests) for name in names_below(each)}
    names = {each.name for each in temporaries}
    between = tuple(each for each in temporaries if _joins(scop, each, nest_of))
    dead = names | {each.name for each in scop.arrays if each.is_scalar and may_be_private(each, live_out)}
    found = [_stage(scop, dependences, names_below(each), dead) for each in nests]
    stages = tuple(each for each in found if each is not None)
    depths = {each.depth for each in stages if each.is_last}
    if not between or len(stages) < len(nests) or len(depths) != 1 or all(each.is_last for each in stages):
        return None
    return Pipeline(scop, dependences, stages, between)


def _joins(scop: Scop, array: Array, nest_of: dict[str, int]) -> bool:
    """Whether values of ``array`` go from one nest to another."""
    return any(
        nest_of[each.get_tuple_name(_in)] != nest_of[each.get_tuple_name(_out)]
        for each in maps_of(written_and_flow(scop, array)[1])
    )


def _stage(
    scop: Scop, dependences: Dependences, names: frozenset[str], dead: Collection[str]
) -> PipelineStage | None:
    """The nest of the statements ``names`` as a stage, None if its outermost loop carries a dependence.

    Nothing of the arrays ``dead`` is needed after the region.
    """
    statements = [each for each in scop.statements if each.name in names]
    instances = reduce(isl.UnionSet.union, [isl.UnionSet.from_set(each.domain) for each in statements])
    own = dependences.validity.intersect_domain(instances).intersect_range(instances)
    depth, points = 0, None
    for count in range(1, min(len(each.iterators) for each in statements) + 1):
        tried = union_of([_outer(each, count) for each in statements], instances.get_space())
        if not own.is_subset(tried.apply_range(tried.reverse())):
            break
        depth, points = count, tried
    if points is None:
        return None
    is_last = any(
        access.kind is not AccessKind.READ and access.array.name not in dead
        for each in statements
        for access in each.accesses
    )
    return PipelineStage(names, points, depth, is_last)


def _outer(statement: Statement, count: int) -> isl.Map:
    """``{ instance -> [its outermost counters] }``."""
    every = statement.domain.identity()
    return every.project_out(_out, count, every.dim(_out) - count).reset_tuple_id(_out)


def _tile_of(stage: PipelineStage, sizes: Sequence[int]) -> isl.UnionMap:
    """``{ point -> tile }`` for a last stage."""
    space = isl.Set.from_union_set(stage.points.range()).get_space()
    tile = isl.MultiAff.identity(space.map_from_set())
    for position, size in enumerate(sizes):
        tile = tile.set_aff(position, tile.get_aff(position).scale_down_val(isl.Val(size)).floor())
    return isl.UnionMap.from_map(isl.Map.from_multi_aff(tile))


def _hull(points: isl.UnionMap) -> isl.UnionMap:
    """``points`` without gaps: more of them may be computed than are needed."""
    if points.is_empty():
        return points
    plain = isl.Map.from_union_map(points).coalesce()
    if plain.n_basic_map() > 1:
        plain = isl.Map.from_basic_map(plain.simple_hull())
    return isl.UnionMap.from_map(plain)


def window(needed: isl.UnionMap, stage: PipelineStage, context: isl.Set) -> list[int] | None:
    """How many points along each counter of ``stage`` a tile needs at most; None without a bound."""
    points = needed.apply_range(stage.points).intersect_params(context)
    if points.is_empty():
        return None
    plain = isl.Map.from_union_map(points)
    widths = [largest(plain.dim_max(each).sub(plain.dim_min(each))) for each in range(stage.depth)]
    return [each.to_python() + 1 for each in widths] if all(each.is_int() for each in widths) else None


def overlap(stages: Pipeline, sizes: Sequence[int]) -> OverlappedPipeline | None:
    """The region in tiles of ``sizes``; None if a value would be another one than before.

    That is: if an instance would read something else than what the instances wrote that it read from before,
    or if two writes that the program sees would change their order.
    """
    scop = stages.scop
    instances = reduce(isl.UnionMap.union, stages.needed(sizes)).intersect_range(scop.domain).coalesce()
    where = {each.get_tuple_name(_out): each for each in maps_of(instances)}
    if len(where) < len(scop.statements):
        return None
    depth = stages.depth
    taken = {each.name for each in scop.arrays}
    arrays = {each.name: array_of_tiles(each, "tile", depth, taken) for each in stages.between}
    counters = _tile_counters(stages)
    statements = tuple(_in_tiles(each, where[each.name], counters, arrays) for each in scop.statements)
    to_old = isl.UnionPwMultiAff.empty(scop.context.get_space())
    for each in scop.statements:
        to_old = to_old.union_add(_to_old(each, depth))
    changed = replace(scop, statements=statements, arrays=(*scop.arrays, *arrays.values()))
    tiles = _tiles(statements, depth)
    schedule = scop.schedule.pullback_union_pw_multi_aff(to_old).intersect_domain(changed.domain)
    schedule = schedule.insert_partial_schedule(tiles)
    changed = replace(changed, schedule=schedule)
    if not _keeps_values(stages, changed, tiles, isl.UnionMap.from_union_pw_multi_aff(to_old), arrays):
        return None
    used = tuple(each for each in changed.arrays if each.name not in arrays)
    return OverlappedPipeline(replace(changed, arrays=used), to_old, tiles, tuple(arrays.values()))


def _in_tiles(
    statement: Statement, needed: isl.Map, counters: Sequence[Iterator], arrays: dict[str, Array]
) -> Statement:
    """``statement`` with the ``counters`` of tiles around it: ``needed`` says in which its instances are."""
    depth = len(counters)
    iterators = (*counters, *statement.iterators)
    domain = needed.wrap().flatten().set_tuple_name(statement.name)
    for position, each in enumerate(iterators):
        domain = domain.set_dim_name(_set, position, each.name)

    def moved(access: Access) -> Access:
        own = arrays.get(access.array.name)
        relation = access.relation.insert_dims(_in, 0, depth).set_tuple_name(_in, statement.name)
        if own is None:
            return replace(access, relation=relation.intersect_domain(domain))
        relation = relation.insert_dims(_out, 0, depth).set_tuple_name(_out, own.name)
        for each in range(depth):
            relation = relation.equate(_in, each, _out, each)
        return replace(access, array=own, relation=relation.intersect_domain(domain))

    return replace(
        statement, domain=domain, iterators=iterators, accesses=tuple(map(moved, statement.accesses))
    )


def _tile_counters(stages: Pipeline) -> list[Iterator]:
    """The counters of tiles, called after those of a last stage."""
    last = next(each for each in stages.all if each.is_last)
    statement = next(each for each in stages.scop.statements if each.name in last.statements)
    return [
        Iterator(f"tile_{each.name}", LONG_LONG, each.location) for each in statement.iterators[: last.depth]
    ]


def _to_old(statement: Statement, depth: int) -> isl.PwMultiAff:
    """The instance of ``statement`` that one within tiles is."""
    plain = statement.domain.get_space().map_from_set()
    relation = isl.Map.identity(plain).insert_dims(_in, 0, depth).set_tuple_name(_in, statement.name)
    return isl.PwMultiAff.from_map(relation)


def _tiles(statements: Sequence[Statement], depth: int) -> isl.MultiUnionPwAff:
    """The tile that each instance is in."""
    members = []
    for position in range(depth):
        values = [
            isl.UnionPwAff.from_pw_aff(
                isl.PwAff.var_on_domain(
                    isl.LocalSpace.from_space(each.domain.get_space()), _set, position
                ).intersect_domain(each.domain)
            )
            for each in statements
        ]
        members.append(isl.MultiUnionPwAff.from_union_pw_aff(reduce(isl.UnionPwAff.union_add, values)))
    return reduce(isl.MultiUnionPwAff.flat_range_product, members)


def _keeps_values(
    stages: Pipeline,
    changed: Scop,
    tiles: isl.MultiUnionPwAff,
    to_old: isl.UnionMap,
    arrays: dict[str, Array],
) -> bool:
    """Whether in ``changed`` each instance reads what it did before, from the same tile."""
    to_old = to_old.intersect_domain(changed.domain)
    for array in stages.scop.arrays:
        written, flow = written_and_flow(stages.scop, array)
        if written.is_empty():
            continue
        before = to_old.apply_range(flow.reverse())
        own = to_old.apply_range(flow).apply_range(to_old.reverse()).eq_at_multi_union_pw_aff(tiles)
        if not own.reverse().apply_range(to_old).is_equal(before):
            return False
        now = written_and_flow(changed, arrays.get(array.name, array))[1]
        if not now.is_equal(own):
            return False
    last = reduce(isl.UnionSet.union, [each.points.domain() for each in stages.all if each.is_last])
    order = stages.dependences.false.intersect_domain(last).intersect_range(last)
    ordered = to_old.apply_range(order).apply_range(to_old.reverse())
    return bool(ordered.is_subset(ordered.eq_at_multi_union_pw_aff(tiles)))
