"""isl's AST as lines of C."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import islpy as isl

from polybuild.c.types import IntegerType
from polybuild.codegen.c.accumulator_blocks import AccumulatorBlockPrinter
from polybuild.codegen.c.accumulators import AccumulatorScopes, ActiveAccumulators, OpenAccumulator
from polybuild.codegen.c.ast_checks import keeps_private
from polybuild.codegen.c.bodies import BodyPrinter, Sizes, row
from polybuild.codegen.c.buffers import BuffersInScope, Scopes
from polybuild.codegen.c.byte_rows import rows_of_bytes
from polybuild.codegen.c.chosen_subscripts import chosen_subscripts
from polybuild.codegen.c.counter_types import own_type
from polybuild.codegen.c.directives import DirectivePrinter
from polybuild.codegen.c.dynamic import RestoredLoop, first_instance, within
from polybuild.codegen.c.expressions import ExpressionPrinter, is_atom
from polybuild.codegen.c.histograms import accumulating, histograms_of
from polybuild.codegen.c.instances import COUNTER_TYPE, InstancePrinter, counter_type
from polybuild.codegen.c.invariant_elements import invariant_elements
from polybuild.codegen.c.lane_loops import LaneLoopBounds, LaneLoopPrinter, runs_in_lanes
from polybuild.codegen.c.lane_scope import LaneScope
from polybuild.codegen.c.layout import (
    CodeLine,
    Role,
    belonging,
    between,
    closing,
    condition,
    laid_out,
    loop,
    opening,
)
from polybuild.codegen.c.locals import LocalVariables
from polybuild.codegen.c.loop_heads import LoopHeadPrinter, register, restored_head
from polybuild.codegen.c.loop_origins import UNKNOWN, LoopOrigin
from polybuild.codegen.c.loop_pairs import PairPrinter, inner_of_pair
from polybuild.codegen.c.names_in_scope import NamesInScope
from polybuild.codegen.c.names_in_use import NamesInUse
from polybuild.codegen.c.nodes import (
    FOR,
    IF,
    annotated_name,
    flat,
    identifier_of,
    kind_of,
    statements_in_a_row,
    surely_runs,
    users_below,
)
from polybuild.codegen.c.outline import Line, Outline
from polybuild.codegen.c.partial_tiles import PartialTilePrinter
from polybuild.codegen.c.parts import PartsPrinter, counts_up
from polybuild.codegen.c.register_tiles import RegisterTilePrinter, block_below
from polybuild.codegen.c.serial_versions import DirectedLoop, has_tiles_over_time, with_serial_version
from polybuild.codegen.c.strips import StripPrinter, asks_for_counter, strips_of
from polybuild.codegen.c.vector_blocks import Packing, VectorBlock
from polybuild.codegen.c.vectors import VectorPrinter
from polybuild.codegen.file.parts import PARTS
from polybuild.codegen.file.strips import STRIP
from polybuild.codegen.file.team import TEAM
from polybuild.effort import SERIAL_VERSION_LINES
from polybuild.poly.marks import Mark, MarkKind
from polybuild.storage.scalar_replacement import replaced_elements

if TYPE_CHECKING:
    from polybuild.codegen.c.ast import PrintedAst
    from polybuild.targets.model import LoopDirective

_INDENT = "  "
_NO_SCOPES = Scopes({})


class LoopPrinter:
    """Prints the AST of one region.

    ``names`` gives the C text of each parameter, and the identifiers that
    generated counters must not hide, ``directives`` what is told of the
    loops under the marks of the schedule tree, ``scopes`` the buffers that loops' bodies
    declare, ``accumulators`` the variables that loops accumulate in, ``sizes``
    the inner extents of each array that is a view. The ``in_use`` of the directives records what the
    text mentions. For a compiler that is ``unoptimised`` counters ask for registers, and bounds are
    computed before a loop.
    """

    counter_type = COUNTER_TYPE

    def __init__(
        self,
        ast: PrintedAst,
        names: NamesInScope,
        directives: DirectivePrinter,
        *,
        sizes: Mapping[str, Sizes],
        scopes: Scopes = _NO_SCOPES,
        accumulators: ActiveAccumulators | None = None,
        unoptimised: bool = False,
    ) -> None:
        self._unoptimised = unoptimised
        self._ast = ast
        self._names = names
        self._directives = directives
        self._accumulators = accumulators or ActiveAccumulators({}, AccumulatorScopes(()))
        self._buffers = BuffersInScope(scopes)
        in_use = directives.in_use
        self._instances = InstancePrinter(names, in_use, sizes, self._buffers, self._accumulators)
        self._blocks = AccumulatorBlockPrinter(
            ast, names, in_use, self._instances, self._accumulators.variables
        )
        vectors = VectorPrinter(self._expression(), names, sizes, in_use, COUNTER_TYPE)
        partial_tiles = PartialTilePrinter(
            ast, vectors, self._expression(), names, in_use=in_use, counter_type=COUNTER_TYPE
        )
        self._tiles = RegisterTilePrinter(ast, vectors, names, partial_tiles)
        self._outline = Outline()
        self._locals = LocalVariables(ast)
        self._lanes: LaneLoopPrinter | None = None

    @property
    def declared_inside(self) -> frozenset[str]:
        """The variables of the region that loops declare in their bodies."""
        return frozenset(self._locals.declared)

    @property
    def of_threads(self) -> frozenset[str]:
        """The arrays that each thread has one of in loops that threads share."""
        return frozenset(self._locals.of_threads)

    @property
    def outline(self) -> list[Line]:
        """The loops and statements of the generated code."""
        return self._outline.lines

    def lines(self) -> list[CodeLine]:
        """The generated code."""
        return laid_out(self._block(self._ast.root, ""))

    def _block(self, node: isl.AstNode, indent: str) -> list[str]:
        """Lines of the root, or of a loop's body, with the buffers that belong there."""
        before = self._names.enter()
        buffers = self._buffers.scopes.declared_in(node)
        self._buffers.enter(buffers)
        lines = self._node(node, indent, None)
        declared = self._buffers.leave(buffers)
        self._names.leave(before)
        return [*(f"{indent}{line}" for line in declared), *lines]

    def _node(self, node: isl.AstNode, indent: str, before: Mark | None) -> list[str]:
        """Lines of ``node``; the mark ``before`` waits for its loop, which is among the first ones in it."""
        kind = kind_of(node)
        if kind == FOR:
            return self._for(node, indent, before)
        if kind == IF:
            return self._if(node, indent, before)
        if kind == isl.ast_node_type.mark:
            return self._mark(node, indent, before)
        if kind == isl.ast_node_type.user:
            return self._statement(node, indent)
        if kind == isl.ast_node_type.block:
            return self._several(node, indent, before)
        raise NotImplementedError(f"isl AST node {kind}")

    def _several(self, node: isl.AstNode, indent: str, before: Mark | None) -> list[str]:
        """Lines of the nodes of a block."""
        return [line for each in flat(node) for line in self._node(each, indent, before)]

    def _mark(self, node: isl.AstNode, indent: str, before: Mark | None) -> list[str]:
        mark, below = Mark.of_id(node.mark_get_id()), node.mark_get_node()
        if mark.kind is MarkKind.LANES:
            return self._statement(block_below(node), indent)
        if mark in self._ast.tiles.registers or mark in self._ast.tiles.buffers:
            return self._scope(node, mark, indent)
        if mark in self._ast.tiles.partial and (tile := self._partial_tile(node, mark, indent)) is not None:
            return tile
        if mark in self._accumulators.variables:
            return self._accumulate(node, indent, before)
        if mark.kind is MarkKind.UNROLLED and self._lanes is None:
            return self._unrolled(below, indent, before)
        directive = self._directives.at(mark) if self._lanes is None else None
        if directive is None or not self._keeps_private(below, directive.depth, directive):
            return self._node(below, indent, before)
        return self._node(below, indent, mark)

    def _keeps_private(self, node: isl.AstNode, dimension: int, directive: LoopDirective) -> bool:
        """Whether the loops of ``dimension`` in ``node`` may have copies of the directive's variables."""
        private = tuple(each.name for each in directive.private)
        return keeps_private(node, dimension, private, self._ast.everything, self._ast.schedule)

    def _scope(self, node: isl.AstNode, mark: Mark, indent: str) -> list[str]:
        """What uses the buffer, or the variables of the register tile, of ``mark``, and their declaration."""
        below = node.mark_get_node()
        if not self._tiles.uses(below, mark):
            return self._node(below, indent, None)  # isl kept this copy of the code for what is left
        lines: list[str] = [*self._tiles.declarations(below, mark, indent)]
        lines += self._node(below, indent, None)
        del self._names[mark.name]
        return lines

    def _partial_tile(self, node: isl.AstNode, mark: Mark, indent: str) -> list[str] | None:
        """Partial register tiles as full ones; None where they stay in loops."""
        if not self._in_memory(node):
            return None
        outline, self._outline = self._outline, Outline()  # the same statement, whatever computes it
        below = partial(self._node, node.mark_get_node(), before=None)
        lines = self._tiles.partial.lines(node, mark, indent, below)
        self._outline = outline
        if lines is not None:
            self._outline.statement(self._ast.tiles.partial[mark].update.name)
        return lines

    def _unrolled(self, node: isl.AstNode, indent: str, before: Mark | None) -> list[str]:
        """Statements in a row, in a block with variables for elements that they access again and again."""
        names = [each.get_annotation().get_name() for each in statements_in_a_row(node)]
        instances = [self._ast.instances[name] for name in names if name in self._ast.instances]
        inner, before_block = indent + _INDENT, self._names.enter()
        declared, stored = [], []
        for each in replaced_elements([each for one in instances for each in self._instances.ordered(one)]):
            text = self._instances.element(each.array, self._expression().subscripts(each.element))
            variable = self._names.declare(f"{each.array.name}_value")
            self._instances.replaced.append((each.element, variable))
            value = f" = {text}" if each.loaded else ""
            declared.append(f"{inner}{register(each.type, wanted=self._unoptimised)} {variable}{value};")
            stored.append(f"{inner}{text} = {variable};")
        if not declared:
            return self._node(node, indent, before)
        lines = self._node(node, inner, before)
        self._instances.replaced.clear()
        self._names.leave(before_block)
        return [opening(f"{indent}{{"), *declared, *lines, *stored, closing(indent)]

    def _accumulate(self, node: isl.AstNode, indent: str, before: Mark | None) -> list[str]:
        """A block around what accumulates in a variable."""
        below, scope = node.mark_get_node(), self._accumulators.scopes.at(node)
        if scope is None:
            return self._node(below, indent, before)
        accumulator, inner = scope.accumulator, indent + _INDENT
        block, first, last = self._blocks.around(below, scope)
        variable = self._accumulators.variables[accumulator.mark]
        around = self._accumulators.enter(OpenAccumulator(accumulator, variable))
        declared = self._names.enter()
        self._buffers.conditional += 1
        lines = self._node(below, inner, before)
        self._buffers.conditional -= 1
        self._names.leave(declared)
        self._accumulators.leave(around)
        head = opening(f"{indent}{{") if block is None else condition(f"{indent}if ({block})")
        return [head, f"{inner}{first}", *lines, f"{inner}{last}", closing(indent)]

    def _for(self, node: isl.AstNode, indent: str, before: Mark | None) -> list[str]:
        identifier = identifier_of(node)
        restored, origin = self._ast.dynamic.get(annotated_name(node)), self._origin(node)
        if node.for_is_degenerate():
            return self._once(node, origin, indent)
        if restored is not None:
            return self._restored(node, restored, indent, before)
        counter = self._counter(origin.counter, identifier)
        directive = self._directives.at(before)
        # isl names the counter of schedule dimension d "c<d>"
        if directive is not None and identifier != f"c{directive.depth}":
            directive, before = None, None
        if directive is not None and directive.lanes is not None and self._runs_in_lanes(node):
            return self._in_lanes(node, before, replace(origin, counter=counter), indent)
        if before is not None and directive is not None and directive.invariant:
            within_block = self._with_invariants(node, before, directive, indent)
            if within_block is not None:
                return within_block
        if before is not None and directive is not None and directive.simd:
            within_block = self._with_rows(node, before, indent)
            if within_block is not None:
                return within_block
        if directive is not None and directive.parallel and directive.histograms:
            return self._with_own_elements(node, directive, indent, before)
        accumulators = self._accumulators.of(directive) if directive is not None else []
        if directive is not None and any(each.accumulator.scan for each in accumulators) and counts_up(node):
            return self._scanned(node, before, replace(origin, counter=counter), indent)
        if directive is not None and directive.parallel and accumulators and counts_up(node):
            return self._in_parts(node, before, replace(origin, counter=counter), indent)
        if any(each.accumulator.in_order for each in accumulators):
            directive, accumulators = None, []
        if directive is not None and directive.shared > 1:
            pair = self._in_pair(node, directive, origin, indent, before)
            if pair is not None:
                return pair
            directive = replace(directive, shared=1)
        if directive is not None and directive.sharing.longest > directive.sharing.tile and not accumulators:
            strips = self._in_strips(node, directive, origin, indent, before)
            if strips is not None:
                return strips
        within_lanes = self._with_elements(node, before, indent)
        if within_lanes is not None:
            return within_lanes
        return self._plain_for(node, directive, replace(origin, counter=counter), indent, before)

    def _plain_for(
        self,
        node: isl.AstNode,
        directive: LoopDirective | None,
        origin: LoopOrigin,
        indent: str,
        mark: Mark | None,
    ) -> list[str]:
        """The loop ``node`` as it is, below its directive."""
        accumulators = self._accumulators.of(directive) if directive is not None else []
        counter, own = origin.counter, self._own_type(node)
        if self._lanes is not None and own is None and (windows := self._lanes.windows.windows_of(node)):
            inside = partial(self._body, node, counter, None, None)
            return [
                *belonging(self._lanes.windows.lines(node, windows, counter, indent, inside), origin.line)
            ]
        with self._in_use.mentioned() as mentioned:
            constants, head = self._heads(own).head(node, counter, indent, plain=directive is not None)
            with self._chosen_before(node, indent) as chosen, self._outline.repeating(often=origin.exact):
                body = self._body(node, counter, mark, own, indent + _INDENT)
        constants += chosen
        here: list[str] = []
        if directive is not None:
            here, directive = self._locals.taken_out(node, directive, self._directives)
        if directive is not None and not (directive.parallel or directive.simd):
            directive = None  # it could not be written in lanes
        around = mentioned.intersection(self._names.values()) | {*self._instances.rows.values()}
        rest = [*(f"{indent}{_INDENT}{line}" for line in here), *body, closing(indent)]
        if directive is None or accumulators:
            constants += self._directives.above(head, directive, accumulators, around)
            return [*belonging(constants, origin.line), *rest]
        looped = DirectedLoop(head, directive, rest, around, origin.line)
        return [*belonging(constants, origin.line), *self._directed(node, looped)]

    def _directed(self, node: isl.AstNode, looped: DirectedLoop) -> list[str]:
        """The loop ``node`` with its directive, and a version for one thread if it has little work at times.

        It may where loops around run it often, and where new loops are for one thread as well as for all.

        What tiles run has work enough, as have those over time. Without the loop's own team the number of a
        thread may be that in another one around the region, whose memory is not allocated here.
        """
        sums = any(each not in ("min", "max") for each, _ in looped.directive.reductions)
        often = self._outline.repeated or self._directives.runs_small(looped.directive)
        often = often and looped.directive.parallel and not sums
        often = often and not self._locals.asks_which_thread(node)
        if often and len(looped.inside) <= SERIAL_VERSION_LINES and not has_tiles_over_time(node):
            return with_serial_version(looped, self._directives, self._names)
        return looped.lines(self._directives)

    def _in_pair(
        self, node: isl.AstNode, directive: LoopDirective, origin: LoopOrigin, indent: str, mark: Mark | None
    ) -> list[str] | None:
        """The loop ``node`` and the one right inside, which threads share together; None if they cannot."""
        inner = inner_of_pair(node, directive.depth)
        if inner is None or annotated_name(inner) in self._ast.dynamic or self._own_type(inner) is not None:
            return None
        keeps = self._keeps_private(node, directive.depth + 1, directive)
        if self._buffers.scopes.declared_in(node.for_get_body()) or not keeps:
            return None
        row, place = identifier_of(node), identifier_of(inner)
        outer = self._names.get(row), self._names.get(place)
        with self._in_use.mentioned() as mentioned, self._chosen_before(node, indent) as chosen:
            self._names[row] = self._counter(origin.counter, row)
            self._names[place] = self._counter(self._origin(inner).counter, place)
            counters = self._names[row], self._names[place]
            printer = PairPrinter(node, inner, counters, self._names, self._expression())
            pair = printer.heads(self._heads(None), indent)
            inside = [indent + _INDENT * depth for depth in range(1 + len(pair.heads))]
            self._outline.enter(counters[0], row, mark)
            body = self._body(inner, counters[1], mark, None, inside[-1])
            self._outline.leave()
            self._names.restore(row, outer[0])
            self._names.restore(place, outer[1])
        here, directive = self._locals.taken_out(node, directive, self._directives)
        declared = [f"{inside[-1]}{each}" for each in here]
        around = mentioned.intersection(self._names.values())
        first = self._directives.above(pair.heads[0], directive, mentioned=around)
        heads = belonging([*chosen, *pair.before, *first, *pair.heads[1:]], origin.line)
        return [*heads, *declared, *body, *(closing(each) for each in reversed(inside[:-1]))]

    def _in_strips(
        self, node: isl.AstNode, directive: LoopDirective, origin: LoopOrigin, indent: str, mark: Mark | None
    ) -> list[str] | None:
        """The loop ``node`` over tiles, as strips that threads share; None if the tiles have to stay."""
        strips = strips_of(node, directive.sharing.tile)
        if strips is None or asks_for_counter(node, self._ast) or self._buffers.scopes.buffers:
            return None
        self._in_use.helpers.update({STRIP, TEAM})
        with self._in_use.mentioned() as mentioned:
            counter = self._origin(strips.points).counter or identifier_of(strips.points)
            printer = StripPrinter(strips, counter, self._names, self._expression())
            width, head = printer.width(directive.sharing), printer.head(indent)
            self._names.chosen += printer.chosen
            body = self._body(node, printer.first, mark, None, indent + _INDENT)
            del self._names.chosen[-len(printer.chosen) :]
        here, directive = self._locals.taken_out(node, directive, self._directives)
        around = mentioned.intersection(self._names.values())
        inside = [f"{indent}{_INDENT}{each}" for each in (printer.end(), *here)]
        rest = [*inside, *body, closing(indent)]
        looped = DirectedLoop(head, directive, rest, around, origin.line)
        return [*belonging([f"{indent}{width}"], origin.line), *self._directed(node, looped)]

    @contextmanager
    def _chosen_before(self, node: isl.AstNode, indent: str) -> Iterator[list[str]]:
        """What is chosen alike in all iterations of ``node`` is in constants under this: their declarations.

        They are there afterwards, when it is known what is used.
        """
        declared: list[str] = []
        lanes = None if self._lanes is None else self._lanes.statements.identifier
        found = chosen_subscripts(node, self._ast, lanes)
        chosen = [(each, self._names.declare("chosen")) for each in found]
        values = [self._expression().text(each) for each, _ in chosen]
        self._names.chosen += chosen
        with self._in_use.mentioned() as mentioned:
            yield declared
        del self._names.chosen[len(self._names.chosen) - len(chosen) :]
        kind = register(f"const {self.counter_type}", wanted=self._unoptimised)
        declared += [
            f"{indent}{kind} {name} = {value};"
            for (_, name), value in zip(chosen, values, strict=True)
            if name in mentioned
        ]

    def _body(
        self, node: isl.AstNode, counter: str, mark: Mark | None, own: IntegerType | None, indent: str
    ) -> list[str]:
        """Lines of the body of the loop ``node`` below ``mark``, with its ``counter`` of the type ``own``."""
        identifier = identifier_of(node)
        outer, self._names[identifier] = self._names.get(identifier), counter
        if own is not None:
            self._instances.own_types[identifier] = own.name
        self._outline.enter(counter, identifier, mark)
        self._buffers.conditional += 1
        body = self._block(node.for_get_body(), indent)
        self._buffers.conditional -= 1
        self._outline.leave()
        self._names.restore(identifier, outer)
        self._instances.own_types.pop(identifier, None)
        return body

    def _in_parts(self, node: isl.AstNode, mark: Mark | None, origin: LoopOrigin, indent: str) -> list[str]:
        """The loop ``node`` below ``mark``, shared by threads in parts that accumulate for themselves."""
        directive = self._directives.at(mark)
        assert directive is not None  # noqa: S101 - who asks has looked
        own, inner = self._own_type(node), indent + _INDENT
        counter = (self.counter_type if own is None else own.name, origin.counter)
        accumulators = self._accumulators.of(directive)
        with self._in_use.mentioned() as mentioned:
            parts = PartsPrinter(node, counter, accumulators, self._names, self._expression())
            before = self._accumulators.enter(*parts.accumulators)
            body = self._body(node, origin.counter, mark, own, inner + _INDENT)
            self._accumulators.leave(before)
        self._in_use.helpers.update({"polybuild_min", PARTS})
        here, directive = self._locals.taken_out(node, directive, self._directives)
        around = mentioned.intersection(self._names.values())
        threads = replace(directive, simd=False, accumulators=())
        lanes = replace(directive, shared=0) if directive.simd else None
        shared = loop(f"{indent}{parts.shared_head().head}")
        heads = [f"{indent}{each}" for each in parts.declarations()]
        heads += self._directives.above(shared, threads, mentioned=around)
        heads += [f"{inner}{each}" for each in parts.own()]
        heads += self._directives.above(parts.head(inner), lanes, parts.accumulators)
        return [
            *belonging(heads, origin.line),
            *(f"{inner}{_INDENT}{line}" for line in here),
            *body,
            closing(inner),
            *(f"{inner}{each}" for each in parts.kept()),
            closing(indent),
            *parts.combination(indent),
        ]

    def _scanned(self, node: isl.AstNode, mark: Mark | None, origin: LoopOrigin, indent: str) -> list[str]:
        """The loop ``node`` below ``mark`` in parts: what their terms come to, and then all that it does."""
        directive = self._directives.at(mark)
        assert directive is not None  # noqa: S101 - who asks has looked
        own, inner = self._own_type(node), indent + _INDENT
        counter = (self.counter_type if own is None else own.name, origin.counter)
        accumulators = self._accumulators.of(directive)
        parts = PartsPrinter(node, counter, accumulators, self._names, self._expression())
        self._in_use.helpers.update({"polybuild_min", PARTS})
        here, directive = self._locals.taken_out(node, directive, self._directives)
        threads = replace(directive, simd=False, accumulators=())
        shared = loop(f"{indent}{parts.shared_head().head}")
        lines: list[str] = [*belonging([f"{indent}{each}" for each in parts.declarations()], origin.line)]
        terms = frozenset(name for each in accumulators for name in each.terms)
        for first in (True, False):
            before = self._accumulators.enter(*parts.accumulators)
            self._accumulators.terms = terms if first else None
            with self._in_use.mentioned() as mentioned:
                body = self._body(node, origin.counter, mark, own, inner + _INDENT)
            self._accumulators.leave(before)
            self._accumulators.terms = None
            heads = self._directives.above(
                shared, threads, mentioned=mentioned.intersection(self._names.values())
            )
            heads += [f"{inner}{each}" for each in (parts.own() if first else parts.from_start())]
            lanes = replace(directive, shared=0, simd=True) if first and parts.suit_lanes else None
            heads += self._directives.above(parts.head(inner), lanes, parts.accumulators)
            lines += belonging(heads, origin.line)
            lines += [*(f"{inner}{_INDENT}{line}" for line in here), *body, closing(inner)]
            lines += [f"{inner}{each}" for each in parts.kept()] if first else []
            lines.append(closing(indent))
            lines += parts.starts(indent) if first else []
        return lines

    def _with_own_elements(
        self, node: isl.AstNode, directive: LoopDirective, indent: str, before: Mark | None
    ) -> list[str]:
        """The loop ``node``, whose threads have elements of their own for what data choose."""
        inner, declared = indent + _INDENT, self._names.enter()
        histograms = histograms_of(directive, self._names)
        counter = self._names.declare("element")
        self._accumulators.elements = {own: each.variable for each in histograms for own in each.nodes}
        lines: list[str] = [f"{inner}{each.declaration()}" for each in histograms]
        with self._directives.instead(before, accumulating(directive, histograms)):
            lines += self._for(node, inner, before)
        self._accumulators.elements = {}
        for each in histograms:
            lines += each.combination(counter, self._instances, inner)
        self._names.leave(declared)
        return [opening(f"{indent}{{"), *lines, closing(indent)]

    def _runs_in_lanes(self, node: isl.AstNode) -> bool:
        """Whether a loop is written in lanes, which take one way and access nothing that is in variables."""
        return runs_in_lanes(node, self._ast) and self._in_memory(node)

    def _in_memory(self, node: isl.AstNode) -> bool:
        """Whether statements below ``node`` access no buffer that is in variables."""
        below = (self._ast.instances[each.get_annotation().get_name()] for each in users_below(node))
        accesses = (each for instance in below for each in instance.accesses)
        scopes = self._buffers.scopes
        return all(scopes.variables(access.array.name, at) is None for access, at in accesses)

    def _where_it_runs(self, loop: isl.AstNode, lines: list[str], indent: str) -> list[str]:
        """``lines`` with ``loop`` and what is only there if it has an iteration, in a block."""
        runs = self._runs(loop, identifier_of(loop))
        head = opening(f"{indent}{{") if runs is None else condition(f"{indent}if ({runs})")
        return [head, *lines, closing(indent)]

    def _with_invariants(
        self, node: isl.AstNode, mark: Mark, directive: LoopDirective, indent: str
    ) -> list[str] | None:
        """The loop ``node`` below variables for elements that all its iterations read; None without any."""
        inner, declared, before = indent + _INDENT, self._names.enter(), len(self._instances.replaced)
        lines: list[str] = []
        for each in invariant_elements(node, self._ast, self._instances, directive.invariant):
            text = self._instances.element(each.array, self._expression().subscripts(each.element))
            variable = self._names.declare(f"{each.array.name}_value")
            self._instances.replaced.append((each.element, variable))
            lines.append(
                f"{inner}{register(f'const {each.type}', wanted=self._unoptimised)} {variable} = {text};"
            )
        if not lines:
            return None
        lines += self._node(node, inner, mark)
        del self._instances.replaced[before:]
        self._names.leave(declared)
        return self._where_it_runs(node, lines, indent)

    def _with_rows(self, node: isl.AstNode, mark: Mark, indent: str) -> list[str] | None:
        """The loop ``node`` below pointers to rows that its stores might change; None without any."""
        inner, declared, known = indent + _INDENT, self._names.enter(), dict(self._instances.rows)
        lines: list[str] = []
        for each in rows_of_bytes(node, self._ast, self._instances):
            count = each.array.row_subscripts
            text = row(each.array, self._expression().subscripts(each.element), count)
            if text not in self._instances.rows:
                variable = self._names.declare(f"{each.array.name}_row")
                self._instances.rows[text] = variable
                pointer = register(f"{each.type} *", wanted=self._unoptimised)
                lines.append(f"{inner}{pointer}{variable} = {text};")
        if not lines:
            return None
        lines += self._node(node, inner, mark)
        self._instances.rows = known
        self._names.leave(declared)
        return self._where_it_runs(node, lines, indent)

    def _with_elements(self, node: isl.AstNode, mark: Mark | None, indent: str) -> list[str] | None:
        """The loop ``node`` in lanes below vectors for elements that it writes again and again, if any."""
        if self._lanes is None:
            return None
        elements, inner, declared = self._lanes.elements, indent + _INDENT, self._names.enter()
        loads, stores = elements.enter(node, inner)
        if not loads:
            self._names.leave(declared)
            return None
        lines = self._for(node, inner, mark)
        elements.leave(len(loads))
        self._names.leave(declared)
        return self._where_it_runs(node, [*loads, *lines, *stores], indent)

    def _runs(self, loop: isl.AstNode, identifier: str) -> str | None:
        """That ``loop`` has an iteration, as a condition; None where it is plain to see."""
        first, last = loop.for_get_init(), loop.for_get_cond().op_get_arg(1)
        if surely_runs(loop):
            return None
        if not is_atom(last) and isl.ast_expr_op_type(last.op_get_type()) == isl.ast_expr_op_type.add:
            start, more = last.op_get_arg(0), last.op_get_arg(1)
            if start.is_equal(first) and is_atom(more) and more.to_C_str().isdigit():
                return None
        self._names[identifier] = self._expression().text(first)
        text = self._expression().text(loop.for_get_cond())
        del self._names[identifier]
        return text

    def _in_lanes(self, node: isl.AstNode, mark: Mark | None, origin: LoopOrigin, indent: str) -> list[str]:
        """Loops over as many vectors of iterations as run together, over single ones, and over what is left.

        ``mark`` has the directive of the loop ``node``.
        """
        counter = origin.counter
        directive = self._directives.at(mark)
        lanes = None if directive is None else directive.lanes
        assert directive is not None and lanes is not None  # noqa: PT018, S101 - who asks has looked
        identifier, inner = identifier_of(node), indent + _INDENT
        outer, declared = self._names.get(identifier), self._names.enter()
        self._names[identifier] = counter
        scope = LaneScope(lanes, identifier, counter, self._names, self._instances, self._in_use)
        bounds = LaneLoopBounds(node, scope)
        lines: list[str] = [*belonging(bounds.declarations(inner), origin.line)]
        self._buffers.conditional += 1
        self._outline.enter(counter, identifier, mark)
        with self._chosen_before(node, inner) as chosen:
            lines += self._vectors(node, scope, bounds, origin, inner)
            self._outline.leave()
            outline, self._outline = self._outline, Outline()  # what is left is the same once more
            if lanes.copies > 1:
                single = replace(scope, lanes=replace(lanes, copies=1))
                lines += self._vectors(node, single, bounds, origin, inner)
            own = self._locals.taken_out(node, directive, self._directives)[0]
            lines += belonging([bounds.head(inner, 1)], origin.line)
            lines += [f"{inner}{_INDENT}{line}" for line in own]
            lines += [*self._block(node.for_get_body(), inner + _INDENT), closing(inner)]
        self._outline = outline
        self._buffers.conditional -= 1
        self._names.restore(identifier, outer)
        self._names.leave(declared)
        return [opening(f"{indent}{{"), *chosen, *lines, closing(indent)]

    def _vectors(
        self, node: isl.AstNode, scope: LaneScope, bounds: LaneLoopBounds, origin: LoopOrigin, indent: str
    ) -> list[str]:
        """The loop ``node`` over vectors of iterations, as many at once as ``scope`` says."""
        declared = self._names.enter()
        loop = LaneLoopPrinter(scope, node, self._ast.instances)
        head = belonging([loop.head(bounds, indent)], origin.line)
        inner = indent + _INDENT
        self._lanes = loop
        lines = [*head, *loop.declarations(inner), *self._block(node.for_get_body(), inner), closing(indent)]
        self._lanes = None
        self._names.leave(declared)
        return lines

    def _once(self, node: isl.AstNode, origin: LoopOrigin, indent: str) -> list[str]:
        """A loop with a single iteration, as a block with a constant."""
        identifier = identifier_of(node)
        counter = self._counter(origin.counter, identifier)
        start = self._expression().text(node.for_get_init())
        outer, declared = self._names.get(identifier), self._names.enter()
        self._names[identifier] = counter
        self._buffers.conditional += 1
        body = self._node(node.for_get_body(), indent + _INDENT, None)
        self._buffers.conditional -= 1
        self._names.restore(identifier, outer)
        self._names.leave(declared)
        inner = f"{indent}{_INDENT}"
        kind = register(f"const {self.counter_type}", wanted=self._unoptimised)
        head = [f"{inner}{kind} {counter} = {start};", f"{inner}(void)sizeof {counter};"]
        return [opening(f"{indent}{{"), *belonging(head, origin.line), *body, closing(indent)]

    def _restored(
        self, node: isl.AstNode, restored: RestoredLoop, indent: str, before: Mark | None
    ) -> list[str]:
        """A loop with the dynamic bounds that the user gave it."""
        if restored.place is not None:  # the user's condition may be inside: isl leaves it there
            lines = self._restored(node, replace(restored, place=None), indent + _INDENT, before)
            return [
                condition(f"{indent}if ({self._expression().text(restored.place)})"),
                *lines,
                closing(indent),
            ]
        counted, inside = restored.loop, first_instance(node)
        instance = self._ast.instances[inside]
        identifier = identifier_of(node)
        iterator = instance.statement.iterators[counted.position]
        unsigned = isinstance(iterator.type, IntegerType) and not iterator.type.signed
        variable = counter = self._counter(iterator.name, identifier)
        declared = self._names.enter()
        if unsigned or restored.negated:  # the user's counter, and the one that the code inside means
            self._names[f"{identifier} of the user"] = variable
            counter = self._names.declare(f"{variable}_value")
        printer = self._bounds_printer(inside, {iterator.name: variable})
        directive = self._directives.at(before)
        if directive is not None and identifier != f"c{directive.depth}":
            directive, before = None, None
        kind = counter_type(instance.statement, counted.position) if unsigned else self.counter_type
        first = restored_head(counted, f"{indent}for ({kind} {variable}", variable, printer)
        accumulators = self._accumulators.of(directive) if directive is not None else []
        head = self._directives.above(first, directive, accumulators)
        inner = indent + _INDENT
        if counter != variable:
            sign = "-" if restored.negated else ""
            head.append(
                f"{inner}const {self.counter_type} {counter} = {sign}({self.counter_type}){variable};"
            )
            head.append(f"{inner}(void)sizeof {counter};")
        self._names[identifier] = counter
        if restored.narrowed:
            head.append(condition(f"{inner}if ({within(node, counter, self._expression())})"))
        self._outline.enter(counter, identifier, before)
        self._instances.open_loops.add(counted)
        self._buffers.conditional += 1
        body = self._block(node.for_get_body(), inner + (_INDENT if restored.narrowed else ""))
        self._buffers.conditional -= 1
        self._instances.open_loops.remove(counted)
        self._outline.leave()
        del self._names[identifier]
        self._names.pop(f"{identifier} of the user", None)
        self._names.leave(declared)
        lines = [*belonging(head, first.source), *body]
        return [*lines, *([closing(inner)] if restored.narrowed else []), closing(indent)]

    def _bounds_printer(self, inside: str, counters: Mapping[str, str]) -> BodyPrinter:
        """Prints the bounds of a dynamic loop around the instance of the name ``inside``."""
        return self._instances.printer(self._ast.instances[inside], counters)

    def _origin(self, node: isl.AstNode) -> LoopOrigin:
        """Which loop of the user the loop ``node`` is."""
        return self._ast.loops.get(annotated_name(node), UNKNOWN)

    def _counter(self, hint: str, identifier: str) -> str:
        """A name for a counter: the user's where the loop steps through that counter's values, else isl's."""
        return self._names.fresh(hint or identifier)

    def _if(self, node: isl.AstNode, indent: str, before: Mark | None) -> list[str]:
        lines: list[str] = [condition(f"{indent}if ({self._expression().text(node.if_get_cond())})")]
        lines += self._branch(node.if_get_then_node(), indent + _INDENT, before)
        if node.if_has_else_node():
            other = node.if_get_else_node()
            if kind_of(other) == IF:
                first, *rest = self._branch(other, indent, before)
                return [*lines, CodeLine(f"{indent}}} else {first.lstrip()}", role=Role.OTHERWISE_IF), *rest]
            lines += [between(indent), *self._branch(other, indent + _INDENT, before)]
        return [*lines, closing(indent)]

    def _branch(self, node: isl.AstNode, indent: str, before: Mark | None) -> list[str]:
        """Lines of one branch of a condition."""
        declared = self._names.enter()
        self._buffers.conditional += 1
        lines = self._node(node, indent, before)
        self._buffers.conditional -= 1
        self._names.leave(declared)
        return lines

    def _statement(self, node: isl.AstNode, indent: str) -> list[str]:
        name = node.get_annotation().get_name()
        vector = self._ast.vectors.get(name)
        if isinstance(vector, VectorBlock) and vector.computes:
            self._outline.statement(vector.tile.update.name, once=True)
        if isinstance(vector, Packing):
            packed = tuple(each.spelling for each in vector.packed.arrays)
            self._outline.statement(vector.statement.name, once=True, packed=packed)
        if vector is not None:
            return self._tiles.lines(name, indent)
        instance = self._ast.instances[name]
        terms = self._accumulators.terms
        if terms is not None and instance.statement.name not in terms:
            return []
        self._outline.statement(instance.statement.name)
        if self._lanes is not None:
            return [f"{indent}{line}" for line in self._lanes.statements.statement(instance)]
        return [*self._instances.lines(instance, indent)]

    @property
    def _in_use(self) -> NamesInUse:
        return self._directives.in_use

    def _own_type(self, loop: isl.AstNode) -> IntegerType | None:
        """The type of the user's counter that ``loop`` keeps, None if it gets the one of all others."""
        names = [each.get_annotation().get_name() for each in users_below(loop)]
        if not all(each in self._ast.instances for each in names):
            return None
        return own_type(loop, [self._ast.instances[each] for each in names])

    def _heads(self, own: IntegerType | None) -> LoopHeadPrinter:
        kind = self.counter_type if own is None else own.name
        return LoopHeadPrinter(
            self._expression(), self._names, kind, own=own is not None, unoptimised=self._unoptimised
        )

    def _expression(self) -> ExpressionPrinter:
        return ExpressionPrinter(self._names.text, self._in_use, self._names.chosen)
