"""Pointers that are moved by bytes before they are cast: moved by elements after it.

::

    (float *)(data + y * step)  ->  (float *)data + y * (step / 4)    and before it: never(step % 4)

So pictures are laid out whose rows have some bytes at their ends, and what libraries have behind ``void *``.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence
from functools import reduce

from pycparser import c_ast

from polybuild.c.declarations import evaluate, size_of
from polybuild.c.syntax_tree import key, mapped, walk
from polybuild.c.synthetic import Quotient, never, number
from polybuild.c.types import ArrayType, IntegerType, PointerType, RecordType, Type, VoidType
from polybuild.c.typing import type_of
from polybuild.diagnostics import Unsupported
from polybuild.normalise.names import Names, member_path, resolve
from polybuild.source.model import Region

_REASON = '"what pointers are moved by must be whole elements"'

_Term = tuple[int, tuple[c_ast.Node, ...]]
"""A number of bytes, times factors."""


def with_byte_offsets(region: Region) -> Region:
    """``region`` where pointers are cast first, and moved then; itself if there are none to be."""
    if not any(_is_moved(each) for one in region.statements for each in walk(one)):
        return region
    try:
        moves = _Moves(region, resolve(region))
    except Unsupported:
        return region  # the model says what is wrong
    statements = tuple(moves.rewritten(each) for each in region.statements)
    if not moves.any:
        return region
    return dataclasses.replace(region, statements=(*moves.tests.values(), *statements))


def uncast(pointer: c_ast.Node) -> c_ast.Node:
    """``pointer`` without casts to other pointers around it."""
    while isinstance(pointer, c_ast.Cast) and isinstance(pointer.to_type.type, c_ast.PtrDecl):
        pointer = pointer.expr
    return pointer


def _is_moved(node: c_ast.Node) -> bool:
    """Whether ``node`` is a cast of something that a pointer is added to."""
    return uncast(node) is not node and _moved(uncast(node)) is not None


def _moved(pointer: c_ast.Node) -> tuple[c_ast.Node, c_ast.Node, int] | None:
    """What ``pointer`` is moved from, by what, and whether forwards (1) or backwards; None if it is not."""
    if isinstance(pointer, c_ast.BinaryOp) and pointer.op in {"+", "-"}:
        return pointer.left, pointer.right, 1 if pointer.op == "+" else -1
    if isinstance(pointer, c_ast.UnaryOp) and pointer.op == "&" and isinstance(pointer.expr, c_ast.ArrayRef):
        return pointer.expr.name, pointer.expr.subscript, 1
    return None


class _Moves:
    """The rewriting of one region; ``tests`` are what must never hold, ``any`` is true once there was one."""

    def __init__(self, region: Region, names: Names) -> None:
        self._region = region
        self._names = names
        self._counters = frozenset(names.iterators.values())
        self.tests: dict[object, c_ast.Node] = {}
        self.any = False

    def rewritten(self, node: c_ast.Node) -> c_ast.Node:
        """``node`` with its pointers moved after their casts."""
        new = self._cast_first(node) if _is_moved(node) else None
        if new is not None:
            self.any = True
            return new
        new = mapped(node, self.rewritten)
        if isinstance(node, c_ast.ArrayRef) and new.name is not node.name:
            moved = _moved(new.name)
            if moved is not None:  # the element that far from what is cast
                place = c_ast.BinaryOp("+", moved[1], new.subscript, node.coord)
                return c_ast.ArrayRef(moved[0], place, node.coord)
        return new

    def _cast_first(self, cast: c_ast.Cast) -> c_ast.Node | None:
        """``cast`` of a moved pointer with the pointer cast first; None where that is not to be said."""
        kind = self._region.visible.scope.resolve(cast.to_type)
        size = self._size(kind.target) if isinstance(kind, PointerType) else None
        terms: list[_Term] = []
        pointer = uncast(cast)
        while (move := _moved(pointer)) is not None:
            base, by, sign = move
            source = self._type(base)
            unit = self._size(source.target) if isinstance(source, PointerType) else None
            if unit is None or not self._is_wide(by):
                return None
            terms += [(sign * unit * times, factors) for times, factors in self._terms(by)]
            pointer = uncast(base)
        parts = [self._in_elements(each, size) for each in terms] if size else [None]
        if any(each is None for each in parts):
            return None
        offset = reduce(lambda one, other: c_ast.BinaryOp("+", one, other, cast.coord), parts)
        return c_ast.BinaryOp("+", c_ast.Cast(cast.to_type, pointer, cast.coord), offset, cast.coord)

    def _size(self, kind: Type) -> int | None:
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

    def _type(self, node: c_ast.Node) -> Type:
        symbols = {each.name: each.type for each in self._names.variables_in(node)}
        return type_of(node, symbols, self._region.visible)

    def _is_wide(self, offset: c_ast.Node) -> bool:
        """Whether an ``offset`` does not wrap before it is added: it is signed, or as wide as pointers."""
        kind = self._type(offset)
        pointer = 8 * self._region.visible.scope.data_model.pointer_size
        return isinstance(kind, IntegerType) and (kind.signed or kind.width >= pointer)

    def _terms(self, offset: c_ast.Node) -> Iterator[_Term]:
        """``offset`` as a sum of products."""
        while isinstance(offset, c_ast.Cast) and self._widens(offset):
            offset = offset.expr
        if isinstance(offset, c_ast.BinaryOp) and offset.op in {"+", "-"}:
            yield from self._terms(offset.left)
            for times, factors in self._terms(offset.right):
                yield (times if offset.op == "+" else -times), factors
            return
        if isinstance(offset, c_ast.BinaryOp) and offset.op == "*":
            for (one, first), (other, then) in itertools.product(
                list(self._terms(offset.left)), list(self._terms(offset.right))
            ):
                yield one * other, (*first, *then)
            return
        value = evaluate(offset, self._region.visible.scope)
        yield (1, (offset,)) if value is None else (value, ())

    def _widens(self, cast: c_ast.Cast) -> bool:
        """Whether ``cast`` is to a type that has all values of the number that it converts."""
        to, source = self._type(cast), self._type(cast.expr)
        if not isinstance(to, IntegerType) or not isinstance(source, IntegerType):
            return False
        return source.signed and to.signed and to.width >= source.width

    def _in_elements(self, term: _Term, size: int) -> c_ast.Node | None:
        """A ``term`` of bytes in elements of ``size`` bytes; None if it may be no whole number."""
        times, factors = term
        common = math.gcd(times, size)
        times, left = times // common, size // common
        if left > 1:
            place = next((at for at, each in enumerate(factors) if self._is_fixed(each)), None)
            if place is None:
                return None
            divided = factors[place]
            rest = c_ast.BinaryOp("!=", c_ast.BinaryOp("%", divided, number(left)), number(0), divided.coord)
            self.tests.setdefault(key(rest), never(rest, _REASON))
            whole = Quotient("/", divided, number(left), divided.coord)
            factors = (*factors[:place], whole, *factors[place + 1 :])
        scaled = [number(times)] if times != 1 or not factors else []
        return _product([*factors, *scaled])

    def _is_fixed(self, factor: c_ast.Node) -> bool:
        """Whether ``factor`` is a variable or a member that the region does not change."""
        root, members = member_path(factor)
        if root is None or not isinstance(factor, c_ast.ID | c_ast.StructRef):
            return False
        if any(not isinstance(each, c_ast.ID | c_ast.StructRef) for each in walk(factor)):
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


def _product(factors: Sequence[c_ast.Node]) -> c_ast.Node:
    return reduce(lambda one, other: c_ast.BinaryOp("*", one, other, one.coord), factors)
