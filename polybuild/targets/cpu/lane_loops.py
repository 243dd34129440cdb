"""Loops that are written with vectors: each lane computes an iteration, whatever is inside of it.

Compilers take a loop for vectors if it is innermost, or nearly so, and calls nothing that they have no
vectors for. Where iterations may run side by side, though, lanes may go through loops and choices
together: sums inside stay in their order, one for each lane (outer-loop vectorisation, Nuzman and Zaks,
PACT 2008). Such loops are found here, and what each part of their bodies is in lanes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.dependences import Dependences
from polybuild.c.basic_types import INT
from polybuild.c.mathematics import ROOTS
from polybuild.c.syntax_tree import always_evaluates, walk
from polybuild.c.types import FloatingType, IntegerType
from polybuild.machine.model import Machine
from polybuild.poly.relations import maps_of
from polybuild.poly.trees import descendants, is_band
from polybuild.schedule.legality import keeps_values, privatised
from polybuild.scop.model import Access, AccessKind, Array, Scop, Statement
from polybuild.scop.skipped_instances import iteration_left_out
from polybuild.targets.cpu.cost.compilers_lanes import statements_of
from polybuild.targets.cpu.cost.core import farthest_read
from polybuild.targets.cpu.lane_bodies import LaneTyping
from polybuild.targets.cpu.lane_packing import find_packed_rows
from polybuild.targets.cpu.strides import Reference, Stride, moving_counters, references
from polybuild.targets.model import Interleaved, LaneLoop, LaneOperand, PackedRows

_out, _set = isl.dim_type.out, isl.dim_type.set


def find_lane_loop(
    node: isl.ScheduleNode, scop: Scop, dependences: Dependences, machine: Machine
) -> LaneLoop | None:
    """How the loop of the band ``node``, which has one member, runs in lanes; None if it cannot.

    That member carries no dependence but of variables that each iteration may have of its own.
    """
    private = {each.array.name: each.array for each in privatised(node, dependences.private)}
    if not keeps_values(node, privatised(node, dependences.private)):
        return None
    statements = statements_of(node, scop)
    if any(each.dynamic for each in statements) or any(each.extents for each in private.values()):
        return None
    if not _go_together(node):
        return None
    operands = _operands(node, scop, statements, private, machine)
    if operands is None:
        return None
    types = {each.type for each in operands.values() if each.varies and isinstance(each.type, FloatingType)}
    if len(types) != 1:
        return None
    element = types.pop()
    if not isinstance(element, FloatingType) or element.name not in {"float", "double"}:
        return None
    typing = LaneTyping(element, operands, scop.type_names)
    if not all(typing.statement(each.body) for each in statements):
        return None
    lanes = machine.vector.bytes // element.size
    copies = _copies(len(private), machine) if any(map(is_band, descendants(node.child(0)))) else 1
    packed = find_packed_rows(node, scop, operands, lanes * copies * element.size, machine)
    if packed is not None and _has_distant(operands, packed):
        copies = max(1, min(copies, machine.l1.ways // lanes))
        packed = find_packed_rows(node, scop, operands, lanes * copies * element.size, machine)
    if packed is None:
        return None
    return LaneLoop(
        element,
        lanes,
        copies,
        typing.kinds,
        typing.operands,
        tuple(private.values()),
        packed,
        frozenset(typing.converted),
        typing.steps,
    )


def _go_together(node: isl.ScheduleNode) -> bool:
    """Whether the loops inside of the band ``node``, of one member, have the same bounds in all lanes."""
    stamps = node.get_prefix_schedule_union_map().flat_range_product(node.get_subtree_schedule_union_map())
    lane = node.get_schedule_depth()
    for each in maps_of(stamps.intersect_domain(node.get_domain())):
        inside = int(each.dim(_out)) - lane - 1
        for piece in map(isl.Set.from_basic_set, each.range().coalesce().get_basic_sets()):
            loops = piece.project_out(_set, lane + 1, inside).add_dims(_set, inside)
            bounds = piece.project_out(_set, lane, 1).insert_dims(_set, lane, 1)
            if not loops.intersect(bounds).is_subset(piece):
                return False
    return True


def _has_distant(operands: Mapping[int, LaneOperand], packed: Sequence[PackedRows]) -> bool:
    """Whether lanes access elements that lie apart in memory, but for those of ``packed`` rows."""
    near = {node for each in packed for node in each.nodes}
    return any(each.is_distant and node not in near for node, each in operands.items())


def has_roots(node: isl.ScheduleNode, scop: Scop) -> bool:
    """Whether a statement below ``node`` computes square roots, which compilers leave to scalar code.

    They might have to tell of a negative operand.
    """
    return any(
        isinstance(part, c_ast.FuncCall) and getattr(part.name, "name", None) in ROOTS.values()
        for each in statements_of(node, scop)
        for part in walk(each.body)
    )


def _copies(variables: int, machine: Machine) -> int:
    """How many vectors of iterations run together: sums wait for themselves, so as many as registers hold."""
    copies = machine.arithmetic.chain
    while copies > 1 and copies * variables > machine.vector.registers // 2:
        copies //= 2
    return copies


def _operands(
    node: isl.ScheduleNode,
    scop: Scop,
    statements: list[Statement],
    private: Mapping[str, Array],
    machine: Machine,
) -> dict[int, LaneOperand] | None:
    """The operands of ``statements`` by the identities of their nodes; None if one is not for lanes."""
    found: dict[int, LaneOperand] = {}
    moving = moving_counters(scop, node)
    left_out = {each.name: _left_out(each, moving.get(each.name, ())) for each in statements}
    for each in references(scop, node):
        loaded = _is_loaded(each, left_out[each.statement.name])
        operand = _operand(each, private, machine, loaded=loaded)
        before = found.get(id(each.access.node))
        if operand is None or before not in {None, operand}:
            return None
        found[id(each.access.node)] = operand
    types = {each.expression.name: each.type for each in scop.parameters if _is_name(each.expression)}
    for statement in statements:
        inside = statement.element_nodes
        counters = {each.name: each.type for each in statement.iterators}
        own = {each.name for each in walk(statement.body) if isinstance(each, c_ast.Decl)}
        for part in walk(statement.body):
            if not isinstance(part, c_ast.ID) or id(part) in inside or part.name in own:
                continue
            moves = part.name in moving.get(statement.name, ())
            kind = counters.get(part.name) or types.get(part.name)
            if kind is not None:
                found[id(part)] = LaneOperand(kind, varies=moves, counter=moves)
    return found


def _is_loaded(reference: Reference, left_out: isl.Set | None) -> bool:
    """Whether lanes may load what ``reference`` reads, whatever the data are.

    Where one lane at most is ``left_out`` of what a statement does, it may load what is read elsewhere.
    """
    body, twins = reference.statement.body, list(_twins(reference.statement, reference.access))
    if any(always_evaluates(body, each.node) for each in twins):
        return True
    if left_out is None or not any(always_evaluates(body.iftrue, each.node) for each in twins):
        return False
    relation, whole = reference.access.relation, reference.statement.domain
    return bool(left_out.apply(relation).is_subset(whole.subtract(left_out).apply(relation)))


def _left_out(statement: Statement, moving: Collection[str]) -> isl.Set | None:
    """The instances in which one of several lanes has nothing to do; None if that is not known.

    Lanes are iterations of one counter, the one in ``moving``, for equal values of the others.
    """
    left_out = iteration_left_out(statement)
    names = [each.name for each in statement.iterators]
    sides = {statement.body.cond.left.name, statement.body.cond.right.name} if left_out is not None else set()
    if left_out is None or len(moving) != 1 or not sides.issuperset(moving):
        return None
    same = isl.Map.identity(statement.domain.get_space().map_from_set())
    (counter,) = moving
    others = same.drop_constraints_involving_dims(_out, names.index(counter), 1).subtract(same)
    return left_out.intersect(others.intersect_range(statement.domain).domain())


def _operand(
    reference: Reference, private: Mapping[str, Array], machine: Machine, *, loaded: bool
) -> LaneOperand | None:
    access, array = reference.access, reference.access.array
    if array.name in private:
        return None if _wraps(array) else LaneOperand(array.element, varies=True, variable=True)
    written = access.kind is not AccessKind.READ
    if not array.extents:
        return None if written else LaneOperand(array.element)
    stride = reference.stride(0)
    if not access.exact or access.kind is AccessKind.MAY_WRITE or (written and stride is Stride.NONE):
        return None
    return LaneOperand(
        array.element,
        varies=stride is not Stride.NONE,
        adjacent=reference.is_adjacent(0) and reference.matrix[-1][0] == 1,
        element=True,
        loaded=loaded,
        interleaved=None if written else _interleaved(reference, machine),
    )


def _wraps(variable: Array) -> bool:
    """Whether what is assigned to ``variable`` may have to wrap, which the wider integers of lanes do not.

    What ``narrow_variables`` made narrow fits.
    """
    narrow = isinstance(variable.element, IntegerType) and variable.element.width < INT.width
    return narrow and (variable.declared is None or variable.declared.coord is not None)


def _interleaved(reference: Reference, machine: Machine) -> Interleaved | None:
    """How the elements for the lanes lie among others, None unless they are sorted out of whole vectors."""
    array, step = reference.access.array, reference.distance(0)
    if step is None or step <= 1 or not isinstance(array.element, FloatingType):
        return None
    if step * array.element.size > farthest_read(machine):
        return None
    members = array.provenance.interleaving
    if members is None:
        return Interleaved(step, None)
    return Interleaved(step, members.place) if step == members.count else None


def _twins(statement: Statement, access: Access) -> Iterator[Access]:
    """The reads of ``statement`` that touch what ``access`` does."""
    for each in statement.accesses:
        if (
            each.kind is AccessKind.READ
            and each.array is access.array
            and each.relation.is_equal(access.relation)
        ):
            yield each


def _is_name(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.ID)
