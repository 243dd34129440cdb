"""``memset`` to zero and ``memcpy`` of numbers, as the loops that they stand for.

::

    memset(a + i * n, 0, n * sizeof(double));     ->     for (long k = 0; k < n; k++) (a + i * n)[k] = 0;
    memcpy(row, b[i], sizeof row);                ->     for (long k = 0; k < 8; k++) row[k] = b[i][k];

Compilers make those functions of such loops again, where nothing better is made of them.
"""

from __future__ import annotations

import dataclasses
import itertools
from functools import partial

from pycparser import c_ast

from polybuild.c import types
from polybuild.c.basic_types import LONG_LONG
from polybuild.c.conversions import decayed
from polybuild.c.declarations import size_of
from polybuild.c.literals import integer_value
from polybuild.c.syntax_tree import duplicate, has_side_effect, key, mapped, walk
from polybuild.c.synthetic import declarator, number
from polybuild.c.typing import type_of
from polybuild.diagnostics import Unsupported
from polybuild.normalise.names import Names, resolve
from polybuild.source.model import Region

_MEMSET = frozenset({"memset", "__builtin_memset", "__builtin___memset_chk"})
_MEMCPY = frozenset({"memcpy", "__builtin_memcpy", "__builtin___memcpy_chk"})
_BODIES = ("stmt", "iftrue", "iffalse")


def with_memory_loops(region: Region) -> Region:
    """``region`` with loops for calls of functions that set and copy memory; itself if it has none."""
    if not any(_function(each) for statement in region.statements for each in walk(statement)):
        return region
    try:
        loops = _Loops(region, resolve(region))
    except Unsupported:
        return region  # the model says what is wrong
    return dataclasses.replace(region, statements=tuple(map(loops.statement, region.statements)))


def _function(node: c_ast.Node) -> str:
    """The function that sets or copies memory and that ``node`` calls."""
    name = node.name.name if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID) else ""
    return name if name in _MEMSET | _MEMCPY else ""


class _Loops:
    """The rewriting of one region."""

    def __init__(self, region: Region, names: Names) -> None:
        self._region = region
        self._names = names
        self._taken = region.visible.may_mean_something() | {each.name for each in names.variables.values()}

    def statement(self, node: c_ast.Node) -> c_ast.Node:
        """``node``, a statement, with its calls."""
        if not any(map(_function, walk(node))):
            return node
        if _function(node):
            return self._loop(node) or node
        if isinstance(node, c_ast.Compound):
            return c_ast.Compound([self.statement(each) for each in node.block_items or ()], node.coord)
        bodies = [getattr(node, name, None) for name in _BODIES]
        return mapped(
            node, lambda each: self.statement(each) if any(each is body for body in bodies) else each
        )

    def _loop(self, call: c_ast.FuncCall) -> c_ast.Node | None:
        """The loop that ``call`` stands for; None if that is not plain."""
        target, value, size = call.args.exprs[:3]
        if any(map(has_side_effect, (target, value, size))) or call.name in self._names.variables:
            return None
        element = self._element(target)
        count = self._count(size, target, element) if element is not None else None
        if element is None or count is None:
            return None
        if _function(call) in _MEMSET:
            if not isinstance(value, c_ast.Constant) or integer_value(value.value) != 0:
                return None
        elif self._element(value) != element:
            return None
        counter = partial(c_ast.ID, self._free_name(), call.coord)
        stored = number(0) if _function(call) in _MEMSET else _below(value, counter())
        body = c_ast.Assignment("=", _below(target, counter()), stored, call.coord)
        name = counter().name
        declared = c_ast.Decl(
            name, [], [], [], [], declarator(name, LONG_LONG), number(0), None, coord=call.coord
        )
        return c_ast.For(
            c_ast.DeclList([declared], call.coord),
            c_ast.BinaryOp("<", counter(), count, call.coord),
            c_ast.UnaryOp("p++", counter(), call.coord),
            body,
            call.coord,
        )

    def _free_name(self) -> str:
        name = next(each for each in map("k_{}".format, itertools.count()) if each not in self._taken)
        self._taken = self._taken | {name}
        return name

    def _type(self, node: c_ast.Node) -> types.Type:
        symbols = {each.name: each.type for each in self._names.variables_in(node)}
        return type_of(node, symbols, self._region.visible)

    def _element(self, pointer: c_ast.Node) -> types.IntegerType | types.FloatingType | None:
        """The type of what ``pointer`` leads to, if these are numbers."""
        if isinstance(pointer, c_ast.Cast):
            return None
        kind = decayed(self._type(pointer))
        target = kind.target if isinstance(kind, types.PointerType) and not kind.volatile else None
        return target if isinstance(target, types.IntegerType | types.FloatingType) else None

    def _count(
        self, size: c_ast.Node, target: c_ast.Node, element: types.IntegerType | types.FloatingType
    ) -> c_ast.Node | None:
        """How many elements ``size`` bytes are."""
        if isinstance(size, c_ast.BinaryOp) and size.op == "*":
            for one, other in ((size.left, size.right), (size.right, size.left)):
                if self._is_size(one, element):
                    return duplicate(other)
            inner = self._count(size.left, target, element)
            if inner is not None:
                return c_ast.BinaryOp("*", inner, size.right, size.coord)
            return None
        if self._is_size(size, element):
            return number(1)
        own = self._type(target)
        whole = isinstance(size, c_ast.UnaryOp) and size.op == "sizeof" and key(size.expr) == key(target)
        if whole and isinstance(own, types.ArrayType) and own.extent is not None:
            return duplicate(own.extent)
        bytes_each = size_of(element, self._region.visible.scope)
        return duplicate(size) if bytes_each == 1 else None

    def _is_size(self, node: c_ast.Node, element: types.IntegerType | types.FloatingType) -> bool:
        """Whether ``node`` is the size of an ``element``."""
        if not isinstance(node, c_ast.UnaryOp) or node.op != "sizeof":
            return False
        if isinstance(node.expr, c_ast.Typename):
            return self._region.visible.scope.resolve(node.expr) == element
        return self._type(node.expr) == element


def _below(pointer: c_ast.Node, subscript: c_ast.Node) -> c_ast.Node:
    """The element of ``pointer`` at ``subscript``."""
    if isinstance(pointer, c_ast.ID | c_ast.ArrayRef | c_ast.StructRef):
        return c_ast.ArrayRef(pointer, subscript, pointer.coord)
    return c_ast.UnaryOp("*", c_ast.BinaryOp("+", pointer, subscript, pointer.coord), pointer.coord)
