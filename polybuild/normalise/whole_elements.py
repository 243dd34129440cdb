"""Numbers of bytes as numbers of elements: ``i * step`` bytes are ``i * (step / 8)`` elements of 8 bytes.

A factor that the region does not change becomes a ``Quotient``: that it is whole, the model sees to.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import reduce

from pycparser import c_ast

from polybuild.c.conversions import decayed
from polybuild.c.declarations import evaluate, size_of
from polybuild.c.synthetic import Quotient, number
from polybuild.c.types import ArrayType, IntegerType, RecordType, Type, VoidType
from polybuild.c.typing import type_of
from polybuild.normalise.names import Names, is_place, member_path
from polybuild.source.model import Region


class WholeElements:
    """How what is in bytes is said in elements, in one region."""

    def __init__(self, region: Region, names: Names) -> None:
        self._region = region
        self._names = names
        self._counters = frozenset(names.iterators.values())

    def type(self, node: c_ast.Node) -> Type:
        """The C type of the value of ``node``."""
        symbols = {each.name: each.type for each in self._names.variables_in(node)}
        return decayed(type_of(node, symbols, self._region.visible))

    def size(self, kind: Type) -> int | None:
        """The bytes of what a pointer leads to; None where they are not known."""
        if isinstance(kind, VoidType):
            return 1
        if not isinstance(kind, RecordType):
            return size_of(kind, self._region.visible.scope)
        fields = [each.type for each in kind.fields or () if kind.kind == "struct" and each.bits is None]
        sizes = {size_of(_number(each), self._region.visible.scope) for each in fields}
        if len(fields) < len(kind.fields or ()) or len(sizes) != 1:
            return None  # there may be something between numbers of several sizes
        whole = [size_of(each, self._region.visible.scope) for each in fields]
        return sum(each for each in whole if each is not None) if None not in whole else None

    def moved_by(self, offset: c_ast.Node, unit: int, size: int) -> c_ast.Node | None:
        """``offset`` units of so many bytes in elements of ``size`` bytes; None where that may be none."""
        if not self._is_wide(offset):
            return None
        return self._divided(c_ast.BinaryOp("*", offset, number(unit), offset.coord), size)

    def _is_wide(self, offset: c_ast.Node) -> bool:
        """Whether an ``offset`` does not wrap before it is added: it is signed, or as wide as pointers."""
        kind = self.type(offset)
        pointer = 8 * self._region.visible.scope.data_model.pointer_size
        return isinstance(kind, IntegerType) and (kind.signed or kind.width >= pointer)

    def _divided(self, node: c_ast.Node, by: int) -> c_ast.Node | None:
        """``node / by`` where that is a whole number, or a quotient of one; None where it may be none."""
        while isinstance(node, c_ast.Cast) and self._widens(node):
            node = node.expr
        value = evaluate(node, self._region.visible.scope)
        if by == 1 and value is None:
            return node
        if value is not None:
            return None if value % by else number(value // by)
        if isinstance(node, c_ast.BinaryOp) and node.op in {"+", "-"}:
            left, right = self._divided(node.left, by), self._divided(node.right, by)
            both = left is not None and right is not None
            return c_ast.BinaryOp(node.op, left, right, node.coord) if both else None
        if isinstance(node, c_ast.BinaryOp) and node.op == "*":
            return self._product(node, by)
        return Quotient("/", node, number(by), node.coord) if self._is_fixed(node) else None

    def _product(self, node: c_ast.BinaryOp, by: int) -> c_ast.Node | None:
        """The same of a product: numbers take what part they can, one of the other factors takes the rest."""
        values = [(each, evaluate(each, self._region.visible.scope)) for each in self._factors(node)]
        factors = [each for each, value in values if value is None]
        times = math.prod(value for _, value in values if value is not None)
        common = math.gcd(times, by)
        times, by = times // common, by // common
        if by > 1:
            found = ((place, self._divided(each, by)) for place, each in enumerate(factors))
            place, divided = next(((at, part) for at, part in found if part is not None), (0, None))
            if divided is None:
                return None
            factors[place] = divided
        scaled = [number(times)] if times != 1 or not factors else []
        return reduce(lambda one, other: c_ast.BinaryOp("*", one, other, node.coord), [*factors, *scaled])

    def _factors(self, node: c_ast.Node) -> Iterator[c_ast.Node]:
        while isinstance(node, c_ast.Cast) and self._widens(node):
            node = node.expr
        if isinstance(node, c_ast.BinaryOp) and node.op == "*":
            yield from self._factors(node.left)
            yield from self._factors(node.right)
        else:
            yield node

    def _widens(self, cast: c_ast.Cast) -> bool:
        """Whether ``cast`` is to a type that has all values of the number that it converts."""
        to, source = self.type(cast), self.type(cast.expr)
        if not isinstance(to, IntegerType) or not isinstance(source, IntegerType):
            return False
        return source.signed and to.signed and to.width >= source.width

    def _is_fixed(self, factor: c_ast.Node) -> bool:
        """Whether ``factor`` is a variable, or a member or element at a fixed place, that nothing changes."""
        root, members = member_path(factor)
        if root is None or not is_place(factor):
            return False
        variable = self._names.variables.get(root)
        changed = self._names.written | self._counters
        known = variable is not None and not variable.local and variable not in changed
        return known and (variable, members) not in self._names.written_members


def _number(kind: Type) -> Type:
    """What an array, of arrays maybe, has for elements."""
    while isinstance(kind, ArrayType):
        kind = kind.element
    return kind
