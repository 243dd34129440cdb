"""The order found, as an isl schedule tree."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from polybuild.poly.integers import value_of
from polybuild.schedule.pluto.model import (
    Hyperplane,
    HyperplaneBand,
    Row,
    StatementNode,
    StatementSequence,
    Tree,
    statements_of,
)

_dim = isl.dim_type


def build_tree(tree: Tree, nodes: tuple[StatementNode, ...], domain: isl.UnionSet) -> isl.Schedule:
    """``tree`` over ``domain``: bands that are permutable, with coincident members marked."""
    by_name = {each.name: each for each in nodes}
    root = isl.Schedule.from_domain(domain).get_root()
    return _insert(root.child(0), tree, by_name).get_schedule()


def _insert(place: isl.ScheduleNode, tree: Tree, nodes: Mapping[str, StatementNode]) -> isl.ScheduleNode:
    """Put ``tree`` at a leaf; returns the node there."""
    if isinstance(tree, HyperplaneBand):
        return _insert_band(place, tree, nodes)
    if isinstance(tree, StatementSequence):
        filters = isl.UnionSetList.alloc(place.get_ctx(), len(tree.children))
        for child in tree.children:
            filters = filters.add(_instances(statements_of(child), nodes))
        place = place.insert_sequence(filters)
        for index, child in enumerate(tree.children):
            place = _insert(place.child(index).child(0), child, nodes).parent().parent()
    return place


def _insert_band(
    place: isl.ScheduleNode, band: HyperplaneBand, nodes: Mapping[str, StatementNode]
) -> isl.ScheduleNode:
    names = statements_of(band)
    schedule = isl.UnionPwAffList.alloc(place.get_ctx(), len(band.hyperplanes))
    for hyperplane in band.hyperplanes:
        schedule = schedule.add(_schedule(hyperplane, names, nodes))
    space = place.get_domain().get_space()
    space = space.set_from_params().add_dims(_dim.set, len(band.hyperplanes))
    partial = isl.MultiUnionPwAff.from_union_pw_aff_list(space, schedule)
    place = place.insert_partial_schedule(partial).band_set_permutable(1)
    for position, coincident in enumerate(band.coincident):
        place = place.band_member_set_coincident(position, int(coincident))
    return _insert(place.child(0), band.child, nodes).parent()


def _instances(names: tuple[str, ...], nodes: Mapping[str, StatementNode]) -> isl.UnionSet:
    sets = [isl.UnionSet.from_set(nodes[name].domain) for name in names]
    union = sets[0]
    for each in sets[1:]:
        union = union.union(each)
    return union


def _schedule(
    hyperplane: Hyperplane, names: tuple[str, ...], nodes: Mapping[str, StatementNode]
) -> isl.UnionPwAff:
    parts = [
        isl.UnionPwAff.from_pw_aff(isl.PwAff.from_aff(_affine(nodes[name], hyperplane[name])))
        for name in names
    ]
    union = parts[0]
    for each in parts[1:]:
        union = union.union_add(each)
    return union


def _affine(node: StatementNode, row: Row) -> isl.Aff:
    """``row`` as an expression of the statement's counters."""
    affine = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(node.domain.get_space()))
    loops = zip(row.coefficients, node.directions, strict=True)
    for counter, (coefficient, direction) in enumerate(loops):
        affine = affine.set_coefficient_val(_dim.in_, counter, value_of(coefficient * direction))
    return affine.set_constant_val(value_of(row.constant))
