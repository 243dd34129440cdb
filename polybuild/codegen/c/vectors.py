"""Register tiles and packed buffers as C.

Vectors are written with the vector extension of gcc and clang: an operation on them is that
operation on each lane, and a scalar among the operands counts for all lanes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial

import islpy as isl
from pycparser import c_ast

from polybuild.c.explicit_conversions import Number
from polybuild.c.syntax_tree import walk
from polybuild.codegen.c.bodies import BodyPrinter, Sizes, element
from polybuild.codegen.c.corners import BlockCorners
from polybuild.codegen.c.expressions import ExpressionPrinter, Operand
from polybuild.codegen.c.layout import CodeLine
from polybuild.codegen.c.lazy_texts import LazyTexts
from polybuild.codegen.c.names_in_scope import NamesInScope
from polybuild.codegen.c.names_in_use import NamesInUse
from polybuild.codegen.c.row_pointers import RowPointers
from polybuild.codegen.c.vector_blocks import Lanes, Move, Packing
from polybuild.codegen.file.conversions import VectorConversion
from polybuild.codegen.file.prologue import WIDEST, WholeVector
from polybuild.codegen.file.vector_types import VectorType, vector_of
from polybuild.scop.model import Access, Array
from polybuild.targets.model import Packed, RegisterTile

ALIGNED = "__attribute__((aligned(64)))"
"""What buffers begin at: a multiple of the longest vectors."""

# Buffers of so many subscripts have rows.
_ROWS = 2


class VectorPrinter:
    """Prints what stands in register tiles and fills buffers.

    ``places`` gives the name of each buffer and of each tile's variables, ``sizes`` the
    inner extents of arrays that are views. Constants like counters are of ``counter_type``.
    """

    def __init__(
        self,
        expressions: ExpressionPrinter,
        places: NamesInScope,
        sizes: Mapping[str, Sizes],
        in_use: NamesInUse,
        counter_type: str,
    ) -> None:
        self._counter_type = counter_type
        self._expressions = expressions
        self._places = places
        self._sizes = sizes
        self._in_use = in_use
        self._corners = BlockCorners(expressions, places)
        self._pointers = RowPointers(expressions, places)

    def variables(self, tile: RegisterTile, loads: Sequence[Move], indent: str) -> list[str]:
        """The declaration of the variables of a register tile, of the values that ``loads`` load.

        Without any loads the variables are set later.
        """
        rows, vectors = (each.size for each in tile.block)
        blocks = list(itertools.product(range(rows), range(vectors)))
        told = f"/* {rows} x {vectors} vectors of {tile.array.name} in registers */"
        head = f"{indent}{self._type(tile, tile.type)} {told}"
        if not loads:
            return [f"{head} {', '.join(self.variable(tile, block) for block in blocks)};"]
        corner = self._corners.declare(tile.mark, [each.place for each in loads])
        lines = [f"{indent}const {self._counter_type} {', '.join(corner)};"] if corner else []
        values = {each.block: self._loaded(each) for each in loads}
        return [*lines, head, *self._initialised(tile, values, indent)]

    def initialised(
        self, tile: RegisterTile, values: Mapping[tuple[int, int], str], indent: str
    ) -> list[str]:
        """The declaration of the variables of a register tile with ``values``, row by row."""
        return [f"{indent}{self._type(tile, tile.type)}", *self._initialised(tile, values, indent)]

    def _initialised(
        self, tile: RegisterTile, values: Mapping[tuple[int, int], str], indent: str
    ) -> list[str]:
        lines: list[str] = []
        for number, (block, value) in enumerate(values.items(), 1):
            end = ";" if number == len(values) else ","
            text = f"{indent}    {self.variable(tile, block)} = {value}{end}"
            lines.append(CodeLine(text, row=block[0]))
        return lines

    def buffer(self, packed: Packed) -> list[str]:
        """The declaration of a buffer."""
        extents = "".join(f"[{extent}]" for extent in packed.extents)
        name = self._places[packed.mark.name]
        arrays = dict.fromkeys(access.array.name for access, _ in packed.elements if access.array.extents)
        told = f"/* a tile of {' and '.join(arrays)}, in the order of its use */"
        return [f"{packed.type.name} {name}{extents} {ALIGNED}; {told}"]

    def rows(self, vectors: Sequence[Lanes | Move]) -> list[str]:
        """Declarations of pointers to the rows that ``vectors``, one after the other, use."""
        lanes = [each for each in vectors if isinstance(each, Lanes)]
        buffers = [
            line
            for instance in lanes
            for packed, at in instance.packed
            for line in self._row_of_buffer(instance, packed, at)
        ]
        return buffers + self._rows_in_memory(lanes)

    def _rows_in_memory(self, lanes: Sequence[Lanes]) -> list[str]:
        """Declarations of pointers to the rows of arrays that ``lanes`` load vectors of."""
        return self._pointers.declarations(
            [
                (
                    self._pointers.element(access.array, at),
                    each.tile.types[id(access.node)].name,
                    self.element(access.array, at),
                )
                for each in lanes
                for access, at in each.operands
                if id(access.node) in each.tile.vectors
            ]
        )

    def _row_of_buffer(self, instance: Lanes, packed: Packed, at: tuple[isl.AstExpr, ...]) -> list[str]:
        row = self._row(packed, at)
        if self._pointers.named(row) is not None or _lane(instance, packed, at) is None:
            return []
        arrays = dict.fromkeys(access.array.name for access, _ in packed.elements if access.array.extents)
        name = self._pointers.declare(row, "_".join(["row", *arrays]))
        if not packed.vector:
            return [f"const {packed.type.name} *{name} = {row};"]
        kind = self._type(instance.tile, packed.type)
        return [f"const {kind} *{name} = (const {kind} *){row};"]

    def text(self, instance: Lanes | Move | Packing) -> str:
        """The statement for ``instance``."""
        if isinstance(instance, Packing):
            return self._packing(instance)
        if isinstance(instance, Move):
            variable = self.variable(instance.tile, instance.block)
            if instance.store:
                return f"{self._moved(instance)} = {variable};"
            return f"{variable} = {self._loaded(instance)};"
        return self._lanes(instance)

    def _loaded(self, move: Move) -> str:
        """The value that ``move`` loads."""
        return self._whole(move.tile, self._moved(move))

    def _moved(self, move: Move) -> str:
        """The vector of results in memory."""
        # no pointers to rows here: gcc 12 then keeps operands of the loop between in memory
        subscripts = self._corners.subscripts(move.tile.mark, move.place)
        return self._kind(move.tile, move.tile.type).at(self._element_at(move.array, subscripts))

    def _packing(self, instance: Packing) -> str:
        operands = LazyTexts(
            {id(access.node): partial(self.element, access.array, at) for access, at in instance.operands}
        )
        value = BodyPrinter(operands, _no_counter).visit(instance.packed.expression)
        return f"{self.buffer_element(instance.packed, instance.subscripts)} = {value};"

    def _lanes(self, instance: Lanes) -> str:
        tile = instance.tile
        printers: dict[int, Callable[[], str]] = {
            id(access.node): partial(self._in_memory, tile, access, at) for access, at in instance.operands
        }
        printers |= {
            id(packed.expression): partial(self._operand, instance, packed, subscripts)
            for packed, subscripts in instance.packed
        }
        packed_vectors = {id(packed.expression) for packed, _ in instance.packed if packed.vector}
        return self.update(tile, instance.block, printers, tile.vectors | packed_vectors)

    def update(
        self,
        tile: RegisterTile,
        block: tuple[int, int],
        operands: Mapping[int, Callable[[], str]],
        vectors: AbstractSet[int],
    ) -> str:
        """The update of a vector of a block; ``operands`` print what it reads, ``vectors`` those that are."""
        printers = dict(operands)
        texts = dict.fromkeys(tile.own, self.variable(tile, block))
        texts |= {id(node): array.name for node, array in tile.update.locals if id(node) not in texts}
        known = {node: text for node, text in texts.items() if node not in printers}
        vectors = tile.own | vectors
        one = {node for node in (*printers, *known) if node not in vectors}
        # conversions of vectors, innermost last: each prints what it converts by this very printer
        printer = BodyPrinter(LazyTexts(printers, known), _no_counter)
        for node in walk(tile.update.body):
            single = id(node) in printers or not isinstance(node, c_ast.Cast)
            if not single and _is_vector(node.expr, vectors, one):
                printers[id(node)] = partial(self._converted, tile, node, printer)
        return printer.statement(tile.update.body)

    def _converted(self, tile: RegisterTile, cast: c_ast.Cast, printer: BodyPrinter) -> str:
        """The conversion of a vector."""
        source, target = (self._kind(tile, tile.types[id(each)]) for each in (cast.expr, cast))
        conversion = VectorConversion(source, target)
        self._in_use.helpers.add(conversion)
        return conversion.of(printer.visit(cast.expr))

    def _in_memory(self, tile: RegisterTile, access: Access, at: isl.AstExpr) -> str:
        """What an instance accesses, as a vector where each lane has an element of its own."""
        place = self.element(access.array, at)
        if id(access.node) not in tile.vectors:
            return place
        address = self._pointers.address(self._pointers.element(access.array, at)) or f"&{place}"
        return self._vector(tile, address, tile.types[id(access.node)])

    def _operand(self, instance: Lanes, packed: Packed, at: tuple[isl.AstExpr, ...]) -> str:
        """What ``instance`` takes from a buffer."""
        pointer, lane = self._pointers.named(self._row(packed, at)), _lane(instance, packed, at)
        if pointer is not None and lane is not None:
            return f"{pointer}[{lane}]"
        place = self.buffer_element(packed, at)
        return self._vector(instance.tile, f"&{place}", packed.type) if packed.vector else place

    def variable(self, tile: RegisterTile, block: tuple[int, int]) -> str:
        """The variable that holds one vector of a block."""
        return f"{self._places[tile.mark.name]}_{block[0]}_{block[1]}"

    def _whole(self, tile: RegisterTile, vector: str) -> str:
        """``vector``, said to clang in a way that keeps it from taking the function's vectors apart."""
        kind = self._kind(tile, tile.type)
        if kind.bytes < WIDEST:
            return vector
        whole = WholeVector(kind)
        self._in_use.helpers.add(whole)
        return f"{whole.name}({vector})"

    def vector_at(self, tile: RegisterTile, place: str) -> str:
        """The vector of results that begins at the element ``place``."""
        return self._kind(tile, tile.type).at(place)

    def row(self, tile: RegisterTile, element: Number, name: str, row: str) -> str:
        """The declaration of a pointer to the vectors of such elements in the ``row`` of a buffer."""
        kind = self._type(tile, element)
        return f"const {kind} *{name} = (const {kind} *){row};"

    def _vector(self, tile: RegisterTile, address: str, element: Number) -> str:
        return f"*(const {self._type(tile, element)} *){address}"

    def _kind(self, tile: RegisterTile, element: Number) -> VectorType:
        """The type of the vectors of ``tile`` with such elements, which is in use from now on."""
        kind = vector_of(element, tile.lanes)
        self._in_use.helpers.add(kind)
        return kind

    def _type(self, tile: RegisterTile, element: Number) -> str:
        return self._kind(tile, element).name

    def element(self, array: Array, at: isl.AstExpr) -> str:
        """The element of an array at the subscripts of an access expression."""
        return self._element_at(array, self._expressions.subscripts(at))

    def _element_at(self, array: Array, subscripts: Sequence[Operand]) -> str:
        return element(array, subscripts, self._sizes.get(array.name, ()))

    def _row(self, packed: Packed, at: tuple[isl.AstExpr, ...]) -> str:
        return self._places[packed.mark.name] + "".join(
            f"[{self._expressions.text(each)}]" for each in at[:-1]
        )

    def buffer_element(self, packed: Packed, at: tuple[isl.AstExpr, ...]) -> str:
        """The element of a buffer at the subscripts ``at``."""
        return f"{self._row(packed, at)}[{self._expressions.text(at[-1])}]"


def _lane(instance: Lanes, packed: Packed, at: tuple[isl.AstExpr, ...]) -> int | None:
    """Which element, or vector, of a row of a buffer ``instance`` takes; None if that is no number."""
    if isl.ast_expr_type(at[-1].get_type()) != isl.ast_expr_type.int or len(at) < _ROWS:
        return None
    number = int(at[-1].int_get_val().to_python())
    lanes = instance.tile.lanes if packed.vector else 1
    return number // lanes if number % lanes == 0 else None


def _is_vector(node: c_ast.Node, vectors: AbstractSet[int], one: AbstractSet[int]) -> bool:
    """Whether the lanes of ``node`` differ: one of ``vectors`` is in it, outside of ``one`` operand."""
    if id(node) in vectors:
        return True
    return id(node) not in one and any(_is_vector(child, vectors, one) for _, child in node.children())


def _no_counter(_name: str) -> str | None:
    """No counter stands in the body of an update."""
    return None
