"""Dependences without those that reductions have among themselves.

The instances of a group of reductions may be reordered against each other (Doerfert et al.,
Polly's Polyhedral Scheduling in the Presence of Reductions, 2015). All else still comes before
or after them: whoever reads the result has to wait for *every* instance, where value-based
dependences name the last one alone. So the writes of reductions are taken for ones that leave
the old value visible, which makes isl name them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import islpy as isl

from polybuild.analysis.array_flow import flow_between
from polybuild.analysis.covered_reads import hidden_writers
from polybuild.analysis.dependences import (
    Dependences,
    PrivateArray,
    ReductionDependences,
    false_dependences,
    flow_dependences,
    without,
)
from polybuild.analysis.reductions import Reduction
from polybuild.scop.model import AccessKind, Scop
from polybuild.values import dataclass

_in, _out = isl.dim_type.in_, isl.dim_type.out


def separate_reduction_dependences(
    scop: Scop, dependences: Dependences, reductions: Sequence[Reduction]
) -> Dependences:
    """``dependences`` where only ``reductions`` has the pairs within a group of the given ones.

    Groups without such pairs are not there; if none has any, ``dependences`` itself is returned.
    """
    private = {each.array.name: each for each in dependences.private}
    parts = [
        each
        for each in _accumulator_arrays(scop, reductions)
        if each.may_separate(in_private=each.name in private)
    ]
    found = [each for part in parts for each in part.reduction_dependences()]
    if not found:
        return dependences
    names = {each.name for each in parts}
    reads, must, may = (
        scop.accesses(kind) for kind in (AccessKind.READ, AccessKind.WRITE, AccessKind.MAY_WRITE)
    )
    rest = [without(each, names) for each in (reads, must, may)]
    shared = [without(each, names.union(private)) for each in (reads, must, may)]
    flow, _ = flow_dependences(scop, rest[0], rest[1], rest[2], hidden_writers(scop))
    false = false_dependences(scop, shared[0], shared[1], shared[1].union(shared[2]))
    for part in parts:
        flow = flow.union(part.flow())
        if part.name in private:
            private[part.name] = part.private(private[part.name])
        else:
            false = false.union(part.false())
    return replace(
        dependences,
        flow=flow.coalesce(),
        false=false.coalesce(),
        private=tuple(private.values()),
        reductions=tuple(found),
    )


def across_lanes(dependences: Dependences) -> Dependences:
    """``dependences`` of reductions in lanes, where only terms of different lanes may change places."""
    flow = dependences.flow
    groups = []
    for each in dependences.reductions:
        lanes = [reduction.lanes for reduction in each.reductions]
        if lanes[0] is None:
            groups.append(each)
            continue
        space = each.reductions[0].statement.domain.get_space()
        own = each.pairs.extract_map(space.map_from_domain_and_range(space))
        same = own.equate(_in, lanes[0].position, _out, lanes[0].position)
        flow = flow.union(isl.UnionMap.from_map(same))
        groups.append(replace(each, pairs=each.pairs.subtract(isl.UnionMap.from_map(same))))
    return replace(dependences, flow=flow.coalesce(), reductions=tuple(groups))


@dataclass(frozen=True, slots=True)
class _ReductionGroup:
    """Reductions of one group: their instances, and their accesses of the accumulator."""

    reductions: tuple[Reduction, ...]
    instances: isl.UnionSet
    accumulator: isl.UnionMap


def _accumulator_arrays(scop: Scop, reductions: Sequence[Reduction]) -> list[_AccumulatorArray]:
    return [
        _AccumulatorArray(scop, name, [each for each in reductions if each.array.name == name])
        for name in dict.fromkeys(each.array.name for each in reductions)
    ]


class _AccumulatorArray:
    """The accesses of one array ``name``, those of its reductions separately."""

    def __init__(self, scop: Scop, name: str, reductions: Sequence[Reduction]) -> None:
        self.name = name
        self._scop = scop
        self._nothing = isl.UnionMap.empty(scop.context.get_space())
        own = {each.statement.name: each.own for each in reductions}
        self._groups = [
            _group(scop, [each for each in reductions if each.group == group])
            for group in dict.fromkeys(each.group for each in reductions)
        ]
        others: dict[AccessKind, list[isl.Map]] = {kind: [] for kind in AccessKind}
        self._static, self._mixed = True, False
        for statement in scop.statements:
            for access in statement.accesses:
                if access.array.name != name or id(access.node) in own.get(statement.name, ()):
                    continue
                others[access.kind].append(access.relation)
                self._mixed |= statement.name in own
                self._static &= access.within is None
        self._reads, self._must, may = (
            _union(scop, others[kind]) for kind in (AccessKind.READ, AccessKind.WRITE, AccessKind.MAY_WRITE)
        )
        self._may = self._united([may, *(each.accumulator for each in self._groups)])

    def may_separate(self, *, in_private: bool) -> bool:
        """Whether the accesses are of a kind that is distinguished here."""
        return self._static and not (in_private and self._mixed)

    def reduction_dependences(self) -> list[ReductionDependences]:
        """The pairs within each group that has some."""
        found = []
        for each in self._groups:
            pairs = self._within(each)
            if not pairs.is_empty():
                found.append(ReductionDependences(each.reductions, pairs.coalesce()))
        return found

    def flow(self) -> isl.UnionMap:
        """From each write to the reads that may see its value, without those within a group."""
        found = self._flow_to(self._reads)
        for each in self._groups:
            to_own = self._flow_to(each.accumulator)
            found = found.union(to_own.subtract(to_own.intersect_domain(each.instances)))
        return found

    def false(self) -> isl.UnionMap:
        """Anti and output dependences, without those within a group."""
        accumulators = [each.accumulator for each in self._groups]
        others = self._must.union(self._may_of_others())
        found = self._false_to(others, [self._reads, others, *accumulators])
        for each in self._groups:
            rest = [other.accumulator for other in self._groups if other is not each]
            found = found.union(self._false_to(each.accumulator, [self._reads, others, *rest]))
        return found

    def private(self, before: PrivateArray) -> PrivateArray:
        """The private array ``before``, without the pairs within a group."""
        order = before.order
        for each in self._groups:
            order = order.subtract(self._within(each))
        return replace(before, flow=self.flow().coalesce(), order=order.coalesce())

    def _within(self, group: _ReductionGroup) -> isl.UnionMap:
        """Pairs of instances of ``group`` on one element, nothing certainly written in between."""
        return self._false_to(group.accumulator, [group.accumulator])

    def _may_of_others(self) -> isl.UnionMap:
        found = self._may
        for each in self._groups:
            found = found.subtract(each.accumulator)
        return found

    def _flow_to(self, reads: isl.UnionMap) -> isl.UnionMap:
        return flow_dependences(self._scop, reads, self._must, self._may, self._nothing)[0]

    def _false_to(self, writes: isl.UnionMap, sources: Iterable[isl.UnionMap]) -> isl.UnionMap:
        return flow_between(self._scop, writes, may=self._united(sources), kills=self._must).pairs

    def _united(self, relations: Iterable[isl.UnionMap]) -> isl.UnionMap:
        found = self._nothing
        for each in relations:
            found = found.union(each)
        return found


def _group(scop: Scop, reductions: Sequence[Reduction]) -> _ReductionGroup:
    instances = isl.UnionSet.empty(scop.context.get_space())
    for each in reductions:
        instances = instances.union(isl.UnionSet.from_set(each.statement.domain))
    relations = [each.relation.intersect_domain(each.statement.domain) for each in reductions]
    return _ReductionGroup(tuple(reductions), instances, _union(scop, relations))


def _union(scop: Scop, relations: Iterable[isl.Map]) -> isl.UnionMap:
    union = isl.UnionMap.empty(scop.context.get_space())
    for each in relations:
        union = union.union(isl.UnionMap.from_map(each))
    return union.intersect_params(scop.context)
