"""A slow interpreter of the model, independent of dependence analysis and of the legality proof.

The instances of a region are enumerated for fixed parameters and run twice, in
the order of the original schedule and in that of the transformed tree. What
counts is who sees what: each read must see the same write (of the same
instance) both times, and each element must end with the same last write.
Time stamps are computed by walking the schedule tree, one instance at a time. Where sizes are
large only some instances are run: orders that agree for all agree for them, too, but for
arrays whose live ranges may be reordered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.effort import SAMPLE_CELLS
from polybuild.poly.integers import value_of
from polybuild.poly.marks import Mark
from polybuild.poly.sampling import Point, points
from polybuild.poly.trees import children, mark_of, node_kind
from polybuild.scop.model import AccessKind, Scop
from polybuild.values import dataclass

_set, _param = isl.dim_type.set, isl.dim_type.param
_Kind = isl.schedule_node_type

Instance = tuple[str, Point]
Cell = tuple[str, Point]


@dataclass(frozen=True, slots=True)
class Difference:
    """What the transformed order does otherwise: a read that sees another write, or another last write."""

    what: str
    cell: Cell
    expected: object
    found: object


def first_difference(
    scop: Scop,
    schedule: isl.Schedule,
    dependences: Dependences,
    parameters: Mapping[str, int],
    backwards: Iterable[Mark] = (),
    *,
    near: int = 0,
) -> Difference | None:
    """Compare ``schedule`` with the original order for the given parameter values; None if they agree.

    Where ``near`` is given, only instances are run whose counters are less than that above their minimum.

    The loops under the marks in ``backwards`` are run from their last iteration to their first, which
    loops of threads must allow. Parameters must lie in the context of ``scop``.
    """
    private = {each.array.name for each in dependences.private}
    instances = [
        (statement.name, point)
        for statement in scop.statements
        for point in points(fixed_near(statement.domain, parameters, near))
    ]
    accesses = _accesses(scop, parameters, _accumulators(dependences), near)
    original = sorted(instances, key=_TimeStamps(scop.schedule, parameters, ()).of)
    transformed = sorted(instances, key=_TimeStamps(schedule, parameters, frozenset(backwards)).of)
    expected, last = _execute(original, accesses)
    found, final = _execute(transformed, accesses)
    for key, writer in expected.items():
        if found[key] != writer and not (near and key[2][0] in private):
            return Difference(f"read {key[1]} of {key[0]}", key[2], writer, found[key])
    for cell, writer in last.items():
        if cell[0] not in private and final[cell] != writer:
            return Difference("last write", cell, writer, final[cell])
    return None


def fixed_near(domain: isl.Set, parameters: Mapping[str, int], near: int) -> isl.Set:
    """``domain`` for these parameters, where ``near`` is given the part near its smallest counters."""
    found = fixed(domain, parameters)
    for dim in range(found.dim(_set) if near else 0):
        minimum = found.dim_min_val(dim)
        if minimum.is_int():
            found = found.upper_bound_val(_set, dim, minimum.add(isl.Val(near - 1)))
    return found


def fixed(domain: isl.Set, parameters: Mapping[str, int]) -> isl.Set:
    """``domain`` for these values of its parameters, which it has no more."""
    for name, value in parameters.items():
        position = domain.find_dim_by_name(_param, name)
        if position >= 0:
            domain = domain.fix_val(_param, position, value_of(value))
    return domain.project_out_all_params()


@dataclass(frozen=True, slots=True)
class _Accumulated:
    """What reductions of ``group`` made of ``start``, in whatever order: the instances count."""

    group: int
    start: object
    instances: frozenset[Instance]


def _accumulators(dependences: Dependences) -> dict[int, int]:
    """The group of each node of a body that accumulates, where its group may run in any order."""
    return {
        node: number
        for number, group in enumerate(dependences.reductions)
        for reduction in group.reductions
        for node in reduction.own
    }


# per instance: (number of the access, kind, cells, group of reductions)
_Accesses = dict[Instance, list[tuple[int, AccessKind, list[Cell], int | None]]]


def _accesses(scop: Scop, parameters: Mapping[str, int], groups: Mapping[int, int], near: int) -> _Accesses:
    found: _Accesses = {}
    for statement in scop.statements:
        depth = len(statement.iterators)
        run = fixed_near(statement.domain, parameters, near).reset_tuple_id()
        for number, access in enumerate(statement.accesses):
            flat = access.relation.intersect_domain(statement.domain)
            flat = flat.set_tuple_name(isl.dim_type.in_, "").flatten()
            pairs = flat.move_dims(isl.dim_type.out, 0, isl.dim_type.in_, 0, depth).range()
            cells = fixed(pairs.reset_tuple_id(), parameters)
            for point in points(_bounded(cells.intersect(run.add_dims(_set, cells.dim(_set) - depth)))):
                entry = found.setdefault((statement.name, point[:depth]), [])
                if not entry or entry[-1][0] != number:
                    entry.append((number, access.kind, [], groups.get(id(access.node))))
                entry[-1][2].append((access.array.name, point[depth:]))
    return found


def _bounded(cells: isl.Set) -> isl.Set:
    """``cells``, of which some near zero stand for all where there is no end of what data may choose."""
    if cells.is_bounded():
        return cells
    for dim in range(cells.dim(_set)):
        if not cells.dim_min_val(dim).is_int():
            cells = cells.lower_bound_val(_set, dim, isl.Val(-SAMPLE_CELLS))
        if not cells.dim_max_val(dim).is_int():
            cells = cells.upper_bound_val(_set, dim, isl.Val(SAMPLE_CELLS))
    return cells


_Reads = dict[tuple[Instance, int, Cell], object]


def _execute(order: list[Instance], accesses: _Accesses) -> tuple[_Reads, dict[Cell, tuple[object, ...]]]:
    """Who wrote what each read sees, and the last writer of each element.

    A write that may not happen leaves itself and what was there. Reductions that may
    run in any order leave all that they were fed with.
    """
    memory: dict[Cell, tuple[object, ...]] = {}
    reads: _Reads = {}
    for instance in order:
        for number, kind, cells, group in accesses.get(instance, ()):
            for cell in cells:
                if group is not None:
                    if kind is not AccessKind.READ:
                        memory[cell] = _fed(memory.get(cell, ()), group, instance)
                elif kind is AccessKind.READ:
                    reads[instance, number, cell] = memory.get(cell, ())
                else:
                    before = memory.get(cell, ()) if kind is AccessKind.MAY_WRITE else ()
                    memory[cell] = (*before, (instance, number))
    return reads, memory


def _fed(values: tuple[object, ...], group: int, instance: Instance) -> tuple[object, ...]:
    """``values`` after ``instance`` was combined with them."""
    if len(values) == 1 and isinstance(values[0], _Accumulated) and values[0].group == group:
        return (_Accumulated(group, values[0].start, values[0].instances | {instance}),)
    return (_Accumulated(group, values, frozenset({instance})),)


class _TimeStamps:
    """Time stamps of instances under a schedule tree with fixed parameters."""

    def __init__(
        self, schedule: isl.Schedule, parameters: Mapping[str, int], backwards: Iterable[Mark]
    ) -> None:
        self._parameters = parameters
        self._backwards: frozenset[Mark | None] = frozenset(backwards)
        self._root = _CachedNode(schedule.get_root())

    def of(self, instance: Instance) -> Point:
        """The time stamp, to be compared lexicographically."""
        return tuple(self._walk(self._root, instance, reverse=False))

    def _walk(self, node: _CachedNode, instance: Instance, *, reverse: bool) -> list[int]:
        kind = node.kind
        if kind == _Kind.leaf:
            return []
        if kind == _Kind.band:
            values = [self._value(node, position, instance) for position in range(node.members)]
            if reverse and values:
                values[0] = -values[0]
            return values + self._walk(node.below[0], instance, reverse=False)
        if kind in {_Kind.sequence, _Kind.set}:
            for index, child in enumerate(node.below):
                if self._holds(child, instance):
                    return [index, *self._walk(child.below[0], instance, reverse=False)]
            raise LookupError(f"{instance} is in no branch of a sequence")
        if kind == _Kind.mark:
            return self._walk(node.below[0], instance, reverse=reverse or node.mark in self._backwards)
        return self._walk(node.below[0], instance, reverse=reverse)

    def _value(self, node: _CachedNode, position: int, instance: Instance) -> int:
        if instance[0] not in node.values:
            node.values[instance[0]] = [
                _part(node.node.band_get_partial_schedule().get_union_pw_aff(each), instance[0])
                for each in range(node.members)
            ]
        value = node.values[instance[0]][position]
        return int(value.eval(self._point(value.get_domain_space(), instance)).to_python())

    def _holds(self, node: _CachedNode, instance: Instance) -> bool:
        if instance[0] not in node.chosen:
            chosen: list[isl.Set] = []
            node.node.filter_get_filter().foreach_set(chosen.append)
            node.chosen[instance[0]] = [each for each in chosen if each.get_tuple_name() == instance[0]]
        return any(
            each.plain_is_universe()
            or isl.Set.from_point(self._point(each.get_space(), instance)).is_subset(each)
            for each in node.chosen[instance[0]]
        )

    def _point(self, space: isl.Space, instance: Instance) -> isl.Point:
        """The instance as a point of ``space``, parameters included."""
        point = isl.Point.zero(space)
        for dim in range(space.dim(_param)):
            value = self._parameters[str(space.get_dim_name(_param, dim))]
            point = point.set_coordinate_val(_param, dim, value_of(value))
        for dim, coordinate in enumerate(instance[1]):
            point = point.set_coordinate_val(_set, dim, value_of(coordinate))
        return point


class _CachedNode:
    """A schedule node with its children, fetched once."""

    def __init__(self, node: isl.ScheduleNode) -> None:
        self.node = node
        self.values: dict[str, list[isl.PwAff]] = {}  # of a band, per statement
        self.chosen: dict[str, list[isl.Set]] = {}  # of a filter, per statement
        self.kind = node_kind(node)
        self.members = node.band_n_member() if self.kind == _Kind.band else 0
        self.mark = mark_of(node)
        self.below = [_CachedNode(each) for each in children(node)]


def _part(union: isl.UnionPwAff, name: str) -> isl.PwAff:
    """The piece of ``union`` for the statement ``name``."""
    found: list[isl.PwAff] = []
    union.foreach_pw_aff(found.append)
    return next(each for each in found if each.get_domain_space().get_tuple_name(_set) == name)
