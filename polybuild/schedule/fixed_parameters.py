"""An order of many sizes, for those that there are."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from polybuild.poly.integers import value_of
from polybuild.poly.spaces import identifier
from polybuild.poly.trees import node_kind

_kind = isl.schedule_node_type


def with_fixed_parameters(
    found: isl.Schedule, values: Mapping[str, int], domain: isl.UnionSet
) -> isl.Schedule:
    """The bands and sequences of ``found`` over ``domain``, with numbers for the parameters in ``values``.

    ``domain`` holds the instances of ``found`` for these ``values``.
    """
    place = isl.Schedule.from_domain(domain).get_root().child(0)
    return _insert(place, found.get_root().child(0), values).get_schedule()


def _insert(place: isl.ScheduleNode, found: isl.ScheduleNode, values: Mapping[str, int]) -> isl.ScheduleNode:
    """Put what is at ``found`` at the leaf ``place``; returns the node there."""
    kind = node_kind(found)
    if kind == _kind.band:
        partial = isl.UnionMap.from_multi_union_pw_aff(found.band_get_partial_schedule())
        place = place.insert_partial_schedule(isl.MultiUnionPwAff.from_union_map(_fixed(partial, values)))
        place = place.band_set_permutable(found.band_get_permutable())
        for position in range(found.band_n_member()):
            coincident = found.band_member_get_coincident(position)
            place = place.band_member_set_coincident(position, coincident)
        return _insert(place.child(0), found.child(0), values).parent()
    if kind in (_kind.sequence, _kind.set):
        filters = isl.UnionSetList.alloc(place.get_ctx(), found.n_children())
        for index in range(found.n_children()):
            instances = found.child(index).filter_get_filter()
            filters = filters.add(_fixed(instances.identity(), values).domain())
        place = (place.insert_sequence if kind == _kind.sequence else place.insert_set)(filters)
        for index in range(found.n_children()):
            below = found.child(index).child(0)
            place = _insert(place.child(index).child(0), below, values).parent().parent()
    return place


def _fixed(relation: isl.UnionMap, values: Mapping[str, int]) -> isl.UnionMap:
    for name, value in values.items():
        space = isl.Space.params_alloc(relation.get_ctx(), 0).add_param_id(identifier(name))
        these = isl.Set.universe(space).fix_val(isl.dim_type.param, 0, value_of(value))
        relation = relation.intersect_params(these).project_out_param_id(identifier(name))
    return relation
