"""Pointers that change places inside a region, as between the steps of a solver: ``t = a; a = b; b = t``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pycparser import c_ast

from polybuild.c.symbols import Symbol
from polybuild.c.syntax_tree import location, walk
from polybuild.c.types import ArrayType, PointerType
from polybuild.diagnostics import Unsupported
from polybuild.source.model import Region


def check_pointer_rotation(region: Region) -> None:
    """Refuse a region in which two pointers change places, by name."""
    for statement in region.statements:
        for node in walk(statement):
            if isinstance(node, c_ast.Compound):
                _check_block(node.block_items or (), region.visible.symbols)


def _check_block(items: Sequence[c_ast.Node], symbols: Mapping[str, Symbol]) -> None:
    moves = [(node, *move) for node in items if (move := _move(node)) is not None]
    for (_, kept, first), (node, target, second), (_, other, again) in zip(
        moves, moves[1:], moves[2:], strict=False
    ):
        if (first, second, again) == (target, other, kept) and _is_pointer(symbols.get(target)):
            raise Unsupported(
                "pointer-swap",
                f"the pointers '{target}' and '{other}' change places inside the region",
                location(node),
                "let them change places in each step of a loop, or end the region before that",
            )


def _move(node: c_ast.Node) -> tuple[str, str] | None:
    """``(a, b)`` for ``a = b`` and for ``T a = b``."""
    if isinstance(node, c_ast.Decl) and isinstance(node.init, c_ast.ID):
        return str(node.name), str(node.init.name)
    if isinstance(node, c_ast.Assignment) and node.op == "=" and isinstance(node.lvalue, c_ast.ID):
        value = node.rvalue
        return (str(node.lvalue.name), str(value.name)) if isinstance(value, c_ast.ID) else None
    return None


def _is_pointer(symbol: Symbol | None) -> bool:
    return symbol is not None and isinstance(symbol.type, PointerType | ArrayType)
