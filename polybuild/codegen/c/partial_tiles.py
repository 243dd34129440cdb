"""Partial register tiles, where rows and columns end, computed as full ones in buffers.

The rows and lanes that a partial tile lacks repeat the last one that it has, and what comes of them is not
stored. So nothing else is read than the loops would read, and all results are computed in the same order, in
vectors instead of one by one (full and partial tiles: PLDI 2008, section 5.4).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import islpy as isl

from polybuild.c.explicit_conversions import Number
from polybuild.c.syntax_tree import walk
from polybuild.codegen.c.expressions import ADDITIVE, ExpressionPrinter, identifiers_in, is_number
from polybuild.codegen.c.layout import CodeLine, Role, belonging, between, closing, condition, loop
from polybuild.codegen.c.loop_origins import UNKNOWN
from polybuild.codegen.c.names_in_scope import NamesInScope
from polybuild.codegen.c.names_in_use import NamesInUse
from polybuild.codegen.c.nodes import FOR, annotated_name, identifier_of, kind_of
from polybuild.codegen.c.parts import counts_up
from polybuild.codegen.c.vectors import ALIGNED
from polybuild.poly.marks import Mark
from polybuild.scop.model import Access
from polybuild.values import dataclass

if TYPE_CHECKING:
    from polybuild.codegen.c.ast import PrintedAst
    from polybuild.codegen.c.vectors import VectorPrinter
    from polybuild.targets.model import PartialTile, RegisterTile

_INDENT = "  "
_TOLD = "/* a partial tile as a full one: rows and lanes that it lacks repeat the last it has */"
_Op = isl.ast_expr_op_type


@dataclass(frozen=True, slots=True)
class _Counted:
    """The values of a counter: its name in isl's AST and in C, and what the first and the last are called."""

    identifier: str
    counter: str
    first: str
    last: str

    def head(self, kind: str) -> str:
        """The head of a loop over them."""
        return f"for ({kind} {self.counter} = {self.first}; {self.counter} <= {self.last}; {self.counter}++)"

    def nearest(self, distance: str) -> str:
        """The value so far from the first one, or the last one."""
        return f"polybuild_min({self.first} + {distance}, {self.last})"


@dataclass(frozen=True, slots=True)
class _Trends:
    """Whether the first and the last lane of a row rise (1) or fall (-1) from row to row, or stay (0)."""

    first: int
    last: int

    @property
    def are_flat(self) -> bool:
        """Whether all rows have the same lanes."""
        return self.first == 0 == self.last


@dataclass(frozen=True, slots=True)
class _Gathered:
    """A value of which each lane has its own: the node that it is by identity, and its ``text`` for a lane.

    ``name`` is what it is called after, ``kind`` its type.
    """

    node: int
    name: str
    kind: Number
    text: Callable[[], str]


@dataclass(frozen=True, slots=True)
class _PartialUpdate:
    """The update of a partial ``tile``, with variables of its own: where its result is, and its operands.

    What is in no loop over lanes it reads where it is, in ``operands``.
    """

    tile: RegisterTile
    partial: PartialTile
    result: tuple[Access, isl.AstExpr]
    operands: tuple[tuple[Access, isl.AstExpr], ...]
    gathered: tuple[_Gathered, ...]


