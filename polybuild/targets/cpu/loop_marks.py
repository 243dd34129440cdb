"""Marks on the loops that threads and vector units run, and the directives that these loops get."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace

import islpy as isl

from polybuild.analysis.dependences import Dependences, PrivateArray
from polybuild.context import CompileContext
from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.relations import maps_of, sets_of
from polybuild.poly.trees import insert_mark, mark_of, prefix_schedule
from polybuild.schedule.legality import keeps_values, privatised
from polybuild.scop.model import Array, Scop
from polybuild.targets.cpu.invariant_reads import invariant_reads
from polybuild.targets.cpu.reductions import Accumulators
from polybuild.targets.cpu.strides import references
from polybuild.targets.cpu.wide_vectors import lanes_of_bytes
from polybuild.targets.model import LaneLoop, LoopDirective, ThreadSharing
from polybuild.transform.full_unrolling import is_in_registers

_IN_PARTS = ThreadSharing()


class LoopMarker:
    """Marks loops where their values allow it; ``directives`` says what stands before each marked loop.

    It marks loops for the vector unit, too, unless the options of ``context`` say that there shall be none.
    """

    def __init__(self, scop: Scop, dependences: Dependences, context: CompileContext) -> None:
        self._scop = scop
        self._dependences = dependences
        self._context = context
        self.directives: dict[Mark, LoopDirective] = {}
        self.parallel_loops = 0
        self.simd_loops = 0
        self.accumulators = Accumulators(scop, dependences, context.compiler)

    def parallel(
        self, node: isl.ScheduleNode, sharing: ThreadSharing = _IN_PARTS, *, together: int = 1
    ) -> isl.ScheduleNode:
        """Mark the first member of a band as the loop of the threads; returns the mark.

        So many members, which are coincident, are shared ``together`` if their iterations keep their values.
        """
        private = privatised(node, self._dependences.private)
        if not keeps_values(node, private):
            return insert_mark(node, Mark(MarkKind.SERIAL))
        histograms = self.accumulators.histograms(node)
        node, accumulators = self.accumulators.above(node)
        of_members = (privatised(node, self._dependences.private, each) for each in range(together))
        every = tuple(itertools.chain.from_iterable(of_members))
        if accumulators or histograms or not all(keeps_values(node, every, each) for each in range(together)):
            together, every = 1, private
        mark = Mark(MarkKind.PARALLEL, self.parallel_loops)
        self.parallel_loops += 1
        self.directives[mark] = LoopDirective(
            node.get_schedule_depth(),
            shared=together,
            sharing=sharing,
            private=_with((), every),
            accumulators=(*accumulators, *histograms),
        )
        return insert_mark(node, mark)

    def lanes(self, node: isl.ScheduleNode, lanes: LaneLoop) -> isl.ScheduleNode:
        """Mark a loop that carries no dependence and is written in ``lanes``, which need not be innermost."""
        self.simd_loops += 1
        mark = Mark(MarkKind.SIMD, self.simd_loops)
        self.directives[mark] = LoopDirective(node.get_schedule_depth(), private=lanes.variables, lanes=lanes)
        return insert_mark(node, mark)

    def simd(self, node: isl.ScheduleNode, lanes: LaneLoop | None = None) -> isl.ScheduleNode:
        """Mark a loop that carries no dependence; where possible it is written in ``lanes``, if given."""
        if not self._context.options.simd:
            return node
        private = privatised(node, self._dependences.private)
        if not keeps_values(node, private) or (lanes is None and needs_arrays(private)):
            return node
        self.simd_loops += 1
        accesses = references(self._scop, node)
        width = lanes_of_bytes(accesses, node.band_n_member() - 1, self._context)
        outer = mark_of(node.parent())
        directive = None if outer is None else self.directives.get(outer)
        if outer is not None and directive is not None:  # the loop of the threads is this very loop
            self.directives[outer] = replace(
                directive,
                simd=True,
                private=_with(directive.private, private),
                width=0 if directive.accumulators else width,
            )
            return node
        node, accumulators = self.accumulators.above(node)
        if lanes is None:
            node = _without_conditions(node)
        mark = Mark(MarkKind.SIMD, self.simd_loops)
        self.directives[mark] = LoopDirective(
            node.get_schedule_depth(),
            simd=True,
            independent=not private and not accumulators,
            private=_with((), private),
            accumulators=accumulators,
            lanes=lanes,
            invariant=invariant_reads(node, accesses, self._scop),
            width=0 if accumulators or lanes else width,
        )
        return insert_mark(node, mark)

    def widen(self, marks: Iterable[Mark], width: int) -> None:
        """Have the loops below ``marks`` that compilers compute in vectors run in ``width`` lanes, if any."""
        for mark in marks if width else ():
            directive = self.directives[mark]
            if directive.simd and directive.independent and directive.lanes is None:
                self.directives[mark] = replace(directive, width=width)

    def simd_children(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """Mark the loops of a sequence, each for the vector unit."""
        for index in range(node.n_children()):
            loop = self.simd(node.child(index).child(0))
            node = loop.ancestor(loop.get_tree_depth() - node.get_tree_depth())
        return node


def needs_arrays(private: Iterable[PrivateArray]) -> bool:
    """Whether lanes with ``private`` variables need arrays of their own, which no compiler has."""
    return any(each.array.extents and not is_in_registers(each.array) for each in private)


def _without_conditions(band: isl.ScheduleNode) -> isl.ScheduleNode:
    """A band whose last loop is in parts, if statements in it have other bounds than others.

    In one loop for all, each would have a condition in each iteration, and its stores a mask.
    """
    statements = sets_of(band.get_domain())
    last = band.band_n_member() - 1
    chosen = isl.ast_loop_type(band.band_member_get_ast_loop_type(last)) != isl.ast_loop_type.default
    if len(statements) == 1 or chosen:
        return band
    stamps = maps_of(prefix_schedule(band.child(0)).intersect_domain(band.get_domain()))
    first, *others = (each.range() for each in stamps)
    if all(each.is_equal(first) for each in others):
        return band
    return band.band_member_set_ast_loop_type(last, isl.ast_loop_type.separate)


def _with(arrays: tuple[Array, ...], private: Iterable[PrivateArray]) -> tuple[Array, ...]:
    """``arrays`` and those of ``private``, each once."""
    found = {each.name: each for each in (*arrays, *(other.array for other in private))}
    return tuple(found.values())
