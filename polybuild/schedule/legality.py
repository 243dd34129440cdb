"""The proof that a schedule tree respects the dependences, run after every change of the tree.

The tree is walked from the root with the dependences whose two ends still share
their time stamps. A band splits them into those it satisfies (source first),
those it leaves for deeper levels (same time stamp), and those it breaks; a sequence
does the same by position. Nothing may be broken, and nothing may be left at a
leaf: then every dependent pair is executed in order, whatever the tree looks
like.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import islpy as isl

from polybuild.analysis.dependences import Dependences, PrivateArray, by_memory
from polybuild.poly.budget import settled_within
from polybuild.poly.marks import MarkKind
from polybuild.poly.memory import Itself, remembered
from polybuild.poly.relations import maps_of, sets_of, union_of
from polybuild.poly.trees import children, descendants, is_band, is_mark, member, node_kind, within
from polybuild.scop.model import Scop
from polybuild.values import dataclass


class IllegalSchedule(Exception):
    """A schedule breaks a dependence; the message says which one and where in the tree."""


@dataclass(frozen=True, slots=True)
class _LiveRanges:
    """The dependences of one private array that are still undecided.

    ``open`` holds the instances that write or read a value which the tree above has
    already parted from its readers or its writer: their live ranges cannot move any more.
    """

    name: str
    flow: isl.UnionMap
    order: isl.UnionMap
    open: isl.UnionSet

    def within(self, chosen: isl.UnionSet) -> _LiveRanges:
        """What is left of them in one child of a sequence."""
        flow = self.flow.intersect_domain(chosen).intersect_range(chosen)
        order = self.order.intersect_domain(chosen).intersect_range(chosen)
        parted = self.open.union(_instances_of(self.flow.subtract(flow))).intersect(chosen)
        return _LiveRanges(self.name, flow, order, parted)


def _instances_of(relation: isl.UnionMap) -> isl.UnionSet:
    """The instances that ``relation`` relates to others."""
    return relation.domain().union(relation.range())


def check_schedule(schedule: isl.Schedule, dependences: Dependences, domain: isl.UnionSet) -> None:
    """Raise IllegalSchedule unless ``schedule`` runs ``domain`` once and in a legal order.

    Band members marked coincident, and those that threads share, are checked to carry no dependence.
    """
    if not schedule.get_domain().is_equal(domain):
        raise IllegalSchedule("the schedule does not run the instances of the region")
    ranges = tuple(
        _LiveRanges(each.array.name, each.flow, each.order, isl.UnionSet.empty(domain.get_space()))
        for each in dependences.private
    )
    _check(schedule.get_root(), dependences.validity, ranges)
    _check_shared(schedule.get_root(), dependences.validity)
    for each in dependences.reductions:
        _check_reductions(schedule.get_root(), each.pairs)
        if each.in_order:
            _check(schedule.get_root(), each.pairs, ())


def prove(
    check: Callable[[Dependences], None], scop: Scop, dependences: Dependences, operations: int
) -> None:
    """Have ``check`` prove an order by all accesses to the same memory, and by ``dependences``.

    Once is enough where the pairs of the first are all those of the second. Where they take isl more
    than so many ``operations``, the second proof stands alone; how long the search before it took does not
    count. Raises what ``check`` raises.
    """

    def by_accesses() -> bool:
        every = by_memory(scop, dependences)
        check(every)
        return bool(dependences.validity.is_subset(every.validity))

    if not settled_within(operations, by_accesses):
        check(dependences)


def _check_shared(root: isl.ScheduleNode, validity: isl.UnionMap) -> None:
    """No loop that threads share separates a pair of ``validity``; coincident ones were looked at."""
    for mark in (each for each in descendants(root) if is_mark(each, MarkKind.PARALLEL)):
        node = mark.child(0)
        if is_band(node) and not node.band_member_get_coincident(0):
            active = active_dependences(node, validity)
            _expect_empty(
                active.subtract(active.eq_at_multi_union_pw_aff(member(node, 0))),
                "threads share a loop that carries a dependence",
            )


def _check_reductions(node: isl.ScheduleNode, active: isl.UnionMap) -> None:
    """No coincident member separates a pair of ``active``: reductions on one element, in any order.

    They may not run side by side. Loops that combine what each thread accumulates are not coincident.
    """
    if active.is_empty():
        return
    if is_band(node):
        for position in range(node.band_n_member()):
            if node.band_member_get_coincident(position):
                _expect_empty(
                    active.subtract(active.eq_at_multi_union_pw_aff(member(node, position))),
                    f"member {position} of a band is marked coincident and carries a reduction",
                )
        active = active.eq_at_multi_union_pw_aff(node.band_get_partial_schedule())
    for each in children(node):
        _check_reductions(each, within(active, each))


def active_dependences(node: isl.ScheduleNode, relation: isl.UnionMap) -> isl.UnionMap:
    """The pairs of ``relation`` between instances below ``node`` that the tree above it has not ordered.

    Band by band: all of the order above is a function in many pieces where sequences part statements.
    """
    return _active_dependences(Itself(node), Itself(relation))


@remembered  # whoever looks at a band asks several questions about it
def _active_dependences(at: Itself[isl.ScheduleNode], pairs: Itself[isl.UnionMap]) -> isl.UnionMap:
    node, relation = at.value, pairs.value
    here = node.get_domain()
    relation = relation.intersect_domain(here).intersect_range(here)
    while node.has_parent():
        node = node.parent()
        if is_band(node):
            relation = relation.eq_at_multi_union_pw_aff(node.band_get_partial_schedule())
    return relation


def is_legal_below(node: isl.ScheduleNode, dependences: Dependences) -> bool:
    """Whether the subtree at ``node`` orders what the tree above it leaves to it."""
    here = node.get_domain()
    ranges = []
    for each in dependences.private:
        flow = active_dependences(node, each.flow)
        parted = _instances_of(each.flow.subtract(flow)).intersect(here)
        ranges.append(_LiveRanges(each.array.name, flow, active_dependences(node, each.order), parted))
    try:
        _check(node, active_dependences(node, dependences.validity), tuple(ranges))
    except IllegalSchedule:
        return False
    return True


def _check(node: isl.ScheduleNode, active: isl.UnionMap, ranges: tuple[_LiveRanges, ...]) -> None:
    ranges = tuple(each for each in ranges if not each.order.is_empty())  # others cannot overlap any more
    if active.is_empty() and not ranges:
        return
    kind = node_kind(node)
    if kind == isl.schedule_node_type.leaf:
        _expect_nothing_left(active, ranges)
    elif kind == isl.schedule_node_type.band:
        _check_band(node, active, ranges)
    elif kind in {isl.schedule_node_type.sequence, isl.schedule_node_type.set}:
        _check_sequence(node, active, ranges)
    elif kind in {
        isl.schedule_node_type.domain,
        isl.schedule_node_type.filter,
        isl.schedule_node_type.mark,
        isl.schedule_node_type.context,
        isl.schedule_node_type.guard,
        # copies: isl itself refuses extensions by statements that run already
        isl.schedule_node_type.extension,
    }:
        _check(node.child(0), active, ranges)
    else:
        raise IllegalSchedule(f"a node of type {kind} cannot be checked")


def _expect_nothing_left(active: isl.UnionMap, ranges: tuple[_LiveRanges, ...]) -> None:
    _expect_empty(active, "two dependent instances have the same time stamp")
    for each in ranges:
        _expect_empty(each.order, f"two live ranges of '{each.name}' have the same time stamp")


def _expect_empty(broken: isl.UnionMap | isl.UnionSet, message: str) -> None:
    if not broken.is_empty():
        raise IllegalSchedule(f"{message}: {broken}")


def _check_band(node: isl.ScheduleNode, active: isl.UnionMap, ranges: tuple[_LiveRanges, ...]) -> None:
    if node.band_n_member() == 0:
        _check(node.child(0), active, ranges)
        return
    partial = _unconditional(node.band_get_partial_schedule())
    if not _check_members(node, partial, active):  # of which none goes back, where all were looked at
        _expect_empty(active.lex_gt_at_multi_union_pw_aff(partial), "a band reverses a dependence")
    remaining = tuple(_order_in_band(partial, each) for each in ranges)
    if not all(map(node.band_member_get_coincident, range(node.band_n_member()))):
        active = active.eq_at_multi_union_pw_aff(partial)  # coincident members were found to order nothing
    _check(node.child(0), active, remaining)


def _unconditional(partial: isl.MultiUnionPwAff) -> isl.MultiUnionPwAff:
    """``partial`` without what is so for all its instances: pairs of these are not asked for that again."""
    return partial.gist(partial.domain().coalesce())


def _order_in_band(partial: isl.MultiUnionPwAff, ranges: _LiveRanges) -> _LiveRanges:
    """What is left of the order of live ranges below a band.

    The band may change the order of two live ranges if both have one time stamp in it:
    then one of them is over before the other begins.
    """
    order = ranges.order.eq_at_multi_union_pw_aff(partial)
    if ranges.flow.is_empty() and ranges.open.is_empty():  # of points alone: any order will do
        return replace(ranges, order=order)
    local = ranges.flow.eq_at_multi_union_pw_aff(partial)
    parted = ranges.open.union(_instances_of(ranges.flow.subtract(local))).coalesce()
    broken = ranges.order.lex_gt_at_multi_union_pw_aff(partial)
    _expect_empty(_instances_of(broken).intersect(parted), f"live ranges of '{ranges.name}' overlap")
    return _LiveRanges(ranges.name, local, order, parted)


def _check_members(node: isl.ScheduleNode, partial: isl.MultiUnionPwAff, active: isl.UnionMap) -> bool:
    """Prove of the members of a band, ``partial``: no permutable one goes back, no coincident one moves.

    Whether that is proved of all members.
    """
    # a coincident loop may reorder live ranges: each thread then owns a copy
    everywhere = True
    for position in range(node.band_n_member()):
        coincident = bool(node.band_member_get_coincident(position))
        if not coincident and not (node.band_get_permutable() and node.band_n_member() > 1):
            everywhere = False
            continue
        own = isl.MultiUnionPwAff.from_union_pw_aff(partial.get_union_pw_aff(position))
        _expect_empty(
            active.lex_gt_at_multi_union_pw_aff(own), f"member {position} of a band goes back in time"
        )
        if coincident:
            _expect_empty(
                active.lex_lt_at_multi_union_pw_aff(own),
                f"member {position} of a band is marked coincident and carries a dependence",
            )
    return everywhere


def _check_sequence(node: isl.ScheduleNode, active: isl.UnionMap, ranges: tuple[_LiveRanges, ...]) -> None:
    filters = [node.child(index).filter_get_filter() for index in range(node.n_children())]
    unordered = node_kind(node) == isl.schedule_node_type.set
    outgoing = _outgoing(filters, active)
    _expect_empty(_broken_by(filters, outgoing, unordered=unordered), "a sequence reverses a dependence")
    for index, (chosen, begun) in enumerate(zip(filters, outgoing, strict=True)):
        inside = tuple(each.within(chosen) for each in ranges)
        _check(node.child(index).child(0), begun.intersect_range(chosen), inside)
    for each in ranges:
        if not _broken_by(filters, _outgoing(filters, each.order), unordered=unordered).is_empty():
            _check_sequence_order(filters, each, unordered=unordered)


def _outgoing(filters: Sequence[isl.UnionSet], active: isl.UnionMap) -> list[isl.UnionMap]:
    """The pairs of ``active`` that begin in each of the ``filters``.

    By statements, of which a filter has few: a region of a thousand nests has as many filters.
    """
    by_source: dict[str, list[isl.Map]] = {}
    for each in maps_of(active):
        by_source.setdefault(each.get_tuple_name(isl.dim_type.in_), []).append(each)
    found = []
    for chosen in filters:
        names = dict.fromkeys(each.get_tuple_name() for each in sets_of(chosen))
        begun = [each for name in names for each in by_source.get(name, ())]
        found.append(union_of(begun, active.get_space()).intersect_domain(chosen))
    return found


def _broken_by(
    filters: Sequence[isl.UnionSet], outgoing: Sequence[isl.UnionMap], *, unordered: bool
) -> isl.UnionMap:
    """The pairs that a sequence of ``filters`` does not keep in order; ``outgoing`` are those of each.

    Filter by filter: as one function of the instances their positions are in many pieces.
    """
    broken = earlier = isl.UnionMap.empty(outgoing[0].get_space())
    before = isl.UnionSet.empty(broken.get_space())
    for chosen, begun in zip(filters, outgoing, strict=True):
        broken = broken.union(begun.intersect_range(before))
        if unordered:
            broken = broken.union(earlier.intersect_range(chosen))
            earlier = earlier.union(begun)
        before = before.union(chosen)
    return broken


def _check_sequence_order(filters: list[isl.UnionSet], ranges: _LiveRanges, *, unordered: bool) -> None:
    """Live ranges that a sequence reorders must each lie within one of its children."""
    for index, chosen in enumerate(filters):
        outgoing = ranges.order.intersect_domain(chosen)
        for other_index, other in enumerate(filters):
            if other_index == index or (other_index > index and not unordered):
                continue
            broken = outgoing.intersect_range(other)
            if not broken.is_empty():
                parted = ranges.within(chosen).open.union(ranges.within(other).open)
                _expect_empty(
                    _instances_of(broken).intersect(parted), f"live ranges of '{ranges.name}' overlap"
                )


def privatised(
    node: isl.ScheduleNode, private: tuple[PrivateArray, ...], position: int = 0
) -> tuple[PrivateArray, ...]:
    """The private arrays whose live ranges a member of a band, the first unless told, runs side by side.

    Each thread of that loop needs its own copy of them.
    """
    return _privatised(Itself(node), Itself(private), position)


@remembered  # likewise
def _privatised(
    at: Itself[isl.ScheduleNode], arrays: Itself[tuple[PrivateArray, ...]], position: int
) -> tuple[PrivateArray, ...]:
    node = at.value
    loop = member(node, position)
    shared: list[PrivateArray] = []
    for each in arrays.value:
        order = active_dependences(node, each.order)
        if not order.is_empty() and not order.is_subset(order.eq_at_multi_union_pw_aff(loop)):
            shared.append(each)
    return tuple(shared)


def keeps_values(node: isl.ScheduleNode, private: tuple[PrivateArray, ...], position: int = 0) -> bool:
    """Whether no value of the ``private`` arrays enters or leaves an iteration of a member of a band.

    That is the first one unless told. The copies of the threads start undefined and are lost in the
    end, so only then may they stand for the arrays.
    """
    loop = member(node, position)
    here = node.get_domain()
    for each in private:
        inside = active_dependences(node, each.flow).eq_at_multi_union_pw_aff(loop)
        touching = each.flow.intersect_domain(here).union(each.flow.intersect_range(here))
        if not touching.is_subset(inside):
            return False
    return True
