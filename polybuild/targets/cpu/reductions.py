"""Loops that carry nothing but reductions: threads or vector lanes may each accumulate their own part."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from polybuild.analysis.dependences import Dependences, ReductionDependences
from polybuild.analysis.reductions import CARRIED, Reduction
from polybuild.c.types import IntegerType
from polybuild.context import CompilerRules
from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.relations import maps_of, sets_of, tuple_name
from polybuild.poly.trees import insert_mark, mark_of
from polybuild.schedule.legality import active_dependences
from polybuild.scop.model import Scop
from polybuild.targets.cpu.carried import carries_nothing
from polybuild.targets.cpu.strides import Reference, references
from polybuild.targets.model import Accumulator

_in = isl.dim_type.in_

_SUMS = frozenset("+&|^")


def carried_reductions(
    band: isl.ScheduleNode, position: int, accesses: list[Reference], dependences: Dependences
) -> tuple[ReductionDependences, ...] | None:
    """The reductions that member ``position`` of ``band`` carries; None if it carries anything else.

    ``accesses`` are those below. None, too, unless each group of reductions has one accumulator for
    all iterations of the band, which nothing else below it may touch.
    """
    partial = band.band_get_partial_schedule()
    if not carries_nothing(partial, position, active_dependences(band, dependences.validity)):
        return None
    found = tuple(
        each
        for each in dependences.reductions
        if not carries_nothing(partial, position, active_dependences(band, each.pairs))
    )
    alone = all(_has_one_accumulator(band, each, accesses) for each in found)
    here = {each.get_tuple_name() for each in sets_of(band.get_domain())}
    scans = [each.scan for group in found for each in group.reductions if each.scan is not None]
    of_loop = all(here <= each.loop for each in scans) and (not scans or all(map(_is_scan, found)))
    return found if alone and of_loop and _is_complete(found) else None


def reduced_members(band: isl.ScheduleNode, accesses: list[Reference], dependences: Dependences) -> list[int]:
    """The members of ``band`` that carry reductions, and nothing else."""
    if not dependences.reductions:
        return []
    members = range(band.band_n_member())
    return [each for each in members if carried_reductions(band, each, accesses, dependences)]


class Accumulators:
    """The variables that the loops of a region accumulate in; ``all`` are those made so far."""

    def __init__(self, scop: Scop, dependences: Dependences, compiler: CompilerRules) -> None:
        self._scop = scop
        self._dependences = dependences
        self._compiler = compiler
        self._made: dict[Mark, Accumulator] = {}

    @property
    def all(self) -> tuple[Accumulator, ...]:
        """All of them, in the order in which they were made."""
        return tuple(self._made.values())

    def above(self, node: isl.ScheduleNode) -> tuple[isl.ScheduleNode, tuple[Accumulator, ...]]:
        """The accumulators of what the first member of a band carries; new ones get marks above the band.

        Those of a loop around it serve it, too.
        """
        if not self._dependences.reductions:
            return node, ()
        accesses = references(self._scop, node)
        around = self._around(node)
        found: list[Accumulator] = []
        carried = carried_reductions(node, 0, accesses, self._dependences) or ()
        groups = [_inside(node, each) for each in carried]
        unasked = self._compiler.vectors.sums and _sums_integers_alone(node, groups)
        for inside in groups:
            if inside[0].elements:
                continue
            accumulator = around.get(inside[0].group)
            if accumulator is None:
                mark = Mark(MarkKind.ACCUMULATOR, len(self._made))
                accumulator = Accumulator(mark, inside, unasked=unasked)
                self._made[accumulator.mark] = accumulator
                node = insert_mark(node, accumulator.mark).child(0)
            found.append(accumulator)
        return node, tuple(found)

    def histograms(self, node: isl.ScheduleNode) -> tuple[Accumulator, ...]:
        """The arrays for what the first member of a band carries that updates elements which data choose.

        No block of the generated code is theirs but the loop itself: their marks are not in the tree.
        """
        if not self._dependences.reductions:
            return ()
        groups = carried_reductions(node, 0, references(self._scop, node), self._dependences) or ()
        every = [_inside(node, each) for each in groups]
        found = [each for each in every if each[0].elements]
        mark = Mark(MarkKind.ACCUMULATOR, node.get_schedule_depth())
        return tuple(Accumulator(mark, each) for each in found)

    def _around(self, node: isl.ScheduleNode) -> dict[tuple[str, str], Accumulator]:
        marks = [mark_of(node.ancestor(each)) for each in range(1, node.get_tree_depth() + 1)]
        return {
            self._made[mark].reductions[0].group: self._made[mark] for mark in marks if mark in self._made
        }


def _sums_integers_alone(node: isl.ScheduleNode, groups: Sequence[tuple[Reduction, ...]]) -> bool:
    """Whether all that runs below ``node`` are sums, or masks, of integers, which are the ``groups``."""
    every = [each for group in groups for each in group]
    names = {each.statement.name for each in every}
    return all(isinstance(each.type, IntegerType) and each.operator in _SUMS for each in every) and names >= {
        tuple_name(each) for each in sets_of(node.get_domain())
    }


def without_accumulators(
    band: isl.ScheduleNode, members: list[int], accesses: list[Reference], dependences: Dependences
) -> list[Reference]:
    """``accesses`` but for those of what ``members`` of ``band`` accumulate in: it stays in a register."""
    own = {
        node
        for each in members
        for group in carried_reductions(band, each, accesses, dependences) or ()
        for reduction in group.reductions
        for node in reduction.own
    }
    return [each for each in accesses if id(each.access.node) not in own]


def _inside(band: isl.ScheduleNode, group: ReductionDependences) -> tuple[Reduction, ...]:
    """The reductions of a group that are below ``band``."""
    here = {each.get_tuple_name() for each in sets_of(band.get_domain())}
    return tuple(each for each in group.reductions if each.statement.name in here)


def _is_scan(group: ReductionDependences) -> bool:
    return all(each.scan is not None for each in group.reductions)


def _is_complete(groups: Sequence[ReductionDependences]) -> bool:
    """Whether all that minima and searches of ``groups`` carry is there, and nothing else is carried."""
    every = [each for group in groups for each in group.reductions]
    selections = [each.selection for each in every if each.selection is not None]
    carried = {id(other) for each in selections for other in each.carried}
    found = {id(each) for each in every if each.operator == CARRIED}
    return carried == found


def _has_one_accumulator(
    band: isl.ScheduleNode, group: ReductionDependences, accesses: list[Reference]
) -> bool:
    inside = _inside(band, group)
    own = frozenset(node for each in inside for node in each.own)
    array = inside[0].array
    if any(each.access.array is array and id(each.access.node) not in own for each in accesses):
        return False
    if inside[0].elements:
        return True
    united = _elements(band, inside[0])
    for each in inside[1:]:
        united = united.union(_elements(band, each))
    return bool(united.is_single_valued())


def _elements(band: isl.ScheduleNode, reduction: Reduction) -> isl.Map:
    """The element that is accumulated in at each date of the loops around ``band``."""
    prefix = next(
        each
        for each in maps_of(band.get_prefix_schedule_relation())
        if each.get_tuple_name(_in) == reduction.statement.name
    )
    return prefix.reverse().apply_range(reduction.relation)
