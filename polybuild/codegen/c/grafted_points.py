"""Statements at one place of a grid, taken out of the loops of tiles and put back inside of these as guards.

Which tile of each time a source ``u[sx][sy] += w[t]`` is in depends on parameters. Where isl makes loops of
such a statement beside those of a nest, it looks for the values of each loop that the statement runs at, and
comes to no end where tiles are between others (blocks of steps, diamonds, strips). But all loops run through
the place of the source in any case, for the nest::

    for c0, c1, t, i:                            # as without the source
      for j: u[i][j] = ...
      if (i == sx && j_first <= sy && sy <= j_last) u[sx][sy] += w[t];

So what runs whenever the nest beside it does leaves the domain, and comes back below that by an extension
(schedule trees: S. Verdoolaege, S. Guelton, T. Grosser, A. Cohen, "Schedule Trees", IMPACT 2014).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial, reduce

import islpy as isl

from polybuild.effort import GRAFT_OPERATIONS
from polybuild.poly.budget import found_within
from polybuild.poly.marks import MarkKind
from polybuild.poly.relations import sets_of
from polybuild.poly.trees import children, descendants, is_mark, node_kind
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class _Graft:
    """Statements that run in their order for each of their ``places``, right ``after`` ``host`` or before it.

    All have the same ``depth`` in the loops around. ``host`` are the instances of a nest.
    """

    places: tuple[isl.UnionMap, ...]
    host: isl.UnionSet
    depth: int
    after: bool

    @property
    def tree(self) -> isl.ScheduleNode:
        """The extension with the statements."""
        node = isl.ScheduleNode.from_extension(reduce(isl.UnionMap.union, self.places))
        if len(self.places) == 1:
            return node
        filters = isl.UnionSetList.alloc(node.get_ctx(), len(self.places))
        for each in self.places:
            filters = filters.add(each.range())
        return node.child(0).insert_sequence(filters).parent()


def graft_points(schedule: isl.Schedule, context: isl.Set) -> isl.Schedule:
    """``schedule`` with statements at single places of tiles as extensions; ``context`` is of parameters."""
    found = found_within(GRAFT_OPERATIONS, partial(_grafts, schedule, context))
    if not found:
        return schedule
    domain = schedule.get_domain()
    for places in (one for each in found for one in each.places):
        domain = domain.subtract(places.range())
    schedule = schedule.intersect_domain(domain)
    for each in found:
        node = _node_of(schedule.get_root().child(0), domain, each)
        assert node is not None  # noqa: S101 - hosts stay
        node = node.graft_after(each.tree) if each.after else node.graft_before(each.tree)
        schedule = node.get_schedule()
    return schedule


def _grafts(schedule: isl.Schedule, context: isl.Set) -> list[_Graft]:
    return [
        graft
        for points in descendants(schedule.get_root())
        if is_mark(points, MarkKind.TILE_POINTS)
        for node in descendants(points)
        if node_kind(node) == isl.schedule_node_type.sequence
        for graft in _grafts_in(node, context)
    ]


def _grafts_in(sequence: isl.ScheduleNode, context: isl.Set) -> Iterator[_Graft]:
    """What may be grafted of the children of ``sequence``: the first points that follow a nest, on that.

    The last ones before a nest on that one; what is between those stays.
    """
    below = [each.child(0) for each in children(sequence)]
    hosts = [place for place, child in enumerate(below) if not _is_point(child)]
    stamps = [_stamps(each).intersect_params(context).range() for each in below]
    taken: set[int] = set()
    for host, step in ((each, step) for step in (1, -1) for each in hosts):
        found: list[int] = []
        place = host + step
        while 0 <= place < len(below) and place not in hosts and place not in taken:
            if not stamps[place].is_subset(stamps[host]):
                break
            found.append(place)
            place += step
        taken.update(found)
        if found:
            places = tuple(_stamps(below[each]).reverse() for each in sorted(found))
            yield _Graft(places, below[host].get_domain(), sequence.get_schedule_depth(), step > 0)


def _stamps(node: isl.ScheduleNode) -> isl.UnionMap:
    """When the instances at ``node`` run, in the loops around it."""
    return node.get_prefix_schedule_relation()


def _is_point(node: isl.ScheduleNode) -> bool:
    """Whether there is one statement at ``node``, once at most in an iteration of the loops around."""
    return node_kind(node) == isl.schedule_node_type.leaf and len(sets_of(node.get_domain())) == 1


def _node_of(node: isl.ScheduleNode, domain: isl.UnionSet, graft: _Graft) -> isl.ScheduleNode | None:
    """The outermost node from ``node`` down, at the depth of ``graft``, that its host alone reaches.

    ``domain`` reaches ``node``, beside what was grafted already.
    """
    if node_kind(node) == isl.schedule_node_type.filter:
        domain = domain.intersect(node.filter_get_filter())
    elif node.get_schedule_depth() == graft.depth and domain.is_equal(graft.host):
        return node
    if graft.host.is_subset(domain):
        for each in children(node):
            found = _node_of(each, domain, graft)
            if found is not None:
                return found
    return None
