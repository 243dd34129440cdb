"""Checks of isl's AST: what the schedule promises also holds for the loops that isl made of it."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial

import islpy as isl

from polybuild.codegen.c.ast import Instance
from polybuild.codegen.c.ast_sets import AstReader, CounterValues
from polybuild.codegen.c.nodes import FOR, IF, identifier_of, kind_of, nodes_below, parts, users_below
from polybuild.codegen.c.vector_blocks import Packing, Tiles, VectorBlock
from polybuild.effort import INSTANCE_CHECK_OPERATIONS
from polybuild.poly.budget import found_within
from polybuild.poly.marks import Mark
from polybuild.poly.relations import maps_of
from polybuild.poly.trees import descendants
from polybuild.schedule.legality import IllegalSchedule
from polybuild.scop.model import Scop
from polybuild.targets.model import Packed, RegisterTile
from polybuild.values import dataclass

_out, _set = isl.dim_type.out, isl.dim_type.set
_VectorNode = VectorBlock | Packing
_Node = Instance | _VectorNode
_Touching = tuple[str, frozenset[str]]  # a statement and the arrays it touches


# Each instance runs once


def check_instance_coverage(root: isl.AstNode, scop: Scop) -> None:
    """Raise IllegalSchedule unless the AST at ``root`` runs each instance of ``scop`` exactly once.

    The AST is isl's word for what the schedule says, and where strides meet divisions it has been
    wrong. So each loop and condition is turned into constraints again, and the instances that its
    statements then run are compared with their domains. Where no domain has integer divisions of
    counters this is not worth its time, which may be long; nor is it for a statement whose domain has none,
    beside others, if it takes too long.
    """
    space = scop.context.get_space().add_unnamed_tuple_ui(0)
    start = isl.Set.universe(space).intersect_params(scop.context)
    reader = AstReader({each.name: isl.Set.empty(each.domain.get_space()) for each in scop.statements})
    reader.node(root, CounterValues((), start))
    for statement in scop.statements:
        domain, run = statement.domain.intersect_params(scop.context), reader.run[statement.name]
        missed = (
            domain.subtract(run)
            if has_divisions(statement.domain)
            else found_within(INSTANCE_CHECK_OPERATIONS, partial(domain.subtract, run))
        )
        if missed is None:
            continue
        if not missed.is_empty():
            raise IllegalSchedule(f"the generated loops leave out instances of {statement.name}")
        extra = run.subtract(statement.domain)
        if not extra.is_empty():
            raise IllegalSchedule(f"the generated loops add instances of {statement.name}")


def has_divisions(domain: isl.Set) -> bool:
    """Whether integer divisions of counters tell what ``domain`` is; those of parameters are values."""
    if not domain.involves_locals():
        return False
    plain = domain.remove_divs_involving_dims(isl.dim_type.set, 0, domain.dim(isl.dim_type.set))
    return not plain.is_equal(domain)


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
    schedule: isl.Schedule,
) -> bool:
    """Whether each loop of schedule dimension ``dimension`` in ``node`` may have copies of ``private``.

    It has all statements that touch such a variable, or none; or no other place has any in one of its
    iterations. A band whose iterations keep the values of private variables inside may become several loops:
    isl puts a statement that only runs in the last iteration behind the loop, which is the same order, but
    there the copy of that iteration is gone. The tree ``schedule`` says which iteration that is.
    """
    start = CounterValues((), schedule.get_domain().params().from_params())
    parts = _LoopParts(dimension, instances)
    found = [frozenset(each.touching) for each in parts.of(node, start)]
    everything = frozenset().union(*found)
    users = [frozenset(each for each in everything if name in each[1]) for name in private]
    if all(part.isdisjoint(own) or own <= part for own in users for part in found):
        return True
    try:
        located = _LoopParts(dimension, instances, AstReader({}), _values_in_bands(schedule))
        return _run_in_distinct_iterations(list(located.of(node, start)), private)
    except (IllegalSchedule, isl.Error):
        return False


@dataclass(frozen=True, slots=True)
class _LoopPart:
    """A loop, or a statement ``alone``: what it touches, and the iterations that it may be part of."""

    touching: tuple[_Touching, ...]
    iterations: CounterValues
    alone: bool = False


@dataclass(frozen=True, slots=True)
class _LoopParts:
    """The parts of an AST for the loops of a ``dimension``; with a ``reader``, their iterations, too.

    These are where the statement's values in ``bands`` are, if it is in no loop.
    """

    dimension: int
    instances: Mapping[str, _Node]
    reader: AstReader | None = None
    bands: Mapping[str, Sequence[isl.Map]] = field(default_factory=dict)

    def of(self, node: isl.AstNode, around: CounterValues) -> Iterator[_LoopPart]:
        """The parts of ``node``, which runs for the values ``around`` of counters."""
        kind = kind_of(node)
        if kind == FOR:
            inside = around if self.reader is None else self.reader.loop(node, around)
            if identifier_of(node) == f"c{self.dimension}":
                yield _LoopPart(tuple(self._touching(each) for each in users_below(node)), inside)
            else:
                yield from self.of(node.for_get_body(), inside)
        elif kind == IF and self.reader is not None:
            condition = self.reader.condition(node.if_get_cond(), around)
            yield from self.of(node.if_get_then_node(), around.within(condition))
            if node.if_has_else_node():
                yield from self.of(node.if_get_else_node(), around.within(condition.complement()))
        elif kind == isl.ast_node_type.user:
            yield _LoopPart((self._touching(node),), self._alone(node, around), alone=True)
        else:
            for each in parts(node):
                yield from self.of(each, around)

    def _alone(self, node: isl.AstNode, around: CounterValues) -> CounterValues:
        """The iterations that a statement is in which has no loop of the dimension of its own."""
        outer = [place for place, each in enumerate(around.counters) if int(each[1:]) < self.dimension]
        counters = (*(around.counters[each] for each in outer), f"c{self.dimension}")
        values = _dimensions(around.values, outer).add_dims(_set, 1)
        found = self.instances[node.get_annotation().get_name()]
        bands = self.bands.get(found.statement.name, ()) if isinstance(found, Instance) else ()
        kept = [int(each[1:]) for each in counters]
        if not bands or any(each.dim(_out) <= max(kept) for each in bands):
            return CounterValues(counters, values)
        here = (each.intersect_domain(found.domain).range() for each in bands)
        places = functools.reduce(isl.Set.union, (_dimensions(each, kept) for each in here))
        return CounterValues(counters, values.intersect(places))

    def _touching(self, node: isl.AstNode) -> _Touching:
        statement = self.instances[node.get_annotation().get_name()].statement
        return statement.name, frozenset(each.array.name for each in statement.accesses)


def _values_in_bands(schedule: isl.Schedule) -> dict[str, list[isl.Map]]:
    """What statements have in the bands around them: for each of them what each leaf of the tree says."""
    found: dict[str, list[isl.Map]] = {}
    for each in descendants(schedule.get_root()):
        for relation in () if each.has_children() else maps_of(each.get_prefix_schedule_relation()):
            found.setdefault(relation.get_tuple_name(isl.dim_type.in_), []).append(relation)
    return found


def _dimensions(values: isl.Set, kept: Sequence[int]) -> isl.Set:
    """``values`` in the dimensions ``kept`` alone, in order."""
    for position in reversed(range(values.dim(_set))):
        if position not in kept:
            values = values.project_out(_set, position, 1)
    return values


def _run_in_distinct_iterations(found: Sequence[_LoopPart], private: Collection[str]) -> bool:
    """Whether no two parts that touch the same variable of ``private`` may be in one iteration.

    Statements that are alone have no copies of it.
    """
    for name in private:
        using = [each for each in found if any(name in arrays for _, arrays in each.touching)]
        for one, other in itertools.combinations(using, 2):
            first, second = one.iterations, other.iterations
            if one.alone and other.alone:
                continue
            if first.counters != second.counters or not first.values.is_disjoint(second.values):
                return False
    return True
