"""The phases of a schedule tree: the outermost loops that carry nothing, which ranks share in blocks."""

from __future__ import annotations

import islpy as isl

from polybuild.poly import spaces
from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.relations import maps_of
from polybuild.poly.trees import descendants, insert_mark, is_band, is_mark, mark_of, prefix_schedule
from polybuild.targets.ranks.model import AROUND
from polybuild.transform.bands import coincident_members, put_first
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class SharedLoop:
    """Instances that ranks run side by side, without a word between them, for each value of the loops around.

    ``value`` maps an instance to what blocks are made of, ``around`` to the values of the ``depth`` loops
    around.
    """

    mark: Mark
    domain: isl.UnionSet
    value: isl.UnionPwAff
    around: isl.UnionMap
    depth: int

    @property
    def values(self) -> isl.UnionMap:
        """``{ S[i] -> [x] }``: what the blocks of ranks are made of."""
        value = isl.MultiUnionPwAff.from_union_pw_aff(self.value)
        return isl.UnionMap.from_multi_union_pw_aff(value).intersect_domain(self.domain)

    def block(self, first: str, end: str) -> isl.UnionSet:
        """The instances in the block between two parameters."""
        value = spaces.dimension(1, 0)
        inside = value.ge_set(spaces.parameter(1, first)).intersect(value.lt_set(spaces.parameter(1, end)))
        return self.values.intersect_range(isl.UnionSet.from_set(inside)).domain()

    def runs(self) -> isl.UnionMap:
        """``{ S[i] -> [t0, ..., x] }``: the loops around, and what blocks are made of."""
        return self.around.flat_range_product(self.values)

    def elements_of_run(self, touched: isl.UnionMap) -> list[isl.Set]:
        """The elements ``touched``, ``{ S[i] -> a[x] }``, one set for each array, in one run of the phase.

        Which one say the parameters ``AROUND0``, ...: the values of the loops around.
        """
        here = spaces.universe(self.depth)
        for position in range(self.depth):
            value = spaces.dimension(self.depth, position)
            here = here.intersect(value.eq_set(spaces.parameter(self.depth, f"{AROUND}{position}")))
        by_run = maps_of(self.around.reverse().apply_range(touched))
        return [each.intersect_domain(here).range() for each in by_run]


def mark_phases(schedule: isl.Schedule) -> isl.Schedule:
    """``schedule`` with a mark above each outermost band that carries nothing along its first member.

    Members that carry nothing become the first of their band, or of a band of their own.
    """
    found: list[Mark] = []
    return _marked(schedule.get_root(), found).get_schedule()


def _marked(node: isl.ScheduleNode, found: list[Mark]) -> isl.ScheduleNode:
    if is_band(node) and (coincident := coincident_members(node)):
        depth, first = node.get_tree_depth(), coincident[0]
        if node.band_get_permutable():
            node = put_first(node, first)
        elif first:
            node = node.band_split(first).child(0)
        found.append(Mark(MarkKind.RANKS, len(found)))
        node = insert_mark(node, found[-1])
        return node.ancestor(node.get_tree_depth() - depth)
    for index in range(node.n_children()):
        node = _marked(node.child(index), found).parent()
    return node


def phases_of(schedule: isl.Schedule) -> list[SharedLoop]:
    """The phases that ``mark_phases`` marked and in which anything runs, in their order."""
    marks = [each for each in descendants(schedule.get_root()) if is_mark(each, MarkKind.RANKS)]
    found: list[SharedLoop] = []
    for node in marks:
        mark, band = mark_of(node), node.child(0)
        assert mark is not None  # noqa: S101 - it was asked for
        domain = band.get_domain()
        if domain.is_empty():
            continue
        value = band.band_get_partial_schedule().get_union_pw_aff(0).intersect_domain(domain)
        around = prefix_schedule(node).intersect_domain(domain)
        found.append(SharedLoop(mark, domain, value, around, node.get_schedule_depth()))
    return found
