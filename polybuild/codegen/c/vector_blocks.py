"""What stands at the nodes of isl's AST that are blocks of register tiles, or fill packed buffers.

isl makes one node of a block, in loops over its rows and vectors: block by block it would take many times
as long. The vectors of a block differ by constants from its corner.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from polybuild.c.syntax_tree import walk
from polybuild.codegen.c.buffers import NamedBuffer
from polybuild.poly.marks import Mark
from polybuild.poly.relations import everywhere
from polybuild.schedule.legality import IllegalSchedule
from polybuild.scop.model import Access, Array, Statement
from polybuild.targets.model import Offset, Packed, RegisterTile
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class Lanes:
    """One vector's worth of a statement's instances.

    ``block`` is the place of its result; ``operands`` are its accesses to memory, for the
    first lane, and ``packed`` what it takes from buffers, with their subscripts.
    """

    tile: RegisterTile
    block: tuple[int, int]
    operands: tuple[tuple[Access, isl.AstExpr], ...]
    packed: tuple[tuple[Packed, tuple[isl.AstExpr, ...]], ...]


@dataclass(frozen=True, slots=True)
class Move:
    """A vector of results on its way between registers and ``array``; its first element is at ``place``."""

    tile: RegisterTile
    block: tuple[int, int]
    array: Array
    place: isl.AstExpr
    store: bool


@dataclass(frozen=True, slots=True)
class VectorBlock:
    """All that is done at once for a block of a register tile, row by row: ``vectors``, of one kind.

    ``domain`` are the instances of the statement, or of the copy statement, that this is.
    """

    tile: RegisterTile
    vectors: tuple[Lanes, ...] | tuple[Move, ...]
    domain: isl.Set

    @property
    def computes(self) -> bool:
        """Whether it updates the block; else it moves it."""
        return isinstance(self.vectors[0], Lanes)

    @property
    def loads(self) -> bool:
        """Whether it loads the block."""
        first = self.vectors[0]
        return isinstance(first, Move) and not first.store

    @property
    def stores(self) -> bool:
        """Whether it stores the block."""
        first = self.vectors[0]
        return isinstance(first, Move) and first.store

    @property
    def statement(self) -> Statement:
        """The statement that this is done for."""
        return self.tile.update


@dataclass(frozen=True, slots=True)
class Packing:
    """A value put into a buffer; ``domain`` are the instances of the copy statement."""

    packed: Packed
    subscripts: tuple[isl.AstExpr, ...]
    operands: tuple[tuple[Access, isl.AstExpr], ...]
    domain: isl.Set

    @property
    def statement(self) -> Statement:
        """The statement that this is done for."""
        return self.packed.update


@dataclass(frozen=True, slots=True)
class PackedElement:
    """What an instance in no block takes from a buffer, at its ``subscripts``."""

    packed: Packed
    subscripts: tuple[isl.AstExpr, ...]


class Tiles:
    """The register tiles and buffers of a schedule, by their marks and the names of copy statements.

    ``arrays`` are the buffers that stand for arrays, by the names of these.
    """

    def __init__(
        self, tiles: Sequence[RegisterTile], arrays: Mapping[str, NamedBuffer] | None = None
    ) -> None:
        self._arrays = arrays or {}
        self.registers = {tile.mark: tile for tile in tiles}
        self.partial = {tile.partial.mark: tile for tile in tiles if tile.partial is not None}
        self.buffers = {each.mark: each for tile in tiles for each in tile.packed}
        self._packed = {each.copy: each for each in self.buffers.values()}
        self._moves = {tile.transfer.load: (tile, False) for tile in tiles} | {
            tile.transfer.store: (tile, True) for tile in tiles
        }

    def shared(
        self, statement: Statement, marks: Sequence[Mark], build: isl.AstBuild
    ) -> tuple[PackedElement, ...]:
        """What an instance of ``statement`` in no block takes from the buffers of ``marks`` around it."""
        buffers = [self.buffers[each] for each in marks if each in self.buffers]
        used = [
            each
            for each in buffers
            if each.shared and each.update.name == statement.name and each.within in (None, *marks)
        ]
        if not used:
            return ()
        schedule = isl.Map.from_union_map(build.get_schedule())
        to_instance = isl.PwMultiAff.from_map(schedule.reverse())
        offsets = _Offsets(schedule.range(), build)
        return tuple(PackedElement(each, offsets.subscripts(each.used, to_instance)) for each in used)

    def uses(self, instance: VectorBlock | Packing, mark: Mark) -> bool:
        """Whether ``instance`` uses the buffer, or the variables of the register tile, called ``mark``."""
        if isinstance(instance, Packing):
            return instance.packed.mark == mark
        packed = instance.tile.packed if instance.computes else ()
        return instance.tile.mark == mark or any(each.mark == mark for each in packed)

    def entered(self, mark: Mark) -> tuple[RegisterTile, ...]:
        """The register tile that begins at ``mark``, if one does."""
        return (self.registers[mark],) if mark in self.registers else ()

    def at(
        self, name: str, within: Sequence[RegisterTile], build: isl.AstBuild
    ) -> VectorBlock | Packing | None:
        """What statement ``name`` is at the place of ``build``, below the marks of ``within``.

        None for an instance like any other. Raises IllegalSchedule if a block is not whole.
        """
        if name in self._packed:
            return self._packing(self._packed[name], build)
        if name in self._moves:
            tile, store = self._moves[name]
            return self._moved(tile, build, store=store)
        return self._computed(within[-1], build) if within else None

    def _packing(self, packed: Packed, build: isl.AstBuild) -> Packing:
        schedule = isl.Map.from_union_map(build.get_schedule())
        stamps = schedule.range()
        to_instance = isl.PwMultiAff.from_map(schedule.reverse()).gist(stamps)
        operands = []
        for access, cell in packed.elements:
            stored = self._arrays.get(access.array.name)
            read = access if stored is None else replace(access, array=stored.array)
            at = cell if stored is None else stored.packed(packed, cell)
            operands.append((read, build.access_from_pw_multi_aff(at.pullback_pw_multi_aff(to_instance))))
        subscripts = _Offsets(stamps, build).subscripts(packed.stored, to_instance)
        return Packing(packed, subscripts, tuple(operands), schedule.domain())

    def _moved(self, tile: RegisterTile, build: isl.AstBuild, *, store: bool) -> VectorBlock:
        """The block of ``tile`` loaded, or stored."""
        schedule = isl.Map.from_union_map(build.get_schedule())
        # an instance of either is described as one of the load
        transfer = tile.transfer
        loads = schedule.set_tuple_name(isl.dim_type.in_, transfer.load)
        to_instance = isl.PwMultiAff.from_map(loads.reverse())
        buffer = self._arrays.get(tile.array.name)
        array, element = tile.array, transfer.element
        if buffer is not None:
            array, element = buffer.array, buffer.moved(tile)
        element = everywhere(element)
        moves = []
        for block, corner in _vectors(tile, transfer.block, to_instance, build):
            place = build.access_from_pw_multi_aff(element.pullback_pw_multi_aff(corner))
            moves.append(Move(tile, block, array, place, store))
        return VectorBlock(tile, tuple(moves), schedule.domain())

    def _computed(self, tile: RegisterTile, build: isl.AstBuild) -> VectorBlock:
        """The update of the block of ``tile``."""
        schedule = isl.Map.from_union_map(build.get_schedule())
        to_instance = isl.PwMultiAff.from_map(schedule.reverse())
        read = list(self._read(tile))
        offsets = _Offsets(schedule.range(), build)
        lanes = []
        for block, first in _vectors(tile, tile.block, to_instance, build):
            operands = tuple(
                (access, build.access_from_pw_multi_aff(element.pullback_pw_multi_aff(first)))
                for access, element in read
            )
            packed = tuple((each, offsets.subscripts(each.used, first)) for each in tile.packed)
            lanes.append(Lanes(tile, block, operands, packed))
        return VectorBlock(tile, tuple(lanes), schedule.domain())

    def _read(self, tile: RegisterTile) -> Iterator[tuple[Access, isl.PwMultiAff]]:
        """What the update of ``tile`` accesses in memory, with the elements."""
        from_buffers = {id(node) for each in tile.packed for node in walk(each.expression)}
        for access in tile.update.accesses:
            if id(access.node) in tile.own or id(access.node) in from_buffers:
                continue
            buffer = self._arrays.get(access.array.name)
            if buffer is None:
                yield access, everywhere(isl.PwMultiAff.from_map(access.relation))
            else:
                yield replace(access, array=buffer.array), buffer.element(access.relation)


def _vectors(
    tile: RegisterTile, offsets: tuple[Offset, ...], to_instance: isl.PwMultiAff, build: isl.AstBuild
) -> Iterator[tuple[tuple[int, int], isl.PwMultiAff]]:
    """The places of the vectors of a block of ``tile``, row by row, each with its first instance.

    The last time stamps, of which ``to_instance`` gives the instances, count the rows and vectors of the
    block, and for the tile's own statement the lanes; ``offsets`` say what row and what vector an instance
    belongs to. Raises IllegalSchedule unless the stamps are whole blocks.
    """
    stamps = to_instance.domain()
    rows, vectors = (each.size for each in offsets)
    extents = {"row": rows, "vector": vectors}
    if offsets is tile.block:
        extents["lane"] = tile.lanes
    if tile.block[0].value.is_cst():  # isl leaves loops out whose counter is 0
        del extents["row"]
    outer = stamps.dim(isl.dim_type.set) - len(extents)
    projection = isl.MultiAff.identity_on_domain_space(stamps.get_space())
    projection = projection.drop_dims(isl.dim_type.out, outer, len(extents))
    around = isl.Map.from_multi_aff(projection).intersect_domain(stamps)
    corner = around.reverse().lexmin_pw_multi_aff()
    _expect_whole(stamps, isl.Map.from_pw_multi_aff(corner).range(), extents)
    corner = corner.pullback_multi_aff(projection).gist(stamps)
    first = to_instance.pullback_pw_multi_aff(corner).gist(stamps)
    if not all(map(_is_zero, _Offsets(stamps, build).subscripts(offsets, first))):
        raise IllegalSchedule("a block of a register tile does not begin with its first row and vector")
    # whole blocks are inside of what it is defined for
    corner, to_instance = everywhere(corner), everywhere(to_instance)
    for row, vector in itertools.product(range(rows), range(vectors)):
        distances = {"row": row, "vector": vector, "lane": vector * tile.lanes}
        place = _shifted(corner, outer, [distances[each] for each in extents])
        yield (row, vector), to_instance.pullback_pw_multi_aff(place).gist(stamps)


def _expect_whole(stamps: isl.Set, corners: isl.Set, extents: Mapping[str, int]) -> None:
    """Raise IllegalSchedule unless the time ``stamps`` are whole blocks of ``extents`` from ``corners``.

    Rows and vectors are counted one by one, of lanes each vector has its own.
    """
    inside = [f"0 <= {name} < {extent}" for name, extent in extents.items() if name != "lane"]
    if "lane" in extents:
        inside.append(f"0 <= lane - {extents['lane']} vector < {extents['lane']}")
    still = ["0"] * (stamps.dim(isl.dim_type.set) - len(extents))
    block = isl.Set(f"{{ [{', '.join([*still, *extents])}] : {' and '.join(inside)} }}").translation()
    if not corners.flatten().apply(block).is_equal(stamps.flatten()):
        raise IllegalSchedule("a block of a register tile is not whole")


def _is_zero(number: isl.AstExpr) -> bool:
    is_number = isl.ast_expr_type(number.get_type()) == isl.ast_expr_type.int
    return bool(is_number and number.int_get_val().is_zero())


def _shifted(place: isl.PwMultiAff, first: int, distances: Sequence[int]) -> isl.PwMultiAff:
    """``place`` with ``distances`` added to its dimensions from ``first`` on."""
    for position, distance in enumerate(distances, first):
        moved = place.get_pw_aff(position).add_constant_val(isl.Val(distance))
        place = place.set_pw_aff(position, moved)
    return place


class _Offsets:
    """Prints offsets at the time ``stamps`` of a place of ``build``."""

    def __init__(self, stamps: isl.Set, build: isl.AstBuild) -> None:
        self._stamps = stamps
        self._somewhere = _somewhere(stamps)
        self._build = build
        self._counted: list[tuple[isl.PwAff, isl.PwAff]] = []  # numbers, with the counters that they are

    def subscripts(self, offsets: Sequence[Offset], to_instance: isl.PwMultiAff) -> tuple[isl.AstExpr, ...]:
        """The ``offsets`` of the instances that ``to_instance`` gives."""
        subscripts = []
        for each in offsets:
            anywhere = each.value.gist(each.value.domain())  # where it counts the stamps say
            value = anywhere.pullback_pw_multi_aff(to_instance)
            size = isl.Val(each.size)
            start = self._counter(value.scale_down_val(size).floor()).scale_val(size)
            subscripts.append(self._build.expr_from_pw_aff(value.sub(start).coalesce()))
        return tuple(subscripts)

    def _counter(self, number: isl.PwAff) -> isl.PwAff:
        """``number``, which counts tiles, as the counter of the loop over these tiles if there is one."""
        for known, counter in self._counted:
            if number.plain_is_equal(known):
                return counter
        local = isl.LocalSpace.from_space(number.get_space().domain())
        comparable = number.get_space().domain().is_equal(self._stamps.get_space())
        here = number.eval(self._somewhere) if comparable else isl.Val.nan(number.get_ctx())
        counters = (
            isl.PwAff.var_on_domain(local, isl.dim_type.set, position)
            for position in reversed(range(number.dim(isl.dim_type.in_)))
            if here.is_nan() or here.eq(self._somewhere.get_coordinate_val(isl.dim_type.set, position))
        )
        counter = next((each for each in counters if number.ne_set(each).is_disjoint(self._stamps)), number)
        self._counted.append((number, counter))
        return counter


def _somewhere(stamps: isl.Set) -> isl.Point:
    """One of the ``stamps``, with other values for each counter if there is such a one.

    What is not equal there is not equal: isl has to look for a place where it is not only of the rest.
    """
    distinct = stamps
    for position in range(stamps.dim(isl.dim_type.set)):
        distinct = distinct.lower_bound_val(isl.dim_type.set, position, isl.Val(position + 1))
    point = distinct.sample_point()
    return stamps.sample_point() if point.is_void() else point
