"""Tests whether a pointer is null, another one or a function, as numbers that the region does not change.

::

    if (w) s *= w[i];                           if (w != 0) s *= w[i];
    h = v ? v[i] : 1;                    ->     h = v != 0 ? v[i] : 1;
    if (!w || v == NULL) ...                    if (!(w != 0) || !(v != 0)) ...
    if (f == linear) ...                        if (!(f != linear)) ...

What stands on the right is one node (``PointerTest``), known on entry: 1, or 0.
"""

from __future__ import annotations

import dataclasses
import functools

from pycparser import c_ast

from polybuild.c import types
from polybuild.c.syntax_tree import changed_operand, contains, mapped, walk
from polybuild.c.synthetic import PointerTest, number
from polybuild.c.typing import type_of, with_declared
from polybuild.diagnostics import Unsupported
from polybuild.normalise.names import Names, Variable, member_path, resolve
from polybuild.source.model import Region

_DECIDING = (c_ast.If, c_ast.TernaryOp, c_ast.For, c_ast.While, c_ast.DoWhile)
_NULLS = frozenset({"0", "0L", "0UL", "0l"})


def with_pointer_tests(region: Region) -> Region:
    """``region`` with tests of pointers that it does not change as such; itself where there are none."""
    if not any(_may_test(each) for statement in region.statements for each in walk(statement)):
        return region
    try:
        tests = _Tests(region, resolve(region))
    except Unsupported:
        return region  # the model says what is wrong
    statements = tuple(map(tests.rewritten, region.statements))
    return dataclasses.replace(region, statements=statements) if tests.found else region


def _may_test(node: c_ast.Node) -> bool:
    """Whether ``node`` may test a pointer, as far as its form tells."""
    if isinstance(node, _DECIDING):
        return _is_name(node.cond)
    if isinstance(node, c_ast.UnaryOp):
        return node.op == "!" and _is_name(node.expr)
    if not isinstance(node, c_ast.BinaryOp):
        return False
    if node.op in {"&&", "||"}:
        return _is_name(node.left) or _is_name(node.right)
    return node.op in {"==", "!="} and all(map(_is_operand, (node.left, node.right)))


def _is_name(node: c_ast.Node | None) -> bool:
    return isinstance(node, c_ast.ID | c_ast.StructRef)


def _is_operand(node: c_ast.Node) -> bool:
    """Whether a pointer may be compared with ``node``, as far as its form tells."""
    return _is_name(node.expr if isinstance(node, c_ast.UnaryOp) and node.op == "&" else node) or _is_null(
        node
    )


def _is_null(node: c_ast.Node) -> bool:
    """Whether ``node`` is 0, or that as a pointer."""
    while isinstance(node, c_ast.Cast) and contains(node.to_type, c_ast.PtrDecl):
        node = node.expr
    return isinstance(node, c_ast.Constant) and node.value in _NULLS


