"""The variables that the body of a statement mentions, and their types."""

from __future__ import annotations

from collections.abc import Mapping

from pycparser import c_ast

from polybuild.c.symbols import Symbol
from polybuild.c.types import Type
from polybuild.scop.model import Statement
from polybuild.source.model import Region

Symbols = Mapping[str, Type | Symbol]
"""What names stand for, or their types."""


def symbols_of(statement: Statement, region: Region) -> Symbols:
    """What the names in the body of ``statement``, which is of ``region``, stand for, or their types."""
    symbols: dict[str, Type | Symbol] = dict(region.visible.symbols)
    symbols |= {array.name: array.element for _, array in statement.locals if not array.extents}
    symbols |= {
        str(each.node.name): each.array.element
        for each in statement.accesses
        if each.array.expanded and isinstance(each.node, c_ast.ID)
    }
    symbols |= {each.name: each.type for each in statement.iterators}
    return symbols
