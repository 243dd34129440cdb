"""Checks of isl's AST: what the schedule promises also holds for the loops that isl made of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import islpy as isl

from polybuild.codegen.c.ast import Instance
from polybuild.codegen.c.ast_sets import AstReader, CounterValues
from polybuild.codegen.c.nodes import FOR, kind_of, nodes_below, parts, users_below
from polybuild.codegen.c.vector_blocks import Packing, Tiles, VectorBlock
from polybuild.poly.marks import Mark
from polybuild.schedule.legality import IllegalSchedule
from polybuild.scop.model import Scop
from polybuild.targets.model import Packed, RegisterTile

_VectorNode = VectorBlock | Packing
_Node = Instance | _VectorNode
_Touching = tuple[str, frozenset[str]]  # a statement and the arrays it touches


# Each instance runs once


def check_instance_coverage(root: isl.AstNode, scop: Scop) -> None:
    """Raise IllegalSchedule unless the AST at ``root`` runs each instance of ``scop`` exactly once.

    The AST is isl's word for what the schedule says, and where strides meet divisions it has been
    wrong. So each loop and condition is turned into constraints again, and the instances that its
    statements then run are compared with their domains. Where no domain has integer divisions of
    counters this is not worth its time, which may be long.
    """
    space = scop.context.get_space().add_unnamed_tuple_ui(0)
    start = isl.Set.universe(space).intersect_params(scop.context)
    reader = AstReader({each.name: isl.Set.empty(each.domain.get_space()) for each in scop.statements})
    reader.node(root, CounterValues((), start))
    for statement in scop.statements:
        missed = statement.domain.intersect_params(scop.context).subtract(reader.run[statement.name])
        if not missed.is_empty():
            raise IllegalSchedule(f"the generated loops leave out instances of {statement.name}")
        extra = reader.run[statement.name].subtract(statement.domain)
        if not extra.is_empty():
            raise IllegalSchedule(f"the generated loops add instances of {statement.name}")


# What is declared for a register tile stands around all that uses it


def check_scopes(root: isl.AstNode, tiles: Tiles, nodes: Mapping[str, _Node]) -> None:
    """Raise IllegalSchedule if a scope uses of a buffer, or of a block of results, what it does not fill.

    isl may write what is below a mark in several scopes, each with a mark of its own: where a loop around
    it was split, or has a single iteration in which nothing but the order of a sequence keeps the parts
    together. Each scope declares buffers and variables anew, so it has to fill what it uses.
    ``nodes`` are what stands at the user nodes, by their annotations.
    """
    for node in (each for each in nodes_below(root) if kind_of(each) == isl.ast_node_type.mark):
        mark = Mark.of_id(node.mark_get_id())
        if mark in tiles.buffers:
            _check_buffer(tiles.buffers[mark], list(_inside(node, nodes)))
        elif mark in tiles.registers:
            _check_block(tiles.registers[mark], list(_inside(node, nodes)))


def _inside(mark: isl.AstNode, nodes: Mapping[str, _Node]) -> Iterator[_Node]:
    for each in users_below(mark):
        found = nodes.get(each.get_annotation().get_name())
        if found is not None:
            yield found


def _check_buffer(packed: Packed, inside: list[_Node]) -> None:
    used = [each.domain for each in _blocks(inside) if each.computes and packed in each.tile.packed]
    used += [each.domain for each in inside if isinstance(each, Instance) and each.takes_from(packed)]
    filled = [each.domain for each in inside if isinstance(each, Packing) and each.packed is packed]
    _expect(used, packed.needs, filled, f"a buffer of '{packed.update.name}'")


def _check_block(tile: RegisterTile, inside: list[_Node]) -> None:
    blocks = [each for each in _blocks(inside) if each.tile is tile]
    used = [each.domain for each in blocks if each.computes]
    transfer = tile.transfer
    for copy, moved in (
        (transfer.load, [each.domain for each in blocks if each.loads]),
        (transfer.store, [each.domain for each in blocks if each.stores]),
    ):
        moves = transfer.needs.set_tuple_name(isl.dim_type.out, copy)
        _expect(used, moves, moved, f"a block of '{tile.array.name}'")


def _blocks(inside: Iterable[_Node]) -> Iterator[VectorBlock]:
    return (each for each in inside if isinstance(each, VectorBlock))


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


# A loop of threads or vectors keeps the values of private variables inside its iterations


def keeps_private(
    node: isl.AstNode,
    dimension: int,
    private: tuple[str, ...],
    instances: Mapping[str, _Node],
) -> bool:
    """Whether each loop of schedule dimension ``dimension`` in ``node`` may have copies of ``private``.

    It has all statements that touch such a variable, or none. A band whose iterations keep the values
    of private variables inside may become several loops: isl puts a statement that only runs in the
    last iteration behind the loop, which is the same order, but there the copy of that iteration is gone.
    """
    found = [frozenset(each) for each in _parts(node, dimension, instances)]
    everything = frozenset().union(*found)
    return all(
        part.isdisjoint(users) or users <= part for users in _users(everything, private) for part in found
    )


def _users(everything: frozenset[_Touching], private: tuple[str, ...]) -> Iterator[frozenset[_Touching]]:
    for name in private:
        yield frozenset(each for each in everything if name in each[1])


def _parts(node: isl.AstNode, dimension: int, instances: Mapping[str, _Node]) -> Iterator[list[_Touching]]:
    """The statements of each loop of the dimension, and each statement that is in none."""
    kind = kind_of(node)
    if kind == FOR:
        own = node.for_get_iterator().id_get_id().get_name() == f"c{dimension}"
        inside = _parts(node.for_get_body(), -1 if own else dimension, instances)
        if own:
            yield [each for part in inside for each in part]
        else:
            yield from inside
    elif kind == isl.ast_node_type.user:
        statement = instances[node.get_annotation().get_name()].statement
        yield [(statement.name, frozenset(each.array.name for each in statement.accesses))]
    else:
        for each in parts(node):
            yield from _parts(each, dimension, instances)
