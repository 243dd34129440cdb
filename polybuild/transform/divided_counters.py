"""Rows whose places divide, as ``in[x / 2]``: each residue class of the counter has its own statements.

::

    for x:                                       for h:
      out[x] = in[x / 2] + (x % 2) * w[x % 2]  ->  out[2 * h] = in[h]
                                                   out[2 * h + 1] = in[h] + w[1]

As where pictures are enlarged, where points share a colour or have one of a pattern, where a byte holds two
numbers. Subscripts that divide, and conditions on remainders, keep compilers from vectors; what is left has
strides. This is index-set splitting as in ``residue_classes.py``, of innermost loops that carry nothing:
instances and their order stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

import islpy as isl
from pycparser import c_ast

from polybuild.c.syntax_tree import walk
from polybuild.effort import ALTERNATING_STATEMENTS, DIVIDED_OPERATIONS, STORAGE_PERIODS
from polybuild.poly.budget import found_within
from polybuild.poly.relations import sets_of, tuple_name
from polybuild.poly.trees import descendants, is_band, prefix_schedule
from polybuild.scop.model import Access, AccessKind, Scop, Statement
from polybuild.scop.strides import count_steps
from polybuild.transform.residue_classes import (
    AlternatingLoop,
    count_parts,
    counters_of,
    has_simpler_conditions,
    instances_in_phases,
    split_into_phases,
)
from polybuild.transform.settled_choices import with_settled_choices

_DIVIDING = frozenset({"/", "%", "&", ">>"})


def split_divided_counters(scop: Scop) -> Scop:
    """``scop`` with the statements of innermost loops split whose places divide; itself if there are none."""
    if not any(map(_may_divide, scop.statements)):
        return scop
    return found_within(DIVIDED_OPERATIONS, partial(_split, scop)) or scop


def _may_divide(statement: Statement) -> bool:
    """Whether conditions divide, or something like a division is written in a subscript."""
    return statement.domain.involves_locals() or any(
        isinstance(part, c_ast.BinaryOp) and part.op in _DIVIDING
        for each in statement.accesses
        if each.array.extents
        for part in walk(each.node)
    )


def _split(scop: Scop) -> Scop:
    # the loops' depths and statements stay what they are while others are split
    loops = [*filter(None, (_loop(scop, band) for band in descendants(scop.schedule.get_root())))]
    for loop in loops:
        scop, phases = split_into_phases(scop, loop)
        parts = {part.name for phase in phases for part in phase.values()}
        statements = tuple(
            with_settled_choices(replace(each, conditional=True), scop.context)
            if each.name in parts
            else each
            for each in scop.statements
        )
        scop = replace(scop, statements=statements)
    return count_steps(scop) if loops else scop


def _loop(scop: Scop, band: isl.ScheduleNode) -> AlternatingLoop | None:
    """The innermost loop ``band`` with the fewest residue classes in which less divides; None if none."""
    if not is_band(band) or band.band_n_member() != 1:
        return None
    depth = band.get_schedule_depth()
    names = {tuple_name(each) for each in sets_of(band.get_domain())}
    inside = [each for each in scop.statements if each.name in names]
    innermost = all(len(each.iterators) == depth + 1 and not each.dynamic for each in inside)
    if not innermost or not any(map(_may_divide, inside)) or _keeps_variables(inside):
        return None
    counters, turns = counters_of(band), _take_turns(inside)
    for period in STORAGE_PERIODS:
        loop = AlternatingLoop(depth, counters, period)
        if count_parts(inside, loop) > ALTERNATING_STATEMENTS:
            return None
        simpler = turns and any(has_simpler_conditions(each, loop) for each in inside)
        if simpler or any(_gains(each, loop) for each in inside):
            return None if _carries(inside, band) else loop
    return None


def _take_turns(inside: Sequence[Statement]) -> bool:
    """Whether two statements have no iteration in common: conditions that all share are strides of a loop."""
    domains = [each.domain.reset_tuple_id() for each in inside]
    return any(one.is_disjoint(other) for one, other in combinations(domains, 2))


def _gains(statement: Statement, loop: AlternatingLoop) -> bool:
    """Whether a subscript of ``statement`` divides less in each residue class of ``loop``."""
    classes = [each for each in instances_in_phases(statement, loop) if not each.is_empty()]
    for each in statement.accesses:
        divisions = _divisions(each, statement.domain) if each.exact and each.array.extents else 0
        if divisions and all(_divisions(each, one) < divisions for one in classes):
            return True
    return False


def _divisions(access: Access, instances: isl.Set) -> int:
    """How many integer divisions the subscripts and conditions of ``access`` have in some ``instances``."""
    relation = access.relation.intersect_domain(instances)
    if not relation.is_single_valued():
        return 0
    elements = isl.PwMultiAff.from_map(relation).gist(instances)
    subscripts = [elements.get_pw_aff(at) for at in range(elements.dim(isl.dim_type.out))]
    found = [
        max((aff.dim(isl.dim_type.div) for _, aff in each.get_pieces()), default=0) for each in subscripts
    ]
    return sum(found) + int(relation.domain().gist(instances).involves_locals())


def _keeps_variables(inside: Sequence[Statement]) -> bool:
    """Whether a variable's value goes from one iteration to the next: it is read before it is set."""
    accesses = [each for statement in inside for each in statement.accesses if not each.array.extents]
    to_set = {each.array.name for each in accesses if each.kind is not AccessKind.READ}
    for each in accesses:
        if each.kind is AccessKind.READ and each.array.name in to_set:
            return True
        if each.kind is AccessKind.WRITE:
            to_set.discard(each.array.name)
    return False


def _carries(inside: Sequence[Statement], band: isl.ScheduleNode) -> bool:
    """Whether two iterations of the loop ``band`` write to one element, or one writes what another reads."""
    accesses = [
        (statement, each) for statement in inside for each in statement.accesses if each.array.extents
    ]
    written = {each.array.name for _, each in accesses if each.kind is not AccessKind.READ}
    uses = writes = isl.UnionMap.empty(band.get_domain().get_space())
    for statement, each in accesses:
        if each.array.name in written:
            elements = isl.UnionMap.from_map(each.relation.intersect_domain(statement.domain))
            uses = uses.union(elements)
            if each.kind is not AccessKind.READ:
                writes = writes.union(elements)
    around = prefix_schedule(band)
    counter = isl.UnionMap.from_multi_union_pw_aff(band.band_get_partial_schedule())
    same_row = around.apply_range(around.reverse())
    same_iteration = counter.apply_range(counter.reverse())
    meeting = writes.apply_range(uses.reverse()).intersect(same_row)
    return not meeting.is_subset(same_iteration)
