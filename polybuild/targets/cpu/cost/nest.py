"""The loops of a schedule tree with what runs them: the skeleton of which costs are a function."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import Enum

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.analysis.operations import chain_of
from polybuild.context import CompilerRules, Masks
from polybuild.effort import LANES_LEFT
from polybuild.machine.model import SEPARATE, Machine
from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.relations import maps_of, sets_of, tuple_name
from polybuild.poly.trees import descendants, is_band, mark_of, node_kind, prefix_schedule
from polybuild.scop.model import AccessKind, Scop, Statement
from polybuild.targets.cpu.carried import carried_by_last, is_chain
from polybuild.targets.cpu.cost.compilers_lanes import (
    Aliases,
    CompilersLanes,
    constant_trips,
    constant_trips_of,
    nowhere,
    statements_of,
)
from polybuild.targets.cpu.cost.folded_sums import folded_sums, without_sums
from polybuild.targets.cpu.cost.subscripts import has_scattered_elements
from polybuild.targets.cpu.strides import Reference, Stride, references
from polybuild.targets.cpu.vectorise import fill_stretches, step_in_row
from polybuild.targets.model import LoopDirective
from polybuild.transform.full_unrolling import has_conditional_copies, outside_unrolled
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class NestLeaf:
    """Instances of the statement ``name``, by ``stamps``: their positions in the loops around them."""

    name: str
    stamps: isl.Map


@dataclass(frozen=True, slots=True)
class NestSequence:
    """One after the other."""

    children: tuple[Nest, ...]


class LaneWay(Enum):
    """How lanes come to elements that are not simply side by side in memory."""

    PACKED = "packed"  # rows are in buffers
    WINDOWED = "windowed"  # stretches of rows are
    CARRIED = "carried"  # those have what iterations before wrote
    SINGLE = "single"  # one after the other, each as a condition says
    SORTED = "sorted"  # whole vectors are, of all elements of a stretch


@dataclass(frozen=True, slots=True)
class CompiledLanes:
    """Lanes that a compiler finds.

    It has ``checked`` whether one iteration is among those that run, and finds vectors ``whole`` where the
    number of iterations is known: then nothing is around them. Vectors are ``wide`` that it is told to use.
    """

    checked: bool = False
    whole: bool = False
    wide: bool = False


@dataclass(frozen=True, slots=True)
class NestLoop:
    """The loop of schedule dimension ``dim``.

    Threads share it, or it is ``unrolled``. It runs in so many ``lanes`` that the code has written out, with
    ``copies`` of such a vector at a time, or in those of a compiler (``compiled``) if these are faster. For
    the former there are ``ways`` to the elements that nodes (by identity) access, statements that are
    ``singles`` run for one lane after the other (their last sums in lanes that a compiler finds), and in
    ``registers`` tiles everything is in buffers. Each iteration waits for the one before for ``chain``
    nanoseconds.
    """

    dim: int
    body: Nest
    threads: bool = False
    unrolled: bool = False
    compiled: CompiledLanes | None = None
    lanes: int = 0
    copies: int = 1
    registers: bool = False
    ways: Mapping[int, LaneWay] = field(default_factory=dict)
    singles: frozenset[str] = frozenset()
    chain: float = 0.0


Nest = NestLeaf | NestSequence | NestLoop

_in, _out = isl.dim_type.in_, isl.dim_type.out

# What register tiles, with operands that are packed for them, stand below.
_IN_REGISTERS = frozenset({MarkKind.REGISTERS, MarkKind.PACKED})


def leaves(nest: Nest, around: tuple[NestLoop, ...] = ()) -> Iterator[tuple[NestLeaf, tuple[NestLoop, ...]]]:
    """The leaves of ``nest``, each with the loops around it, outermost first."""
    if isinstance(nest, NestLeaf):
        yield nest, around
    elif isinstance(nest, NestSequence):
        for each in nest.children:
            yield from leaves(each, around)
    else:
        yield from leaves(nest.body, (*around, nest))


def unrolls_in_lanes(nest: Nest) -> bool:
    """Whether compilers have loops in lanes only if they unroll others inside before: they may look too late.

    Whether they do so depends on how the loops are written, on counters and calls, say.
    """
    return any(
        any(loop.compiled and not loop.lanes for loop in around) and any(loop.unrolled for loop in around)
        for _, around in leaves(nest)
    )


def statements_below(loop: NestLoop) -> int:
    """How many statements an iteration of ``loop`` runs."""
    return len({leaf.name for leaf, _ in leaves(loop)})


@dataclass(frozen=True, slots=True)
class _Place:
    """A place in a tree: the ``stamps`` of what runs there, the ``mark`` right above, the marks around it.

    Loops around it may run ``in_lanes`` that the code has written out. Copies that are made of what is there
    by unrolling may be ``conditional``.
    """

    stamps: isl.UnionMap
    depth: int = 0
    mark: Mark | None = None
    inside: tuple[MarkKind, ...] = ()
    in_lanes: bool = False
    conditional: bool = False


@dataclass(frozen=True, slots=True)
class NestBuilder:
    """Reads schedule trees: mapped ones by their ``directives``, or else as a compiler will run them.

    A ``compiler`` computes loops in lanes that carry none of ``dependences``. It keeps an element in a
    register that a loop reads and writes, unless something else there ``aliases`` it. Writes to
    ``clobbering`` arrays may change bounds and base pointers, for all that it knows.
    """

    scop: Scop
    dependences: Dependences
    machine: Machine
    directives: Mapping[Mark, LoopDirective] | None = None
    aliases: Aliases = nowhere
    compiler: CompilerRules = CompilerRules()
    clobbering: frozenset[str] = frozenset()

    @property
    def _lanes(self) -> CompilersLanes:
        generated = self.directives is not None
        known = self.aliases, self.compiler, self.clobbering
        return CompilersLanes(self.scop, self.dependences, self.machine, *known, generated)

    def nest(self, schedule: isl.Schedule) -> Nest:
        """The skeleton of ``schedule``."""
        below = schedule.get_root().child(0)
        stamps = prefix_schedule(below).intersect_domain(schedule.get_domain())
        return self._nest(below, _Place(stamps))

    def _nest(self, node: isl.ScheduleNode, place: _Place) -> Nest:
        mark, kind, stamps = mark_of(node), node_kind(node), place.stamps
        if mark is not None:
            return self._nest(node.child(0), replace(place, mark=mark, inside=(*place.inside, mark.kind)))
        if is_band(node):
            return self._band(node, place)
        if kind == isl.schedule_node_type.filter:
            stamps = stamps.intersect_domain(node.filter_get_filter())
        elif kind == isl.schedule_node_type.extension:
            stamps = stamps.union(node.extension_get_extension().reverse())
        if node.n_children() == 0:
            return _leaves_of(stamps)
        inner = replace(place, stamps=stamps, mark=None)
        children = tuple(self._nest(node.child(index), inner) for index in range(node.n_children()))
        return children[0] if len(children) == 1 else NestSequence(children)

    def _band(self, node: isl.ScheduleNode, place: _Place) -> Nest:
        mark, inside, members = place.mark, place.inside, node.band_n_member()
        directive = (self.directives or {}).get(mark) if mark is not None else None
        innermost = not any(map(is_band, outside_unrolled(node.child(0))))
        within = not _IN_REGISTERS.isdisjoint(inside) or MarkKind.UNROLLED in inside
        block = MarkKind.LANES in inside
        # the lanes of a register tile are a band of their own, below the loops over rows and vectors
        registers = block and innermost and members == 1
        lanes = int(registers) or _lanes(directive)
        unrolled = MarkKind.UNROLLED in inside or (block and not registers)
        plain = innermost and not (within or block or lanes)
        conditional = place.conditional or (plain and has_conditional_copies(node))
        simd = (
            directive is not None
            and directive.simd
            and not conditional
            and self._lanes.converts(node, {each.array.name for each in directive.accumulators})
        )
        # what is generated has the plain subscripts of an interior
        scattered = self.directives is None and any(
            each.conditional or has_scattered_elements(each) for each in statements_of(node, self.scop)
        )
        if mark is None and innermost and not within:
            simd = not scattered and self._lanes.takes(node)
        elif mark is None and not innermost and not within:
            simd = not scattered and self._lanes.takes_around(node)
        other = mark is None and innermost and not (simd or within or scattered)
        folded = self._folded(node) if other and not place.in_lanes else frozenset()
        checked = other and not folded and self._lanes.is_checked(node)
        chain = 0.0 if simd or lanes or within or not innermost else self._chain(node, bool(folded))
        partial = isl.UnionMap.from_multi_union_pw_aff(node.band_get_partial_schedule())
        stamps = place.stamps.flat_range_product(partial)
        in_lanes = place.in_lanes or lanes > 0
        here = _Place(stamps, place.depth + members, None, inside, in_lanes, conditional)
        body = self._nest(node.child(0), here)
        compiled = None
        if simd or checked or folded:
            whole = members == 1 and constant_trips_of(stamps) is not None
            compiled = CompiledLanes(checked, whole, wide=directive is not None and directive.width > 0)
        ways = self._ways(directive) | (self._sorted_out(node) if simd and innermost else {})
        for position in reversed(range(members)):
            last, head = position == members - 1, position == 0
            body = NestLoop(
                place.depth + position,
                body,
                threads=directive is not None and position < directive.shared,
                unrolled=not place.conditional and (unrolled or _is_unrolled(node, position)),
                compiled=compiled if (last if mark is None else head) else None,
                lanes=lanes if head else 0,
                copies=directive.lanes.copies if directive and directive.lanes and head else 1,
                registers=registers,
                ways=ways if head or last else {},
                singles=directive.lanes.singles if directive and directive.lanes and head else folded,
                chain=chain if last else 0.0,
            )
        return body

    def _folded(self, node: isl.ScheduleNode) -> frozenset[str]:
        """The sums for which a compiler computes terms in lanes, of the last loop of an innermost band."""
        if not self.compiler.vectors.folds:
            return frozenset()
        sums = folded_sums(
            statements_of(node, self.scop), references(self.scop, node), node.band_n_member() - 1
        )
        if not sums:
            return sums
        terms = replace(self._lanes, dependences=without_sums(self.dependences, sums))
        return sums if terms.takes(node) else frozenset()

    def _ways(self, directive: LoopDirective | None) -> dict[int, LaneWay]:
        """How lanes come to the elements of nodes in the loop of ``directive``."""
        lanes = None if directive is None else directive.lanes
        if lanes is None:
            return {}
        single = lanes.bodies.guarded & lanes.bodies.operands.keys()
        if self.compiler.vectors.masks is not Masks.NONE:  # which are for what lies side by side
            single = frozenset(each for each in single if lanes.bodies.operands[each].is_scattered)
        ways = dict.fromkeys(single, LaneWay.SINGLE)
        ways |= dict.fromkeys(lanes.windows.nodes, LaneWay.WINDOWED)
        ways |= dict.fromkeys(lanes.windows.carried, LaneWay.CARRIED)
        return ways | {node: LaneWay.PACKED for each in lanes.packed for node in each.nodes}

    def _sorted_out(self, node: isl.ScheduleNode) -> dict[int, LaneWay]:
        """The nodes of elements that are all of a stretch, where a compiler has the last loop in lanes."""
        found, last = references(self.scop, node), node.band_n_member() - 1
        copies = self._side_by_side(node)
        return {
            id(each.access.node): LaneWay.SORTED
            for each in found
            if fill_stretches(each, found, last, copies)
        }

    def _side_by_side(self, node: isl.ScheduleNode) -> dict[int, int]:
        """How many elements nodes (by identity) access side by side in what is unrolled below ``node``.

        Compilers look at them in the original loops. In generated ones there are too many for registers.
        """
        if self.directives is not None:
            return {}
        copies: dict[int, int] = {}
        for band in (each for each in descendants(node.child(0)) if is_band(each)):
            trips = constant_trips(band) if band.band_n_member() == 1 else None
            for each in references(self.scop, band) if trips is not None else ():
                if step_in_row(each, 0) == 1:
                    copies[id(each.access.node)] = copies.get(id(each.access.node), 1) * (trips or 1)
        return copies

    def _chain(self, node: isl.ScheduleNode, folded: bool) -> float:
        """Nanoseconds for which each iteration of the last loop of a band waits for the one before.

        A value may come back through variables that other statements of the iteration set. Sums of which
        the terms are ``folded`` in order are not fused with products.
        """
        statements = statements_of(node, self.scop)
        results = self.dependences.results
        if not statements or not is_chain(node, results, self.machine):
            return 0.0
        last = node.band_n_member() - 1
        carried = carried_by_last(node, results)
        waiting = {tuple_name(each) for each in sets_of(carried.range())}
        places = [place for place, each in enumerate(statements) if each.name in waiting]
        if not places:
            return 0.0
        found, unit = references(self.scop, node), self.machine.arithmetic
        if folded:
            unit = replace(unit, fused=SEPARATE)
        first = max(
            chain_of(statements[place], _returning(statements[place], found, last, carried), unit)
            for place in places
        )
        if any(self._passes_memory(statements[place], statements) for place in places):
            first += unit.forward
        passed = _written_variables(statements[place] for place in places)
        return first + sum(
            chain_of(
                each,
                {id(access.node) for access in each.accesses if access.array.name in passed},
                unit,
            )
            for each in statements[places[-1] + 1 :]
        )

    def _passes_memory(self, statement: Statement, loop: Sequence[Statement]) -> bool:
        """Whether what ``statement`` writes is loaded again: ``loop`` may write there by another name.

        Where it may only be read by one, compilers store it each time, and keep it in a register.
        """
        arrays = [
            access.array for each in loop for access in each.accesses if access.kind is not AccessKind.READ
        ]
        return any(
            self.aliases(each.array, other)
            for each in statement.accesses
            if each.kind is not AccessKind.READ and each.array.extents
            for other in arrays
            if other.name != each.array.name
        )


def _returning(statement: Statement, found: list[Reference], last: int, carried: isl.UnionMap) -> set[int]:
    """The nodes through which results of iterations before may come back to ``statement``.

    An accumulator is read where it is written; elements of rows were written by another iteration of the
    last loop, where that has ``carried`` them.
    """
    own = [each for each in found if each.statement is statement]
    writes = [each for each in own if each.access.kind is not AccessKind.READ]
    stays = any(each.stride(last) is Stride.NONE for each in writes)
    returning = [
        each
        for each in own
        if each.access.kind is AccessKind.READ
        and any(each.access.array.name == other.access.array.name for other in writes)
        and stays == any(each.access.relation.is_equal(other.access.relation) for other in writes)
    ]
    if not stays and len(returning) > 1:
        returning = [each for each in returning if _is_carried(each, writes, carried)] or returning
    return {id(each.access.node) for each in returning}


def _is_carried(read: Reference, writes: Sequence[Reference], carried: isl.UnionMap) -> bool:
    """Whether ``read`` finds what one of ``writes`` wrote in pairs that are ``carried``."""
    pairs = (
        each.access.relation.apply_range(read.access.relation.reverse())
        for each in writes
        if each.access.array.name == read.access.array.name
    )
    return any(not carried.intersect(isl.UnionMap.from_map(each)).is_empty() for each in pairs)


def _written_variables(statements: Iterable[Statement]) -> set[str]:
    """The names of the variables, not arrays, that ``statements`` write."""
    return {
        access.array.name
        for each in statements
        for access in each.accesses
        if access.kind is not AccessKind.READ and access.array.is_scalar
    }


def _leaves_of(stamps: isl.UnionMap) -> Nest:
    found = tuple(NestLeaf(str(each.get_tuple_name(isl.dim_type.in_)), each) for each in maps_of(stamps))
    return found[0] if len(found) == 1 else NestSequence(found)


def _lanes(directive: LoopDirective | None) -> int:
    """The lanes at work on average in the loop of ``directive``, 0 if it is not written in any."""
    lanes = None if directive is None else directive.lanes
    if lanes is None:
        return 0
    if lanes.diverges:  # the others have left the loops inside
        return max(1, math.floor(lanes.lanes * LANES_LEFT))
    return lanes.lanes


def _is_unrolled(node: isl.ScheduleNode, member: int) -> bool:
    return bool(isl.ast_loop_type(node.band_member_get_ast_loop_type(member)) == isl.ast_loop_type.unroll)