class PartialTilePrinter:
    """Prints partial register tiles, as ``vectors`` does full ones.

    Variables are in ``names``, counters of ``counter_type``; ``in_use`` records what the text mentions.
    """

    def __init__(
        self,
        ast: PrintedAst,
        vectors: VectorPrinter,
        expressions: ExpressionPrinter,
        names: NamesInScope,
        *,
        in_use: NamesInUse,
        counter_type: str,
    ) -> None:
        self._ast = ast
        self._vectors = vectors
        self._expressions = expressions
        self._names = names
        self._in_use = in_use
        self._kind = counter_type

    def lines(
        self, node: isl.AstNode, mark: Mark, indent: str, loops_at: Callable[[str], list[str]]
    ) -> list[str] | None:
        """The block for the loops below ``node``, which has ``mark``; None where loops have to do it.

        They have to where rows differ in their steps, or where isl has made several nests. ``loops_at``
        gives their lines, by the indent: they do it where a row of a triangle has no lanes.
        """
        tile = self._ast.tiles.partial[mark]
        nest, name = _nest(node.mark_get_node())
        update = self._update(mark, name)
        trends = None if update is None else _trends(nest, update.partial.loops)
        if update is None or trends is None:
            return None
        declared = self._names.enter()
        self._names[mark.name] = self._names.declare_stem("acc")
        self._in_use.helpers.add("polybuild_min")
        inner = indent + _INDENT
        bounds, ranges = self._ranges(nest, trends)
        runs = [f"{each.first} <= {each.last}" for each in ranges]
        in_rows = None
        if not trends.are_flat:
            self._in_use.helpers.add("polybuild_max")
            runs[-1] = " <= ".join(self._lanes_of_all(nest, ranges[0], trends))
            with self._at({ranges[0].identifier: ranges[0].counter}):
                in_rows = self._first(nest[-1]), self._last(nest[-1])
        lines = [
            CodeLine(f"{indent}{{ {_TOLD}", role=Role.OPENING),
            *(f"{inner}{each}" for each in bounds),
            condition(f"{inner}if ({' && '.join(runs)})"),
            *self._block(update, ranges, in_rows, inner + _INDENT),
        ]
        del self._names[mark.name]
        lines += [] if trends.are_flat else [between(inner), *loops_at(inner + _INDENT)]
        self._names.leave(declared)
        return [*belonging([*lines, closing(inner), closing(indent)], tile.update.location.line)]

    def _update(self, mark: Mark, name: str) -> _PartialUpdate | None:
        """What is left of the tile of ``mark``, the instances called ``name``; None if that is unknown."""
        tile = self._ast.tiles.partial[mark]
        instance = self._ast.instances.get(name)
        if instance is None or tile.partial is None or instance.statement.name != tile.update.name:
            return None
        found = {id(access.node): (access, at) for access, at in instance.accesses}
        results = [each for each in found.values() if id(each[0].node) in tile.own]
        if not results or not all(each in found for each in tile.partial.operands):
            return None
        gathered: list[_Gathered] = []
        inside: set[int] = set()
        for each in instance.packed:
            packed = each.packed
            if packed.vector:
                text = partial(self._vectors.buffer_element, packed, each.subscripts)
                gathered.append(_Gathered(id(packed.expression), packed.arrays[0].name, packed.type, text))
                inside.update(id(node) for node in walk(packed.expression))
        operands = [found[each] for each in tile.partial.operands if each not in inside]
        for access, at in operands:
            if id(access.node) in tile.partial.gathered:
                text = partial(self._vectors.element, access.array, at)
                kind = tile.types[id(access.node)]
                gathered.append(_Gathered(id(access.node), access.array.name, kind, text))
        others = tuple(each for each in operands if id(each[0].node) not in tile.partial.gathered)
        return _PartialUpdate(replace(tile, mark=mark), tile.partial, results[0], others, tuple(gathered))

    def _ranges(self, nest: Sequence[isl.AstNode], trends: _Trends) -> tuple[list[str], list[_Counted]]:
        """Declarations of the bounds of a ``nest``, and the values of its counters, in any row."""
        lines: list[str] = []
        ranges: list[_Counted] = []
        for node in nest:
            identifier = identifier_of(node)
            origin = self._ast.loops.get(annotated_name(node), UNKNOWN)
            counter = self._names.declare(origin.counter or identifier)
            first, last = (self._names.declare(f"{each}_{counter}") for each in ("first", "last"))
            rows = ranges[0] if node is nest[-1] else None
            with self._in_row(rows, last=trends.first < 0):
                lines.append(f"const {self._kind} {first} = {self._first(node)};")
            with self._in_row(rows, last=trends.last > 0):
                lines.append(f"const {self._kind} {last} = {self._last(node)};")
            ranges.append(_Counted(identifier, counter, first, last))
        return lines, ranges

    def _lanes_of_all(self, nest: Sequence[isl.AstNode], rows: _Counted, trends: _Trends) -> tuple[str, str]:
        """The first and the last lane that all ``rows`` have, if the first is none after the last."""
        with self._in_row(rows, last=trends.first > 0):
            first = self._first(nest[-1])
        with self._in_row(rows, last=trends.last < 0):
            return first, self._last(nest[-1])

    @contextmanager
    def _in_row(self, rows: _Counted | None, *, last: bool) -> Iterator[None]:
        """The counter of ``rows``, if given, is the first or the ``last`` of them under this."""
        with self._at({} if rows is None else {rows.identifier: rows.last if last else rows.first}):
            yield

    def _first(self, node: isl.AstNode) -> str:
        """The first value of the counter of the loop ``node``."""
        return self._expressions.text(node.for_get_init())

    def _last(self, node: isl.AstNode) -> str:
        """The last value of the counter of the loop ``node``."""
        if node.for_is_degenerate():
            return self._first(node)
        test = node.for_get_cond()
        text = self._expressions.text(test.op_get_arg(1), ADDITIVE)
        return text if _Op(test.op_get_type()) == _Op.le else f"{text} - 1"

    @contextmanager
    def _at(self, values: Mapping[str, str]) -> Iterator[None]:
        """Counters, by their names in isl's AST, have these values, as C, under this."""
        before = {each: self._names.get(each) for each in values}
        self._names.update(values)
        yield
        for each, name in before.items():
            self._names.restore(each, name)

    def _block(
        self,
        update: _PartialUpdate,
        ranges: Sequence[_Counted],
        in_rows: tuple[str, str] | None,
        indent: str,
    ) -> list[str]:
        """What computes the block: into buffers, the loop over its steps, and back.

        The first and the last lane of a row are ``in_rows``, None if those of all rows are the same.
        """
        rows, steps, lanes = ranges
        tile, vectors = update.tile, self._vectors
        height, width = tile.block[0].size, tile.block[1].size * tile.lanes
        access, at = update.result
        result = self._names.declare(f"partial_{access.array.name}")
        row, lane = self._names.declare("row"), self._names.declare("lane")
        in_row, in_lane = (f"const {self._kind} {each.counter} =" for each in (rows, lanes))
        lines = [f"{indent}{tile.type.name} {result}[{height}][{width}] {ALIGNED};"]
        with self._at({each.identifier: each.counter for each in ranges}):
            element = vectors.element(access.array, at)
            nearest, stored_lanes = lanes.nearest(lane), lanes
            if in_rows is not None:
                stored_lanes = replace(lanes, first=in_rows[0], last=in_rows[1])
                nearest = f"polybuild_max({in_rows[0]}, polybuild_min({lanes.first} + {lane}, {in_rows[1]}))"
            copy = [f"{in_row} {rows.nearest(row)};", f"{in_lane} {nearest};"]
            copy.append(f"{result}[{row}][{lane}] = {element};")
            heads = [self._counting(row, height), self._counting(lane, width)]
            lines += _nested(heads, copy, indent)
            gathered = {}
            for each in update.gathered:
                name = self._names.declare(f"partial_{each.name}")
                lines.append(f"{indent}{each.kind.name} {name}[{update.partial.steps}][{width}] {ALIGNED};")
                taken = f"{name}[{steps.counter} - {steps.first}]"
                copy = [f"{in_lane} {lanes.nearest(lane)};"]
                copy.append(f"{taken}[{lane}] = {each.text()};")
                lines += _nested([steps.head(self._kind), self._counting(lane, width)], copy, indent)
                gathered[each.node] = taken
            back = f"{result}[{rows.counter} - {rows.first}][{lanes.counter} - {lanes.first}]"
            heads = [each.head(self._kind) for each in (rows, stored_lanes)]
            stored = _nested(heads, [f"{element} = {back};"], indent)
        return [*lines, *self._updates(update, ranges, gathered, result, indent), *stored]

    def _updates(
        self,
        update: _PartialUpdate,
        ranges: Sequence[_Counted],
        gathered: Mapping[int, str],
        result: str,
        indent: str,
    ) -> list[str]:
        """The loop over the steps, with the block, which ``result`` is before and after, in variables.

        What lanes have of their own they take from the rows of buffers that ``gathered`` gives, by its node.
        """
        rows, steps, lanes = ranges
        tile, vectors = update.tile, self._vectors
        height, width = (each.size for each in tile.block)
        blocks = list(itertools.product(range(height), range(width)))
        places = {
            (row, vector): vectors.vector_at(tile, f"{result}[{row}][{vector * tile.lanes}]")
            for row, vector in blocks
        }
        names = [self._names.declare(f"{rows.counter}_{row}") for row in range(height)]
        inner, inside = indent + _INDENT, []
        pointers = {}
        for each in update.gathered:
            pointers[each.node] = self._names.declare(f"row_{each.name}")
            inside.append(inner + vectors.row(tile, each.kind, pointers[each.node], gathered[each.node]))
        with self._in_use.mentioned() as mentioned:
            for row, vector in blocks:
                here = {rows.identifier: names[row], steps.identifier: steps.counter}
                with self._at({**here, lanes.identifier: lanes.first}):
                    texts = {
                        id(access.node): vectors.element(access.array, at) for access, at in update.operands
                    }
                texts |= {node: f"{pointer}[{vector}]" for node, pointer in pointers.items()}
                text = vectors.update(tile, (row, vector), _constants(texts), frozenset(pointers))
                inside.append(CodeLine(f"{inner}{text}", row=row, role=Role.STATEMENT))
        values = [rows.first, *(rows.nearest(str(row)) for row in range(1, height))]
        declarators = [
            f"{name} = {value}" for name, value in zip(names, values, strict=True) if name in mentioned
        ]
        lines = [f"{indent}const {self._kind} {', '.join(declarators)};"] if declarators else []
        lines += vectors.initialised(tile, places, indent)
        lines += [loop(f"{indent}{steps.head(self._kind)}"), *inside, closing(indent)]
        for place in blocks:
            text = f"{indent}{places[place]} = {vectors.variable(tile, place)};"
            lines.append(CodeLine(text, row=place[0], role=Role.STATEMENT))
        return lines

    def _counting(self, counter: str, count: int) -> str:
        """The head of a loop that counts so many."""
        return f"for ({self._kind} {counter} = 0; {counter} < {count}; {counter}++)"


