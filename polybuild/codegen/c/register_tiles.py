"""Register tiles and packed buffers where they stand in generated code: declarations, rows, statements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import islpy as isl

from polybuild.codegen.c.layout import CodeLine, Role, belonging
from polybuild.codegen.c.names_in_scope import NamesInScope
from polybuild.codegen.c.nodes import flat, kind_of, users_below
from polybuild.codegen.c.vectors import Lanes, Move, Packing, VectorPrinter
from polybuild.poly.marks import Mark, MarkKind

if TYPE_CHECKING:
    from polybuild.codegen.c.ast import PrintedAst
    from polybuild.targets.model import RegisterTile


class RegisterTilePrinter:
    """Prints what of ``ast`` belongs to register tiles, as ``vectors`` does, with variables in ``names``."""

    def __init__(self, ast: PrintedAst, vectors: VectorPrinter, names: NamesInScope) -> None:
        self._ast = ast
        self._vectors = vectors
        self._names = names
        self._loaded: set[str] = set()  # the nodes of loads that are initialisers

    def uses(self, node: isl.AstNode, mark: Mark) -> bool:
        """Whether anything below ``node`` uses the buffer, or the register tile, of ``mark``."""
        names = (each.get_annotation().get_name() for each in users_below(node))
        vectors = (self._ast.vectors[each] for each in names if each in self._ast.vectors)
        return any(self._ast.tiles.uses(each, mark) for each in vectors)

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
        self._loaded.update(loads)
        lines = self._vectors.variables(tiles.registers[mark], list(loads.values()), indent)
        return belonging(lines, tiles.registers[mark].update.location.line)

    def rows(self, nodes: Sequence[isl.AstNode]) -> list[str]:
        """Declarations of pointers to the rows of buffers that the vectors at ``nodes`` use."""
        return self._vectors.rows([each for node in nodes if (each := self._vector_at(node)) is not None])

    def lines(self, name: str, indent: str) -> list[str]:
        """The statement at the node called ``name``; none for a load that is an initialiser."""
        vector = self._ast.vectors[name]
        if name in self._loaded:
            return []
        text = f"{indent}{self._vectors.text(vector)}"
        row = None if isinstance(vector, Packing) else vector.block[0]
        return [CodeLine(text, vector.statement.location.line, row=row, role=Role.STATEMENT)]

    def kind_of(self, node: isl.AstNode) -> tuple[type, Mark] | None:
        """What a statement of a register tile does, None for everything else."""
        vector = self._vector_at(node)
        return (type(vector), vector.tile.mark) if isinstance(vector, Lanes | Move) else None

    def _vector_at(self, node: isl.AstNode) -> Lanes | Move | Packing | None:
        """What of a register tile ``node`` is."""
        if kind_of(node) == isl.ast_node_type.mark and Mark.of_id(node.mark_get_id()).kind is MarkKind.LANES:
            node = node.mark_get_node().for_get_body()
        if kind_of(node) != isl.ast_node_type.user:
            return None
        return self._ast.vectors.get(node.get_annotation().get_name())

    def _first_loads(self, tile: RegisterTile, node: isl.AstNode) -> dict[str, Move]:
        """The loads of all variables of ``tile``, by their nodes' names, if ``node`` begins with them."""
        loads: dict[str, Move] = {}
        for each in flat(node):
            vector = self._vector_at(each)
            if not isinstance(vector, Move) or vector.store or vector.tile is not tile:
                break
            (user,) = users_below(each)
            loads[user.get_annotation().get_name()] = vector
        rows, vectors = (each.size for each in tile.block)
        blocks = {each.block for each in loads.values()}
        return loads if len(blocks) == len(loads) == rows * vectors else {}
