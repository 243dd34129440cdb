"""Messages that travel while a rank works: what others read is computed first, the rest of the block then.

A phase carries nothing along the loop that ranks share, so its values may run in any order: those that write
something for another rank, then, while that is on its way, those in between (Bondhugula, SC 2013, section 5,
leaves that to MPI's own progress).
"""

from __future__ import annotations

import islpy as isl

from polybuild.targets.ranks.messages import disjoint_blocks
from polybuild.targets.ranks.model import END, FIRST, TO_END, TO_FIRST
from polybuild.targets.ranks.phases import SharedLoop
from polybuild.values import dataclass

_PARAM, _SET = isl.dim_type.param, isl.dim_type.set


@dataclass(frozen=True, slots=True)
class SplitBlock:
    """The instances of a rank's block of a phase: first its ``border``, then its ``interior``."""

    border: isl.UnionSet
    interior: isl.UnionSet


def find_overlap(phase: SharedLoop, flow: isl.UnionMap) -> SplitBlock | None:
    """The parts of a block of which only the border writes values of ``flow``, ``{ W[i] -> a[x] }``.

    None where they write none, or the interior is not all between two values of the loop that ranks share.
    """
    runs = phase.runs()
    block = _values(runs, phase.block(FIRST, END))
    writers = flow.domain().intersect(phase.block(FIRST, END)).intersect_params(disjoint_blocks(FIRST, END))
    if writers.is_empty():
        return None
    sent = _values(runs, writers)
    for name in (TO_FIRST, TO_END):
        position = sent.find_dim_by_name(_PARAM, name)
        if position >= 0:
            sent = sent.project_out(_PARAM, position, 1)
    interior = block.subtract(_wherever_it_lies(sent.gist(block), phase.depth)).coalesce()
    if block.is_subset(interior) or interior.n_basic_set() != 1:
        return None
    inside = isl.UnionSet.from_set(interior).apply(runs.reverse()).intersect(phase.domain).coalesce()
    return SplitBlock(phase.block(FIRST, END).subtract(inside).coalesce(), inside)


def _values(runs: isl.UnionMap, instances: isl.UnionSet) -> isl.Set:
    """``{ [t0, ..., x] }``: the values of the loops around, and of what blocks are made of."""
    return isl.Set.from_union_set(instances.apply(runs)).coalesce()


def _wherever_it_lies(sent: isl.Set, depth: int) -> isl.Set:
    """``sent`` as if a block always had neighbours: one loop is in between then, whatever the block.

    Of what is known of the value at ``depth`` is left which one it is, and how far it is from the ends.
    """
    ends = [sent.find_dim_by_name(_PARAM, name) for name in (FIRST, END)]

    def is_kept(constraint: isl.Constraint) -> bool:
        near = any(end >= 0 and constraint.involves_dims(_PARAM, end, 1) for end in ends)
        return constraint.involves_dims(_SET, depth, 1) and (near or constraint.is_equality())

    wider = isl.Set.empty(sent.get_space())
    for each in sent.coalesce().get_basic_sets():
        kept = isl.BasicSet.universe(sent.get_space())
        for constraint in filter(is_kept, each.get_constraints()):
            kept = kept.add_constraint(constraint)
        wider = wider.union(isl.Set.from_basic_set(kept))
    return wider
