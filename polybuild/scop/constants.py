"""Variables that are numbers: ``const`` objects with the value of their declaration."""

from __future__ import annotations

from pycparser import c_ast

from polybuild.c.conversions import limits
from polybuild.c.declarations import evaluate
from polybuild.c.syntax_tree import walk
from polybuild.c.types import IntegerType
from polybuild.normalise.names import Variable
from polybuild.source.model import Region


def constant_value(variable: Variable, region: Region) -> int | None:
    """The value that ``variable``, declared before ``region``, always has; None if it has none, or in doubt.

    C lets nobody change an object that is declared ``const``.
    """
    declaration, kind = variable.declaration, variable.type
    if variable.local or variable.volatile or variable.thread_local or not isinstance(kind, IntegerType):
        return None
    if not isinstance(declaration, c_ast.Decl) or not isinstance(declaration.type, c_ast.TypeDecl):
        return None
    if declaration.init is None or "const" not in declaration.type.quals or _may_wrap(declaration.init):
        return None
    value = evaluate(declaration.init, region.visible.scope)
    low, high = limits(kind)
    return value if value is not None and low <= value <= high else None


def _may_wrap(node: c_ast.Node) -> bool:
    """Whether ``node`` computes with unsigned values, whose results may be others than the numbers'."""
    parts = list(walk(node))
    return len(parts) > 1 and any(
        (isinstance(each, c_ast.Constant) and "u" in each.value.lower())
        or isinstance(each, c_ast.Cast)
        or (isinstance(each, c_ast.UnaryOp) and each.op not in {"-", "+"})
        for each in parts
    )