def _nested(heads: Sequence[str], body: Sequence[str], indent: str) -> list[str]:
    """Loops with ``heads``, outermost first, around the lines ``body``."""
    depths = [indent + _INDENT * depth for depth in range(len(heads) + 1)]
    lines: list[str] = [loop(f"{depth}{head}") for depth, head in zip(depths, heads, strict=False)]
    lines += [CodeLine(f"{depths[-1]}{each}", role=Role.OTHER) for each in body[:-1]]
    lines.append(CodeLine(f"{depths[-1]}{body[-1]}", role=Role.STATEMENT))
    return [*lines, *(closing(depth) for depth in reversed(depths[:-1]))]


def _constants(texts: Mapping[int, str]) -> dict[int, Callable[[], str]]:
    return {node: partial(str, text) for node, text in texts.items()}


def _nest(node: isl.AstNode) -> tuple[list[isl.AstNode], str]:
    """The loops around a single statement, outermost first, and its name; no loops for anything else."""
    loops = []
    while True:
        kind = kind_of(node)
        if kind == FOR:
            loops.append(node)
            node = node.for_get_body()
        elif kind == isl.ast_node_type.mark:
            node = node.mark_get_node()
        elif kind == isl.ast_node_type.user:
            return loops, str(node.get_annotation().get_name())
        else:
            return [], ""


