"""Loops that are written with vectors: each lane computes an iteration, whatever is inside of it.

Compilers take a loop for vectors if it is innermost, or nearly so, and calls nothing that they have no
vectors for. Where iterations may run side by side, though, lanes may go through loops and choices
together: sums inside stay in their order, one for each lane (outer-loop vectorisation, Nuzman and Zaks,
PACT 2008). Such loops are found here, and what each part of their bodies is in lanes.

A statement may be a loop of its own, that ends when a condition on what it computes holds. Lanes go
through it together, too; other statements beside it run for one lane after the other where they must.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.dependences import Dependences
from polybuild.c.basic_types import INT, DataModel, floating
from polybuild.c.mathematics import ROOTS
from polybuild.c.syntax_tree import contains, walk
from polybuild.c.types import FloatingType, IntegerType, Type
from polybuild.machine.model import Machine
from polybuild.poly.relations import maps_of, sets_of, tuple_name
from polybuild.poly.trees import descendants, is_band, prefix_schedule
from polybuild.schedule.legality import keeps_values, privatised
from polybuild.scop.model import AccessKind, Array, Scop, Statement
from polybuild.targets.cpu.cost.compilers_lanes import statements_of
from polybuild.targets.cpu.cost.core import farthest_read
from polybuild.targets.cpu.lane_bodies import LOOPS, LaneTyping, declared_type
from polybuild.targets.cpu.lane_loads import LaneLoads
from polybuild.targets.cpu.lane_packing import find_packed_rows
from polybuild.targets.cpu.lane_windows import copies_with, find_row_windows, stretch_of
from polybuild.targets.cpu.strides import Reference, Stride, moving_counters, references
from polybuild.targets.cpu.vectorise import has_loops
from polybuild.targets.model import Interleaved, LaneLoop, LaneOperand, PackedRows, RowWindow, RowWindows
from polybuild.transform.full_unrolling import maximum_trips
from polybuild.values import dataclass

_in, _out, _set = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


def find_lane_loop(
    node: isl.ScheduleNode, scop: Scop, dependences: Dependences, machine: Machine, *, scalar: bool = False
) -> LaneLoop | c_ast.Node | None:
    """How the loop of the band ``node``, which has one member, runs in lanes; None if it cannot.

    That member carries no dependence but of variables that each iteration may have of its own. It would be
    ``scalar`` code otherwise.
    Where statements have loops of their own, what lanes cannot compute of these is returned, if it is that.
    What stands beside loops may be anything: it runs for one lane after the other.
    """
    private = {each.array.name: each.array for each in privatised(node, dependences.private)}
    if not keeps_values(node, privatised(node, dependences.private)):
        return None
    statements = statements_of(node, scop)
    if any(each.dynamic for each in statements) or not _go_together(node) or _has_steps(node):
        return None
    arrays = [each for each in private.values() if each.extents]
    if arrays and not _are_placed_alike(node, scop, arrays):
        return None
    operands, others = _operands(node, scop, statements, private, machine)
    loops = any(has_loops(each.body) for each in statements)
    repeated = _repeated(node, statements)
    found = _typed(operands, others, repeated, statements, scop, scalar=scalar)
    if not isinstance(found, _Typed):
        return found if loops else None
    if found.singles and not all(map(_has_number, private.values())):
        return None
    if arrays and (loops or not all(found.typing.has_lanes(each.element) for each in arrays)):
        return None
    together = {id(part) for each in statements if each.name not in found.singles for part in walk(each.body)}
    operands = {part: each for part, each in operands.items() if part in together}
    element, lanes = found.element, machine.vector.bytes // found.element.size
    copies = _copies(len(private), machine) if loops or any(map(is_band, descendants(node.child(0)))) else 1
    own = lanes * element.size * sum(math.prod(each.sizes or ()) for each in arrays)
    if own > machine.l2.bytes // 2:
        return None
    copies = max(1, min(copies, machine.l1.bytes // own)) if own else copies
    copies = copies_in_row(copies, lanes, maximum_trips(node, 0))
    often = {id(part) for each in repeated for part in walk(each.body)}
    inside = {part: each for part, each in operands.items() if part in often}
    vectors = _Vectors(element, lanes, copies, found.typing.bodies.guarded)
    rows = _rows(node, scop, inside, vectors, machine, repeats=loops)
    if rows is None:
        return None
    variables, has_lanes = tuple(private.values()), found.typing.has_lanes
    names = frozenset(each.name for each in variables if has_lanes(each.element))
    loose = _loose(node, variables, statements, element)
    return LaneLoop(
        element,
        lanes,
        rows.copies,
        found.typing.bodies,
        variables,
        rows.packed,
        names,
        found.singles,
        loops,
        loose,
        rows.windows,
    )


@dataclass(frozen=True, slots=True)
class _Vectors:
    """So many ``copies`` of vectors with ``lanes`` of type ``element``; ``guarded`` as in ``LaneBodies``."""

    element: FloatingType
    lanes: int
    copies: int
    guarded: frozenset[int]

    @property
    def bytes(self) -> int:
        """How long they are together."""
        return self.element.size * self.lanes * self.copies


@dataclass(frozen=True, slots=True)
class _RowAccess:
    """How lanes of so many ``copies`` of vectors come to the rows that they access, each its own.

    Rows are ``packed``, or loops inside have ``windows``.
    """

    copies: int
    packed: tuple[PackedRows, ...]
    windows: RowWindows


def _rows(
    node: isl.ScheduleNode,
    scop: Scop,
    operands: Mapping[int, LaneOperand],
    vector: _Vectors,
    machine: Machine,
    *,
    repeats: bool,
) -> _RowAccess | None:
    """How the loop of the band ``node`` comes to its rows in lanes of vectors, or fewer of these.

    None if they would gather distant elements again and again. What ``repeats`` parts of statements may
    access an element where it is in no window.
    """
    windows = (
        ()
        if repeats or _may_leave(node, scop)
        else find_row_windows(node, scop, operands, vector.lanes, machine)
    )
    if windows:
        vector = replace(vector, copies=copies_with(windows, vector.copies))
    inside = {part for loop in windows for each in loop for part in each.places}
    others = {part: each for part, each in operands.items() if part not in inside}
    pack = partial(find_packed_rows, node, scop, machine=machine, guarded=vector.guarded)
    chosen, packed = operands, pack(operands, row_bytes=vector.bytes)
    if packed is None and inside:
        chosen, packed = others, pack(others, row_bytes=vector.bytes)
    if packed is not None and _has_distant(others, packed):
        copies = max(1, min(vector.copies, machine.l1.ways // vector.lanes))
        vector = replace(vector, copies=copies)
        packed = pack(chosen, row_bytes=vector.bytes)
    if packed is None:
        return None
    loops = _besides(windows, packed)
    stretch = stretch_of(loops, vector.lanes, vector.bytes, machine.l1)
    if loops and not stretch:
        return None
    return _RowAccess(vector.copies, packed, RowWindows(loops, stretch, machine.memory.ahead))


def has_wide_integers(found: LaneLoop) -> bool:
    """Whether lanes of 8 bytes compute with integers, for which the vectors of some machines have little."""
    operands = found.bodies.operands.values()
    return found.type.size > INT.width // 8 and any(
        isinstance(each.type, IntegerType) and each.varies and (each.variable or each.loaded)
        for each in operands
    )


def _may_leave(node: isl.ScheduleNode, scop: Scop) -> bool:
    """Whether a statement below ``node`` may leave an element as it is."""
    accesses = (access for each in statements_of(node, scop) for access in each.accesses)
    return any(each.kind is AccessKind.MAY_WRITE and bool(each.array.extents) for each in accesses)


@dataclass(frozen=True, slots=True)
class _Typed:
    """What statements are in lanes of ``element``, but for the ``singles``: those for one lane at a time."""

    element: FloatingType
    typing: LaneTyping
    singles: frozenset[str]


def _typed(
    operands: Mapping[int, LaneOperand],
    others: Collection[str],
    repeated: Sequence[Statement],
    statements: Sequence[Statement],
    scop: Scop,
    *,
    scalar: bool,
) -> _Typed | c_ast.Node | None:
    """What ``statements`` are in lanes, of which the ``others`` have operands that are not for lanes.

    What keeps the ``repeated`` ones among them, which have to be there, from lanes otherwise. Without lanes
    they would be ``scalar`` code.
    """
    element = _element(operands, repeated, scop.type_names)
    if element is None:
        return None
    diverge = scalar or any(has_loops(each.body) for each in repeated)
    needed = {each.name for each in repeated}
    typing = LaneTyping(element, operands, scop.type_names, diverge=diverge)
    singles = set()
    for each in sorted(statements, key=lambda each: each.name not in needed):
        if each.name in others or not typing.statement(each.body):
            foreign = diverge or each.name in others or contains(each.body, c_ast.FuncCall)
            # where only types differ, other forms of vectors are the better ones
            if each.name in needed or not foreign:
                return typing.obstacle or each.body
            singles.add(each.name)
    return _Typed(element, typing, frozenset(singles))


def _repeated(node: isl.ScheduleNode, statements: Sequence[Statement]) -> Sequence[Statement]:
    """Those of ``statements`` that an iteration of the loop ``node`` runs many times; all if there are none.

    They are what lanes are for. Where some have loops of their own, it is these alone.
    """
    loops = [each for each in statements if has_loops(each.body)]
    if loops:
        return loops
    inside = (each.get_domain() for each in descendants(node.child(0)) if is_band(each))
    names = {tuple_name(each) for domain in inside for each in sets_of(domain)}
    return [each for each in statements if each.name in names] or statements


def _loose(
    node: isl.ScheduleNode, variables: Sequence[Array], statements: Sequence[Statement], element: FloatingType
) -> frozenset[tuple[str, str]]:
    """The numbers of type ``element`` among ``variables``, each with a loop after which nobody reads it.

    What lanes that left it compute of them is of no interest, as floating-point operations do not fail.
    """
    if any(map(is_band, descendants(node.child(0)))):
        return frozenset()
    last: dict[str, Statement] = {}
    for each in statements:
        arrays = [access.array for access in each.accesses] + [array for _, array in each.locals]
        last |= dict.fromkeys((array.name for array in arrays), each)
    return frozenset(
        (each.name, last[each.name].name)
        for each in variables
        if each.element == element and each.name in last and isinstance(last[each.name].body, LOOPS)
    )


def _are_placed_alike(node: isl.ScheduleNode, scop: Scop, arrays: Sequence[Array]) -> bool:
    """Whether all iterations of the band ``node`` come to the same places of private ``arrays``.

    These have extents that are numbers: each lane has elements of its own then, beside those of the others.
    """
    if any(each.sizes is None for each in arrays):
        return False
    names = {each.name for each in arrays}
    return all(
        each.access.exact and each.stride(0) is Stride.NONE
        for each in references(scop, node)
        if each.access.array.name in names and not isinstance(each.access.node, c_ast.If)
    )


def _has_number(variable: Array) -> bool:
    return isinstance(variable.element, IntegerType | FloatingType) and variable.is_scalar


def _element(
    operands: Mapping[int, LaneOperand], statements: Sequence[Statement], type_names: Mapping[str, Type]
) -> FloatingType | None:
    """The type of floating-point numbers that lanes of ``statements`` are for; None if there are several.

    Where there are integers alone it is one of their size.
    """
    found = {id(part) for each in statements for part in walk(each.body)}
    types = {each.type for node, each in operands.items() if each.varies and node in found}
    for each in statements:
        declared = (part.type for part in walk(each.body) if isinstance(part, c_ast.Decl))
        types.update(kind for each in declared if (kind := declared_type(each, type_names)) is not None)
    numbers = {each for each in types if isinstance(each, FloatingType)}
    if not numbers and any(map(has_loops, (each.body for each in statements))):
        wide = any(isinstance(each, IntegerType) and each.width > INT.width for each in types)
        return floating("double" if wide else "float", DataModel())
    element = numbers.pop() if len(numbers) == 1 else None
    known = isinstance(element, FloatingType) and element.name in {"float", "double"}
    return element if known else None


def _go_together(node: isl.ScheduleNode) -> bool:
    """Whether the loops inside of the band ``node``, of one member, have the same bounds in all lanes."""
    stamps = prefix_schedule(node).flat_range_product(node.get_subtree_schedule_union_map())
    lane = node.get_schedule_depth()
    for each in maps_of(stamps.intersect_domain(node.get_domain())):
        inside = int(each.dim(_out)) - lane - 1
        for piece in map(isl.Set.from_basic_set, each.range().coalesce().get_basic_sets()):
            loops = piece.project_out(_set, lane + 1, inside).add_dims(_set, inside)
            bounds = piece.project_out(_set, lane, 1).insert_dims(_set, lane, 1)
            if not loops.intersect(bounds).is_subset(piece):
                return False
    return True


def _has_steps(node: isl.ScheduleNode) -> bool:
    """Whether the counter of the band ``node``, of one member, goes in steps, as over blocks."""
    band = isl.UnionMap.from_multi_union_pw_aff(node.band_get_partial_schedule())
    stamps = prefix_schedule(node).flat_range_product(band).intersect_domain(node.get_domain())
    places = isl.Set.from_union_set(stamps.range())
    return not places.get_stride(places.dim(_set) - 1).is_one()


def _has_distant(operands: Mapping[int, LaneOperand], packed: Sequence[PackedRows]) -> bool:
    """Whether lanes access elements that lie apart in memory, but for those of ``packed`` rows."""
    near = {node for each in packed for node in each.nodes}
    return any(each.is_distant and node not in near for node, each in operands.items())


def _besides(
    windows: Sequence[Sequence[RowWindow]], packed: Sequence[PackedRows]
) -> tuple[tuple[RowWindow, ...], ...]:
    """The ``windows`` of rows that are not ``packed`` as a whole."""
    wholes = {node for each in packed for node in each.nodes}
    left = (tuple(each for each in loop if wholes.isdisjoint(each.places)) for loop in windows)
    return tuple(each for each in left if each)


def remark_on_lanes(found: LaneLoop | c_ast.Node | None, statement: Statement) -> str:
    """What a user should know of ``statement``, a loop, where this was ``found``; nothing if it is empty."""
    line = statement.location.line
    if isinstance(found, LaneLoop):
        together = found.lanes * found.copies
        return f"line {line}: {together} iterations of the loop around go through this one together, in lanes"
    if found is None:
        return ""
    calls = [each.name.name for each in walk(found) if isinstance(each, c_ast.FuncCall)]
    what = f"calls '{calls[0]}', which" if calls else "does something that"
    place = found.coord.line if found.coord is not None else line
    return f"line {place}: the loop on line {line} {what} lanes cannot do where some of them have left it"


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


def copies_in_row(copies: int, lanes: int, trips: isl.Val) -> int:
    """How many vectors of ``lanes`` run together in rows of at most so many ``trips``, of at most ``copies``.

    Those of a row are as few at a time as they can: each waits as long, whether others run beside it or not.
    """
    vectors = trips.to_python() // lanes if trips.is_int() else copies
    return min(range(copies, 0, -1), key=lambda together: sum(divmod(vectors, together)))


def _operands(
    node: isl.ScheduleNode,
    scop: Scop,
    statements: list[Statement],
    private: Mapping[str, Array],
    machine: Machine,
) -> tuple[dict[int, LaneOperand], set[str]]:
    """The operands of ``statements`` by the identities of their nodes; and those with one not for lanes."""
    found: dict[int, LaneOperand] = {}
    others: set[str] = set()
    moving = moving_counters(scop, node)
    loads = LaneLoads(statements, moving)
    types = {each.expression.name: each.type for each in scop.parameters if _is_name(each.expression)}
    for each in references(scop, node):
        if isinstance(each.access.node, c_ast.If):  # what both branches write, each as it may
            continue
        exact = each.access.exact or _is_followed(each, types)
        operand = _operand(each, private, machine, loaded=loads.may_load(each)) if exact else None
        before = found.get(id(each.access.node))
        if operand is None or before not in {None, operand}:
            others.add(each.statement.name)
        else:
            found[id(each.access.node)] = operand
    for statement in statements:
        for part, array in statement.locals:
            if array.name in private and id(part) not in found:  # what it reads was set in the statement
                found[id(part)] = LaneOperand(array.element, varies=True, variable=True)
                if _wraps(array):
                    others.add(statement.name)
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
    return found, others


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
    if written and stride is Stride.NONE:
        return None
    return LaneOperand(
        array.element,
        varies=stride is not Stride.NONE,
        adjacent=reference.is_adjacent(0) and reference.matrix[-1][0] == 1,
        element=True,
        loaded=loaded,
        interleaved=None if written else _interleaved(reference, machine),
    )


def _is_followed(reference: Reference, parameters: Collection[str]) -> bool:
    """Whether an access that may not happen is to an element that counters and ``parameters`` tell."""
    access = reference.access
    if access.array.is_scalar:
        return True
    known = {each.name for each in reference.statement.iterators}.union(parameters)
    subscripts = (each.subscript for each in walk(access.node) if isinstance(each, c_ast.ArrayRef))
    names = (part.name for each in subscripts for part in walk(each) if isinstance(part, c_ast.ID))
    single = access.kind is AccessKind.READ and access.relation.is_single_valued()
    return bool(single) and all(each in known for each in names)


def _wraps(variable: Array) -> bool:
    """Whether what is assigned to ``variable`` may have to wrap, which the wider integers of lanes do not.

    What ``narrow_variables`` made narrow fits.
    """
    narrow = isinstance(variable.element, IntegerType) and 1 < variable.element.width < INT.width
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


def _is_name(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.ID)
