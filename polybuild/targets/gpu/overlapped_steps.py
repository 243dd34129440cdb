"""Steps of a stencil in tiles that overlap: a block computes what its tile needs of its surroundings.

Of a tile of a few steps, a block loads all that these need, works on arrays of its own, and stores its part
of the last values (overlapped tiling: Krishnamoorthy et al., PLDI 2007; on devices: Holewinski, Pouchet and
Sadayappan, ICS 2012)::

    for t: for i: B[i] = f(A[i - 1], A[i + 1]); for i: A[i] = B[i]

    for (T) for (b)                          tiles of time; blocks
      for x: a[T][b][x] = V[T % 2][x]        what the tile needs
      for t in T: for i near b: b[T][b][i] = f(a[T][b][i - 1], a[T][b][i + 1]); ...
      for x in b: V[(T + 1) % 2][x] = a[T][b][x]

Each statement gets the counters of tiles as its outermost ones, and instances that several tiles need exist
several times. Neighbours still read the old values when a block stores new ones, so each array has two
``versions``, which begin with the values before the region; the last tile of time stores where the region
does. That each value is the one it was is proved (``overlapped_values``), and the new model like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import islpy as isl

from polybuild.analysis.dependences import accesses_of, may_be_private, written_and_flow
from polybuild.c.basic_types import LONG_LONG
from polybuild.scop.duplicates import array_of_tiles, names_in_use, unused_names
from polybuild.scop.model import Access, AccessKind, Array, Iterator, Scop, Statement
from polybuild.targets.gpu.overlapped_values import CarriedArray, keeps_values, last_writes
from polybuild.targets.gpu.overlapped_versions import VersionStatements, by_dimension, named
from polybuild.transform.tiling.phases import Phase, divided
from polybuild.transform.tiling.stencil import Stencil
from polybuild.values import dataclass

_in, _out, _set = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


@dataclass(frozen=True, slots=True, eq=False)
class OverlappedSteps:
    """A region whose steps are in tiles that overlap: ``phase`` has where its instances are.

    ``order`` is a sequence of what the versions begin with and, without tiles, of all else; arrays ``inside``
    are those of a tile.
    """

    scop: Scop
    phase: Phase
    order: isl.Schedule
    inside: tuple[Array, ...]


class OverlappedModel:
    """Makes the model of ``stencil`` in tiles of ``sizes``, iterations of its loops over time and space."""

    def __init__(self, scop: Scop, stencil: Stencil, sizes: Sequence[int], live_out: frozenset[str]) -> None:
        self._scop = scop
        self._live_out = live_out
        self._stencil = stencil
        self._height = sizes[0] * stencil.steps
        self._widths = tuple(each * stencil.scale for each in sizes[1:])
        self._count = len(stencil.space)
        self._places = reduce(isl.UnionMap.flat_range_product, map(_as_map, stencil.space))
        self._taken = names_in_use(scop)
        where = _as_map(stencil.time).flat_range_product(self._places).intersect_domain(scop.domain)
        tiles = isl.Set.from_union_set(where.range()).apply(self._tiles(own=True))
        self._kept = by_dimension(tiles.intersect_params(scop.context))

    def build(self) -> OverlappedSteps | None:
        """The model; None if there is none, or a value would not be what it was."""
        scop = self._scop
        written = [
            each
            for each in scop.arrays
            if _writes(scop, each) and not (each.is_scalar and may_be_private(each, self._live_out))
        ]
        found = [self._carried(each) for each in written]
        carried = [each for each in found if each is not None]
        if not carried or len(carried) < len(written):
            return None
        own = {each.array.name: each.inside for each in carried}
        copies = tuple(self._copy(each, own) for each in scop.statements)
        waves = _params_and_wave(copies)
        last = waves.lexmax()
        make = VersionStatements(scop, self._widths)
        names = iter(unused_names(scop, 4 * len(carried)))
        begin, load, store = [], [], []
        for each in carried:
            passed = self._is_passed(each.array, last)
            stored = make.stored(each, waves)
            loaded = make.load(next(names), each, copies, stored if passed else None)
            if loaded is None:
                return None
            if not loaded.domain.is_empty():
                load.append(loaded)
                begin.append(make.begin(next(names), each, waves.params()))
            late = stored.intersect(last.insert_dims(_set, 1, stored.dim(_set) - 1)).coalesce()
            if passed:
                store.append(make.store(next(names), each, stored.subtract(late).coalesce(), late=False))
            store.append(make.store(next(names), each, late, late=True))
        if not begin:
            return None
        store = [each for each in store if not each.domain.is_empty()]
        statements = (*begin, *load, *copies, *store)
        versions = [each.versions for each in carried if any(one.accesses_to(each.versions) for one in begin)]
        inside = tuple(each.inside for each in carried)
        changed = replace(scop, statements=statements, arrays=(*scop.arrays, *versions, *inside))
        steps = self._steps(load, copies, store, carried)
        order = _body_order(begin, (*load, *copies, *store))
        changed = _with_extents(replace(changed, schedule=_in_tiles(order, steps)), versions)
        if not keeps_values(scop, changed, carried, self._to_old(copies)):
            return None
        return OverlappedSteps(changed, steps, order, inside)

    def _to_old(self, copies: Sequence[Statement]) -> isl.UnionMap:
        """The instances that those of ``copies`` are."""
        depth = 1 + self._count
        found = [
            isl.UnionMap.from_map(
                each.domain.identity().project_out(_out, 0, depth).set_tuple_name(_out, each.name)
            )
            for each in copies
        ]
        return reduce(isl.UnionMap.union, found)

    def _is_passed(self, array: Array, last: isl.Set) -> bool:
        """Whether values of ``array`` go from one tile of time to another, or past the ``last`` one."""
        flow = written_and_flow(self._scop, array)[1]
        wave = divided(self._stencil.time, self._height)
        within = flow.eq_at_multi_union_pw_aff(isl.MultiUnionPwAff.from_union_pw_aff(wave))
        ends = last_writes(self._scop, array).domain().apply(_as_map(wave))
        return not (flow.is_subset(within) and ends.is_subset(isl.UnionSet.from_set(last)))

    # The arrays

    def _carried(self, array: Array) -> CarriedArray | None:
        """``array`` in tiles; None if its elements belong to no place, or data choose them."""
        uses = [each for statement in self._scop.statements for each in statement.accesses_to(array)]
        plain = all(each.exact and each.kind is not AccessKind.MAY_WRITE for each in uses)
        if array.is_scalar or array.local or not plain:
            return None
        _, must, _ = accesses_of(self._scop, array)
        places = isl.Map.from_union_map(must.reverse().apply_range(self._places)).coalesce()
        if not places.is_single_valued():
            return None
        function = isl.PwMultiAff.from_map(places).coalesce()
        pieces = [function.get_pw_aff(k).coalesce().get_pieces() for k in range(self._count)]
        if any(len(each) != 1 for each in pieces):
            return None
        place = reduce(
            isl.MultiAff.flat_range_product, [isl.MultiAff.from_aff(each[0][1]) for each in pieces]
        )
        depth = 1 + self._count
        return CarriedArray(
            array,
            array_of_tiles(array, "tile", depth, self._taken),
            array_of_tiles(array, "versions", 1, self._taken),
            place,
        )

    # The statements

    def _tiles(self, *, own: bool) -> isl.Map:
        """``{ [time, places] -> [T, b0, ...] }``: the tiles that need a place, or the one it is in."""
        space = range(self._count)
        height = self._height
        left = f"({height} T + {height - 1} - t)"
        bounds = [f"{height} T <= t < {height} T + {height}"]
        for k, (width, cone) in enumerate(zip(self._widths, self._stencil.cones, strict=True)):
            low = f"{width} b{k}"
            if own:
                bounds.append(f"{low} <= s{k} < {low} + {width}")
                continue
            assert cone.fall is not None and cone.rise is not None  # noqa: S101, PT018 - closed
            fall, rise = cone.fall, cone.rise
            bounds.append(
                f"{fall.denominator} s{k} >= {fall.denominator} * ({low}) - {fall.numerator} * {left}"
            )
            bounds.append(
                f"{rise.denominator} s{k} <= {rise.denominator} * ({low} + {width - 1})"
                f" + {rise.numerator} * {left}"
            )
        places = ", ".join(["t", *(f"s{k}" for k in space)])
        tiles = ", ".join(["T", *(f"b{k}" for k in space)])
        return isl.Map(f"{{ [{places}] -> [{tiles}] : {' and '.join(bounds)} }}")

    def _needed(self, statement: Statement, *, own: bool = False) -> isl.Map:
        """``{ [T, b0, ...] -> statement[...] }``."""
        where = _as_map(self._stencil.time).flat_range_product(self._places)
        where = where.intersect_domain(isl.UnionSet.from_set(statement.domain))
        mine = isl.Map.from_union_map(where).apply_range(self._tiles(own=own))
        mine = mine.intersect_range(self._kept)
        return mine.reverse().intersect_range(statement.domain).coalesce()

    def _copy(self, statement: Statement, arrays: dict[str, Array]) -> Statement:
        """``statement`` with the counters of tiles around it."""
        depth = 1 + self._count
        iterators = (*self._counters(statement), *statement.iterators)
        domain = self._needed(statement).wrap().flatten().set_tuple_name(statement.name)
        domain = named(domain, iterators)

        def moved(access: Access) -> Access:
            own = arrays.get(access.array.name)
            relation = access.relation.insert_dims(_in, 0, depth).set_tuple_name(_in, statement.name)
            if own is not None:
                relation = relation.insert_dims(_out, 0, depth).set_tuple_name(_out, own.name)
                for each in range(depth):
                    relation = relation.equate(_in, each, _out, each)
            return replace(access, array=own or access.array, relation=relation.intersect_domain(domain))

        return replace(
            statement, domain=domain, iterators=iterators, accesses=tuple(map(moved, statement.accesses))
        )

    def _counters(self, statement: Statement) -> list[Iterator]:
        names = ["wave", *(f"tile{k}" for k in range(self._count))]
        return [Iterator(f"polybuild_{each}", LONG_LONG, statement.location) for each in names]

    # Where instances are

    def _steps(
        self,
        load: Sequence[Statement],
        copies: Sequence[Statement],
        store: Sequence[Statement],
        carried: Sequence[CarriedArray],
    ) -> Phase:
        """The tiles as those of a phase: what is loaded has the step before the first, stores that after."""
        depth = 1 + self._count
        place_of = {each.inside.name: each.place for each in carried}
        values: list[list[isl.PwAff]] = [[] for _ in range(2 * depth)]

        def note(statement: Statement, time: isl.PwAff, places: Sequence[isl.PwAff]) -> None:
            here = statement.domain
            tiles = [_dimension(here, each) for each in range(depth)]
            inner = [
                each.sub(tile.scale_val(isl.Val(width)))
                for each, tile, width in zip(places, tiles[1:], self._widths, strict=True)
            ]
            for into, each in zip(values, (*tiles, time, *inner), strict=True):
                into.append(each.intersect_domain(here))

        for statement in copies:
            outer = _dimension(statement.domain, 0).scale_val(isl.Val(self._height))
            own = [self._coordinate(each, statement) for each in (self._stencil.time, *self._stencil.space)]
            note(statement, own[0].sub(outer), own[1:])
        for time, statements in ((-1, load), (self._height, store)):
            for statement in statements:
                inside = next(each for each in statement.accesses if each.array.name in place_of)
                place = place_of[inside.array.name]
                elements = isl.MultiAff.identity(statement.domain.get_space().map_from_set())
                elements = elements.drop_dims(_out, 0, depth)
                elements = elements.set_tuple_id(_out, place.get_tuple_id(_in))
                there = place.pullback_multi_aff(elements)
                places = [isl.PwAff.from_aff(there.get_aff(k)) for k in range(self._count)]
                note(statement, isl.PwAff.val_on_domain(statement.domain, isl.Val(time)), places)
        functions = [
            reduce(isl.UnionPwAff.union_add, map(isl.UnionPwAff.from_pw_aff, each)) for each in values
        ]
        domain = reduce(
            isl.UnionSet.union, [isl.UnionSet.from_set(each.domain) for each in (*load, *copies, *store)]
        )
        return Phase(domain, functions[0], tuple(functions[1:depth]), (), tuple(functions[depth:]))

    def _coordinate(self, function: isl.UnionPwAff, statement: Statement) -> isl.PwAff:
        """``function`` of the old instance that one of ``statement`` is."""
        depth = 1 + self._count
        own = isl.MultiAff.identity(statement.domain.get_space().map_from_set()).drop_dims(_out, 0, depth)
        own = own.set_tuple_name(_out, statement.name)
        space = own.get_space().range()
        parts = function.get_pw_aff_list()
        for k in range(parts.n_pw_aff()):
            part = parts.get_at(k)
            if part.domain().get_tuple_name() == statement.name:
                assert part.domain().dim(_set) == space.dim(_set)  # noqa: S101
                return part.pullback_multi_aff(own)
        raise LookupError(statement.name)


def _as_map(function: isl.UnionPwAff) -> isl.UnionMap:
    return isl.UnionMap.from_union_pw_aff(function)


def _writes(scop: Scop, array: Array) -> bool:
    return any(
        access.kind is not AccessKind.READ for each in scop.statements for access in each.accesses_to(array)
    )


def _dimension(domain: isl.Set, position: int) -> isl.PwAff:
    space = isl.LocalSpace.from_space(domain.get_space())
    return isl.PwAff.from_aff(isl.Aff.var_on_domain(space, _set, position))


def _params_and_wave(copies: Sequence[Statement]) -> isl.Set:
    """``{ [T] }``: the tiles of time."""
    found = [each.domain.project_out(_set, 1, each.domain.dim(_set) - 1).reset_tuple_id() for each in copies]
    return reduce(isl.Set.union, found).coalesce()


def _in_tiles(order: isl.Schedule, phase: Phase) -> isl.Schedule:
    """``order`` with the tiles around all that follows the beginning, wave by wave."""
    node = order.get_root().child(0).child(1).child(0)
    members = [phase.wave, *phase.tiles, *phase.points]
    band = reduce(isl.MultiUnionPwAff.flat_range_product, map(isl.MultiUnionPwAff.from_union_pw_aff, members))
    return node.insert_partial_schedule(band).get_schedule()


def _body_order(begin: Sequence[Statement], others: Sequence[Statement]) -> isl.Schedule:
    """A sequence of what is in ``begin``, and a sequence of the ``others``."""
    domain = [
        reduce(isl.UnionSet.union, [isl.UnionSet.from_set(each.domain) for each in part])
        for part in (begin, others)
    ]
    node = isl.Schedule.from_domain(domain[0].union(domain[1])).get_root().child(0)
    node = node.insert_sequence(_filters(node.get_ctx(), domain))
    for position, part in enumerate((begin, others)):
        node = node.child(position).child(0)
        if len(part) > 1:
            node = node.insert_sequence(
                _filters(node.get_ctx(), [isl.UnionSet.from_set(each.domain) for each in part])
            )
            for index, each in enumerate(part):
                node = _in_order(node.child(index).child(0), each, coincident=position == 0).ancestor(2)
        else:
            node = _in_order(node, part[0], coincident=position == 0)
        node = node.ancestor(2)
    return node.get_schedule()


def _in_order(node: isl.ScheduleNode, statement: Statement, *, coincident: bool) -> isl.ScheduleNode:
    band = isl.MultiUnionPwAff.from_union_map(
        isl.UnionMap.from_map(statement.domain.identity().reset_tuple_id(_out))
    )
    node = node.insert_partial_schedule(band).band_set_permutable(1 if coincident else 0)
    for position in range(node.band_n_member()):
        node = node.band_member_set_coincident(position, 1 if coincident else 0)
    return node


def _filters(context: isl.Context, sets: Sequence[isl.UnionSet]) -> isl.UnionSetList:
    found = isl.UnionSetList.alloc(context, len(sets))
    for each in sets:
        found = found.add(each)
    return found


def _with_extents(scop: Scop, arrays: Sequence[Array]) -> Scop:
    """``scop`` where ``arrays`` have extents that hold all elements that it accesses."""
    sized = {}
    for array in arrays:
        _, must, may = accesses_of(scop, array)
        touched = isl.Set.from_union_set(must.union(may).range()).intersect_params(scop.context)
        last = [touched.dim_max(dim) for dim in range(len(array.extents))]
        counts = tuple(each.add_constant_val(isl.Val(1)).coalesce() for each in last)
        sized[array.name] = replace(array, extents=counts)
    statements = tuple(
        replace(
            each,
            accesses=tuple(replace(one, array=sized.get(one.array.name, one.array)) for one in each.accesses),
        )
        for each in scop.statements
    )
    return replace(
        scop, statements=statements, arrays=tuple(sized.get(each.name, each) for each in scop.arrays)
    )
