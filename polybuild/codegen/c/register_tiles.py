"""Register tiles and packed buffers where they stand in generated code: declarations, rows, statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polybuild.codegen.c.layout import CodeLine, Role, belonging
from polybuild.codegen.c.names_in_scope import NamesInScope
from polybuild.codegen.c.nodes import FOR, flat, kind_of, users_below
from polybuild.codegen.c.partial_tiles import PartialTilePrinter
from polybuild.codegen.c.vector_blocks import Move, Packing, VectorBlock
from polybuild.codegen.c.vectors import VectorPrinter
from polybuild.poly.marks import Mark, MarkKind
from polybuild.schedule.legality import IllegalSchedule

if TYPE_CHECKING:
    from polybuild.codegen.c.ast import PrintedAst
    from polybuild.targets.model import RegisterTile


class RegisterTilePrinter:
    """Prints what of ``ast`` belongs to register tiles, as ``vectors`` does, with variables in ``names``.

    It is told of what prints ``partial`` ones.
    """

    def __init__(
        self, ast: PrintedAst, vectors: VectorPrinter, names: NamesInScope, partial: PartialTilePrinter
    ) -> None:
        self.partial = partial
        self._ast = ast
        self._vectors = vectors
        self._names = names
        self._loaded: set[str] = set()  # the nodes of loads that are initialisers

    def uses(self, node: isl.AstNode, mark: Mark) -> bool:
        """Whether anything below ``node`` uses the buffer, or the register tile, of ``mark``."""
        names = {each.get_annotation().get_name() for each in users_below(node)}
        vectors = (self._ast.vectors[each] for each in names & self._ast.vectors.keys())
        if any(self._ast.tiles.uses(each, mark) for each in vectors):
            return True
        others = (self._ast.instances[each] for each in names & self._ast.instances.keys())
        packed = self._ast.tiles.buffers.get(mark)
        return packed is not None and any(each.takes_from(packed) for each in others)

    def declarations(self, below: isl.AstNode, mark: Mark, indent: str) -> list[CodeLine]:
        """The declarations of the buffer, or the variables, of ``mark``, which ``below`` uses."""
        tiles = self._ast.tiles
        if mark in tiles.buffers:
            packed = tiles.buffers[mark]
            names = "_".join(array.name for array in packed.arrays)
            self._names[mark.name] = self._names.declare(f"packed_{names}")
            return [CodeLine(f"{indent}{line}", role=Role.SILENT) for line in self._vectors.buffer(packed)]
        self._names[mark.name] = self._names.declare_stem("acc")
        loads = self._first_loads(tiles.registers[mark], below)
        lines = self._vectors.variables(tiles.registers[mark], loads, indent)
        return belonging(lines, tiles.registers[mark].update.location.line)

    def lines(self, name: str, indent: str) -> list[str]:
        """The statements at the node called ``name``; none for loads that are initialisers.

        What several vectors have in common is named before them.
        """
        done = self._ast.vectors[name]
        if name in self._loaded:
            return []
        source = done.statement.location.line
        if isinstance(done, Packing):
            return [CodeLine(f"{indent}{self._vectors.text(done)}", source, role=Role.STATEMENT)]
        lines = [f"{indent}{line}" for line in self._vectors.rows(done.vectors)]
        for each in done.vectors:
            text = f"{indent}{self._vectors.text(each)}"
            lines.append(CodeLine(text, source, row=each.block[0], role=Role.STATEMENT))
        return lines

    def _first_loads(self, tile: RegisterTile, node: isl.AstNode) -> list[Move]:
        """The loads of the block of ``tile``, which become initialisers, if ``node`` begins with them."""
        first = next(flat(node), None)
        if first is None or not is_block(first):
            return []
        name = block_below(first).get_annotation().get_name()
        found = self._ast.vectors.get(name)
        if not isinstance(found, VectorBlock) or not found.loads or found.tile is not tile:
            return []
        self._loaded.add(name)
        return [each for each in found.vectors if isinstance(each, Move)]


def is_block(node: isl.AstNode) -> bool:
    """Whether ``node`` is a mark around all that is done at once for a block."""
    is_mark = kind_of(node) == isl.ast_node_type.mark
    return bool(is_mark and Mark.of_id(node.mark_get_id()).kind is MarkKind.LANES)


def block_below(mark: isl.AstNode) -> isl.AstNode:
    """The node of the block that ``mark`` stands around, in loops over its rows, vectors and lanes.

    Raises IllegalSchedule if there is anything else.
    """
    node = mark.mark_get_node()
    while kind_of(node) == FOR:
        node = node.for_get_body()
    if kind_of(node) != isl.ast_node_type.user:
        raise IllegalSchedule("the vectors of a block do not stand together")
    return node
