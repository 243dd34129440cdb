"""Whether what is declared for a register tile stands around all that uses it.

isl may write what is below a mark in several pieces, each with a mark of its own: where a loop
around it was split, or has a single iteration in which nothing but the order of a sequence
keeps the parts together. Each piece declares buffers and variables anew, so it has to fill what it uses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import islpy as isl

from polybuild.codegen.c.nodes import kind_of, nodes_below, users_below
from polybuild.codegen.c.vectors import Lanes, Move, Packing, Tiles
from polybuild.schedule.legality import IllegalSchedule
from polybuild.targets.model import Packed, RegisterTile


def check_pieces(root: isl.AstNode, tiles: Tiles, vectors: Mapping[str, Lanes | Move | Packing]) -> None:
    """Raise IllegalSchedule if a piece uses of a buffer, or of a block of results, what it does not fill.

    ``vectors`` are what stands at the user nodes, by their annotations.
    """
    for mark in (each for each in nodes_below(root) if kind_of(each) == isl.ast_node_type.mark):
        name = mark.mark_get_id().get_name()
        if name in tiles.buffers:
            _check_buffer(tiles.buffers[name], list(_inside(mark, vectors)))
        elif name in tiles.registers:
            _check_block(tiles.registers[name], list(_inside(mark, vectors)))


def _inside(
    mark: isl.AstNode, vectors: Mapping[str, Lanes | Move | Packing]
) -> Iterator[Lanes | Move | Packing]:
    for each in users_below(mark):
        found = vectors.get(each.get_annotation().get_name())
        if found is not None:
            yield found


def _check_buffer(packed: Packed, inside: list[Lanes | Move | Packing]) -> None:
    used = [each.domain for each in inside if isinstance(each, Lanes) and packed in each.tile.packed]
    filled = [each.domain for each in inside if isinstance(each, Packing) and each.packed is packed]
    _expect(used, packed.needs, filled, f"a buffer of '{packed.update.name}'")


def _check_block(tile: RegisterTile, inside: list[Lanes | Move | Packing]) -> None:
    used = [each.domain for each in inside if isinstance(each, Lanes) and each.tile is tile]
    for store in (False, True):
        moved = [
            each.domain
            for each in inside
            if isinstance(each, Move) and each.tile is tile and each.store is store
        ]
        moves = tile.moves.set_tuple_name(isl.dim_type.out, tile.store if store else tile.load)
        _expect(used, moves, moved, f"a block of '{tile.array.name}'")


def _expect(used: list[isl.Set], needs: isl.Map, found: list[isl.Set], what: str) -> None:
    """That ``found`` has all instances that those in ``used`` need."""
    missing = _union(used, needs.get_space()).apply(isl.UnionMap.from_map(needs))
    if not missing.is_subset(_union(found, needs.get_space())):
        raise IllegalSchedule(f"{what} is not filled where it is used")


def _union(sets: Iterable[isl.Set], space: isl.Space) -> isl.UnionSet:
    union = isl.UnionSet.empty(space.params())
    for each in sets:
        union = union.union(isl.UnionSet.from_set(each))
    return union
