"""Loop distribution: the statements of one loop in loops of their own, as far as dependences allow.

::

    for (j) { B[j] = A[j]; C[j] = B[j + 1]; }

becomes, as ``C`` reads what ``B`` was before, two loops, the one over ``C`` first.
"""

from __future__ import annotations

import islpy as isl

from polybuild.poly.components import condensation
from polybuild.poly.relations import maps_of, natural_key, sets_of


def dependence_groups(instances: isl.UnionSet, dependences: isl.UnionMap) -> list[isl.UnionSet]:
    """The strongly connected components of the statements, in an order that respects ``dependences``.

    Each component is the union of its statements' ``instances``; components that
    are free to go in any order keep the order of the statements' names.
    """
    domains = {each.get_tuple_name(): each for each in sets_of(instances)}
    names = sorted(domains, key=natural_key)
    arcs = [
        (each.get_tuple_name(isl.dim_type.in_), each.get_tuple_name(isl.dim_type.out))
        for each in maps_of(dependences)
        if not each.is_empty()
    ]
    leader, sorter = condensation(names, arcs)
    groups: list[isl.UnionSet] = []
    while sorter.is_active():
        for chosen in sorted(sorter.get_ready(), key=natural_key):
            group = isl.UnionSet.empty(instances.get_space())
            for name in names:
                if leader[name] == chosen:
                    group = group.union(isl.UnionSet.from_set(domains[name]))
            groups.append(group)
            sorter.done(chosen)
    return groups


def distribute(node: isl.ScheduleNode, groups: list[isl.UnionSet]) -> isl.ScheduleNode:
    """Put the subtree at ``node`` once under each of ``groups``, in sequence; returns the sequence."""
    filters = isl.UnionSetList.alloc(node.get_ctx(), len(groups))
    for group in groups:
        filters = filters.add(group)
    return node.insert_sequence(filters)