class _Tests:
    """The rewriting; ``found`` is true once there was a test."""

    def __init__(self, region: Region, names: Names) -> None:
        self._region = region
        self._names = names
        self.found = False

    def rewritten(self, node: c_ast.Node) -> c_ast.Node:
        """``node`` with its tests."""
        if not any(map(_may_test, walk(node))):
            return node
        new = mapped(node, self.rewritten)
        if isinstance(new, _DECIDING):
            new.cond = self._truth(node.cond, new.cond)
        elif isinstance(new, c_ast.UnaryOp) and new.op == "!":
            new.expr = self._truth(node.expr, new.expr)
        elif isinstance(new, c_ast.BinaryOp) and new.op in {"&&", "||"}:
            new.left, new.right = self._truth(node.left, new.left), self._truth(node.right, new.right)
        elif isinstance(new, c_ast.BinaryOp) and new.op in {"==", "!="}:
            for pointer, other in ((node.left, node.right), (node.right, node.left)):
                against = number(0) if _is_null(other) else self._fixed(other)
                if against is not None and (test := self._truth(pointer, node, against)) is not node:
                    return test if new.op == "!=" else c_ast.UnaryOp("!", test, node.coord)
        return new

    def _fixed(self, node: c_ast.Node) -> c_ast.Node | None:
        """The function that ``node`` is, or the pointer with a name that stays itself; None if neither."""
        if isinstance(node, c_ast.UnaryOp) and node.op == "&":
            node = node.expr
        elif node in self._names.variables:
            return node if isinstance(node, c_ast.ID) and self._is_fixed_pointer(node) else None
        if not isinstance(node, c_ast.ID) or node in self._names.variables:
            return None
        return node if node.name in self._region.visible.functions else None

    def _truth(
        self, node: c_ast.Node | None, new: c_ast.Node | None, other: c_ast.Node | None = None
    ) -> c_ast.Node | None:
        """The test that ``node`` is where a truth is asked for; ``new`` if it tests no fixed pointer.

        Whether it is an ``other`` pointer is what is asked if there is one, else whether it is null.
        """
        if node is None or not _is_name(node) or not self._is_fixed_pointer(node):
            return new
        self.found = True
        return PointerTest("!=", node, number(0) if other is None else other, node.coord)

    def _is_fixed_pointer(self, node: c_ast.Node) -> bool:
        root, members = member_path(node)
        variable = self._names.variables.get(root) if root is not None else None
        if variable is None or variable.local or variable.volatile or self._is_changed(variable):
            return False
        if variable.address_taken or contains(node, c_ast.ArrayRef) or contains(node, c_ast.UnaryOp):
            return False
        if (members or variable.is_reachable) and self._may_set_pointers:
            return False
        kind = type_of(node, {variable.name: variable.type}, self._region.visible)
        return isinstance(kind, types.PointerType)

    def _is_changed(self, variable: Variable) -> bool:
        """Whether the region sets ``variable``, or a loop of it steps it."""
        return variable in self._names.written or variable in self._names.iterators.values()

    @functools.cached_property
    def _may_set_pointers(self) -> bool:
        """Whether the region may set a pointer in memory: as one, by bytes, or in a called function."""
        nodes = [each for statement in self._region.statements for each in walk(statement)]
        if any(isinstance(each, c_ast.FuncCall) and self._runs_code(each) for each in nodes):
            return True
        targets = [each for each in map(changed_operand, nodes) if each is not None]
        return any(
            not isinstance(each, c_ast.ID) and not self._is_number_of_its_own(each) for each in targets
        )

    def _runs_code(self, call: c_ast.FuncCall, around: tuple[str, ...] = ()) -> bool:
        """Whether ``call`` is of a function that may set a pointer in memory, or of one of the file."""
        callee = self._region.callees.get(call.name.name) if isinstance(call.name, c_ast.ID) else None
        if callee is None or callee.body is None:
            return not isinstance(call.name, c_ast.ID)
        if callee.name in around:
            return False  # looked at already
        nodes = [each for one in callee.body.statements for each in walk(one)]
        visible = callee.body.visible
        declared = [each for each in nodes if isinstance(each, c_ast.Decl) and each.name]
        symbols = with_declared(visible.symbols, declared, visible)
        for target in (each for each in map(changed_operand, nodes) if each is not None):
            if not _is_no_pointer(type_of(target, symbols, visible)):
                return True
        calls = (each for each in nodes if isinstance(each, c_ast.FuncCall))
        return any(self._runs_code(each, (*around, callee.name)) for each in calls)

    def _is_number_of_its_own(self, target: c_ast.Node) -> bool:
        """Whether ``target`` is a number of a type that no pointer is written as."""
        symbols = {each.name: each.type for each in self._names.variables_in(target)}
        return _is_no_pointer(type_of(target, symbols, self._region.visible))


def _is_no_pointer(kind: types.Type) -> bool:
    """Whether ``kind`` is one of numbers that no pointer is written as."""
    return isinstance(kind, types.FloatingType) or (isinstance(kind, types.IntegerType) and kind.width > 8)
