"""Whether a variable still has the value it had when an array's extents were computed from it."""

from __future__ import annotations

from pycparser import c_ast

from polybuild.c.syntax_tree import walk
from polybuild.normalise.names import Variable

_WRITING_UNARY = {"++", "p++", "--", "p--", "&"}


class ExtentInvalidation:
    """The writes of a function in textual order.

    A jump backwards does not matter: it either repeats the declaration with the
    write before it, or the write comes after the declaration in the text, too.
    """

    def __init__(self, function: c_ast.FuncDef) -> None:
        self._declared: dict[c_ast.Node, int] = {}
        self._writes: dict[str, int] = {}
        self._calls = -1
        for position, node in enumerate(walk(function.body)):
            target = None
            if isinstance(node, c_ast.Decl):
                self._declared[node] = position
            elif isinstance(node, c_ast.Assignment):
                target = node.lvalue
            elif isinstance(node, c_ast.UnaryOp) and node.op in _WRITING_UNARY:
                target = node.expr
            elif isinstance(node, c_ast.FuncCall):
                self._calls = position
            if isinstance(target, c_ast.ID):
                self._writes[target.name] = position

    def changed_since(self, array: Variable, extent: Variable) -> bool:
        """Whether ``extent`` may have been changed, or be another variable, since ``array`` was declared."""
        declared = self._declared.get(array.declaration, -1)
        if self._declared.get(extent.declaration, -1) > declared:
            return True
        shared = extent.is_reachable
        last = max(self._writes.get(extent.name, -1), self._calls if shared else -1)
        return last > declared
