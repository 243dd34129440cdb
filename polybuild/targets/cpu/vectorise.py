"""The loop for the vector unit: which member of an innermost band, and with which statements.

PLDI 2008, section 5.4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.dependences import Dependences
from polybuild.analysis.operations import operations_of
from polybuild.c.syntax_tree import walk
from polybuild.c.types import IntegerType
from polybuild.effort import STORAGE_PERIODS
from polybuild.machine.model import DOUBLE, Machine
from polybuild.poly.spaces import constant_value
from polybuild.schedule.legality import active_dependences, is_legal_below
from polybuild.scop.model import AccessKind
from polybuild.targets.cpu.carried import carries_nothing, fixed_around
from polybuild.targets.cpu.reductions import carried_reductions
from polybuild.targets.cpu.strides import Reference, Stride
from polybuild.transform.bands import split_last
from polybuild.transform.distribution import dependence_groups, distribute
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class VectorLoop:
    """Member ``member`` of a band, run innermost, carries no dependence, or nothing but reductions.

    Where ``groups`` is not empty, that is so once the loop is distributed over
    these sets of instances, in this order.
    """

    member: int
    groups: tuple[isl.UnionSet, ...] = ()


def find_vector_loop(
    band: isl.ScheduleNode, accesses: list[Reference], dependences: Dependences, machine: Machine
) -> VectorLoop | None:
    """The best loop for the vector unit among the members of an innermost band, None if there is none."""
    active = active_dependences(band, dependences.carried)
    partial = band.band_get_partial_schedule()
    for member in vector_candidates(accesses, band.band_n_member(), machine):
        innermost = fixed_around(partial, member, active)
        if carries_nothing(partial, member, innermost):
            return VectorLoop(member)
        groups = dependence_groups(band.get_domain(), innermost)
        if len(groups) > 1 and all(
            carries_nothing(partial, member, innermost.intersect_domain(each).intersect_range(each))
            for each in groups
        ):
            distributed = distribute(split_last(band, member), groups)
            if is_legal_below(distributed, dependences):
                return VectorLoop(member, tuple(groups))
        if dependences.reductions:
            reduced = carried_reductions(split_last(band, member), 0, accesses, dependences)
            if reduced and all(each.for_lanes for each in reduced):
                return VectorLoop(member)
    return None


def vector_candidates(accesses: list[Reference], members: int, machine: Machine) -> list[int]:
    """The members worth running innermost for the vector unit, the best first.

    None if a statement was kept whole with loops inside.
    """
    # a statement may have very many accesses, where it is a block of them
    bodies = {each.statement.name: each.statement.body for each in accesses}
    if any(map(has_loops, bodies.values())):
        return []
    costs = {member: member_cost(accesses, member, machine) for member in range(members)}
    # later members first: at equal cost the order of the scheduler stays
    worth = [member for member in reversed(range(members)) if costs[member] is not None]
    return sorted(worth, key=lambda member: costs[member] or 0.0)


def member_cost(accesses: list[Reference], position: int, machine: Machine) -> float | None:
    """Mean cost of an access if ``position`` is vectorised, over a scalar one; None if scalar code is better.

    A store that is scattered costs twice as much as a load that is gathered. Variables, which registers keep,
    cost nothing and make up for nothing. Divisions and square roots count as the accesses that take as long.
    """
    vectors = machine.vector
    costs = {Stride.NONE: 0.0, Stride.UNIT: vectors.adjacent, Stride.FAR: vectors.strided}
    accesses = [each for each in accesses if each.matrix]
    if not accesses:
        return 0.0
    if any(_goes_from_row_to_row(each, position) for each in accesses):
        return None
    total = sum(
        vectors.near
        if _is_interleaved(each, accesses, position, vectors.sorted_bytes)
        else (1.0 if each.access.kind is AccessKind.READ else 2.0) * costs[each.stride(position)]
        for each in accesses
    )
    scalar, lanes = _slow_operations(accesses, machine)
    mean = (total + lanes) / (len(accesses) + scalar)
    return mean if mean < 1.0 else None


def _goes_from_row_to_row(reference: Reference, position: int) -> bool:
    """Whether steps along a member follow another pointer to a row: compilers gather from one base alone."""
    return any(row[position] != 0 for row in reference.matrix[: reference.access.array.row_subscripts])


def _slow_operations(accesses: Sequence[Reference], machine: Machine) -> tuple[float, float]:
    """What divisions and square roots of the statements with ``accesses`` take, one by one and in lanes.

    Both in scalar accesses. One by one other operations wait for them; lanes have others to go on with.
    """
    found = [
        operations_of(each) for each in {each.statement.name: each.statement for each in accesses}.values()
    ]
    scalar, lanes = machine.arithmetic, machine.vector
    alone = sum(
        each.divisions * (scalar.divide + scalar.latency) + each.roots * (scalar.root + scalar.latency)
        for each in found
    )
    return (
        alone / scalar.access,
        sum((each.divisions * lanes.divide + each.roots * lanes.root) * each.width for each in found)
        / (DOUBLE * scalar.access),
    )


def _is_interleaved(
    reference: Reference, accesses: Sequence[Reference], position: int, farthest: int
) -> bool:
    """Whether steps along a member access elements that are sorted out of whole vectors, or into these.

    They are all elements of a stretch, together with others of ``accesses``, or read small ones, ``farthest``
    bytes apart or less.
    """
    if fill_stretches(reference, accesses, position):
        return True
    element, step = reference.access.array.element, step_in_row(reference, position)
    if not isinstance(element, IntegerType) or reference.access.kind is not AccessKind.READ:
        return False
    return 1 < step <= farthest * 8 // element.width


def fill_stretches(
    reference: Reference,
    accesses: Sequence[Reference],
    position: int,
    copies: Mapping[int, int] = MappingProxyType({}),
) -> bool:
    """Whether ``accesses`` are of all elements between those that steps along a member come to.

    They load as ``reference`` does, or store as it does. Some nodes (by identity) access as many elements
    side by side as they have ``copies`` in loops that are unrolled.
    """
    step = step_in_row(reference, position)
    if not 1 < step <= max((*STORAGE_PERIODS, *copies.values())):
        return False
    reads = reference.access.kind is AccessKind.READ
    found: list[isl.Map] = []
    count = 0
    for each in accesses:
        same = each.access.array.name == reference.access.array.name and each.matrix == reference.matrix
        if same and (each.access.kind is AccessKind.READ) == reads:
            relation = each.access.relation.reset_tuple_id(isl.dim_type.in_)
            if not any(relation.is_equal(other) for other in found):
                found.append(relation)
                count += copies.get(id(each.access.node), 1)
    return count == step


def step_in_row(reference: Reference, position: int) -> int:
    """How many elements in memory a step along a member goes on; 0 if it does not stay in one stretch.

    Rows of which the length is known lie side by side.
    """
    array, step, length = reference.access.array, 0, 1
    steps = [row[position] for row in reference.matrix]
    if any(array.suffixes) or None in steps or any(steps[: array.row_subscripts]):
        return 0
    for each, extent in zip(reversed(steps), reversed(array.extents), strict=False):
        if each and not length:
            return 0
        step += (each or 0) * length
        length *= (extent is not None and constant_value(extent)) or 0
    return abs(step) * reference.steps[position]


def has_loops(body: c_ast.Node) -> bool:
    """Whether a statement has control flow that a vector unit cannot follow."""
    return any(
        isinstance(each, c_ast.For | c_ast.While | c_ast.DoWhile | c_ast.Switch) for each in walk(body)
    )
