"""Prologues and epilogues of kernels with sums: what is computed of each result before or after its terms.

The scheduler gives what initialises a result, scales it, or goes on with it bands of its own, so that the
loops of the sum can be tiled alone. Where it has an instance for a result, and no other thread needs what it
computes within the launch, it runs in the thread that has the sum, in registers, and takes no kernel::

    for (tiles of i, j) C[i][j] = 0;              for (tiles of i, j) {
    for (tiles of i, j, k)                          for (points of i, j) C[i][j] = 0;
      C[i][j] += A[i][k] * B[k][j];         ->      for (tiles of k) C[i][j] += A[i][k] * B[k][j];
    for (tiles of i, j) C[i][j] += b[j];            for (points of i, j) C[i][j] += b[j];
                                                  }

Which point of the sum's loops an instance belongs to is what the dependences say: those it has to the sum
must all be of one point, by equations that hold for each instance, so that it belongs somewhere
where a sum has no terms, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.poly.marks import MarkKind
from polybuild.poly.relations import maps_of, sets_of
from polybuild.poly.trees import is_band, is_mark, mark_of, node_kind
from polybuild.schedule.legality import active_dependences
from polybuild.scop.model import AccessKind, Scop
from polybuild.targets.device import Kernel
from polybuild.targets.gpu.model import GpuMapping
from polybuild.targets.gpu.tree import find_mark
from polybuild.transform.distribution import distribute
from polybuild.values import dataclass

_Kind = isl.schedule_node_type
_in, _out = isl.dim_type.in_, isl.dim_type.out


def fuse_epilogues(scop: Scop, mapping: GpuMapping, dependences: Dependences) -> GpuMapping:
    """``mapping`` with prologues and epilogues in the kernels of their sums; it still has to be proved.

    Reductions that threads make together stay where they are.
    """
    groups = dependences.reductions
    alone = frozenset(each.statement.name for group in groups for each in group.reductions)
    fusion = _EpilogueFusion(scop, mapping, dependences.validity, alone)
    root = fusion.visit(mapping.schedule.get_root())
    if not fusion.fused:
        return mapping
    kernels = tuple(each for each in mapping.kernels if each.index not in fusion.fused)
    return replace(mapping, schedule=root.get_schedule(), kernels=kernels)


@dataclass(frozen=True, slots=True)
class _SequencePart:
    """A child of a sequence: its ``instances``, and its ``kernel`` if it is one.

    ``names`` are its statements in the order in which they run for a point, none if that is not known.
    """

    instances: isl.UnionSet
    kernel: Kernel | None
    names: tuple[str, ...]

    @property
    def is_sum(self) -> bool:
        """Whether it is a kernel with sums."""
        return self.kernel is not None and self.kernel.has_sums


@dataclass(frozen=True, slots=True)
class _FusedSum:
    """What becomes one ``kernel``: its ``parts`` in order, and the ``points`` of all instances."""

    parts: tuple[_SequencePart, ...]
    points: isl.UnionMap
    kernel: Kernel

    @property
    def instances(self) -> isl.UnionSet:
        """The instances of all parts."""
        found = self.parts[0].instances
        for each in self.parts[1:]:
            found = found.union(each.instances)
        return found


class _EpilogueFusion:
    """Walks the tree; ``fused`` are the indices of the kernels that are part of others now."""

    def __init__(
        self, scop: Scop, mapping: GpuMapping, validity: isl.UnionMap, alone: frozenset[str]
    ) -> None:
        self._scop = scop
        self._kernels = {each.mark(): each for each in mapping.kernels}
        self._validity = validity
        self._alone = alone
        self.fused: set[int] = set()

    def visit(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """Fuse below ``node``; returns the node at its place."""
        if is_mark(node, MarkKind.KERNEL):
            return node
        if node_kind(node) == _Kind.sequence:
            node = self._sequence(node)
        for index in range(node.n_children()):
            node = self.visit(node.child(index)).parent()
        return node

    def _sequence(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        parts: list[_SequencePart | _FusedSum] = [
            self._part(node.child(index)) for index in range(node.n_children())
        ]
        pairs = active_dependences(node, self._validity)
        for each in list(parts):
            if isinstance(each, _SequencePart) and each.kernel is not None and each.kernel.has_sums:
                parts = self._grown(parts, each, find_mark(node, each.kernel.mark()), pairs)
        groups = [each for each in parts if isinstance(each, _FusedSum)]
        if not groups:
            return node
        if len(parts) == 1:
            return self._rebuilt(node, groups[0])
        node = distribute(node, [each.instances for each in parts])
        for index, part in enumerate(parts):
            if isinstance(part, _FusedSum):
                node = self._rebuilt(node.child(index).child(0), part).parent().parent()
        return node

    def _part(self, child: isl.ScheduleNode) -> _SequencePart:
        below = child.child(0)
        instances = below.get_domain()
        mark = mark_of(below)
        kernel = self._kernels.get(mark) if mark is not None else None
        known = kernel is not None and not (kernel.is_serial or kernel.in_steps)
        names = tuple(_names_in_order(below)) if known else ()
        if not self._alone.isdisjoint(each.get_tuple_name() for each in sets_of(instances)):
            kernel, names = None, ()
        return _SequencePart(instances, kernel, names)

    def _grown(
        self,
        parts: list[_SequencePart | _FusedSum],
        center: _SequencePart,
        mark: isl.ScheduleNode,
        pairs: isl.UnionMap,
    ) -> list[_SequencePart | _FusedSum]:
        """``parts`` with those that are prologues and epilogues of the sum ``center`` in a group with it."""
        assert center.kernel is not None  # noqa: S101 - others are no sums
        points = find_mark(mark, center.kernel.mark(MarkKind.POINTS)).child(0)
        own = points.band_get_partial_schedule_union_map().intersect_domain(points.get_domain())
        group = _FusedSum((center,), own, center.kernel)
        place = parts.index(center)
        before, after = parts[:place], parts[place + 1 :]
        kept: list[_SequencePart | _FusedSum] = []
        for each in reversed(before):
            joined = self._joined(group, each, kept, pairs, before=True)
            group, kept = (group, [each, *kept]) if joined is None else (joined, kept)
        left: list[_SequencePart | _FusedSum] = []
        for each in after:
            joined = self._joined(group, each, left, pairs, before=False)
            group, left = (group, [*left, each]) if joined is None else (joined, left)
        return parts if len(group.parts) == 1 else [*kept, group, *left]

    def _joined(
        self,
        group: _FusedSum,
        part: _SequencePart | _FusedSum,
        skipped: Sequence[_SequencePart | _FusedSum],
        pairs: isl.UnionMap,
        *,
        before: bool,
    ) -> _FusedSum | None:
        """``group`` with ``part``, which moves past those ``skipped``; None if it does not belong to it."""
        if not isinstance(part, _SequencePart) or part.kernel is None or not part.names or part.is_sum:
            return None
        for each in skipped:
            first, second = (part, each) if before else (each, part)
            if not _between(pairs, first.instances, second.instances).is_empty():
                return None
        points = group.points
        domains = {each.get_tuple_name(): each for each in sets_of(part.instances)}
        for name in reversed(part.names) if before else part.names:
            own = isl.UnionSet.from_set(domains[name])
            towards = pairs.intersect_domain(own) if before else pairs.intersect_range(own).reverse()
            found = _point_of(own, towards.apply_range(points))
            if found is None:
                return None
            points = points.union(found)
        schedule = _schedule(points)
        all_pairs = _between(pairs, part.instances, points.domain())
        all_pairs = all_pairs.union(_between(pairs, points.domain(), part.instances))
        if not all_pairs.subtract(all_pairs.eq_at_multi_union_pw_aff(schedule)).is_empty():
            return None
        if not self._keeps_registers(group, points.intersect_domain(part.instances)):
            return None
        self.fused.add(part.kernel.index)
        parts = (part, *group.parts) if before else (*group.parts, part)
        return _FusedSum(parts, points, group.kernel)

    def _keeps_registers(self, group: _FusedSum, points: isl.UnionMap) -> bool:
        """Whether instances with ``points`` find those results of the sum that are of the same points.

        Others would keep what the sum accumulates from being in registers.
        """
        center = next(each for each in group.parts if each.is_sum)
        for name in self._changed(center):
            own = self._elements(group.points.intersect_domain(center.instances), name)
            others = self._elements(points, name)
            hulls = [isl.Map.from_basic_map(each.affine_hull()) for each in maps_of(own)]
            if not all(any(map(each.is_subset, hulls)) for each in maps_of(others)):
                return False
        return True

    def _changed(self, part: _SequencePart) -> set[str]:
        """The names of the arrays that ``part`` writes."""
        here = {each.get_tuple_name() for each in sets_of(part.instances)}
        return {
            access.array.name
            for statement in self._scop.statements
            for access in statement.accesses
            if statement.name in here and access.kind is not AccessKind.READ
        }

    def _elements(self, points: isl.UnionMap, name: str) -> isl.UnionMap:
        """``{ [point] -> array[x] }``: the elements of the array that instances with ``points`` access."""
        accesses = isl.UnionMap.empty(points.get_space())
        for statement in self._scop.statements:
            for access in statement.accesses:
                if access.array.name == name:
                    accesses = accesses.union(isl.UnionMap.from_map(access.relation))
        return points.reverse().apply_range(accesses)

    def _rebuilt(self, node: isl.ScheduleNode, group: _FusedSum) -> isl.ScheduleNode:
        """The kernel of ``group``; ``node`` is the sequence of its parts."""
        kernel, points = group.kernel, _schedule(group.points)
        for index in range(node.n_children()):
            child = node.child(index).child(0)
            if mark_of(child) == kernel.mark():
                node = child.delete().delete().parent().parent()
                continue
            names = next(x.names for x in group.parts if x.instances.is_equal(child.get_domain()))
            child = child.cut()
            if len(names) > 1:
                domains = {each.get_tuple_name(): each for each in sets_of(child.get_domain())}
                child = distribute(child, [isl.UnionSet.from_set(domains[name]) for name in names])
            child = child.insert_partial_schedule(_of(points, node.child(index)))
            child = child.insert_mark(isl.Id(kernel.mark(MarkKind.RESULTS).name))
            turns = _tiled(points, [axis.turn for axis in kernel.threads])
            node = child.insert_partial_schedule(_of(turns, node.child(index))).parent().parent()
        node = node.insert_partial_schedule(_tiled(points, kernel.tile[: len(kernel.blocks)]))
        return node.insert_mark(isl.Id(kernel.mark().name))


def _of(schedule: isl.MultiUnionPwAff, child: isl.ScheduleNode) -> isl.MultiUnionPwAff:
    """The ``schedule`` of what a ``child`` of a sequence has."""
    return schedule.intersect_domain(child.child(0).get_domain())


def _names_in_order(node: isl.ScheduleNode) -> list[str]:
    """The statements below ``node`` in the order in which they run where all loops are above them."""
    while is_band(node) or mark_of(node) is not None:
        node = node.child(0)
    nodes = [node]
    if node_kind(node) == _Kind.sequence:
        nodes = [node.child(index).child(0) for index in range(node.n_children())]
    found = []
    for each in nodes:
        names = [x.get_tuple_name() for x in sets_of(each.get_domain())]
        if node_kind(each) != _Kind.leaf or len(names) != 1:
            return []
        found += names
    return found


def _between(pairs: isl.UnionMap, first: isl.UnionSet, second: isl.UnionSet) -> isl.UnionMap:
    return pairs.intersect_domain(first).intersect_range(second)


def _point_of(own: isl.UnionSet, related: isl.UnionMap) -> isl.UnionMap | None:
    """The point of each instance in ``own``, an instance for each, by those it is ``related`` to."""
    found = maps_of(related)
    if len(found) != 1:
        return None
    hull = isl.Map.from_basic_map(found[0].affine_hull())
    points = isl.UnionMap.from_map(hull).intersect_domain(own)
    if not hull.is_single_valued() or not own.is_subset(points.domain()) or not points.is_injective():
        return None
    return points


def _schedule(points: isl.UnionMap) -> isl.MultiUnionPwAff:
    return isl.MultiUnionPwAff.from_union_map(points)


def _tiled(points: isl.MultiUnionPwAff, sizes: Sequence[int]) -> isl.MultiUnionPwAff:
    """The tiles of ``sizes`` that ``points`` are in."""
    for position, size in enumerate(sizes):
        value = points.get_union_pw_aff(position).scale_down_val(isl.Val(size)).floor()
        points = points.set_union_pw_aff(position, value)
    return points
