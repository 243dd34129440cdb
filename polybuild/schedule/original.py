"""The original order as bands: which of its loops carry nothing, which may be permuted."""

from __future__ import annotations

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.poly.trees import is_band, member, within
from polybuild.scop.model import Scop


def original_bands(scop: Scop, dependences: Dependences) -> isl.Schedule:
    """The original schedule of ``scop`` with loops directly inside each other as permutable bands.

    Members that carry no dependence are coincident. Live ranges of private arrays may stand in
    the way: the result has to be checked.
    """
    return _annotated(scop.schedule.get_root(), dependences.carried).get_schedule()


def _annotated(node: isl.ScheduleNode, active: isl.UnionMap) -> isl.ScheduleNode:
    """The tree at ``node``, where ``active`` are the dependences that nothing above orders."""
    if is_band(node):
        node = _with_nested(node, active)
        for position in range(node.band_n_member()):
            same = active.eq_at_multi_union_pw_aff(member(node, position))
            node = node.band_member_set_coincident(position, int(active.is_subset(same)))
        active = active.eq_at_multi_union_pw_aff(node.band_get_partial_schedule())
    for index in range(node.n_children()):
        child = node.child(index)
        node = _annotated(child, within(active, child)).parent()
    return node


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
