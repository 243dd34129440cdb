"""Dynamic loops in bands of their own, so that their bounds can be written again.

``(i, j)``, where the bounds of ``j`` are data that depend on ``i``, becomes ``(i)``
above ``(j)``: neither is tiled together with the other (CC 2018, "schedule
transformation": a mark below each band of a dynamic loop).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from polybuild.poly.relations import depends_on, maps_of
from polybuild.poly.trees import is_band, member, negate
from polybuild.scop.model import DynamicLoop, Scop, Statement
from polybuild.transform.bands import permute
from polybuild.values import dataclass

_in, _out = isl.dim_type.in_, isl.dim_type.out


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of a band: the dynamic loop it is, if any, and whether it counts a loop around one.

    A ``backwards`` member runs through its loop from the end.
    """

    loop: DynamicLoop | None
    outer: bool
    backwards: bool = False


def separate_dynamic_loops(scop: Scop, schedule: isl.Schedule) -> isl.Schedule | None:
    """``schedule`` with each dynamic loop in a band of its own, inside of the loops around it.

    None if it mixes such a loop with others, or runs it outside of a loop around it.
    """
    if not any(statement.dynamic for statement in scop.statements):
        return schedule
    root = _separated(schedule.get_root(), {statement.name: statement for statement in scop.statements})
    return None if root is None else root.get_schedule()


def run_dynamic_loops_in_order(scop: Scop, schedule: isl.Schedule) -> isl.Schedule:
    """``schedule`` where no dynamic loop counts as parallel."""
    dynamic = {statement.name: statement.dynamic for statement in scop.statements if statement.dynamic}
    return _in_order(schedule.get_root(), dynamic).get_schedule() if dynamic else schedule


def _in_order(node: isl.ScheduleNode, dynamic: Mapping[str, Sequence[DynamicLoop]]) -> isl.ScheduleNode:
    for position in range(node.band_n_member() if is_band(node) else 0):
        if counts_dynamic_loop(node, position, dynamic):
            node = node.band_member_set_coincident(position, 0)
    for index in range(node.n_children()):
        node = _in_order(node.child(index), dynamic).parent()
    return node


def counts_dynamic_loop(
    band: isl.ScheduleNode, position: int, dynamic: Mapping[str, Sequence[DynamicLoop]]
) -> bool:
    """Whether a member of ``band`` depends on the counter of a loop that is among those of its statement."""
    schedule = isl.UnionMap.from_multi_union_pw_aff(member(band, position))
    return any(
        depends_on(each, loop.position)
        for each in maps_of(schedule.intersect_domain(band.get_domain()))
        for loop in dynamic.get(each.get_tuple_name(_in), ())
    )


def _separated(node: isl.ScheduleNode, statements: Mapping[str, Statement]) -> isl.ScheduleNode | None:
    if is_band(node):
        return _separated_band(node, statements)
    for index in range(node.n_children()):
        below = _separated(node.child(index), statements)
        if below is None:
            return None
        node = below.parent()
    return node


def _separated_band(node: isl.ScheduleNode, statements: Mapping[str, Statement]) -> isl.ScheduleNode | None:
    depth = node.get_tree_depth()
    members: list[_Member] = []
    for position in range(node.band_n_member()):
        schedule = isl.UnionMap.from_multi_union_pw_aff(member(node, position))
        found = _member(schedule.intersect_domain(node.get_domain()), statements)
        if found is None:
            return None
        if found.backwards:
            if not node.band_member_get_coincident(position):
                return None
            node = negate(node, position)
        members.append(found)
    order = _order(members)
    if order != list(range(len(members))) and not node.band_get_permutable():
        return None
    node = permute(node, order)
    loops = [members[position].loop for position in order]
    while True:
        size = _length(loops)
        if size < len(loops):
            node = node.band_split(size)
        if loops[0] is not None and not _is_inside(node, loops[0], statements):
            return None
        loops = loops[size:]
        if not loops:
            break
        node = node.child(0)
    below = _separated(node.child(0), statements)
    return None if below is None else below.ancestor(below.get_tree_depth() - depth)


def _member(schedule: isl.UnionMap, statements: Mapping[str, Statement]) -> _Member | None:
    """What a member of a band is; None if it is a dynamic loop for some statements only, or skewed."""
    loops: set[DynamicLoop | None] | None = None
    outer = backwards = False
    for each in maps_of(schedule):
        statement = statements.get(each.get_tuple_name(_in))  # what ranks exchange is no statement
        dynamic = () if statement is None else statement.dynamic
        used = [dim for dim in range(each.dim(_in)) if depends_on(each, dim)]
        outer = outer or any(dim < loop.position for loop in dynamic for dim in used)
        possible: set[DynamicLoop | None] = {loop for loop in dynamic if _steps_through(each, loop)}
        if not possible:
            possible = {loop for loop in dynamic if _steps_through(each, loop, backwards=True)}
            backwards = backwards or bool(possible)
        if not any(loop.position in used for loop in dynamic):
            possible.add(None)
        loops = possible if loops is None else loops & possible
    if not loops:
        return None
    if None in loops:
        return _Member(None, outer)
    mixed = backwards and any(_forwards(each, statements) for each in maps_of(schedule))
    return None if mixed else _Member(loops.pop(), outer, backwards)


def _order(members: Sequence[_Member]) -> list[int]:
    """The loops around dynamic ones first, then those, then what is inside; else as they are."""

    def rank(position: int) -> int:
        each = members[position]
        return 1 if each.loop is not None else 0 if each.outer else 2

    if all(each.loop is None for each in members):
        return list(range(len(members)))
    dynamic = [each.loop.position for each in members if each.loop is not None]
    if dynamic != sorted(dynamic):
        return sorted(range(len(members)), key=lambda position: (rank(position), _place(members[position])))
    return sorted(range(len(members)), key=rank)


def _place(each: _Member) -> int:
    return 0 if each.loop is None else each.loop.position


def _length(loops: Sequence[DynamicLoop | None]) -> int:
    """How many members make the first band: one dynamic loop, or all before the next one."""
    if loops[0] is not None:
        return 1
    return next((position for position, loop in enumerate(loops) if loop is not None), len(loops))


def _is_inside(node: isl.ScheduleNode, loop: DynamicLoop, statements: Mapping[str, Statement]) -> bool:
    """Whether the tree above ``node`` fixes the counters of the loops around ``loop``."""
    here = node.get_prefix_schedule_relation()
    for each in maps_of(here):
        depth = each.dim(_in)
        if loop not in statements[each.get_tuple_name(_in)].dynamic:
            return False
        if not each.project_out(_in, loop.position, depth - loop.position).reverse().is_single_valued():
            return False
    return True


def _forwards(schedule: isl.Map, statements: Mapping[str, Statement]) -> bool:
    return any(_steps_through(schedule, loop) for loop in statements[schedule.get_tuple_name(_in)].dynamic)


def _steps_through(schedule: isl.Map, loop: DynamicLoop, *, backwards: bool = False) -> bool:
    """Whether the one dimension of ``schedule`` counts as ``loop`` does, or against it."""
    anything = isl.Map.universe(schedule.get_space())
    upwards = (loop.step > 0) != backwards
    relate = anything.equate if upwards else anything.oppose
    return bool(schedule.is_subset(relate(_in, loop.position, _out, 0)))
