"""The original order as bands: which of its loops carry nothing, which may be permuted."""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.poly.trees import counts_down, descendants, is_band, member, negate, within
from polybuild.scop.model import Scop


def original_bands(scop: Scop, dependences: Dependences) -> isl.Schedule:
    """The original schedule of ``scop`` with loops directly inside each other as permutable bands.

    Members that carry no dependence are coincident. Live ranges of private arrays may stand in
    the way: the result has to be checked.
    """
    return _annotated(scop.schedule.get_root(), dependences.carried).get_schedule()


def original_loops(scop: Scop, dependences: Dependences) -> isl.Schedule:
    """The original schedule of ``scop``, in which loops that carry no dependence are coincident.

    Each loop is a band of its own: none changes places with another. The result has to be checked, as above.
    """
    return _annotated(scop.schedule.get_root(), dependences.carried, nested=False).get_schedule()


def with_bands_beside(
    schedule: isl.Schedule, dependences: Dependences, kept: Callable[[isl.ScheduleNode], bool]
) -> isl.Schedule:
    """``schedule``, an original order, with such bands in all nests that neither are ``kept`` nor hold one.

    The result has to be checked, too.
    """

    def beside(node: isl.ScheduleNode, active: isl.UnionMap) -> isl.ScheduleNode:
        if is_band(node):
            if kept(node):
                return node
            if not any(is_band(each) and kept(each) for each in descendants(node.child(0))):
                return _annotated(node, active)
            active = active.eq_at_multi_union_pw_aff(node.band_get_partial_schedule())
        for index in range(node.n_children()):
            child = node.child(index)
            node = beside(child, within(active, child)).parent()
        return node

    return beside(schedule.get_root(), dependences.carried).get_schedule()


def _annotated(node: isl.ScheduleNode, active: isl.UnionMap, *, nested: bool = True) -> isl.ScheduleNode:
    """The tree at ``node``, where ``active`` are the dependences that nothing above orders.

    Loops directly inside each other become permutable bands if they are to be ``nested``.
    """
    if is_band(node):
        node = _with_nested(node, active) if nested else node
        for position in range(node.band_n_member()):
            same = active.eq_at_multi_union_pw_aff(member(node, position))
            node = node.band_member_set_coincident(position, int(active.is_subset(same)))
        node = _upwards(node)
        active = active.eq_at_multi_union_pw_aff(node.band_get_partial_schedule())
    for index in range(node.n_children()):
        child = node.child(index)
        node = _annotated(child, within(active, child), nested=nested).parent()
    return node


def _upwards(band: isl.ScheduleNode) -> isl.ScheduleNode:
    """``band`` with coincident members that count down counting up: rows are moved forwards.

    What carries nothing may run in any order.
    """
    for position in range(band.band_n_member()):
        counter = band.band_get_partial_schedule().get_union_pw_aff(position)
        if band.band_member_get_coincident(position) and counts_down(counter):
            band = negate(band, position)
    return band


def _with_nested(node: isl.ScheduleNode, active: isl.UnionMap) -> isl.ScheduleNode:
    """A loop as one permutable band with those directly inside of it that take no dependence back."""
    partial = node.band_get_partial_schedule()
    while is_band(below := node.child(0)):
        inner = below.band_get_partial_schedule()
        if not active.lex_gt_at_multi_union_pw_aff(inner).is_empty():
            break
        partial = partial.flat_range_product(inner)
        node = below.delete().parent()
    return node.delete().insert_partial_schedule(partial).band_set_permutable(1)