def _trends(nest: Sequence[isl.AstNode], depths: Sequence[int]) -> _Trends | None:
    """How rows differ in their lanes, if the loops of a ``nest`` are those of the dimensions ``depths``.

    None if they are not, if a row has steps of its own, or if its lanes depend on the row in other ways.
    """
    identifiers = [identifier_of(each) for each in nest]
    if identifiers != [f"c{each}" for each in depths] or not all(map(_counts, nest)):
        return None  # isl names the counter of dimension d "c<d>"
    rows, steps, lanes = nest
    if any(_mentions(each, frozenset(identifiers)) for each in (rows, steps)):
        return None
    if _mentions(lanes, frozenset(identifiers[1:])):
        return None
    end = lanes.for_get_init() if lanes.for_is_degenerate() else lanes.for_get_cond().op_get_arg(1)
    first, last = (_trend(each, identifiers[0]) for each in (lanes.for_get_init(), end))
    return None if first is None or last is None else _Trends(first, last)


def _trend(expression: isl.AstExpr, counter: str) -> int | None:
    """Whether an expression rises (1) or falls (-1) with a counter, or stays (0); None if that is unknown."""
    kind = isl.ast_expr_type(expression.get_type())
    if kind != isl.ast_expr_type.op:
        return int(kind == isl.ast_expr_type.id and expression.id_get_id().get_name() == counter)
    operands = [expression.op_get_arg(position) for position in range(expression.op_get_n_arg())]
    found = [_trend(each, counter) for each in operands]
    if not any(each != 0 for each in found):
        return 0
    operation = _Op(expression.op_get_type())
    if operation in {_Op.sub, _Op.minus}:
        found[-1] = None if found[-1] is None else -found[-1]
    elif operation == _Op.mul:
        factors = [each for each in operands if isl.ast_expr_type(each.get_type()) == isl.ast_expr_type.int]
        found = [each if each is None else each * factors[0].int_get_val().sgn() for each in found if factors]
    elif operation in {_Op.div, _Op.fdiv_q, _Op.pdiv_q}:
        found = found[:1] if found[1] == 0 and _is_positive(operands[1]) else []
    elif operation not in {_Op.add, _Op.min, _Op.max}:
        return None
    trends = {each for each in found if each != 0}
    return trends.pop() if len(trends) == 1 else None


def _counts(node: isl.AstNode) -> bool:
    """Whether the loop ``node`` counts one by one up to a bound."""
    if node.for_is_degenerate():
        return True
    counter = node.for_get_cond().op_get_arg(0)
    by_one = counts_up(node) and is_number(node.for_get_inc(), 1)
    return by_one and counter.to_C_str() == identifier_of(node)


def _mentions(node: isl.AstNode, identifiers: frozenset[str]) -> bool:
    """Whether bounds of the loop ``node`` depend on counters called ``identifiers``."""
    bounds = [node.for_get_init()]
    if not node.for_is_degenerate():
        bounds.append(node.for_get_cond().op_get_arg(1))
    return any(not identifiers.isdisjoint(identifiers_in(each)) for each in bounds)


def _is_positive(expression: isl.AstExpr) -> bool:
    number = isl.ast_expr_type(expression.get_type()) == isl.ast_expr_type.int
    return bool(number and expression.int_get_val().is_pos())
